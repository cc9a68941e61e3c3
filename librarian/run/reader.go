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
	f := access.ReadFacts{
		Repo: repo.ID, Visibility: repo.Visibility, Own: v.own.ID, Terminal: v.q.Place.Kind == librarian.PlaceTerminal,
		Rule: v.set.Read, Share: access.ShareFacts{Name: librarian.RepoName{Owner: repo.Owner, Name: repo.Name}},
	}
	if access.MayRead(f) || !repo.Private() || v.own.ID == "" {
		return access.MayRead(f), nil
	}
	f.Share = access.ShareFacts{
		Rules: v.set.Share, Name: f.Share.Name, Covered: repo.Installation != 0 && repo.Installation == v.q.Place.Installation,
		Person: access.Person(v.q), Named: v.named(f.Share.Name), Thread: librarian.RepoName{Owner: v.own.Owner, Name: v.own.Name}, ThreadVisible: v.own.Visibility,
		AskerLevel: access.Admin, // as if; only to see whether asking is worth a call
	}
	if !access.MayRead(f) {
		return false, nil
	}
	level, err := v.facts.Permission(ctx, v.q.Place.Installation, repo, v.q.Principal)
	if err != nil {
		return false, &errAskLater{err}
	}
	f.Share.AskerLevel = level
	return access.MayRead(f), nil
}

// named reports whether a person named the repository: in the text that asked, or in the settings' scope.
func (v reader) named(name librarian.RepoName) bool {
	return access.Named(v.q, v.host, name) || slices.ContainsFunc(v.set.Scope.Repos, name.Equal)
}

// egress reports whether a run on private code may send text to what goes by this name: a tool, a host, a server.
func (v reader) egress(name string) bool {
	return slices.ContainsFunc(v.set.Egress, func(e string) bool { return strings.EqualFold(e, name) })
}
