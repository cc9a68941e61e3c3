package app

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

// replica is one of several processes that serve one App from one PostgreSQL database.
type replica struct {
	cmd *exec.Cmd
	url string
	log *lockedBuffer
}

// replicas starts the App n times, each with a data directory of its own, behind a front that gives every delivery to all of
// them at once. One that does not answer does not count.
func (f *flow) replicas(n int) []replica {
	f.t.Helper()
	var all []replica
	for i := range n {
		cfg, log := f.cfg, &lockedBuffer{}
		dir := filepath.Join(filepath.Dir(f.cfg.Server.Data), fmt.Sprint("replica", i))
		require.NoError(f.t, os.Mkdir(dir, 0o700))
		cfg.Server.Data = filepath.Join(dir, "data")
		cmd, url := f.process(cfg, io.MultiWriter(f.log, log), EnvDatabaseURL+"="+f.db)
		all = append(all, replica{cmd, url, log})
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		codes := make([]int, n)
		var wg sync.WaitGroup
		for i := range all {
			wg.Go(func() {
				again, err := http.NewRequestWithContext(r.Context(), r.Method, all[i].url, bytes.NewReader(body))
				if err != nil {
					return
				}
				again.Header = r.Header.Clone()
				res, err := http.DefaultClient.Do(again)
				if err != nil {
					return
				}
				_ = res.Body.Close()
				codes[i] = res.StatusCode
			})
		}
		wg.Wait()
		w.WriteHeader(slices.Max(codes))
	}))
	f.t.Cleanup(front.Close)
	require.NoError(f.t, f.sim.SetWebhookURL(f.world.app, front.URL))
	return all
}

// O1, O6: on two replicas that get every delivery at once each question is answered once, and the question of the one that is
// killed is taken up by the other when the lease has run out.
func TestO1_TwoReplicasOfOneDatabase(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	f := crashing(t)
	f.db = database
	both := f.replicas(2)
	var asked []githubsim.Comment
	for i := range 6 {
		c, err := f.sim.Comment("acme/pantry", 1, simUser, fmt.Sprintf("@librarian how is it decided which of %d jars is eaten first?", i+2))
		require.NoError(t, err)
		asked = append(asked, c)
	}
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	for _, c := range asked {
		require.Equal(t, "rocket", f.settled(c.ID))
	}
	f.rest()
	require.Len(t, f.ours("acme/pantry", 0), len(asked), "one answer a question")
	require.Equal(t, len(asked), strings.Count(f.log.String(), `msg="run admitted"`))

	slow := f.sim.Inject(githubsim.Fault{Path: gitPath, Delay: time.Minute})
	c, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian what spoils first?")
	require.NoError(t, err)
	admitted := func(r replica) int { return strings.Count(r.log.String(), `msg="run admitted"`) }
	before := admitted(both[0])
	f.eventually("one of them is at work", func() bool { return admitted(both[0])+admitted(both[1]) == len(asked)+1 })
	at, other := both[0], both[1]
	if admitted(both[0]) == before {
		at, other = other, at
	}
	kill(at.cmd)
	slow()
	f.eventually("the lease ran out", func() bool { return strings.Contains(other.log.String(), "run taken up again") })
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Len(t, f.ours("acme/pantry", c.ID), 1)

	var out strings.Builder
	require.NoError(t, ListRuns(t.Context(), RunsOptions{URL: database, Out: &out}, 100))
	require.Equal(t, len(asked)+1, strings.Count(out.String(), "published"), "%s", &out)
	require.NotContains(t, f.log.String(), database)
}

func TestDatabaseURL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(text string) string {
		p := filepath.Join(dir, fmt.Sprint(len(text)))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	const good = "postgres://librarian:canary-password@db.example:5432/librarian"
	for name, row := range map[string]struct{ file, env, want, fault string }{
		"neither":        {},
		"environment":    {env: good, want: good},
		"file":           {file: file(good + "\n"), env: "postgres://other/other", want: good},
		"no such file":   {file: filepath.Join(dir, "none"), fault: "database.url_file"},
		"empty file":     {file: file(" "), fault: "is empty"},
		"another kind":   {env: "mysql://me:canary-password@db/x", fault: "not one of PostgreSQL"},
		"no URL":         {env: "host=db password=canary-password", fault: "not one of PostgreSQL"},
		"does not parse": {env: "postgres://me:canary-password@db:port/x", fault: "not one of PostgreSQL"},
		"without a host": {env: "postgres:///x", fault: "not one of PostgreSQL"},
	} {
		cfg := Default()
		cfg.Database.URLFile = row.file
		got, err := DatabaseURL(cfg, func(k string) string { return map[string]string{EnvDatabaseURL: row.env}[k] })
		if row.fault != "" {
			var usage *UsageError
			require.ErrorAs(t, err, &usage, name)
			require.ErrorContains(t, err, row.fault, name)
			require.NotContains(t, fmt.Sprintf("%v %+v %s", err, err, usage.Hint), "canary", name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, row.want, string(got), name)
	}
}

// A database that does not answer is a mistake of the configuration, told without its password.
func TestServeOnADatabaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	cfg := Default()
	cfg.GitHub.AppID = 1
	cfg.Server = ServerConfig{Listen: "127.0.0.1:0", Data: t.TempDir()}
	err := NewServer(cfg, Secrets{DatabaseURL: []byte("postgres://me:canary-password@127.0.0.1:1/x?sslmode=disable")},
		ServerOptions{Log: slog.New(slog.DiscardHandler)}).Run(t.Context())
	var usage *UsageError
	require.ErrorAs(t, err, &usage)
	require.ErrorContains(t, err, "the database cannot be opened")
	require.Contains(t, usage.Hint, EnvDatabaseURL)
	require.NotContains(t, fmt.Sprintf("%v %+v", err, usage), "canary")
}
