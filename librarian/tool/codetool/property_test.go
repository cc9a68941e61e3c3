package codetool_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool"
)

var printed = regexp.MustCompile(`^(.+?)(?::(\d+): |-(\d+)- )(.*)$`)

// Whatever is asked, the evidence of read and grep is just the lines that the text shows, as the tree has them.
func TestEvidenceIsWhatIsShown(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	files := map[string][]string{}
	archive := "-- @commit c --\n"
	for i := range 12 {
		path := fmt.Sprintf("dir%d/file%d.txt", i%3, i)
		for range random.IntN(400) {
			files[path] = append(files[path], strings.Repeat("ab c", random.IntN(60))+strconv.Itoa(random.IntN(9)))
		}
		archive += "-- " + path + " --\n" + strings.Join(files[path], "\n") + "\n"
	}
	b := oneRepo(t, archive)
	shown := func(r tool.Result) map[string]bool {
		lines := map[string]bool{}
		for _, e := range r.Evidence {
			for n := e.Start; n > 0 && n <= e.End; n++ {
				key := fmt.Sprintf("%s:%d", e.Path, n)
				require.False(t, lines[key], "twice: %s", key)
				lines[key] = true
			}
		}
		return lines
	}
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	for range 150 {
		path := paths[random.IntN(len(paths))]
		got := b.call(t, "read", fmt.Sprintf(`{"path":%q,"offset":%d,"limit":%d}`, path, 1+random.IntN(420), 1+random.IntN(120)))
		if got.IsError || len(files[path]) == 0 {
			continue
		}
		body, _, _ := strings.Cut(got.Text, "\n\n[")
		e := got.Evidence[0]
		require.Equal(t, strings.Join(files[path][e.Start-1:e.End], "\n"), body)
		require.Len(t, shown(got), e.End-e.Start+1)
	}
	for range 100 {
		args := fmt.Sprintf(`{"pattern":"b c%d$","context":%d,"limit":%d,"path":%q}`, random.IntN(9), random.IntN(4), 1+random.IntN(30), []string{"", "dir1", paths[0]}[random.IntN(3)])
		got := b.ok(t, "grep", args)
		body, _, _ := strings.Cut(got.Text, "\n\n[")
		lines := map[string]bool{}
		for line := range strings.SplitSeq(body, "\n") {
			m := printed.FindStringSubmatch(line)
			if m == nil {
				require.Equal(t, "No matches found", line)
				continue
			}
			n, _ := strconv.Atoi(m[2] + m[3])
			require.Equal(t, files[m[1]][n-1], m[4], args)
			lines[fmt.Sprintf("%s:%d", m[1], n)] = true
		}
		require.Equal(t, lines, shown(got), args)
	}
}

// FuzzArguments throws anything at every tool: no panic, no broken run, text for the model, evidence that lies in the tree.
func FuzzArguments(f *testing.F) {
	b := newBench(f, map[string]string{"acme/one": past + "-- odd --\n\xff\xfe\x00\n-- link (symlink) --\n/etc/passwd\n"})
	b.mustOK(f, "checkout_repo", `{"repo":"acme/one"}`)
	o, _ := b.Lookup("acme/one")
	for _, seed := range []string{`{"path":"src/cart.go"}`, `{"pattern":"(?i)TAX|[","context":30}`, `{"question":"tax","also":["Total"]}`, `{"path":"\"a\\nb\"","line":-3}`,
		`{"path":"link/../../x","offset":99999999999}`, `{"from":"v1","to":"HEAD~1"}`, `{"commit":"0000000"}`, `{"repo":"acme/one@main","path":"/"}`, `[]`, `null`, `{"limit":1e9}`} {
		for name := range b.tools {
			f.Add(name, seed)
		}
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		tl, ok := b.tools[name]
		if !ok || name == "bash" {
			return
		}
		tl.Trace(json.RawMessage(args))
		r, err := tl.Call(t.Context(), json.RawMessage(args))
		require.NoError(t, err)
		require.NotEmpty(t, r.Text)
		require.True(t, utf8.ValidString(r.Subject))
		require.NotContains(t, r.Subject+r.Summary, "\n")
		for _, e := range r.Evidence {
			require.Len(t, e.SHA, 40)
			require.False(t, filepath.IsAbs(e.Path))
			if e.SHA == o.Checkout.SHA() && e.Start > 0 {
				raw, err := os.ReadFile(filepath.Join(o.Checkout.Dir(), e.Path))
				require.NoError(t, err)
				require.LessOrEqual(t, e.End, tool.CountLines(raw))
			}
		}
	})
}
