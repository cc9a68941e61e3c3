// Package codetool holds the tools that work on checkouts: checkout_repo, read, grep, find, ls, find_code, read_enclosing, outline,
// git_log, git_show, git_blame, git_diff and bash.
//
// It owns what the model reads of a repository and how the model names it; the texts, limits and notices are those of
// CONTRACT section 2. It promises that every line a result shows is in the result's evidence and no other is, that a path
// never leaves the tree of its commit, and that nothing in a repository is followed, run or obeyed. It needs a [Gate],
// which decides what a run may read; it knows no credential.
package codetool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/sandbox"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Gate opens repositories for one run. It decides access and hands out credentials that no tool sees. An error with a
// sentence for people (a *librarian.UserError, or one of checkout's errors that have a Hint) is told to the model; any other
// ends the run.
type Gate interface {
	Open(ctx context.Context, spec checkout.Spec, ref string) (Opened, error)
}

// Opened is a repository at one commit. Whoever holds it releases the checkout.
type Opened struct {
	Repo     librarian.Repo
	Checkout *checkout.Checkout
}

// Options are what a [Session] needs.
type Options struct {
	Gate        Gate
	Index       *codesearch.Cache // nil: find_code is not offered
	Sandbox     *sandbox.Sandbox  // one whose probe went well; nil: bash is not offered
	DefaultHost string            // the host of a plain owner/repo
}

// Session holds the checkouts of one run. Each has a key that the `repo` parameters name: "owner/repo" for the first commit
// of a repository, "owner/repo@ref" for others, with the host in front where it is not the default one. It may be used by
// several goroutines at once.
type Session struct {
	opts Options

	mu     sync.Mutex
	held   []*held // in the order of opening
	closed bool
}

// held is one checkout of the run.
type held struct {
	Opened
	key   string
	place string // host/path, lower case
	asked string // the ref that was asked for; empty: the default branch
}

// NewSession does no I/O.
func NewSession(opts Options) *Session { return &Session{opts: opts} }

// Close releases every checkout. Tools called afterwards find none.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		h.Checkout.Release()
	}
	s.held, s.closed = nil, true
}

// Lookup finds a checkout by its key, in any case.
func (s *Session) Lookup(key string) (Opened, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		if strings.EqualFold(h.key, key) {
			return h.Opened, true
		}
	}
	return Opened{}, false
}

// Keys lists the checkouts' keys in the order of opening.
func (s *Session) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := make([]string, len(s.held))
	for i, h := range s.held {
		keys[i] = h.key
	}
	return keys
}

// Adopt takes over a checkout that was opened outside the session, under the ref it was asked for (empty: the default
// branch), and gives its key. The session releases it.
func (s *Session) Adopt(o Opened, ref string) (key string, err error) {
	h, err := s.keep(o, librarianPlace(o.Repo), ref)
	if err != nil {
		return "", err
	}
	return h.key, nil
}

func librarianPlace(r librarian.Repo) string { return strings.ToLower(r.Host + "/" + r.FullName()) }

// open gives the run's checkout of a place and ref, asking the gate only for what is not held yet: within a run a ref stands
// for one commit.
func (s *Session) open(ctx context.Context, spec checkout.Spec, ref string) (h *held, again bool, err error) {
	place := strings.ToLower(spec.Host + "/" + spec.Path)
	s.mu.Lock()
	for _, h := range s.held {
		if h.place == place && h.asked == ref {
			s.mu.Unlock()
			return h, true, nil
		}
	}
	s.mu.Unlock()
	o, err := s.opts.Gate.Open(ctx, spec, ref)
	if err != nil {
		return nil, false, err
	}
	h, err = s.keep(o, place, ref)
	return h, false, err
}

// keep adds a checkout, or releases it when its commit is held already.
func (s *Session) keep(o Opened, place, ref string) (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		o.Checkout.Release()
		return nil, errors.New("codetool: the session is closed")
	}
	base := o.Repo.FullName()
	if !strings.EqualFold(o.Repo.Host, s.opts.DefaultHost) {
		base = o.Repo.Host + "/" + base
	}
	key := base
	for _, h := range s.held {
		if h.Repo.ID != o.Repo.ID {
			continue
		}
		if h.Checkout.SHA() == o.Checkout.SHA() {
			o.Checkout.Release()
			return h, nil
		}
		key = base + "@" + refLabel(o, ref)
	}
	if s.taken(key) { // the same ref, moved between a run's two ways to open it
		key = base + "@" + o.Checkout.SHA()
	}
	h := &held{Opened: o, key: key, place: place, asked: ref}
	s.held = append(s.held, h)
	return h, nil
}

