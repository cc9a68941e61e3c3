// Package comment writes to GitHub: comments and reactions, and nothing else.
//
// It owns what our comments look like to ourselves (a hidden marker) and when they may be written (the budget). A [Poster] keeps
// no record of what it posted: asked to say the same thing twice, also by another process after a crash, it finds its own
// comment again and says it once.
//
// It promises:
//
//   - The target of every write is the [librarian.Place] that is handed in.
//   - A comment is taken for ours only if GitHub says that our App wrote it and it begins with the marker of the run; a marker
//     in somebody else's comment is text.
//   - For each installation comments are a second apart, and all writes within 80 a minute and 500 an hour; reactions go
//     first, answers next, progress last.
//
// It needs a client narrowed to the place's repository, and that one process at a time works on a run (its lease).
package comment
