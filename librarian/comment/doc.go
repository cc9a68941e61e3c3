// Package comment writes to GitHub: comments, reactions and, for a commit, a check run; and nothing else.
//
// It owns what our comments look like to ourselves (a hidden marker) and when they may be written (the budget). A [Poster] keeps
// no record of what it posted: asked to say the same thing twice, also by another process after a crash, it finds its own
// comment again and says it once.
//
// What is asked in an issue or a pull request is answered there; in a review, in its thread; in a discussion, under the comment
// that asked; of a commit, by a check run. A medium is one of these; the rest is the same for all.
//
// It promises:
//
//   - The target of every write is the [librarian.Place] that is handed in.
//   - A comment is taken for ours only if GitHub says that our App, or its account, wrote it and it begins with the marker of the
//     run; a marker in somebody else's comment is text.
//   - For each installation comments are a second apart as GitHub sees them, and all writes within 80 a minute and 500 an hour, also
//     those of a process that was killed (the ledger); reactions go first, answers next, progress last, and each leaves room for
//     what goes before it.
//
// It needs a client narrowed to the place's repository, and that one process at a time works on a run (its lease).
package comment
