package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// scripted is one file of testdata/runs: what a model does on one side, what comes of it on the other.
//
//	config.yml                  what differs from the default configuration
//	repo/OWNER/NAME/N/PATH      a file of commit N of one more public repository; MESSAGE is the commit's message
//	repo/OWNER/NAME/about       its description
//	ask                         "repository login" on the first line, then the comment
//	turn N                      the model's turns (see modeltest.Parse); "wait" waits for the asker's stop
//	heard                       what the model was told but tool results that worked
//	trace                       the run's tool calls, as the log has them
//	comment                     the mark on the question, and everything that was posted
//
// The last three are compared, or written with -update. What differs from run to run is replaced in them.
type scripted struct {
	file  string
	ar    *txtar.Archive
	files map[string]string
}

func readScripted(t *testing.T, file string) *scripted {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	require.NoError(t, err)
	s := &scripted{file: file, ar: ar, files: map[string]string{}}
	for _, f := range ar.Files {
		s.files[f.Name] = string(f.Data)
	}
	return s
}

// turns are the model's, and a channel that is closed when a turn waits.
func (s *scripted) turns(t *testing.T) (turns []modeltest.Turn, waits chan struct{}) {
	t.Helper()
	for n := 1; ; n++ {
		text, ok := s.files[fmt.Sprintf("turn %d", n)]
		switch {
		case !ok:
			return turns, waits
		case strings.TrimSpace(text) == "wait":
			waits = make(chan struct{})
			turns = append(turns, modeltest.Hang(waits))
		default:
			turn, err := modeltest.Parse(text)
			require.NoError(t, err)
			turns = append(turns, turn)
		}
	}
}

// build adds the file's repositories and configuration to the world.
func (s *scripted) build(f *flow) {
	require.NoError(f.t, yaml.Unmarshal([]byte(s.files["config.yml"]), &f.cfg))
	commits := map[string]map[int]*githubsim.Commit{}
	for name, text := range s.files {
		p := strings.SplitN(name, "/", 5)
		if p[0] != "repo" || len(p) < 5 {
			continue
		}
		n, err := strconv.Atoi(p[3])
		require.NoError(f.t, err, name)
		repo := p[1] + "/" + p[2]
		if commits[repo] == nil {
			commits[repo] = map[int]*githubsim.Commit{}
		}
		if commits[repo][n] == nil {
			commits[repo][n] = &githubsim.Commit{Message: "Begin", When: time.Unix(1_770_000_000, 0).AddDate(0, n-1, 0), Files: map[string]string{}}
		}
		if p[4] == "MESSAGE" {
			commits[repo][n].Message = text
			continue
		}
		commits[repo][n].Files[p[4]] = text
	}
	for _, repo := range slices.Sorted(maps.Keys(commits)) {
		dir := filepath.Join(filepath.Dir(f.cfg.Server.Data), strings.ReplaceAll(repo, "/", "-")+".git")
		var all []githubsim.Commit
		for _, n := range slices.Sorted(maps.Keys(commits[repo])) {
			all = append(all, *commits[repo][n])
		}
		require.NoError(f.t, githubsim.NewGitRepo(f.t.Context(), "", dir, all...))
		owner, name, _ := strings.Cut(repo, "/")
		if owner != "acme" {
			_, err := f.sim.CreateOrg(owner)
			require.NoError(f.t, err)
		}
		_, err := f.sim.CreateRepo(owner, name, githubsim.RepoOptions{Path: dir, Description: strings.TrimSpace(s.files["repo/"+repo+"/about"]), Language: "Go", Stars: 7})
		require.NoError(f.t, err)
	}
}

var (
	uuid    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	offered = regexp.MustCompile(`The tools are: [a-z_, ]*`)
	seconds = regexp.MustCompile(`\b\d+\.\ds\b`)
	left    = regexp.MustCompile(`, 9m\d+s, `)          // of ten minutes, on a busy machine
	found   = regexp.MustCompile(`\(\d+ candidates?\)`) // how many is the ranking's affair, and with it the column of the times
	columns = regexp.MustCompile(`  +`)
)

