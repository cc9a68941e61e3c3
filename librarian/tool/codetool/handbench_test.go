package codetool_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// BenchmarkByHand sets what the tools do beside the same done by hand, with
// plain git, grep, find and sed on the same files: a thousand ranges read, a
// find, the outline of 10,000 lines, and a run's thirty calls one after the
// other. The two take turns, three rounds; the first is told by itself, for its
// first grep finds no index of the tree. It prints
//
//	ratio tool-<name>-first time <ours / by hand, in the first round>
//	ratio tool-<name> time <ours / by hand, the best of all rounds>
//
// LIBRARIAN_BENCH_REPO names a bare repository; without it one of 3,000 files is made up. Measured at ebcce3e on Debian's
// Linux 6.1 (78,635 files), two cores, milliseconds, with
//
//	LIBRARIAN_BENCH_REPO=<bare repository> go test -run '^$' -bench ByHand -benchtime 1x ./librarian/tool/codetool
//
//	                     ours   by hand  ratio
//	30 calls, first run  1863   3731     0.50
//	30 calls, third run  233    2493     0.09
//	read 1,000 ranges    44     1679     0.026
//	two finds            10     69       0.15
//	outline              7.1    2.8      2.5
//
// By hand an outline is one grep for lines that begin like a declaration; ours reads the whole file for where each ends.
func BenchmarkByHand(b *testing.B) {
	const name = "acme/one"
	var t *bench
	bare := os.Getenv("LIBRARIAN_BENCH_REPO")
	if bare == "" {
		t = newBench(b, map[string]string{name: bigRepo(3000, 10_000)})
		bare = t.gate.srv.Dir(name)
	} else {
		t = newBench(b, nil)
		require.NoError(b, os.MkdirAll(filepath.Dir(t.gate.srv.Dir(name)), 0o750))
		require.NoError(b, os.Symlink(bare, t.gate.srv.Dir(name)))
	}
	t.mustOK(b, "checkout_repo", `{"repo":"acme/one"}`)
	one, no := t.Lookup(name)
	require.True(b, no)
	dir := one.Checkout.Dir()
	index := filepath.Join(b.TempDir(), "index")
	shell := func(line string) []byte {
		cmd := exec.CommandContext(b.Context(), "sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(checkouttest.Env(), "GIT_PAGER=cat", "GIT_DIR="+bare, "GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+index)
		out, err := cmd.Output()
		require.NoError(b, err, line)
		return out
	}
	shell("git read-tree HEAD")

	// Files of some length, from all over the tree, and a word of each.
	tree, err := one.Checkout.Tree(b.Context())
	require.NoError(b, err)
	type sample struct{ path, word string }
	var all []sample
	plain := regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)
	words := regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{7,}`)
	for step, i := max(1, len(tree.Entries)/400), 0; i < len(tree.Entries); i += step {
		e := tree.Entries[i]
		if e.Size < 100 || e.Size > 200_000 || e.Kind != "file" || !plain.MatchString(e.Path) {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Path))
		require.NoError(b, err)
		if lines := bytes.Split(raw, []byte("\n")); len(lines) > 6 {
			if found := words.FindAllString(string(bytes.Join(lines[2:6], []byte("\n"))), -1); found != nil {
				all = append(all, sample{e.Path, slices.MaxFunc(found, func(x, y string) int { return len(x) - len(y) })})
			}
		}
	}
	require.Greater(b, len(all), 20)
	at := func(i int) sample { return all[(i*7)%len(all)] }
	long := filepath.Join(b.TempDir(), "long.go")
	require.NoError(b, os.WriteFile(long, []byte(longFile(10_000)), 0o600))
	longOnes := newBench(b, map[string]string{name: "-- @commit c --\n-- long.go --\n" + longFile(10_000)})
	longOnes.mustOK(b, "checkout_repo", `{"repo":"acme/one"}`)

	research := func(grep, read, find func(s sample)) func() {
		return func() {
			for i := range 10 {
				find(at(i))
				grep(at(i))
				read(at(i))
			}
		}
	}
	rows := []struct {
		name       string
		ours, hand func()
	}{
		{"research-30-calls", research(
			func(s sample) { t.mustOK(b, "grep", fmt.Sprintf(`{"pattern":%q,"literal":true}`, s.word)) },
			func(s sample) { t.mustOK(b, "read", fmt.Sprintf(`{"path":%q,"offset":2,"limit":5}`, s.path)) },
			func(s sample) { t.mustOK(b, "find", fmt.Sprintf(`{"pattern":%q}`, filepath.Base(s.path))) }), research(
			func(s sample) { shell("git grep -n -I -F -e '" + s.word + "' | head -n 100") },
			func(s sample) { shell("sed -n 2,6p " + s.path) },
			func(s sample) {
				shell("git ls-files '" + filepath.Base(s.path) + "' '*/" + filepath.Base(s.path) + "'")
			})},
		{"read-1000-ranges", func() {
			for i := range 1000 {
				t.mustOK(b, "read", fmt.Sprintf(`{"path":%q,"offset":2,"limit":5}`, at(i).path))
			}
		}, func() {
			for i := range 1000 {
				shell("sed -n 2,6p " + at(i).path)
			}
		}},
		{"find", func() { t.mustOK(b, "find", `{"pattern":"*.c"}`); t.mustOK(b, "find", `{"pattern":"*a*/**/*e*.go"}`) },
			func() { shell("git ls-files '*.c' | head -n 1000; git ls-files '*a*/*e*.go' | head -n 1000") }},
		{"outline-10000-lines", func() { longOnes.mustOK(b, "outline", `{"path":"long.go"}`) },
			func() { shell("grep -nE '^(func|type|var|const) ' " + long + " | head -n 1000") }},
	}
	for b.Loop() {
		for _, row := range rows {
			var ours, hand time.Duration
			for round := range 3 {
				began := time.Now()
				row.ours()
				if d := time.Since(began); ours == 0 || d < ours {
					ours = d
				}
				began = time.Now()
				row.hand()
				if d := time.Since(began); hand == 0 || d < hand {
					hand = d
				}
				if round == 0 {
					fmt.Fprintf(os.Stdout, "ratio tool-%s-first time %.3f\n", row.name, ours.Seconds()/hand.Seconds())
				}
				fmt.Fprintf(os.Stdout, "measured tool-%s of %d files, best so far: ours %.2fms by hand %.2fms\n", row.name, len(tree.Entries), ours.Seconds()*1e3, hand.Seconds()*1e3)
			}
			fmt.Fprintf(os.Stdout, "ratio tool-%s time %.3f\n", row.name, ours.Seconds()/hand.Seconds())
		}
	}
}

// longFile is a Go file of so many lines.
func longFile(lines int) string {
	var b strings.Builder
	b.WriteString("package long\n")
	for i := 0; i < lines; i += 5 {
		fmt.Fprintf(&b, "\nfunc Long%d(n int) int {\n\treturn n * %d\n}\n", i, i)
	}
	return b.String()
}
