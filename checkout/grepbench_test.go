package checkout_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// BenchmarkGrep compares the scanner with git's own grep and with ripgrep, if
// it is installed, on a tree that is in the page cache, taking turns. All find
// at most what is there: none stops early.
func BenchmarkGrep(b *testing.B) {
	m := newBench(b)
	m.srv.Latency = 0
	c := m.acquire(b, m.store(b), "")
	b.Cleanup(c.Release)
	rg, _ := exec.LookPath("rg")
	run := func(name string, args ...string) func() {
		return func() {
			cmd := exec.CommandContext(context.Background(), name, args...)
			cmd.Dir, cmd.Env = c.Dir(), checkouttest.Env()
			_ = cmd.Run() // exit code 1: nothing found
		}
	}
	for range b.N {
		for _, p := range []struct {
			name, pattern string
			fold          bool
		}{{"literal", benchNeedle, false}, {"regexp", `func(tion)?\s+\w+Handler\(`, false}, {"no literal", `[A-Z][a-z]+[0-9]{3,}\(`, false}, {"any case", "handlererror", true}} {
			fold := []string{}
			if p.fold {
				fold = []string{"-i"}
			}
			ways := []struct {
				name string
				do   func()
			}{
				{"ours", func() {
					_, err := c.Grep(context.Background(), checkout.GrepOptions{Pattern: p.pattern, IgnoreCase: p.fold, Limit: 1 << 30})
					require.NoError(b, err)
				}},
				{"git grep", run("git", append(append([]string{"grep", "--no-index", "-I", "-n", "-P"}, fold...), "-e", p.pattern, ".")...)},
			}
			if rg != "" {
				ways = append(ways, struct {
					name string
					do   func()
				}{"ripgrep", run(rg, append(append([]string{"--no-config", "-uu", "-n"}, fold...), "-e", p.pattern, ".")...)})
			}
			best := map[string]time.Duration{}
			for range 5 {
				for _, w := range ways {
					began := time.Now()
					w.do()
					if d := time.Since(began); best[w.name] == 0 || d < best[w.name] {
						best[w.name] = d
					}
				}
			}
			for _, w := range ways {
				fmt.Fprintf(os.Stdout, "grep %-12s %-9s %7.1f ms\n", p.name, w.name, float64(best[w.name].Microseconds())/1000)
			}
		}
	}
}
