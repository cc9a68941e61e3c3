package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/hub"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/run"
	"github.com/librarian-app/librarian/librarian/sandbox"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/tool"
	"github.com/librarian-app/librarian/librarian/tool/codetool"
	"github.com/librarian-app/librarian/librarian/tool/ghtool"
)

// progression lets run move runs without knowing the store.
type progression struct{ *store.Store }

func (p progression) Begin(ctx context.Context, id librarian.RunID) (attempt int, ok bool, err error) {
	attempt, err = p.Store.Begin(ctx, id)
	if errors.Is(err, store.ErrAttemptsSpent) {
		return 0, false, nil
	}
	return attempt, err == nil, err
}

func (p progression) Advance(ctx context.Context, id librarian.RunID, to librarian.State, kind librarian.EventKind, data any) error {
	step := store.Step{To: to, Kind: kind, Data: data}
	if o, ok := data.(librarian.Outcome); ok && o.Usage.Cost != nil {
		step.Cost = *o.Usage.Cost
	}
	_, err := p.Store.Advance(ctx, id, step)
	return err
}

// spending counts what was asked and spent.
type spending struct{ *store.Store }

func (s spending) Asked(ctx context.Context, r librarian.Run, since time.Time) (user, repo, thread int, err error) {
	return s.Count(ctx, r, since)
}

// threadRuns finds the runs of a thread for commands.
type threadRuns struct{ *store.Store }

func (t threadRuns) InThread(ctx context.Context, place librarian.Place, trigger bool) ([]librarian.Run, error) {
	f := store.Filter{Repo: place.Repo, Number: place.Number, Limit: 100}
	if trigger {
		f.Trigger, f.TriggerID = place.Trigger, place.TriggerID
	}
	return t.Find(ctx, f)
}

// tokens hands git the credentials of one repository, minted when a command needs them.
type tokens struct{ hub *hub.Hub }

// ReadCredentials implements run.Tokens. What is public and outside of the installation needs none.
func (t tokens) ReadCredentials(repo librarian.Repo) checkout.Credentials {
	_, number, ok := repo.ID.GitHub()
	if !ok || !repo.Private() {
		return nil
	}
	return func(ctx context.Context) (checkout.Secret, error) {
		tok, err := t.hub.ReadToken(ctx, repo.Installation, number)
		if err != nil || tok.IsZero() {
			return checkout.Secret{}, err
		}
		return checkout.BasicAuth("x-access-token", tok.Secrets()[0]), nil
	}
}

// gate lets the tools through run's gate.
type gate struct{ *run.Gate }

func (g gate) Open(ctx context.Context, spec checkout.Spec, ref string) (codetool.Opened, error) {
	repo, c, err := g.Gate.Open(ctx, spec, ref)
	if err != nil {
		return codetool.Opened{}, err
	}
	return codetool.Opened{Repo: repo, Checkout: c}, nil
}

// workshop is what the kits of all runs are made from.
type workshop struct {
	index *codesearch.Cache
	box   *sandbox.Sandbox // nil: no bash
	hub   *hub.Hub
	grep  string // grep.app's address; empty: not asked
	now   func() time.Time
	paces sync.Map // installation → *ghtool.Pace
}

// codeSearches is how many code searches GitHub allows an installation in a minute
// (https://docs.github.com/rest/search/search#rate-limit).
const codeSearches = 10

// kit makes the tools of one run, and what its answer is checked against.
func (w *workshop) kit(g *run.Gate) run.Kit {
	s := codetool.NewSession(codetool.Options{Gate: gate{g}, Index: w.index, Sandbox: w.box, DefaultHost: w.hub.Host()})
	pace, _ := w.paces.LoadOrStore(g.Place().Installation, &ghtool.Pace{N: codeSearches, Per: time.Minute, Now: w.now})
	reads := newAPIReads()
	tools := append(s.Tools(), githubTools(g, w.hub, pace.(*ghtool.Pace), w.grep, w.now, reads, s)...)
	tools = slices.DeleteFunc(tools, func(t tool.Tool) bool { return slices.Contains(g.Settings().Tools.Disabled, t.Spec().Name) })
	then := newEarlier(g)
	return run.Kit{Tools: tools, Sources: sources{s, reads, then}, Tree: tree{s, reads, then}, Close: func() { s.Close(); then.close() }}
}

// sources tells report what a run opened and what it read through the API, and what the runs before it did.
type sources struct {
	s     *codetool.Session
	reads *apiReads
	then  *earlier
}

func (v sources) Source(key string) (report.Source, bool) {
	if o, ok := v.s.Lookup(key); ok {
		return report.Source{Key: key, Repo: o.Repo, SHA: o.Checkout.SHA()}, true
	}
	if s, ok := v.reads.source(key); ok {
		return s, true
	}
	return v.then.source(key)
}

func (v sources) Sources() []report.Source {
	var out []report.Source
	for _, key := range v.s.Keys() {
		if s, ok := v.Source(key); ok {
			out = append(out, s)
		}
	}
	for _, s := range v.reads.all() {
		if _, ok := v.s.Lookup(s.Key); ok { // a checkout has that name; the commit is found by its digits
			s.Key += "@" + s.SHA[:12]
		}
		out = append(out, s)
	}
	return append(out, v.then.sources...)
}

