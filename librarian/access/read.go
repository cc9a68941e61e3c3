package access

import "github.com/librarian-app/librarian/librarian"

// ReadFacts is what is known of a repository that a run wants to read.
type ReadFacts struct {
	Repo       librarian.RepoID
	Visibility librarian.Visibility
	Own        librarian.RepoID // the thread's own repository; empty on the terminal
	// Terminal says that the facts were got with the caller's own credentials: what those see may be read.
	Terminal bool
}

// MayRead decides whether a run may read a repository: the thread's own one, and public ones (W4, W9). Internal counts as
// private, and so does a visibility that is not known. Whoever reports a refusal must use the words for a repository that
// does not exist.
func MayRead(f ReadFacts) bool {
	switch {
	case f.Repo == "":
		return false
	case f.Terminal && f.Own == "":
		return true
	case f.Repo == f.Own:
		return true
	}
	return f.Visibility == librarian.Public
}
