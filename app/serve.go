package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/handlers"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/comment"
	"github.com/librarian-app/librarian/librarian/hub"
	"github.com/librarian-app/librarian/librarian/queue"
	"github.com/librarian-app/librarian/librarian/run"
	"github.com/librarian-app/librarian/librarian/store"
)

// The votes on answers: how often it is seen which are to be counted, and how old the questions are whose votes metrics show.
const (
	votesEvery = 10 * time.Minute
	votesShown = 30 * 24 * time.Hour
)

// WebhookPath is where GitHub's deliveries come in.
const WebhookPath = "/webhook"

// Server is the App as it is deployed: one process that takes deliveries, works runs and posts answers.
type Server struct {
	cfg     Config
	secrets Secrets
	log     *slog.Logger
	now     func() time.Time
	watch   func(librarian.RunID, librarian.EventKind, any)
	ready   func(url string)
	shop    *modelShop
	models  run.Models      // the shop's; tests have others
	held    func() []string // the secrets that are held, once they are known

	votesEvery time.Duration // 0: votesEvery
}

// ServerOptions are what a Server may be given beside its configuration.
type ServerOptions struct {
	Log *slog.Logger
	Now func() time.Time
	// Watch is told each event of each run as it is recorded.
	Watch func(librarian.RunID, librarian.EventKind, any)
	// Ready is told the URL that deliveries are taken at, once they are.
	Ready func(url string)
}

// NewServer does no I/O.
func NewServer(cfg Config, secrets Secrets, o ServerOptions) *Server {
	s := &Server{cfg: cfg, secrets: secrets, log: o.Log, now: o.Now, watch: o.Watch, ready: o.Ready}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// stopTime bounds how long a stop may take after the grace period.
const stopTime = 15 * time.Second

// Run serves until ctx ends, then stops: no delivery is taken any more, work under way gets its grace period, and what is
// cut off is taken up at the next start. Mistakes of the configuration are *UsageError.
func (s *Server) Run(ctx context.Context) (err error) {
	if s.shop = s.secrets.models; s.shop == nil {
		if s.shop, err = newModelShop(s.cfg.Models, func(string) string { return "" }, s.log); err != nil {
			return err
		}
	}
	if s.models == nil {
		s.models = s.shop.Model
	}
	if s.cfg.GitHub.AppID <= 0 {
		return &UsageError{Message: "github.app_id is missing", Hint: "it stands on the App's settings page"}
	}
	if s.cfg.Server.Data, err = filepath.Abs(s.cfg.Server.Data); err != nil {
		return fmt.Errorf("app: %w", err)
	}
	if err := os.MkdirAll(s.cfg.Server.Data, 0o700); err != nil {
		return &UsageError{Message: "server.data: " + s.cfg.Server.Data + " cannot be made", Hint: "name a directory that can be written", Err: err}
	}
	unlock, err := store.Lock(s.cfg.Server.Data)
	var taken *store.LockedError
	switch {
	case errors.As(err, &taken):
		return &UsageError{Message: taken.Error(), Hint: "stop the other one, or set server.data to another directory", Err: err}
	case err != nil:
		return fmt.Errorf("app: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()

	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.Server.Listen)
	if err != nil {
		return &UsageError{Message: "cannot listen on " + s.cfg.Server.Listen + ": " + cause(err), Hint: "set server.listen to a free address", Err: err}
	}
	defer func() { _ = ln.Close() }()

	runs, err := s.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	jobs, err := queue.Open(ctx, runs, queue.Options{Research: s.cfg.Queue.Research, Grace: s.cfg.Queue.Grace, Log: s.log.With("part", "queue")})
	if err != nil {
		return fmt.Errorf("app: %w", err)
	}
	return s.serve(ctx, ln, runs, jobs)
}

// serve runs with the doors open: listener, store and queue.
func (s *Server) serve(ctx context.Context, ln net.Listener, runs *store.Store, jobs *queue.Queue) (err error) {
	github, err := s.hub()
	if err != nil {
		return err
	}
	hidden := [][]byte{s.secrets.WebhookSecret}
	for _, p := range passwords(string(s.secrets.DatabaseURL)) {
		if len(p) >= shortestHidden {
			hidden = append(hidden, []byte(p))
		}
	}
	s.held = secretsOf(github, s.shop, hidden...)
	me, err := s.identity(ctx, github)
	if err != nil {
		return err
	}
	checkouts, err := openCheckouts(ctx, checkoutOptions{cfg: s.cfg, dir: filepath.Join(s.cfg.Server.Data, "checkouts"), github: github, now: s.now, log: s.log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, checkouts.Close()) }()

	index := codesearch.NewCache(filepath.Join(s.cfg.Server.Data, "indexes"), codesearch.CacheOptions{})
	layers := hub.NewLayers(github, s.cfg.base())
	counted := newMetrics(checkouts.Stats)
	counted.votes(func() (librarian.VotesData, error) { return runs.Votes(ctx, s.now().Add(-votesShown)) })
	if s.cfg.Server.Metrics != "" {
		at, err := new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.Server.Metrics)
		if err != nil {
			return &UsageError{Message: "cannot listen on " + s.cfg.Server.Metrics + ": " + cause(err), Hint: "set server.metrics to a free address", Err: err}
		}
		go counted.serve(ctx, at, s.log.With("part", "metrics"))
	}
	runner := s.runner(ctx, github, me, checkouts, runs, jobs, index, layers, counted)
	hook, err := handlers.NewWebhook(handlers.Options{
		Secret: string(s.secrets.WebhookSecret), AppID: me.ID, BotID: me.BotID, Names: names(me.Slug, s.cfg.GitHub.Alias), Host: github.Host(),
		AllowBots: s.cfg.Ask.Bots, Enqueuer: enqueuer{jobs}, Installations: installations{runs, github, layers, checkouts, index},
		Label: s.cfg.Triggers.Label, Events: s.cfg.Triggers.rules(), Log: s.log.With("part", "webhook"), Now: s.now,
	})
	if err != nil {
		return &UsageError{Message: err.Error(), Err: err}
	}
	if err := jobs.Start(ctx, queue.Work{Acknowledge: runner.Acknowledge, Research: runner.Run, Publish: runner.Publish, Command: runner.Command}); err != nil {
		return fmt.Errorf("app: %w", err)
	}
	stopped := make(chan error, 1)
	srv := &http.Server{
		Handler: routes(hook), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.log.With("part", "http").Handler(), slog.LevelWarn),
	}
	go func() { stopped <- srv.Serve(ln) }()
	go s.tidy(ctx, runs)
	go (&hub.MissedDeliveries{Hub: github, Ready: func(ctx context.Context) error { return s.canKeep(ctx, runs) }}).Run(ctx)
	go s.countVotes(ctx, runner)
	s.log.InfoContext(ctx, "serving", "app", me.Slug, "webhook", "http://"+ln.Addr().String()+WebhookPath, "github", github.Host(), "model", s.cfg.Models.Default)
	if s.ready != nil {
		s.ready("http://" + ln.Addr().String() + WebhookPath)
	}
	select {
	case <-ctx.Done():
	case err = <-stopped:
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Queue.Grace+stopTime)
	defer cancel()
	err = errors.Join(ignoreClosed(err), ignoreClosed(srv.Shutdown(end)), jobs.Stop(end))
	s.log.InfoContext(end, "stopped")
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func names(slug, alias string) []string {
	if alias == "" {
		return []string{slug}
	}
	return []string{slug, alias}
}

func routes(hook http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(WebhookPath, hook)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	return mux
}

// tidy removes what was kept long enough, at the start and then each hour.
func (s *Server) tidy(ctx context.Context, runs *store.Store) {
	for {
		now := s.now()
		n, err := runs.Expire(ctx, now.Add(-s.cfg.Retention.Messages), now.Add(-s.cfg.Retention.Audit))
		if err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "retention", "error", err)
		} else if n > 0 {
			s.log.InfoContext(ctx, "retention", "removed", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Hour):
		}
	}
}