// tree answers report from the trees of the commits that a run holds, from what it read through the API, or from the trees that
// the runs before it read.
type tree struct {
	s     *codetool.Session
	reads *apiReads
	then  *earlier
}

func (t tree) held(repo librarian.RepoID, sha string) *checkout.Checkout {
	for _, key := range t.s.Keys() {
		if o, ok := t.s.Lookup(key); ok && o.Repo.ID == repo && o.Checkout.SHA() == sha {
			return o.Checkout
		}
	}
	return nil
}

// onlyRead reports whether a commit is known by single files alone.
func (t tree) onlyRead(repo librarian.RepoID, sha string) bool {
	return t.held(repo, sha) == nil && t.reads.has(repo, sha)
}

func (t tree) at(ctx context.Context, repo librarian.RepoID, sha string) (*checkout.Checkout, error) {
	if c := t.held(repo, sha); c != nil {
		return c, nil
	}
	return t.then.at(ctx, repo, sha)
}

func (t tree) Stat(ctx context.Context, repo librarian.RepoID, sha, path string) (report.FileInfo, error) {
	if t.onlyRead(repo, sha) {
		return t.reads.Stat(ctx, repo, sha, path)
	}
	c, err := t.at(ctx, repo, sha)
	if err != nil {
		return report.FileInfo{}, err
	}
	list, err := c.Tree(ctx)
	if err != nil {
		return report.FileInfo{}, err
	}
	if _, ok := list.Lookup(path); !ok {
		if list.IsDir(path) {
			return report.FileInfo{Kind: report.KindDir}, nil
		}
		return report.FileInfo{}, fs.ErrNotExist
	}
	f, err := c.ReadFile(ctx, path)
	if err != nil {
		return report.FileInfo{}, err
	}
	if f.Truncated && !f.Binary {
		found, err := scan(ctx, c, path, 1, 0)
		return report.FileInfo{Kind: report.KindText, Lines: found.Total}, err
	}
	return fileInfo(f), nil
}

// scan reads lines of a file that is too big to hold.
func scan(ctx context.Context, c *checkout.Checkout, path string, start, end int) (tool.Scanned, error) {
	f, _, err := c.Open(ctx, path)
	if err != nil {
		return tool.Scanned{}, err
	}
	defer func() { _ = f.Close() }()
	return tool.ScanLines(f, start, end)
}

func (t tree) Nearest(ctx context.Context, repo librarian.RepoID, sha, path string) []string {
	if t.onlyRead(repo, sha) {
		return t.reads.Nearest(ctx, repo, sha, path)
	}
	c, err := t.at(ctx, repo, sha)
	if err != nil {
		return nil
	}
	list, err := c.Tree(ctx)
	if err != nil {
		return nil
	}
	return list.Near(path, 3)
}

func (t tree) Lines(ctx context.Context, repo librarian.RepoID, sha, path string, start, end int) ([]string, error) {
	if t.onlyRead(repo, sha) {
		return t.reads.Lines(ctx, repo, sha, path, start, end)
	}
	c, err := t.at(ctx, repo, sha)
	if err != nil {
		return nil, err
	}
	f, err := c.ReadFile(ctx, path)
	if err != nil {
		return nil, err
	}
	if f.Truncated && !f.Binary {
		found, err := scan(ctx, c, path, start, end)
		return found.Lines, err
	}
	lines := tool.SplitLines(f.Data)
	start, end = max(start, 1), min(end, len(lines))
	if start > end {
		return nil, nil
	}
	return lines[start-1 : end], nil
}

// fileInfo says of a file what citing it needs to know.
func fileInfo(f *checkout.FileData) report.FileInfo {
	switch {
	case f.Kind == checkout.Symlink:
		return report.FileInfo{Kind: report.KindSymlink}
	case f.Kind == checkout.Submodule:
		return report.FileInfo{Kind: report.KindSubmodule}
	case f.Binary:
		return report.FileInfo{Kind: report.KindBinary}
	case f.LFS:
		return report.FileInfo{Kind: report.KindLFS}
	}
	return report.FileInfo{Kind: report.KindText, Lines: tool.CountLines(f.Data)}
}

// keepClean keeps the values that held lists out of the store. held is set after the store is opened and before a run.
func keepClean(held *func() []string) func(json.RawMessage) json.RawMessage {
	return func(raw json.RawMessage) json.RawMessage {
		if *held == nil {
			return raw
		}
		return report.RedactKept(raw, (*held)())
	}
}

// secretsOf lists every value that must not be posted, as they are now.
func secretsOf(h *hub.Hub, shop *modelShop, fixed ...[]byte) func() []string {
	return func() []string {
		var out []string
		for _, s := range fixed {
			if len(s) > 0 {
				out = append(out, string(s))
			}
		}
		if h != nil {
			out = append(out, h.Secrets()...)
		}
		if shop != nil {
			out = append(out, shop.secrets()...)
		}
		return out
	}
}
