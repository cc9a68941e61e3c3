package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/run"
)

// metrics is what operators scrape: the checkout cache's counters and how runs end. Nothing in it names a repository or a
// person.
type metrics struct {
	registry *prometheus.Registry
	runs     *prometheus.CounterVec
	took     prometheus.Histogram
	budgets  *prometheus.CounterVec
}

// newMetrics reads the cache's counters whenever it is scraped.
func newMetrics(stats func() checkout.Stats) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		runs:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "librarian_runs_total", Help: "Runs that ended, by outcome."}, []string{"outcome"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "librarian_run_seconds", Help: "How long runs took.", Buckets: []float64{.5, 1, 2, 5, 10, 30, 60, 120, 300, 600},
		}),
	}
	m.budgets = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "librarian_budget_total", Help: "Questions that met a budget of which 80 % or more were used (nearly), or all (spent, and refused).",
	}, []string{"budget", "level"})
	for _, which := range []string{run.BudgetUser, run.BudgetRepository, run.BudgetThread, run.BudgetInstallation} {
		for _, level := range []string{"nearly", "spent"} {
			m.budgets.WithLabelValues(which, level) // there from the start, so that a first increase is seen
		}
	}
	m.registry.MustRegister(m.runs, m.took, m.budgets, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, c := range []struct {
		name, help string
		value      func(checkout.Stats) float64
	}{
		{"resolves_total", "Times a host was asked what a ref is.", func(s checkout.Stats) float64 { return float64(s.Resolves) }},
		{"fetches_total", "Fetches, those of new clones included.", func(s checkout.Stats) float64 { return float64(s.Fetches) }},
		{"clones_total", "Clones made.", func(s checkout.Stats) float64 { return float64(s.Clones) }},
		{"trees_total", "Working trees made.", func(s checkout.Stats) float64 { return float64(s.Trees) }},
		{"hits_total", "Working trees that were there already.", func(s checkout.Stats) float64 { return float64(s.Hits) }},
		{"evictions_total", "Trees and clones removed for want of room.", func(s checkout.Stats) float64 { return float64(s.Evictions) }},
		{"repacks_total", "Clones repacked.", func(s checkout.Stats) float64 { return float64(s.Repacks) }},
		{"histories_ahead_total", "Histories, or their beginnings, that came in the background.", func(s checkout.Stats) float64 { return float64(s.Ahead) }},
		{"indexes_total", "Indexes made of trees, for searches.", func(s checkout.Stats) float64 { return float64(s.Indexes) }},
		{"requests_total", "HTTP requests to git hosts.", func(s checkout.Stats) float64 { return float64(s.Requests) }},
		{"received_bytes_total", "Bytes received from git hosts.", func(s checkout.Stats) float64 { return float64(s.Bytes) }},
		{"network_seconds_total", "Time that requests to git hosts took.", func(s checkout.Stats) float64 { return s.Network.Seconds() }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "librarian_checkout_" + c.name, Help: c.help},
			func() float64 { return c.value(stats()) }))
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "librarian_checkout_disk_bytes", Help: "Disk that the cache takes, when last looked at."},
		func() float64 { return float64(stats().Disk) }))
	return m
}

// budget counts how often a budget was nearly or wholly used.
func (m *metrics) budget(which string, spent bool) {
	level := "nearly"
	if spent {
		level = "spent"
	}
	m.budgets.WithLabelValues(which, level).Inc()
}

// votes reads, whenever it is scraped, what readers think of answers; of what cannot be read there is no sample.
func (m *metrics) votes(read func() (librarian.VotesData, error)) {
	m.registry.MustRegister(ballots{prometheus.NewDesc("librarian_votes", "Votes on the answers to the last 30 days' questions.", []string{"vote"}, nil), read})
}

type ballots struct {
	desc *prometheus.Desc
	read func() (librarian.VotesData, error)
}

func (b ballots) Describe(ch chan<- *prometheus.Desc) { ch <- b.desc }

func (b ballots) Collect(ch chan<- prometheus.Metric) {
	v, err := b.read()
	if err != nil {
		return
	}
	ch <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, float64(v.Up), "up")
	ch <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, float64(v.Down), "down")
}

// watch counts what runs come to.
func (m *metrics) watch(_ librarian.RunID, _ librarian.EventKind, data any) {
	if o, ok := data.(librarian.Outcome); ok {
		m.runs.WithLabelValues(string(o.Kind)).Inc()
		m.took.Observe(o.Took.Seconds())
	}
}

// serve answers at /metrics until ctx ends.
func (m *metrics) serve(ctx context.Context, ln net.Listener, log *slog.Logger) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := ignoreClosed(srv.Serve(ln)); err != nil {
		log.ErrorContext(ctx, "metrics are not served any more", "error", err)
	}
}
