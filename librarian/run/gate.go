package run

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/settings"
)

// Checkouts gives working trees.
type Checkouts interface {
	Acquire(ctx context.Context, req checkout.Request) (*checkout.Checkout, error)
}

// Tokens gives the credentials to read one repository; nil for what anybody may read.
type Tokens interface {
	ReadCredentials(repo librarian.Repo) checkout.Credentials
}

// Gate is the one door to repositories for one run. It decides by the facts of now and hands out credentials that no tool
// sees. "No access" and "does not exist" are the same answer, after the same calls upstream.
type Gate struct {
	reader
	Tokens    Tokens
	Checkouts Checkouts
	Run       librarian.RunID
	Past      Past // of the run that this one continues
	Head      Head
	// GitHosts are plain git hosts that may be asked, anonymously.
	GitHosts []string
	// Local resolves a name that the terminal gave for a local repository; nil elsewhere.
	Local func(spec checkout.Spec) (librarian.Repo, bool)

	private atomic.Bool                                   // something that is not public was opened
	opened  func(context.Context, librarian.RepoID) error // records it; nil: nobody goes by it
}

// Head is where the code is that was asked about, where that is not the default branch: a commit, or a pull request in its base
// repository, also when the fork is gone. Its zero value is none.
type Head struct {
	Ref string // refs/pull/N/head; empty: SHA alone says it
	SHA string // the commit, or what the pull request's head was when it was asked about
}

// NotFound is the one sentence for a repository that is not there or may not be read.
func NotFound(name string) error {
	return &librarian.UserError{
		Message: name + " was not found, or may not be read from here. If the name is uncertain, resolve it with search_repos first.",
		Err:     librarian.ErrNotFound,
	}
}

// Open gives the repository that spec names at ref (empty: the default branch), if this run may read it.
func (g *Gate) Open(ctx context.Context, spec checkout.Spec, ref string) (librarian.Repo, *checkout.Checkout, error) {
	repo, err := g.find(ctx, spec)
	if err != nil {
		return librarian.Repo{}, nil, err
	}
	acquire := func(ref string) (*checkout.Checkout, error) {
		return g.Checkouts.Acquire(ctx, checkout.Request{
			Repo:        checkout.Repo{ID: string(repo.ID), Name: repo.FullName(), URL: repo.CloneURL, Class: class(repo)},
			Ref:         ref,
			Credentials: g.credentials(repo),
			Fresh:       repo.ID == g.own.ID || onThisMachine(repo), // who has just committed asks about that
			Incomplete:  onThisMachine(repo),
			Checked:     true, // find has just asked, with this run's own credentials
		})
	}
	var c *checkout.Checkout
	if ref == "" && repo.ID == g.own.ID && g.Head != (Head{}) {
		c, err = g.asked(acquire)
	} else {
		c, err = acquire(ref)
	}
	if _, ok := errors.AsType[*checkout.NotFoundError](err); ok {
		return librarian.Repo{}, nil, NotFound(spec.Path)
	}
	if err != nil {
		return librarian.Repo{}, nil, damaged(repo, ref, err)
	}
	if err := g.knows(ctx, repo); err != nil {
		c.Release()
		return librarian.Repo{}, nil, err
	}
	return repo, c, nil
}

// onThisMachine reports whether it is a clone that the person at the terminal named.
func onThisMachine(repo librarian.Repo) bool { return strings.HasPrefix(string(repo.ID), "file:") }

// damaged puts into words what a repository on this machine lacks: there is no host that could be down.
func damaged(repo librarian.Repo, ref string, err error) error {
	_, unread := errors.AsType[*checkout.UpstreamError](err)
	_, headless := errors.AsType[*checkout.RefError](err)
	if !onThisMachine(repo) || !unread && (!headless || ref != "") {
		return err
	}
	return &librarian.UserError{
		Message: repo.FullName() + " could not be read: the clone on this machine is damaged or incomplete. `git fsck` in it says what is missing.",
		Err:     errors.New(err.Error()), // without its hint, which is about hosts
	}
}

// asked opens what was asked about. When the head of a pull request was moved since, the commit itself is asked for; where that
// cannot be had any more, it is said (G7).
func (g *Gate) asked(acquire func(ref string) (*checkout.Checkout, error)) (*checkout.Checkout, error) {
	head := g.Head
	var now string
	if head.Ref != "" {
		c, err := acquire(head.Ref)
		if err != nil || head.SHA == "" || c.SHA() == head.SHA {
			return c, err
		}
		now = c.SHA()
		c.Release()
	}
	c, err := acquire(head.SHA)
	if _, ok := errors.AsType[*checkout.RefError](err); !ok {
		return c, err
	}
	gone := fmt.Sprintf("The commit %.12s, which was asked about, is not there. Name a ref to read another, and say so.", head.SHA)
	if now != "" {
		gone = fmt.Sprintf("The pull request was at %.12s when it was asked about and that commit is gone; it is at %.12s now. Name the ref %s to read what it is now, and say so.", head.SHA, now, head.Ref)
	}
	return nil, &librarian.UserError{Err: err, Message: gone}
}

