package checkout_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// BenchmarkGrep compares Grep with ripgrep and with git grep on a tree that is
// in the page cache, taking turns: the first search of a tree, which has no
// index, listing and all; the second, while the index is being made; and the
// third, when it is there. The best of three rounds counts. Ripgrep and git are
// told to look into the same files. All find everything there is, but in the rows that end in 100,
// which are what the tool shows by default: there the others write to head. It prints
//
//	ratio grep-<name>-first time|processor <ours / the faster of the two>
//	ratio grep-<name>-third time|processor <ours / ripgrep>
//
// Where a search stops at a limit, "sorted" is ripgrep told to go by path, as ours does.
//
// The table of doc.go is of this command, on Debian's Linux 6.1 made a repository:
//
//	LIBRARIAN_BENCH_REPO=<bare repository> go test -run '^$' -bench '^BenchmarkGrep$' -benchtime 1x -timeout 20m ./checkout
//
// Without LIBRARIAN_BENCH_REPO a tree of 70,000 files is made up. LIBRARIAN_BENCH_ROW
// leaves only the rows whose names begin so.
func BenchmarkGrep(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("ripgrep is not installed (Debian: apt-get install ripgrep)")
	}
	m := newBenchOf(b, wide)
	m.srv.Latency = 0
	s := m.store(b)
	c := m.acquire(b, s, "")
	b.Cleanup(func() { c.Release() })
	fmt.Fprintf(os.Stdout, "measured grep tree files %d bytes %d\n", c.Files(), c.Bytes())
	index := filepath.Join(b.TempDir(), "index")
	git := func(args ...string) []string {
		return append([]string{"env", "GIT_INDEX_FILE=" + index, "git", "--git-dir=" + m.dir, "--work-tree=."}, args...)
	}
	run := func(argv []string, head int) func() {
		return func() {
			if head > 0 {
				argv = append([]string{"sh", "-c", fmt.Sprintf(`"$@" | head -n %d`, head), "sh"}, argv...)
			}
			cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = c.Dir(), checkouttest.Env()
			_ = cmd.Run() // exit code 1: nothing found
		}
	}
	run(git("read-tree", m.head), 0)()
	for range b.N {
		for _, p := range []struct {
			name string
			o    checkout.GrepOptions
		}{
			{"literal-rare", checkout.GrepOptions{Pattern: "deadbeef", Literal: true}},
			{"literal-frequent", checkout.GrepOptions{Pattern: "return", Literal: true}},
			{"literal-frequent-100", checkout.GrepOptions{Pattern: "return", Literal: true, Limit: 100}},
			{"literal-frequent-2000", checkout.GrepOptions{Pattern: "return", Literal: true, Limit: 2000}}, // the most that the tool shows
			{"regexp-rare", checkout.GrepOptions{Pattern: `\w+_timeout_\w+\(`}},
			{"regexp-choice", checkout.GrepOptions{Pattern: `(read|write)_(begin|end)\b`}},
			{"regexp-frequent-100", checkout.GrepOptions{Pattern: `if\s*\(\w+ ==`, Limit: 100}},
			{"regexp-no-text", checkout.GrepOptions{Pattern: `[A-Z][a-z]+[0-9]{3,}\(`}},
			{"any-case", checkout.GrepOptions{Pattern: "handlererror", IgnoreCase: true}},
		} {
			if !strings.HasPrefix(p.name, os.Getenv("LIBRARIAN_BENCH_ROW")) {
				continue
			}
			var flags []string
			if p.o.IgnoreCase {
				flags = append(flags, "-i")
			}
			gitFlags := append([]string{"grep", "-I", "-n", "-P"}, flags...)
			if p.o.Literal {
				flags = append(flags, "-F")
				gitFlags[3] = "-F"
			}
			head := p.o.Limit
			if head == 0 {
				p.o.Limit = 1 << 30
			}
			matches := -1
			ours := func() {
				r, err := c.Grep(context.Background(), p.o)
				require.NoError(b, err)
				if matches >= 0 {
					require.Equal(b, matches, r.Matches)
				}
				matches = r.Matches
			}
			best, least := map[string]time.Duration{}, map[string]time.Duration{}
			measure := func(name string, do func()) {
				used, began := processorTime(b), time.Now()
				do()
				d, cpu := time.Since(began), processorTime(b)-used
				if best[name] == 0 || d < best[name] {
					best[name] = d
				}
				if least[name] == 0 || cpu < least[name] {
					least[name] = cpu
				}
			}
			for range 3 {
				c.Release()
				marks, err := filepath.Glob(filepath.Join(filepath.Dir(c.Dir()), "marks"))
				require.NoError(b, err)
				for _, f := range marks {
					require.NoError(b, os.Remove(f))
				}
				c = m.acquire(b, s, c.SHA())
				made := s.Stats().Indexes
				measure("first", ours)
				measure("second", ours)
				measure("index", func() {
					for s.Stats().Indexes == made {
						time.Sleep(time.Millisecond)
					}
				})
				measure("third", ours)
				measure("ripgrep", run(append(append([]string{rg, "--no-config", "-uu", "-n"}, flags...), "-e", p.o.Pattern, "."), head))
				if head > 0 {
					measure("sorted", run(append(append([]string{rg, "--no-config", "-uu", "-n", "--sort", "path"}, flags...), "-e", p.o.Pattern, "."), head))
				}
				measure("git grep", run(git(append(gitFlags, "-e", p.o.Pattern)...), head))
			}
			fmt.Fprintf(os.Stdout, "measured grep-%s matches %d", p.name, matches)
			for _, name := range []string{"first", "second", "third", "ripgrep", "sorted", "git grep", "index"} {
				fmt.Fprintf(os.Stdout, " %s %.1fms (%.0f)", name, best[name].Seconds()*1000, least[name].Seconds()*1000)
			}
			fmt.Fprintln(os.Stdout)
			for _, r := range []struct {
				what string
				took map[string]time.Duration
			}{{"time", best}, {"processor", least}} {
				fmt.Fprintf(os.Stdout, "ratio grep-%s-first %s %.3f\n", p.name, r.what, r.took["first"].Seconds()/min(r.took["ripgrep"], r.took["git grep"]).Seconds())
				fmt.Fprintf(os.Stdout, "ratio grep-%s-third %s %.3f\n", p.name, r.what, r.took["third"].Seconds()/r.took["ripgrep"].Seconds())
				if head > 0 {
					fmt.Fprintf(os.Stdout, "ratio grep-%s-third-sorted %s %.3f\n", p.name, r.what, r.took["third"].Seconds()/r.took["sorted"].Seconds())
				}
			}
		}
	}
}

