package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/run"
	"github.com/librarian-app/librarian/librarian/store"
)

// AskOptions is a question on the terminal.
type AskOptions struct {
	TerminalOptions
	Question string
	JSON     bool // print the answer for programs
	Model    string
	Getenv   func(string) string // for the models' keys
	StateDir string              // runs are kept there
	Out      io.Writer
	Trace    io.Writer // lines as the run goes on
}

// Ask answers a question on the terminal by the same runner that serves GitHub. It is false when the run ended without
// an answer.
func Ask(ctx context.Context, o AskOptions) (answered bool, err error) {
	if strings.TrimSpace(o.Question) == "" {
		return false, &UsageError{Message: "there is no question", Hint: `ask like this: librarian ask --repo . "where are webhooks verified?"`}
	}
	term, err := openTerminal(ctx, o.TerminalOptions)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, term.close()) }()

	runs, err := store.Open(ctx, store.Options{Dir: o.StateDir, Now: o.Now})
	if err != nil {
		return false, &UsageError{Message: "runs cannot be kept in " + o.StateDir + ": " + err.Error(), Hint: "set XDG_STATE_HOME to a directory that can be written", Err: err}
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	shop, err := newModelShop(o.Config.Models, o.Getenv, o.Log)
	if err != nil {
		return false, err
	}
	view := &view{out: o.Trace}
	options := term.run(secretsOf(term.github, shop, []byte(o.Token)))
	options.Log, options.Progression, options.Models, options.Base, options.Watch = runs, progression{runs}, shop.Model, o.Config.base(), view.take
	runner := run.New(options)
	request := term.asker()
	request.Kind, request.Question, request.Model = librarian.KindQuestion, o.Question, o.Model
	id, err := runs.CreateRun(ctx, request)
	if err != nil {
		return false, fmt.Errorf("app: %w", err)
	}
	if err := runner.Run(ctx, id); err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return false, fmt.Errorf("app: %w", err)
	}
	if err := runner.Publish(ctx, id); err != nil {
		return false, fmt.Errorf("app: %w", err)
	}
	out := view.outcome()
	if out == nil {
		return false, errors.New("app: the run left no outcome")
	}
	secrets := secretsOf(term.github, shop, []byte(o.Token))()
	if o.JSON {
		enc := json.NewEncoder(o.Out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(report.NewAnswer(id, *out, view.calls(), secrets))
	} else {
		_, err = io.WriteString(o.Out, report.Plain(id, *out, secrets))
	}
	return out.Kind == librarian.OutcomeFound || out.Kind == librarian.OutcomeLimit, err
}

// view prints a run as it goes on, a line a call, and keeps what the answer shows.
type view struct {
	mu    sync.Mutex
	out   io.Writer
	ended []librarian.ToolEndData
	end   *librarian.Outcome
}

func (v *view) take(_ librarian.RunID, kind librarian.EventKind, data any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch d := data.(type) {
	case librarian.ToolEndData:
		v.ended = append(v.ended, d)
		if v.out != nil {
			_, _ = fmt.Fprintln(v.out, report.TraceLine(d))
		}
	case librarian.Outcome:
		v.end = &d
	}
	_ = kind
}

func (v *view) outcome() *librarian.Outcome {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.end
}

func (v *view) calls() []librarian.ToolEndData {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]librarian.ToolEndData(nil), v.ended...)
}

// nowhere is the poster of the terminal, where the answer is printed.
type nowhere struct{}

func (nowhere) React(context.Context, librarian.Place, librarian.Reaction) error { return nil }
func (nowhere) Say(context.Context, librarian.Place, librarian.Post) (librarian.PostedData, error) {
	return librarian.PostedData{}, nil
}
func (nowhere) Exists(context.Context, librarian.Place, int64) (bool, error) { return true, nil }
func (nowhere) Remove(context.Context, librarian.Place, int64) error         { return nil }

// localRepos are git repositories on this machine that the terminal was pointed at. They are served to git by a simulated
// GitHub on a loopback port of its own, so that they take the very path that others take.
type localRepos struct {
	sim   *githubsim.Server
	repos map[string]librarian.Repo // by owner/name, lower case
	names map[string]string         // as the terminal named them → owner/name
}

const localOwner = "local"

func serveLocal(ctx context.Context, named []string, log *slog.Logger) (*localRepos, error) {
	l := &localRepos{repos: map[string]librarian.Repo{}, names: map[string]string{}}
	for _, arg := range named {
		path, ok, err := localPath(arg)
		if err != nil {
			l.close()
			return nil, err
		}
		if !ok {
			continue
		}
		if err := l.add(ctx, arg, path, log); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

// localPath reports whether an argument means a path: it is there, or it is written as only a path can be.
func localPath(arg string) (path string, ok bool, err error) {
	looks := strings.HasPrefix(arg, ".") || filepath.IsAbs(arg) || strings.HasPrefix(arg, "~")
	info, statErr := os.Stat(arg)
	switch {
	case statErr == nil && info.IsDir():
		path, err = filepath.Abs(arg)
		return path, err == nil, err
	case looks:
		return "", false, &UsageError{Message: arg + " is not a directory", Hint: "name a local git repository, or owner/repo"}
	}
	return "", false, nil
}

func (l *localRepos) add(ctx context.Context, arg, path string, log *slog.Logger) error {
	if l.sim == nil {
		l.sim = githubsim.New(githubsim.Options{Log: log})
		if err := l.sim.Start(ctx, "127.0.0.1:0"); err != nil {
			return fmt.Errorf("app: %w", err)
		}
		if _, err := l.sim.CreateUser(localOwner); err != nil {
			return fmt.Errorf("app: %w", err)
		}
	}
	base := validName(filepath.Base(path))
	name := base
	for n := 2; ; n++ {
		if _, taken := l.repos[localOwner+"/"+strings.ToLower(name)]; !taken {
			break
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
	made, err := l.sim.CreateRepo(localOwner, name, githubsim.RepoOptions{Path: path})
	if err != nil {
		return &UsageError{Message: arg + " is not a git repository", Hint: "name the top of a local clone, a bare repository, or owner/repo", Err: err}
	}
	full := localOwner + "/" + name
	l.names[arg] = full
	l.repos[strings.ToLower(full)] = librarian.Repo{
		ID: librarian.FileRepo(path), Owner: localOwner, Name: name, Visibility: librarian.Private, DefaultBranch: made.DefaultBranch, CloneURL: made.CloneURL,
	}
	return nil
}

// validName makes a folder's name one that a repository can have.
func validName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, strings.TrimSuffix(s, ".git"))
	if s = strings.Trim(s, ".-"); s == "" {
		return "repository"
	}
	return s[:min(len(s), 90)]
}

func (l *localRepos) find(spec checkout.Spec) (librarian.Repo, bool) {
	r, ok := l.repos[strings.ToLower(spec.Path)]
	r.Host = spec.Host // no prefix in the run's names
	return r, ok
}

func (l *localRepos) rename(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if name, ok := l.names[a]; ok {
			out[i] = name
		}
	}
	return out
}

func (l *localRepos) hosts() []string {
	if l.sim == nil {
		return nil
	}
	return []string{strings.TrimPrefix(l.sim.URL(), "http://")}
}

func (l *localRepos) close() {
	if l.sim != nil {
		l.sim.Close()
	}
}