// find decides whether this run may read what spec names.
func (g *Gate) find(ctx context.Context, spec checkout.Spec) (librarian.Repo, error) {
	if g.Local != nil {
		if repo, ok := g.Local(spec); ok {
			return repo, nil
		}
	}
	if !strings.EqualFold(spec.Host, g.host) {
		return g.foreign(spec)
	}
	name, err := librarian.ParseRepoName(spec.Path)
	if err != nil {
		return librarian.Repo{}, NotFound(spec.Path)
	}
	if g.facts == nil {
		return librarian.Repo{}, NotFound(spec.Path)
	}
	level, err := g.sharedLevel(ctx, name)
	if err != nil {
		return librarian.Repo{}, &librarian.UserError{Message: "GitHub could not be asked about " + name.String() + " just now. Try again later, or go on without it.", Err: err}
	}
	repo, err := g.facts.ByName(ctx, g.q.Place.Installation, name)
	if errors.Is(err, librarian.ErrNotFound) {
		return librarian.Repo{}, NotFound(spec.Path)
	}
	if err != nil {
		return librarian.Repo{}, &librarian.UserError{Message: "GitHub could not be asked about " + name.String() + " just now. Try again later, or go on without it.", Err: err}
	}
	if !g.mayAt(repo, level) {
		return librarian.Repo{}, NotFound(spec.Path)
	}
	return repo, nil
}

// Repo gives a repository on the GitHub host that this run may read, for its API to be asked. It opens no checkout.
func (g *Gate) Repo(ctx context.Context, name librarian.RepoName) (librarian.Repo, error) {
	repo, err := g.find(ctx, checkout.Spec{Host: g.host, Path: name.String()})
	if err != nil {
		return librarian.Repo{}, err
	}
	return repo, g.knows(ctx, repo)
}

// Readable reports whether this run may read a repository that a search named; private is what the search said of it. What
// is public needs no further call unless the settings exclude some by name; of all else GitHub is asked.
func (g *Gate) Readable(ctx context.Context, id librarian.RepoID, private bool) bool {
	if id == g.own.ID || !private && g.mayAt(librarian.Repo{ID: id, Visibility: librarian.Public}, access.Unknown) {
		return true
	}
	if !private && g.set.Read.OwnOnly {
		return false
	}
	repo, err := g.facts.ByID(ctx, g.q.Place.Installation, id)
	if err != nil {
		return false
	}
	may, err := g.may(ctx, repo)
	return err == nil && may && g.knows(ctx, repo) == nil
}

// Place is where the request came from.
func (g *Gate) Place() librarian.Place { return g.q.Place }

// Own is the thread's repository; the zero Repo on the terminal.
func (g *Gate) Own() librarian.Repo { return g.own }

// Settings are those in force for this run.
func (g *Gate) Settings() settings.Settings { return g.set }

// Egress reports whether this run, though it may know something private, may send text to what goes by this name.
func (g *Gate) Egress(name string) bool { return g.egress(name) }

// MayHoldPrivate reports whether this run may know something that is not public: its thread's repository is private, or it
// has opened one that is (on the terminal, where that is the person's own affair, until then it has not). From then on
// nothing that a model writes may go to third parties.
func (g *Gate) MayHoldPrivate() bool {
	return g.own.ID != "" && g.own.Private() || g.private.Load()
}

// foreign is a repository on a plain git host: only hosts that are configured, only anonymously, and never from a run that
// may hold private text, since a repository's name can carry some out.
func (g *Gate) foreign(spec checkout.Spec) (librarian.Repo, error) {
	private := g.MayHoldPrivate()
	for _, h := range g.GitHosts {
		if strings.EqualFold(h, spec.Host) && (!private || g.egress(spec.Host)) {
			i := strings.LastIndexByte(spec.Path, '/')
			return librarian.Repo{
				ID: librarian.GitRepo(spec.Host, spec.Path), Host: spec.Host, Owner: spec.Path[:i], Name: spec.Path[i+1:],
				Visibility: librarian.Public, CloneURL: "https://" + spec.Host + "/" + spec.Path + ".git",
			}, nil
		}
	}
	return librarian.Repo{}, &librarian.UserError{Message: "Repositories on " + spec.Host + " are not read from here; the hosts are " + g.hosts(private) + "."}
}

func (g *Gate) hosts(private bool) string {
	if private {
		return g.host + " alone"
	}
	return strings.Join(append([]string{g.host}, g.GitHosts...), ", ")
}

func (g *Gate) credentials(repo librarian.Repo) checkout.Credentials {
	if g.Tokens == nil {
		return nil
	}
	get := g.Tokens.ReadCredentials(repo)
	if get == nil {
		return nil
	}
	return func(ctx context.Context) (checkout.Secret, error) {
		s, err := get(ctx)
		if err == nil || ctx.Err() != nil {
			return s, err
		}
		if errors.Is(err, librarian.ErrNotFound) {
			return s, &checkout.NotFoundError{Repo: repo.FullName()}
		}
		// As if the host had failed at what comes next: it is worth another try, and no reason to end the run.
		down := &checkout.UpstreamError{Repo: repo.FullName(), Reason: "GitHub gave no access to it just now", Err: err}
		if limit, ok := errors.AsType[*librarian.RateLimitError](err); ok {
			down.RetryAfter = limit.After
		}
		return s, down
	}
}

// class is the access class of a repository's clone: what is public is shared, everything else is kept apart by
// installation.
func class(repo librarian.Repo) string {
	if !repo.Private() {
		return checkout.Public
	}
	return "private-" + strconv.FormatInt(repo.Installation, 10)
}
