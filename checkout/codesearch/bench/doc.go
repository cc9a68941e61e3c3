// Package bench measures ranked code search on files of questions whose right places are known.
//
// It owns the two data formats (a JSONL of questions with their places; a folder with repos.json and annotations/), their metrics,
// which equal those of the scripts that came with the data, and the yardsticks to stand beside: grep, BM25 over files, SQLite's FTS5
// over functions, and "base". It promises the same figures for the same trees. It needs a way to open a repository at a commit.
package bench
