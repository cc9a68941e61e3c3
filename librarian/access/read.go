package access

import "github.com/librarian-app/librarian/librarian"

// ReadRule is what the settings leave of what a run may read. Its zero value leaves everything that is otherwise allowed; the
// thread's own repository is always left.
type ReadRule struct {
	OwnOnly bool      // nothing but the thread's own repository
	Exclude []Pattern // never these, whether public or shared
}

// ReadFacts is what is known of a repository that a run wants to read.
type ReadFacts struct {
	Repo       librarian.RepoID
	Visibility librarian.Visibility
	Own        librarian.RepoID // the thread's own repository; empty on the terminal
	// Terminal says that the facts were got with the caller's own credentials: what those see may be read.
	Terminal bool

	Rule  ReadRule
	Share ShareFacts // for a repository that is not public; its zero value shares nothing
}

// MayRead decides whether a run may read a repository: the thread's own one, public ones, and those that the organisation
// shares into the thread (W4, W9). Internal counts as private, and so does a visibility that is not known. Whoever reports a
// refusal must use the words for a repository that does not exist.
func MayRead(f ReadFacts) bool {
	switch {
	case f.Repo == "":
		return false
	case f.Terminal && f.Own == "":
		return true
	case f.Repo == f.Own:
		return true
	case f.Rule.OwnOnly, matchAny(f.Rule.Exclude, f.Share.Name):
		return false
	case len(f.Rule.Exclude) > 0 && f.Share.Name == (librarian.RepoName{}):
		return false // a rule by name cannot be held against what has none
	case f.Visibility == librarian.Public:
		return true
	}
	return f.Own != "" && shared(f.Share)
}
