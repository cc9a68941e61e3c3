package checkout_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// busiest is the source file that was changed most often among the newest
// 2,000 commits, but not more than 100 times: of the very busiest files the
// baseline would fetch for an hour. The synthetic repository has few files
// between busy and quiet.
func (m *bench) busiest(b *testing.B) string {
	count := map[string]int{}
	for p := range strings.SplitSeq(checkouttest.Git(b, m.dir, "-c", "core.quotePath=false", "log", "-n", "2000", "--no-renames", "--format=", "--name-only", "HEAD"), "\n") {
		count[p]++
	}
	best, most := "", 100
	if os.Getenv("LIBRARIAN_BENCH_REPO") == "" {
		most = 300
	}
	for l := range strings.Lines(checkouttest.Git(b, m.dir, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "HEAD")) {
		p := strings.TrimSpace(l)
		code := slices.Contains([]string{".go", ".py", ".rb", ".c", ".php", ".java", ".ts"}, filepath.Ext(p))
		if code && count[p] > count[best] && count[p] <= most {
			best = p
		}
	}
	return best
}

// synthetic makes a repository of 5,000 commits and 3,000 files of code-like
// text, the same every time.
//
// What cold-first-grep's bytes come to is a matter of the repository alone: ours
// are the newest commit's files and nothing else, the baseline's those and the
// history. In grown projects the history weighs 4.5 (flask) to 6.7 (symfony) times
// as much as the files, over nine commits a file and more. 5,000 commits over 3,000 files
// are a young project; so that its history weighs like a grown one's, a commit
// changes 3 to 19 files here, where half of all real ones change one or two.
// LIBRARIAN_BENCH_SHAPE=young has it change 1 to 8, with a message of one line;
// then the history weighs less than the files' fourfold, and no client can keep
// to a fifth.
func synthetic(b *testing.B) string {
	b.Helper()
	least, most, long := 3, 19, true
	if os.Getenv("LIBRARIAN_BENCH_SHAPE") == "young" {
		least, most, long = 1, 8, false
	}
	dir := filepath.Join(b.TempDir(), "synthetic.git")
	checkouttest.InitBare(b, dir)
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("return error context request response handler server client string buffer index value result option config parse write read close open lock state event queue token cache store tree path name")
	line := func() string {
		w := func() string { return words[rng.IntN(len(words))] }
		return fmt.Sprintf("\t%s%d := %s.%s(%s, %q)", w(), rng.IntN(90), w(), w(), w(), w()+" "+w())
	}
	const files, commits = 3000, 5000
	content := make([][]string, files)
	path := func(i int) string {
		return fmt.Sprintf("src/area%02d/part%d/unit%d/file%04d.go", i%30, i/30%5, i/150%4, i)
	}
	var in strings.Builder
	put := func(i int) {
		text := strings.Join(content[i], "\n") + "\n"
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path(i), len(text), text)
	}
	for n := range commits {
		msg := fmt.Sprintf("Change %d: %s", n, words[rng.IntN(len(words))])
		if long { // a message of a few lines, as people write them
			for i := range 10 + rng.IntN(40) {
				if i%12 == 0 {
					msg += "\n"
				}
				msg += " " + words[rng.IntN(len(words))]
			}
		}
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter Ann <ann@example.com> %d +0000\ndata %d\n%s\n", 1500000000+n*3600, len(msg), msg)
		if n == 0 {
			for i := range files {
				for range 20 + rng.IntN(50) {
					content[i] = append(content[i], line())
				}
				put(i)
			}
			continue
		}
		for range least + rng.IntN(most-least+1) {
			i := rng.IntN(files)
			if rng.IntN(4) == 0 {
				i = rng.IntN(20) // some files change often
			}
			content[i][rng.IntN(len(content[i]))] = line()
			put(i)
		}
	}
	checkouttest.GitInput(b, dir, in.String(), "fast-import", "--quiet", "--date-format=raw")
	checkouttest.Git(b, dir, "repack", "-a", "-d", "-q")
	return dir
}
