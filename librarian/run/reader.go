package run

import (
	"context"
	"slices"
	"strings"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/settings"
)

// reader decides what one request may read. It is asked by the gate while a run works, when a run is continued, and again
// before an answer is posted.
type reader struct {
	facts Facts
	q     librarian.Request
	own   librarian.Repo // the thread's repository; zero on the terminal
	set   settings.Settings
	host  string
}

func (r *Runner) reader(q librarian.Request, own librarian.Repo, set settings.Settings) reader {
	return reader{facts: r.o.Facts, q: q, own: own, set: set, host: r.o.Host}
}

// may reports whether the request may read repo, by facts of now. GitHub is asked about the asker only where the
// organisation shares the repository into this thread and the asker named it.
func (v reader) may(ctx context.Context, repo librarian.Repo) (bool, error) {
	if v.mayAt(repo, access.Unknown) || !v.mayAt(repo, access.Admin) { // what the asker may do there changes nothing
		return v.mayAt(repo, access.Unknown), nil
	}
	level, err := v.facts.Permission(ctx, v.q.Place.Installation, repo, v.q.Principal)
	if err != nil {
		return false, &errAskLater{err}
	}
	return v.mayAt(repo, level), nil
}

// mayAt is may for an asker who has that level in repo.
func (v reader) mayAt(repo librarian.Repo, level access.Level) bool {
	name := librarian.RepoName{Owner: repo.Owner, Name: repo.Name}
	f := access.ReadFacts{
		Repo: repo.ID, Visibility: repo.Visibility, Own: v.own.ID, Terminal: v.q.Place.Kind == librarian.PlaceTerminal,
		Rule: v.set.Read, Share: access.ShareFacts{Name: name},
	}
	if repo.Private() && v.own.ID != "" {
		f.Share = v.share(name, repo.Installation != 0 && repo.Installation == v.q.Place.Installation, level)
	}
	return access.MayRead(f)
}

func (v reader) share(name librarian.RepoName, covered bool, level access.Level) access.ShareFacts {
	return access.ShareFacts{
		Rules: v.set.Share, Name: name, Covered: covered, Person: access.Person(v.q), Named: v.named(name),
		Thread: librarian.RepoName{Owner: v.own.Owner, Name: v.own.Name}, ThreadVisible: v.own.Visibility, AskerLevel: level,
	}
}

// sharedLevel is what the asker may do in a repository that they named, in a thread that the organisation shares any into.
// GitHub is asked whether or not there is such a repository and a rule covers it, so that the calls do not tell.
func (v reader) sharedLevel(ctx context.Context, name librarian.RepoName) (access.Level, error) {
	own := librarian.RepoName{Owner: v.own.Owner, Name: v.own.Name}
	if v.own.ID == "" || !v.own.Private() || name.Equal(own) || !access.Person(v.q) || !v.named(name) ||
		!slices.ContainsFunc(v.set.Share, func(r access.ShareRule) bool { return r.Into.Match(own) }) {
		return access.Unknown, nil
	}
	return v.facts.PermissionByName(ctx, v.q.Place.Installation, name, v.q.Principal)
}

// named reports whether a person named the repository: in the text that asked, or in the settings' scope.
func (v reader) named(name librarian.RepoName) bool {
	return access.Named(v.q, v.host, name) || slices.ContainsFunc(v.set.Scope.Repos, name.Equal)
}

// egress reports whether a run on private code may send text to what goes by this name: a tool, a host, a server.
func (v reader) egress(name string) bool {
	return slices.ContainsFunc(v.set.Egress, func(e string) bool { return strings.EqualFold(e, name) })
}