func (s *Session) taken(key string) bool {
	for _, h := range s.held {
		if strings.EqualFold(h.key, key) {
			return true
		}
	}
	return false
}

// refLabel is a ref as it is shown: the default branch's name where none was asked for.
func refLabel(o Opened, ref string) string {
	switch {
	case ref != "":
		return ref
	case o.Checkout.DefaultBranch() != "":
		return o.Checkout.DefaultBranch()
	}
	return "HEAD"
}

// find gives the checkout that a `repo` parameter names. The refusal, for the model, is not empty when there is none.
func (s *Session) find(repo string) (h *held, refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		return nil, "No repository is checked out yet. Call checkout_repo first."
	}
	repo = strings.TrimSpace(repo)
	if repo == "" {
		if len(s.held) == 1 {
			return s.held[0], ""
		}
		return nil, fmt.Sprintf("Several repositories are checked out; say which one in repo: %s.", s.keys())
	}
	for _, h := range s.held {
		if strings.EqualFold(h.key, repo) {
			return h, ""
		}
	}
	if h := s.loosely(repo); h != nil {
		return h, ""
	}
	return nil, fmt.Sprintf("%s is not checked out. Checked out: %s. Use checkout_repo for another.", tool.Clip(repo, 200), s.keys())
}

// loosely matches what is clearly one of the checkouts though it is not spelt as its key: a URL, the name without its owner, the ref
// or the sha of the first checkout named too. Nil unless exactly one fits.
func (s *Session) loosely(repo string) *held {
	name, ref, _ := strings.Cut(repo, "@")
	if !strings.Contains(name, "/") {
		var found *held
		for _, h := range s.held {
			if strings.EqualFold(shortKey(h.key), repo) {
				if found != nil {
					return nil
				}
				found = h
			}
		}
		return found
	}
	if strings.Contains(repo, "://") {
		name, ref = repo, ""
	}
	spec, err := checkout.ParseRepo(name, s.opts.DefaultHost)
	if err != nil {
		return nil
	}
	if ref == "" {
		ref = spec.Ref
	}
	place := strings.ToLower(spec.Host + "/" + spec.Path)
	var found *held
	for _, h := range s.held {
		sha := h.Checkout.SHA()
		if h.place != place && librarianPlace(h.Repo) != place {
			continue
		}
		if ref != "" && ref != h.asked && ref != refLabel(h.Opened, h.asked) && (len(ref) < 7 || !strings.HasPrefix(sha, ref)) {
			continue
		}
		if found != nil {
			return nil
		}
		found = h
	}
	return found
}

func (s *Session) keys() string {
	keys := make([]string, len(s.held))
	for i, h := range s.held {
		keys[i] = h.key
	}
	return strings.Join(keys, ", ")
}

// label is how the trace names a `repo` parameter: the name without its owner, unless two checkouts would look the same.
func (s *Session) label(repo string) string {
	h, _ := s.find(repo)
	if h == nil {
		return tool.Clip(repo, 100)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.held {
		if other != h && shortKey(other.key) == shortKey(h.key) {
			return h.key
		}
	}
	return shortKey(h.key)
}

// shortKey cuts the owner off a key; a ref may hold slashes itself.
func shortKey(key string) string {
	name, ref, hasRef := strings.Cut(key, "@")
	name = name[strings.LastIndexByte(name, '/')+1:]
	if hasRef {
		return name + "@" + ref
	}
	return name
}

// Tools are the session's tools, in the order a model is told of them.
func (s *Session) Tools() []tool.Tool {
	tools := []tool.Tool{s.checkoutRepo()}
	if s.opts.Index != nil {
		tools = append(tools, s.findCode())
	}
	tools = append(tools, s.read(), s.readEnclosing(), s.grep(), s.findFiles(), s.ls(), s.outline(), s.gitLog(), s.gitShow(), s.gitBlame(), s.gitDiff())
	if s.opts.Sandbox != nil {
		tools = append(tools, s.bash())
	}
	return tools
}

// evidence is a range of a file that a result shows.
func (h *held) evidence(path string, start, end int) tool.Evidence {
	return tool.Evidence{Repo: string(h.Repo.ID), Name: h.Repo.FullName(), SHA: h.Checkout.SHA(), Path: path, Start: start, End: end}
}