// countVotes looks every now and then at what readers think of answers.
func (s *Server) countVotes(ctx context.Context, runner *run.Runner) {
	for {
		if err := runner.CountVotes(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "votes", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(s.votesEvery, votesEvery)):
		}
	}
}

func (s *Server) hub() (*hub.Hub, error) {
	tr, err := transport(s.cfg.GitHub.CAFile)
	if err != nil {
		return nil, err
	}
	h, err := hub.New(hub.Options{
		APIURL: s.cfg.GitHub.APIURL, WebURL: s.cfg.GitHub.WebURL, AppID: s.cfg.GitHub.AppID, PrivateKey: s.secrets.PrivateKey,
		Transport: tr, Now: s.now, Log: s.log.With("part", "hub"),
	})
	if err != nil {
		return nil, &UsageError{Message: err.Error(), Hint: "check github in the configuration and the private key", Err: err}
	}
	return h, nil
}

func (s *Server) runner(ctx context.Context, h *hub.Hub, me hub.App, checkouts *checkout.Store, runs *store.Store, jobs *queue.Queue, index *codesearch.Cache, layers *hub.Layers, counted *metrics) *run.Runner {
	poster := comment.New(comment.Options{
		AppID: me.ID, BotID: me.BotID, Client: h.PostClient, Ledger: runs, Shared: !runs.SQLite(), Now: s.now, Log: s.log.With("part", "comment"),
	})
	box := openSandbox(ctx, s.cfg.Server.Data, s.cfg.Tools, s.log.With("part", "sandbox"))
	return run.New(run.Options{
		Log: runs, Progression: progression{runs}, Runs: threadRuns{runs}, Facts: h,
		Enqueue: func(ctx context.Context, by librarian.RunID, r librarian.Request) error {
			return enqueuer{jobs}.Enqueue(ctx, librarian.Delivery{ID: "run " + string(by), Event: "run"}, r)
		},
		Threads: h, Poster: poster, Tokens: tokens{h}, Checkouts: checkouts,
		Toolbox: (&workshop{index: index, box: box, hub: h, grep: s.cfg.Tools.GrepApp, now: s.now}).kit, Models: s.models,
		Settings: layers.Effective, Unseen: layers.Unseen, Votes: h.Votes, Ballots: runs,
		Ready:    func(ctx context.Context, place librarian.Place) { _, _, _ = h.PostClient(ctx, place) }, // only to have a token; posting meets what is wrong
		Spending: spending{runs}, Slug: me.Slug, AppID: me.ID, Host: h.Host(), GitHosts: s.cfg.Checkout.Hosts,
		Progress: s.cfg.Limits.Progress, Secrets: s.held, Version: Version(), Now: s.now,
		Logger: s.log.With("part", "run"), Budget: counted.budget, Watch: func(id librarian.RunID, kind librarian.EventKind, data any) {
			counted.watch(id, kind, data)
			if s.watch != nil {
				s.watch(id, kind, data)
			}
		},
	})
}

