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
	"slices"
	"strings"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/run"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/tool"
)

// AskOptions is a question on the terminal.
type AskOptions struct {
	TerminalOptions
	Question string
	Owners   []string // accounts to look at
	Continue string   // the id of a run to go on from; empty: a new one
	JSON     bool     // print the answer for programs
	Model    string
	Getenv   func(string) string // for the models' keys
	StateDir string              // runs are kept there
	Out      io.Writer
	Trace    io.Writer  // the run as it goes on
	Width    func() int // columns of the terminal that Trace is; nil: it is none, and plain lines are printed
}

// Ask answers a question on the terminal by the same runner that serves GitHub. It is false when the run ended without
// an answer; one that stands on nothing is [ErrNothingRead]. When ctx ends, the run is stopped like one that somebody stopped: what was found is printed with the run's
// id, and the error is ctx's.
func Ask(ctx context.Context, o AskOptions) (answered bool, err error) {
	if strings.TrimSpace(o.Question) == "" {
		return false, &UsageError{Message: "there is no question", Hint: `ask like this: librarian ask --repo . "where are webhooks verified?"`}
	}
	if len(o.Owners) > librarian.MaxScope {
		return false, &UsageError{Message: fmt.Sprintf("%d owners are too many", len(o.Owners)), Hint: fmt.Sprintf("name at most %d", librarian.MaxScope)}
	}
	for _, owner := range o.Owners {
		if _, err := librarian.ParseRepoName(owner + "/x"); err != nil {
			return false, &UsageError{Message: fmt.Sprintf("%q is not an account's name", owner), Hint: "name an owner as in owner/repo", Err: err}
		}
	}
	if o.Model != "" { // who sits at the terminal may name any model; what is private keeps to models.private
		o.Config.Models.Allowed = append(slices.Clone(o.Config.Models.Allowed), o.Model)
		if err := o.Config.Models.check(); err != nil {
			return false, &UsageError{Message: err.Error(), Err: err}
		}
	}
	var held func() []string // known once the store is open
	runs, err := store.Open(ctx, store.Options{Dir: o.StateDir, Now: o.Now, Clean: keepClean(&held)})
	if err != nil {
		return false, &UsageError{Message: "runs cannot be kept in " + o.StateDir + ": " + err.Error(), Hint: "set XDG_STATE_HOME to a directory that can be written", Err: err}
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	if err := o.tidy(ctx, runs); err != nil {
		return false, err
	}
	from, err := o.continued(ctx, runs)
	if err != nil {
		return false, err
	}
	shop, err := newModelShop(o.Config.Models, o.Getenv, o.Log)
	if err != nil {
		return false, err
	}
	term, err := openTerminal(ctx, o.TerminalOptions)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, term.close()) }()
	view := &view{out: o.Trace, width: o.Width, now: o.Now}
	defer view.close()
	held = secretsOf(term.github, shop, []byte(o.Token))
	options := term.run(held)
	options.Log, options.Progression, options.Models, options.Base, options.Watch = runs, progression{runs}, shop.Model, o.Config.base(), view.take
	runner := run.New(options)
	request := term.asker()
	request.Kind, request.Question, request.Model, request.Owners, request.Continue = librarian.KindQuestion, o.Question, o.Model, o.Owners, from
	id, err := runs.CreateRun(ctx, request)
	if err != nil {
		return false, fmt.Errorf("app: %w", err)
	}
	if err := work(ctx, runner, runs, id); err != nil {
		return false, fmt.Errorf("app: run %s: %w", id, err)
	}
	view.close()
	out := view.outcome()
	if out == nil {
		return false, errors.New("app: the run left no outcome")
	}
	secrets := held()
	if o.JSON {
		enc := json.NewEncoder(o.Out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(report.NewAnswer(id, *out, view.calls(), secrets))
	} else {
		_, err = io.WriteString(o.Out, report.Plain(id, *out, secrets))
	}
	if ctx.Err() != nil && out.Kind == librarian.OutcomeCancelled {
		return false, context.Cause(ctx)
	}
	if err == nil && nothingRead(*out, view.calls()) {
		err = ErrNothingRead
	}
	return err == nil && (out.Kind == librarian.OutcomeFound || out.Kind == librarian.OutcomeLimit), err
}

// ErrNothingRead is an answer that stands on nothing: whatever the run tried to look at could not be opened.
var ErrNothingRead = errors.New("nothing could be looked at; what was tried, and why it failed, is said above")

func nothingRead(o librarian.Outcome, calls []librarian.ToolEndData) bool {
	if o.Kind != librarian.OutcomeFound && o.Kind != librarian.OutcomeLimit || o.Findings == nil || len(o.Findings.Locations) > 0 {
		return false
	}
	tried := slices.DeleteFunc(slices.Clone(calls), func(c librarian.ToolEndData) bool { return c.Tool == tool.ProvideResults })
	return len(tried) > 0 && !slices.ContainsFunc(tried, func(c librarian.ToolEndData) bool { return !c.IsError })
}

// work works a run to its end. When ctx ends the run is asked to stop, and still comes to an outcome.
func work(ctx context.Context, runner *run.Runner, runs *store.Store, id librarian.RunID) error {
	whole := context.WithoutCancel(ctx)
	unhook := context.AfterFunc(ctx, func() { _, _ = runs.RequestCancel(whole, id) })
	defer unhook()
	if err := runner.Run(whole, id); err != nil {
		return err
	}
	return runner.Publish(whole, id)
}

// tidy removes runs that were kept long enough, as a server does.
func (o AskOptions) tidy(ctx context.Context, runs *store.Store) error {
	now, keep := o.Now(), o.Config.Retention
	if _, err := runs.Expire(ctx, now.Add(-keep.Messages), now.Add(-keep.Audit)); err != nil {
		return fmt.Errorf("app: retention: %w", err)
	}
	return nil
}

// continued looks up the run to go on from. The local repositories that it read are named anew, for its citations are
// checked again.
func (o *AskOptions) continued(ctx context.Context, runs *store.Store) (librarian.RunID, error) {
	if o.Continue == "" {
		return "", nil
	}
	id, err := librarian.ParseRunID(o.Continue)
	if err != nil {
		return "", unknownRun(librarian.RunID(o.Continue))
	}
	if _, err := runs.Run(ctx, id); err != nil {
		if errors.Is(err, librarian.ErrRunNotFound) {
			return "", unknownRun(id)
		}
		return "", fmt.Errorf("app: %w", err)
	}
	events, err := runs.Events(ctx, id, 0)
	if err != nil {
		return "", fmt.Errorf("app: %w", err)
	}
	var known []librarian.RepoID
	for _, arg := range o.Repos {
		if path, ok, err := localPath(arg); err == nil && ok {
			known = append(known, librarian.FileRepo(path))
		}
	}
	for _, e := range events {
		var d librarian.ToolEndData
		if e.Kind != librarian.EventToolEnd || json.Unmarshal(e.Data, &d) != nil {
			continue
		}
		for _, ev := range d.Evidence {
			path, ok := strings.CutPrefix(string(ev.Repo), "file:")
			if !ok || slices.Contains(known, ev.Repo) || len(o.Repos) == librarian.MaxScope {
				continue
			}
			if info, err := os.Stat(path); err == nil && info.IsDir() { // else the run cannot be continued, and says so
				known, o.Repos = append(known, ev.Repo), append(o.Repos, path)
			}
		}
	}
	return id, nil
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

func (l *localRepos) byID(id librarian.RepoID) (librarian.Repo, bool) {
	for _, r := range l.repos {
		if r.ID == id {
			return r, true
		}
	}
	return librarian.Repo{}, false
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
