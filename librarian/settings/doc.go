// Package settings is what an organisation and a repository may say about librarian, and how their words are laid over the
// server's: each layer may only narrow.
//
// It owns the form of a layer's file ([File]), its JSON Schema ([Schema]) and the merging ([Merge]). It is pure: the files are
// handed in by whoever read them.
//
// It promises to fail closed. A layer that could not be read, and one whose access keys make no sense, leaves the strictest
// access there is ([Settings.Strictest]); a key that is misspelt could have been one of them. A value that would widen what
// stands above it is ignored. Whatever was ignored is a [Fault] with its line and key, to be told to whoever asks there and to
// nobody else.
package settings