// enqueuer lets handlers enqueue without knowing the queue.
type enqueuer struct{ q *queue.Queue }

func (e enqueuer) Enqueue(ctx context.Context, d librarian.Delivery, r librarian.Request) error {
	_, _, err := e.q.Enqueue(ctx, d, r)
	return err
}

type checkoutOptions struct {
	cfg    Config
	dir    string
	github *hub.Hub
	local  []string // hosts at loopback that may be spoken to
	now    func() time.Time
	log    *slog.Logger
}

// openCheckouts makes the checkout cache ready. The configured GitHub host may be at a private address, since the operator
// named it; other hosts may not.
func openCheckouts(ctx context.Context, o checkoutOptions) (*checkout.Store, error) {
	opt := checkout.Options{
		Dir: o.dir, Hosts: append([]string{}, o.cfg.Checkout.Hosts...), PrivateHosts: o.local, CAFile: o.cfg.GitHub.CAFile,
		Budget: checkout.Budget{DiskBytes: int64(o.cfg.Checkout.DiskGB) << 30}, Debounce: o.cfg.Checkout.Debounce, Ahead: o.cfg.Checkout.History, Now: o.now, Log: o.log.With("part", "checkout"),
	}
	if o.github != nil {
		if o.cfg.GitHub.APIURL == "" {
			opt.Hosts = append(opt.Hosts, o.github.Host())
		} else {
			opt.PrivateHosts = append(opt.PrivateHosts, o.github.Host())
		}
	}
	s, err := checkout.New(opt)
	if err != nil {
		return nil, &UsageError{Message: err.Error(), Hint: "check checkout in the configuration", Err: err}
	}
	if err := s.Start(ctx); err != nil {
		hint := "git 2.39 or newer must be on PATH"
		if _, disk := errors.AsType[*fs.PathError](err); disk {
			hint = "server.data must be a folder that can be written, with room"
		}
		return nil, &UsageError{Message: err.Error(), Hint: hint, Err: err}
	}
	return s, nil
}

// transport speaks HTTP with the machine's certificate authorities and those in caFile.
func transport(caFile string) (http.RoundTripper, error) {
	if caFile == "" {
		return nil, nil //nolint:nilnil // hub has its own
	}
	pem, err := os.ReadFile(caFile) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, &UsageError{Message: "github.ca_file: " + caFile + " cannot be read", Hint: "name a PEM file", Err: err}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, &UsageError{Message: "github.ca_file: " + caFile + " holds no certificate", Hint: "name a PEM file"}
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 16, ForceAttemptHTTP2: true,
	}, nil
}

// cause is the innermost reason of a network error, in few words.
func cause(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err.Error()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return cause(u.Err)
	}
	return err.Error()
}

// trial is how many bytes must find room on the disk before missed deliveries are asked for.
const trial = 4 << 20

// canKeep reports whether questions can be kept now: the database takes a row, and the disk what they come with.
func (s *Server) canKeep(ctx context.Context, runs *store.Store) error {
	if err := runs.Wrote(ctx, 0, librarian.Write{At: runs.Now(), Kind: "trial"}); err != nil { // on no installation's books; gone within hours
		return fmt.Errorf("app: %w", err)
	}
	file := filepath.Join(s.cfg.Server.Data, "trial")
	if err := errors.Join(os.WriteFile(file, make([]byte, trial), 0o600), os.Remove(file)); err != nil {
		return fmt.Errorf("app: %w", err)
	}
	return nil
}