// processorTime is what this process and its children have used of the processors. On a machine that others use too it says
// more than time does.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(who, &u))
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// wide makes a repository of one commit with 70,000 files of code-like text in
// 1,400 folders, the same every time.
func wide(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "wide.git")
	checkouttest.InitBare(b, dir)
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("return error context request response handler server client string buffer index value result option config parse write read close open lock state event queue token cache store tree path name timeout begin end")
	w := func() string { return words[rng.IntN(len(words))] }
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter Ann <ann@example.com> 1500000000 +0000\ndata 4\nwide\n")
	for i := range 70_000 {
		var text strings.Builder
		for range 10 + rng.IntN(160) {
			switch rng.IntN(6) {
			case 0:
				fmt.Fprintf(&text, "\tif (%s == %d) {\n", w(), rng.IntN(1000))
			case 1:
				fmt.Fprintf(&text, "func (s *%s) %s_%s_%d(%s string) {\n", w(), w(), w(), rng.IntN(5000), w())
			default:
				fmt.Fprintf(&text, "\t%s%d := %s.%s(%s, %q)\n", w(), rng.IntN(90), w(), w(), w(), w()+" "+w())
			}
		}
		if rng.IntN(5000) == 0 {
			text.WriteString("magic := 0xdeadbeef\n")
		}
		fmt.Fprintf(&in, "M 100644 inline area%02d/part%d/unit%d/file%05d.go\ndata %d\n%s\n", i%40, i/40%7, i/280%5, i, text.Len(), text.String())
	}
	checkouttest.GitInput(b, dir, in.String(), "fast-import", "--quiet", "--date-format=raw", "--depth=0")
	return dir
}
