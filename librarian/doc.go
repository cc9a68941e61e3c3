// Package librarian is the vocabulary: the nouns that every other package speaks in — a repository, a place, a principal,
// a request, a run and its event log, findings. It holds no behaviour beyond what keeps those values valid, and it imports
// only the standard library, so that anything may import it.
//
// Two rules are carried by the types. Everything is keyed by [RepoID], which survives renames; names are for people. And
// what may be shown to a person is either [Findings] that were verified or the message of a [UserError]; any other error
// text stays in the log.
package librarian