// steady replaces what differs from run to run, or with each new tool: the port, the run's id, times, the list of tools.
func (f *flow) steady(s string) string {
	s = offered.ReplaceAllString(strings.ReplaceAll(s, f.sim.URL(), "https://github.test"), "The tools are: …")
	s = columns.ReplaceAllString(found.ReplaceAllString(s, "(N candidates)"), "  ")
	s = left.ReplaceAllString(s, ", 10m, ")
	return seconds.ReplaceAllString(uuid.ReplaceAllString(s, "RUN"), "0.1s")
}

// Twelve runs, from a signed webhook to a comment.
func TestScriptedRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/runs/*.txtar")
	require.NoError(t, err)
	require.Len(t, files, 13)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := readScripted(t, file)
			turns, waits := s.turns(t)
			m := modeltest.New(turns...)
			f := newFlow(t, m, s.build)
			place, body, ok := strings.Cut(strings.TrimSpace(s.files["ask"]), "\n")
			require.True(t, ok)
			repo, login, _ := strings.Cut(place, " ")
			c, err := f.sim.Comment(repo, 1, login, body)
			require.NoError(t, err)
			if waits != nil {
				<-waits
				_, err := f.sim.Comment(repo, 1, login, "@librarian stop")
				require.NoError(t, err)
			}
			mark := f.settled(c.ID)
			require.NoError(t, m.Done())
			got := map[string]string{"heard": heard(m), "trace": f.traceOf(), "comment": mark + "\n"}
			for _, o := range f.ours(repo, c.ID) {
				got["comment"] += "\n" + strings.TrimSpace(o.Body) + "\n"
			}
			for name := range got {
				got[name] = f.steady(got[name])
			}
			s.compare(t, got)
		})
	}
}

// heard is what a model was told from turn to turn, less the results that worked.
func heard(m *modeltest.Scripted) string {
	var b strings.Builder
	for n, c := range m.Calls() {
		for _, p := range c.Messages[len(c.Messages)-1].Parts {
			switch {
			case p.Kind == model.ToolResult && p.IsError:
				fmt.Fprintf(&b, "before turn %d, of %s:\n%s\n\n", n+1, p.Tool, p.Text)
			case p.Kind == model.Text && n > 0:
				fmt.Fprintf(&b, "before turn %d:\n%s\n\n", n+1, p.Text)
			}
		}
	}
	return b.String()
}

// traceOf reads the question's trace from the server's store, beside the running server.
func (f *flow) traceOf() string {
	f.t.Helper()
	runs, err := store.Open(f.t.Context(), store.Options{Dir: f.cfg.Server.Data})
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, runs.Close()) }()
	found, err := runs.Find(f.t.Context(), store.Filter{Kind: librarian.KindQuestion})
	require.NoError(f.t, err)
	require.Len(f.t, found, 1)
	events, err := runs.Events(f.t.Context(), found[0].ID, 0)
	require.NoError(f.t, err)
	var b strings.Builder
	for _, e := range events {
		if e.Kind == librarian.EventToolEnd {
			var d librarian.ToolEndData
			require.NoError(f.t, json.Unmarshal(e.Data, &d))
			b.WriteString(report.TraceLine(d) + "\n")
		}
	}
	return b.String()
}

func (s *scripted) compare(t *testing.T, got map[string]string) {
	t.Helper()
	if *update {
		s.ar.Files = slices.DeleteFunc(s.ar.Files, func(f txtar.File) bool { _, ok := got[f.Name]; return ok })
		for _, name := range []string{"heard", "trace", "comment"} {
			if got[name] != "" {
				s.ar.Files = append(s.ar.Files, txtar.File{Name: name, Data: []byte(got[name])})
			}
		}
		require.NoError(t, os.WriteFile(s.file, txtar.Format(s.ar), 0o644))
		return
	}
	for name, text := range got {
		if d := cmp.Diff(s.files[name], text); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
