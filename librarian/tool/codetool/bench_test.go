package codetool_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bigRepo is a repository of so many Go files in folders of fifty, with one long file.
func bigRepo(files, longLines int) string {
	var b strings.Builder
	b.WriteString("-- @commit c --\n")
	for i := range files {
		fmt.Fprintf(&b, "-- pkg%03d/file%d.go --\npackage pkg\n\n// Handle%d answers request %d.\nfunc Handle%d(in string) (string, error) {\n\tif in == \"\" {\n\t\treturn \"\", errEmpty\n\t}\n\treturn in + \"%d\", nil\n}\n",
			i/50, i, i, i, i, i)
	}
	b.WriteString("-- long.go --\npackage long\n")
	for i := 0; i < longLines; i += 5 {
		fmt.Fprintf(&b, "\nfunc Long%d(n int) int {\n\treturn n * %d\n}\n", i, i)
	}
	return b.String()
}

func BenchmarkTools(b *testing.B) {
	t := newBench(b, map[string]string{"acme/one": bigRepo(3000, 10_000)})
	t.mustOK(b, "checkout_repo", `{"repo":"acme/one"}`)
	t.mustOK(b, "find_code", `{"question":"warm the index"}`)
	for name, args := range map[string][2]string{
		"read-1000-ranges":     {"read", `{"path":"long.go","offset":%d,"limit":40}`},
		"find":                 {"find", `{"pattern":"file%d.go"}`},
		"ls":                   {"ls", `{"path":"pkg%03[1]d"}`},
		"outline-10000-lines":  {"outline", `{"path":"long.go"}`},
		"read_enclosing":       {"read_enclosing", `{"path":"long.go","line":%d}`},
		"grep-rare":            {"grep", `{"pattern":"Handle%d answers"}`},
		"grep-frequent":        {"grep", `{"pattern":"return"}`},
		"find_code-warm":       {"find_code", `{"question":"which function answers request %d?"}`},
		"git_blame-whole-file": {"git_blame", `{"path":"pkg000/file1.go"}`},
	} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				for range map[bool]int{true: 1000, false: 1}[name == "read-1000-ranges"] {
					call := args[1]
					if strings.Contains(call, "%") {
						call = fmt.Sprintf(call, i%60+1)
					}
					t.mustOK(b, args[0], call)
					i++
				}
			}
		})
	}
}

// BenchmarkResearch sets a run's thirty calls beside the same questions put to git, grep and sed by hand.
func BenchmarkResearch(b *testing.B) {
	t := newBench(b, map[string]string{"acme/one": bigRepo(3000, 2000)})
	t.mustOK(b, "checkout_repo", `{"repo":"acme/one"}`)
	plain := filepath.Join(b.TempDir(), "plain")
	out, err := exec.CommandContext(b.Context(), "git", "clone", "-q", t.gate.srv.RepoURL("acme/one"), plain).CombinedOutput()
	require.NoError(b, err, string(out))
	var ours, theirs time.Duration
	for b.Loop() {
		began := time.Now()
		for i := range 10 {
			t.mustOK(b, "grep", fmt.Sprintf(`{"pattern":"Handle%d answers"}`, i*97))
			t.mustOK(b, "read", fmt.Sprintf(`{"path":"pkg%03d/file%d.go","offset":3,"limit":6}`, i*97/50, i*97))
			t.mustOK(b, "find", fmt.Sprintf(`{"pattern":"file%d.go"}`, i*97))
		}
		ours += time.Since(began)
		began = time.Now()
		for i := range 10 {
			for _, line := range []string{fmt.Sprintf("git grep -n 'Handle%d answers'", i*97), fmt.Sprintf("sed -n 3,8p pkg%03d/file%d.go", i*97/50, i*97), fmt.Sprintf("git ls-files '*file%d.go'", i*97)} {
				cmd := exec.CommandContext(b.Context(), "sh", "-c", line)
				cmd.Dir, cmd.Env = plain, append(os.Environ(), "GIT_PAGER=cat")
				out, err := cmd.Output()
				require.NoError(b, err)
				require.NotEmpty(b, out)
			}
		}
		theirs += time.Since(began)
	}
	b.ReportMetric(float64(ours.Microseconds())/1000/float64(b.N), "ms-ours")
	b.ReportMetric(float64(theirs.Microseconds())/1000/float64(b.N), "ms-by-hand")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}
