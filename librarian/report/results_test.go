package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

func TestProvideResultsSchema(t *testing.T) {
	t.Parallel()
	spec := newWorld().results().Tool().Spec()
	require.Equal(t, tool.ProvideResults, spec.Name)
	require.Equal(t, tool.Finish, spec.Effect)
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, spec.Schema, "", "  "))
	golden(t, "provide_results.json", spec.Description+"\n"+b.String()+"\n")
}

func TestProvideResultsAccepts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.read(0, "src/server.go", 1, 50)
	w.read(0, "src/server.go", 51, 90)
	w.read(0, "src/client.go", 1, 5)
	w.read(2, "core/pool.go", 1, 40)
	r := w.results()
	_, ok := r.Findings()
	require.False(t, ok)

	res := provide(t, r, j{
		"summary": "It is in src/server.go:40-60.",
		"locations": []j{
			{"repo": "acme/app", "file": "src/server.go", "lines": "40-60", "note": "spans both reads"},
			{"repo": "ACME/App", "file": "./src/client.go", "lines": 4, "note": "calls `return connect(host,   443)`"},
			{"repo": "acme/lib", "file": "core/pool.go", "note": "whole"},
		},
		"description": "See `client.go:3` too, and acme/lib/core/pool.go#L1-L2.",
	})
	require.False(t, res.IsError, res.Text)
	require.True(t, res.Done)
	require.Equal(t, "3 locations", res.Subject)
	require.Empty(t, res.Summary)
	f, ok := r.Findings()
	require.True(t, ok)
	app, lib := w.sources[0].Repo, w.sources[2].Repo
	require.Equal(t, []librarian.Location{
		{Repo: app.ID, Name: "acme/app", SHA: shaA, Path: "src/server.go", Start: 40, End: 60, Note: "spans both reads", Web: app.WebURL},
		{Repo: app.ID, Name: "acme/app", SHA: shaA, Path: "src/client.go", Start: 4, End: 4, Note: "calls `return connect(host, 443)`", Web: app.WebURL},
		{Repo: lib.ID, Name: "acme/lib", SHA: shaC, Path: "core/pool.go", Note: "whole", Web: lib.WebURL, Private: true},
	}, f.Locations)
	require.Equal(t, []string{"src/server.go:40-60", "src/client.go:3", "core/pool.go:1-2"}, refs(f))
	require.Zero(t, f.Dropped)
}

func refs(f librarian.Findings) []string {
	var out []string
	for _, l := range f.References {
		out = append(out, withLines(l.Path, l))
	}
	return out
}

func TestProvideResultsNoLocations(t *testing.T) {
	t.Parallel()
	r := newWorld().results()
	for _, args := range []string{`{"summary":"It could not be found.","locations":[]}`, `{"summary":"It could not be found.","locations":[],"description":""}`} {
		res := provide(t, r, args)
		require.True(t, res.Done, res.Text)
		f, ok := r.Findings()
		require.True(t, ok)
		require.NotNil(t, f.Locations)
		require.Empty(t, f.Locations)
	}
}

// One fault a call: each is refused with words that help, and dropped in the third call.
func TestP7_RefusedThenDropped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loc  j
		says []string
	}{
		"P7 lines past the end":      {at("acme/app", "src/server.go", "95-140"), []string{"lines 95-140 of src/server.go: the file has 100 lines"}},
		"P7 path that is not there":  {at("acme/app", "src/serve.go", "1-2"), []string{"src/serve.go is not in acme/app at aaaaaaa", "Nearest:", "src/server.go"}},
		"P7 other case":              {at("acme/app", "src/Server.go", "1-2"), []string{"src/Server.go is not in"}},
		"P7 repository not opened":   {at("acme/other", "src/server.go", "1-2"), []string{`repo "acme/other" was not opened`, "acme/app, acme/app@v1, acme/lib"}},
		"P7 sha not checked out":     {at("acme/app@"+shaC, "src/server.go", "1-2"), []string{"was not opened"}},
		"no repo, several opened":    {at("", "src/server.go", "1-2"), []string{"was not opened"}},
		"not read":                   {at("acme/app", "src/client.go", "1-2"), []string{"src/client.go was not read in this run"}},
		"not read, whole":            {at("acme/app", "src/client.go", ""), []string{"src/client.go was not read in this run"}},
		"not all read":               {at("acme/app", "src/server.go", "10-30"), []string{"lines 10-30 of src/server.go were not all read", "Read so far: 1-20, 40-50"}},
		"one of two ranges not read": {at("acme/app", "src/server.go", "1-5, 30-31"), []string{"lines 30-31 of src/server.go were not all read"}},
		"read at another commit":     {at("acme/app", "src/server.go", "55"), []string{`src/server.go was read at acme/app@v1`, `give "acme/app@v1" as repo`}},
		"P6 open range":              {at("acme/app", "src/server.go", "10-"), []string{`lines "10-" is not a range`}},
		"P6 thousands":               {at("acme/app", "src/server.go", "1,100"), []string{"thousands"}},
		"P6 line 0":                  {at("acme/app", "src/server.go", "0-5"), []string{"lines count from 1"}},
		"directory":                  {at("acme/app", "src", ""), []string{"src is a directory"}},
		"binary with lines":          {at("acme/app", "logo.png", "1"), []string{"no lines to cite (binary)"}},
		"empty file with lines":      {at("acme/app", "empty.txt", "1"), []string{"the file has 0 lines"}},
		"empty path":                 {at("acme/app", " ", "1"), []string{"file is empty"}},
		"path above the tree":        {at("acme/app", "../../etc/passwd", ""), []string{"is not in acme/app"}},
		"absolute path above":        {at("acme/app", "/../etc/passwd", ""), []string{"is not in acme/app"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.read(0, "src/server.go", 1, 20)
			w.read(0, "src/server.go", 40, 50)
			w.read(1, "src/server.go", 55, 60)
			r := w.results()
			args := answer("An answer.", at("acme/app", "src/server.go", "5-6"), c.loc)
			for n := range MaxRefusals {
				res := provide(t, r, args)
				require.True(t, res.IsError)
				require.False(t, res.Done)
				require.Contains(t, res.Text, "locations[1]")
				require.NotContains(t, res.Text, "locations[0]")
				for _, s := range c.says {
					require.Contains(t, res.Text, s)
				}
				_, ok := r.Findings()
				require.False(t, ok, "refusal %d", n)
			}
			res := provide(t, r, args)
			require.True(t, res.Done)
			require.Equal(t, "1 dropped", res.Summary)
			require.Contains(t, res.Text, "1 reference could not be verified")
			f, ok := r.Findings()
			require.True(t, ok)
			require.Len(t, f.Locations, 1)
			require.Equal(t, 1, f.Dropped)
		})
	}
}

func TestP6_LocationForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loc  j
		want []string
	}{
		"en dash":             {at("acme/app", "src/server.go", "80–90"), []string{"src/server.go:80-90"}},
		"L80-L90":             {at("acme/app", "src/server.go", "L80-L90"), []string{"src/server.go:80-90"}},
		"reversed":            {at("acme/app", "src/server.go", "90-80"), []string{"src/server.go:80-90"}},
		"two ranges":          {at("acme/app", "src/server.go", "10-20, 30-40"), []string{"src/server.go:10-20", "src/server.go:30-40"}},
		"a number":            {j{"repo": "acme/app", "file": "src/server.go", "lines": 42, "note": "n"}, []string{"src/server.go:42"}},
		"null":                {j{"repo": "acme/app", "file": "src/server.go", "lines": nil, "note": "n"}, []string{"src/server.go"}},
		"lines in the path":   {at("acme/app", "src/server.go:80-90", ""), []string{"src/server.go:80-90"}},
		"anchor in the path":  {at("acme/app", "src/server.go#L80-L90", ""), []string{"src/server.go:80-90"}},
		"leading slash":       {at("acme/app", "/src/server.go", "80"), []string{"src/server.go:80"}},
		"name before path":    {at("acme/app", "app/src/server.go", "80"), []string{"src/server.go:80"}},
		"full name before":    {at("acme/app", "acme/app/src/server.go", "80"), []string{"src/server.go:80"}},
		"in backticks":        {at("`acme/app`", "`src/server.go`", "80"), []string{"src/server.go:80"}},
		"URL as repo":         {at("https://github.com/acme/app.git", "src/server.go", "80"), []string{"src/server.go:80"}},
		"odd path":            {at("acme/app", "app/(main)/[id]/page.tsx", "1-3"), []string{"app/(main)/[id]/page.tsx:1-3"}},
		"space in path":       {at("acme/app", "docs/my file.md", "1-3"), []string{"docs/my file.md:1-3"}},
		"decomposed spelling": {at("acme/app", "src/re\u0301sume\u0301.go", "1-3"), []string{"src/r\u00e9sum\u00e9.go:1-3"}},
		"quoted by a tool":    {at("acme/app", `"docs/new\nline.md"`, "1-3"), []string{"docs/new\nline.md:1-3"}},
		"quoted, in code":     {at("acme/app", "`\"docs/new\\nline.md\"`", "1-3"), []string{"docs/new\nline.md:1-3"}},
		"binary, whole":       {at("acme/app", "logo.png", ""), []string{"logo.png"}},
	} {
		t.Run("P6 "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			for _, f := range []string{"src/server.go", "app/(main)/[id]/page.tsx", "docs/my file.md", "docs/new\nline.md", "src/r\u00e9sum\u00e9.go"} {
				lines := strings.Count(w.files[string(w.sources[0].Repo.ID)+"@"+shaA+":"+f], "\n")
				w.read(0, f, 1, lines)
			}
			w.read(0, "logo.png", 0, 0)
			r := w.results()
			res := provide(t, r, answer("An answer.", c.loc))
			require.True(t, res.Done, res.Text)
			f, _ := r.Findings()
			var got []string
			for _, l := range f.Locations {
				got = append(got, withLines(l.Path, l))
				require.NotContains(t, Permalink(l), "L80140")
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	type want struct {
		refs []string
		bad  int
		text string // after two refusals; "" is unchanged
	}
	for in, c := range map[string]want{
		"See src/server.go:10-20.":                               {refs: []string{"src/server.go:10-20"}},
		"See `src/server.go:10–20`, then `server.go:12`.":        {refs: []string{"src/server.go:10-20", "src/server.go:12"}},
		"(src/server.go:10)":                                     {refs: []string{"src/server.go:10"}},
		"**src/server.go:10**":                                   {refs: []string{"src/server.go:10"}},
		"acme/lib/core/pool.go:3 and pool.go#L4-L5":              {refs: []string{"core/pool.go:3", "core/pool.go:4-5"}},
		"app/(main)/[id]/page.tsx:3":                             {refs: []string{"app/(main)/[id]/page.tsx:3"}},
		"`docs/my file.md:3`":                                    {refs: []string{"docs/my file.md:3"}},
		"a compiler says src/server.go:12:7: oops":               {refs: []string{"src/server.go:12"}},
		"`src/server.go` (lines 10-20) and server.go, line 5":    {refs: []string{"src/server.go:10-20", "src/server.go:5"}},
		"lines 10-20 of `src/server.go`.":                        {refs: []string{"src/server.go:10-20"}},
		"src/server.go:90":                                       {bad: 1, text: "src/server.go"},
		"Both `src/server.go:90-95` and src/server.go:10 do.":    {refs: []string{"src/server.go:10"}, bad: 1, text: "Both `src/server.go` and src/server.go:10 do."},
		"src/server.go:500 is past the end":                      {bad: 1, text: "src/server.go is past the end"},
		"src/gone.go:10 and server.go:0":                         {bad: 2, text: "src/gone.go and server.go"},
		"`src/server.go` (lines 90-95) holds":                    {bad: 1, text: "`src/server.go` holds"},
		"src/server.go (see line 90) holds":                      {},
		"src/server.go, line 90, holds":                          {bad: 1, text: "src/server.go, holds"},
		"lines 90 to 95 of `src/server.go` hold":                 {bad: 1, text: "`src/server.go` hold"},
		"gone.py:3":                                              {bad: 1, text: "gone.py"},
		"```\nsrc/server.go:99\n```":                             {bad: 1, text: "```\nsrc/server.go\n```"},
		"at 12:30 on localhost:8080, 127.0.0.1:80, [::1]:80":     {},
		"http://example.com:80/a.go:10 and https://h/x.go#L3":    {},
		"redis:6379, example.com:443, ghcr.io/o/image:1, a:1":    {},
		"sha256:1234, v1.2.3:4, ratio 3:1, std::vector, I/O:2":   {},
		"step 2: do; line 5 of the poem; item (line 3)":          {},
		"src/server.go:10abc and src/server.go:10.5":             {},
		"The same bad place src/server.go:90, src/server.go:90.": {bad: 1, text: "The same bad place src/server.go, src/server.go."},
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.read(0, "src/server.go", 1, 50)
			w.read(0, "app/(main)/[id]/page.tsx", 1, 30)
			w.read(0, "docs/my file.md", 1, 20)
			w.read(2, "core/pool.go", 1, 40)
			r := w.results()
			args := answer("An answer.")
			args["description"] = in
			res := provide(t, r, args)
			if c.bad > 0 {
				require.True(t, res.IsError)
				require.Contains(t, res.Text, "description")
				require.True(t, provide(t, r, args).IsError)
				res = provide(t, r, args)
			}
			require.True(t, res.Done, res.Text)
			f, _ := r.Findings()
			require.Equal(t, c.bad, f.Dropped)
			require.Equal(t, c.refs, refs(f))
			if c.text == "" {
				c.text = in
			}
			require.Equal(t, c.text, f.Description)
		})
	}
}

func TestQuotedLineMustStandInTheFile(t *testing.T) {
	t.Parallel()
	for note, ok := range map[string]bool{
		"`return connect(host, 443)`":                 true,
		"``return connect( host, 443 )`` wrapped":     true,
		"`func dial(host string) error { … }` dials":  true,
		"`func dial(host string) error {...}` dials":  true,
		"uses `tls.Config` of another file":           true,
		"the name `some helper` in code font":         true,
		"`connect(host, 443) over lines`":             true, // of a comment
		"`return connect(host, 80)`":                  false,
		"good `dial(host string)`, bad `x := dial()`": false,
	} {
		w := newWorld()
		w.put(0, "src/client.go", w.files[string(w.sources[0].Repo.ID)+"@"+shaA+":src/client.go"]+"// connect(host,\n// 443) over lines\n")
		w.read(0, "src/client.go", 1, 5)
		r := w.results()
		args := answer("An answer.", j{"repo": "acme/app", "file": "src/client.go", "lines": "3-4", "note": note})
		res := provide(t, r, args)
		require.Equal(t, ok, res.Done, "%s: %s", note, res.Text)
		if ok {
			continue
		}
		require.Contains(t, res.Text, "the note quotes")
		provide(t, r, args)
		require.True(t, provide(t, r, args).Done)
		f, _ := r.Findings()
		require.Len(t, f.Locations, 1, "the place holds")
		require.Empty(t, f.Locations[0].Note, "its note does not")
		require.Equal(t, 1, f.Dropped)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for in, c := range map[string]struct{ summary, rest string }{
		"One. Two. Three.":                                  {"One. Two. Three.", ""},
		"One. Two. Three. Four. Five.":                      {"One. Two. Three.", "Four. Five."},
		"Uses e.g. Foo, i.e. Bar, vs. Baz. Two! Three? Go.": {"Uses e.g. Foo, i.e. Bar, vs. Baz. Two! Three?", "Go."},
		"In a.b. It. is v1.2. Three":                        {"In a.b. It. is v1.2. Three", ""},
		"`A. B. C. D. E.` is code":                          {"`A. B. C. D. E.` is code", ""},
		"First paragraph.\n\nSecond paragraph.":             {"First paragraph.", "Second paragraph."},
		"First.\r\n\r\nSecond.":                             {"First.", "Second."},
	} {
		r := newWorld().results()
		require.True(t, provide(t, r, answer(in)).Done)
		f, _ := r.Findings()
		require.Equal(t, c.summary, f.Summary)
		require.Equal(t, c.rest, f.Description)
	}
}

func TestLimitsOfProvideResults(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.read(0, "src/server.go", 1, 100)
	many := answer("An answer.")
	locs := []j{}
	for i := range MaxLocations + 5 {
		locs = append(locs, j{"repo": "acme/app", "file": "src/server.go", "lines": i + 1, "note": "n"})
	}
	many["locations"] = locs
	long := answer("An answer.")
	long["description"] = strings.Repeat("word ", MaxDescription/5) + "\n\nmore and more"
	for name, c := range map[string]struct {
		args j
		says string
		then func(f librarian.Findings)
	}{
		"empty summary": {answer(" \n"), "summary: is empty", func(f librarian.Findings) { require.NotEmpty(t, f.Summary) }},
		"long summary": {answer(strings.Repeat("x", MaxSummary+1)), "longer than 1000", func(f librarian.Findings) {
			require.Len(t, []rune(f.Summary), MaxSummary)
			require.Equal(t, strings.Repeat("x", MaxSummary+1), f.Description, "nothing is lost")
		}},
		"many locations": {many, "are 55; at most 50", func(f librarian.Findings) {
			require.Len(t, f.Locations, MaxLocations)
			require.Equal(t, 5, f.Dropped)
		}},
		"long note": {answer("An answer.", j{"repo": "acme/app", "file": "src/server.go", "note": strings.Repeat("x", MaxNote+1)}), "note is longer", func(f librarian.Findings) {
			require.Len(t, []rune(f.Locations[0].Note), MaxNote)
		}},
		"long description": {long, "at most 200,000 are taken", func(f librarian.Findings) {
			require.LessOrEqual(t, len([]rune(f.Description)), MaxDescription)
			require.Contains(t, f.Description, "left out")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.results()
			for range MaxRefusals {
				res := provide(t, r, c.args)
				require.True(t, res.IsError)
				require.Contains(t, res.Text, c.says)
				require.Less(t, len(res.Text), 25_000)
			}
			require.True(t, provide(t, r, c.args).Done)
			f, _ := r.Findings()
			c.then(f)
		})
	}
}

func TestLastAcceptedCallCounts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.read(0, "src/server.go", 1, 100)
	r := w.results()
	provide(t, r, answer("First."))
	require.True(t, provide(t, r, answer("Bad.", at("acme/app", "gone.go", ""))).IsError)
	f, _ := r.Findings()
	require.Equal(t, "First.", f.Summary, "a refused call changes nothing")
	provide(t, r, answer("Second.", at("acme/app", "src/server.go", "1"), at("acme/app", "src/server.go", "1-1")))
	f, _ = r.Findings()
	require.Equal(t, "Second.", f.Summary)
	require.Len(t, f.Locations, 1, "the same lines are one place")
}

func TestTreeFailureBreaksTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.broken = errors.New("disk on fire")
	_, err := w.results().Tool().Call(t.Context(), json.RawMessage(`{"summary":"x","locations":[{"repo":"acme/app","file":"a","note":""}]}`))
	require.ErrorIs(t, err, w.broken)
	_, err = w.results().Tool().Call(t.Context(), json.RawMessage(`{"summary":"x a.go:1","locations":[]}`))
	require.ErrorIs(t, err, w.broken)
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	r := newWorld().results()
	for _, raw := range []string{``, `[]`, `{"summary":1}`, `{"summary":"x"}`, `{"summary":"x","locations":[{"lines":["1"]}]}`, `{"summary":"x","other":1}`, `{"summary":"x"}{}`} {
		res, err := r.Tool().Call(t.Context(), json.RawMessage(raw))
		require.NoError(t, err)
		require.True(t, res.IsError, raw)
	}
}

func TestFallback(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.read(0, "README.md", 1, 20)
	w.read(0, "src/server.go", 1, 100)
	w.read(0, "src/server.go", 40, 50)
	w.read(0, "src/client.go", 1, 5)
	w.ledger.Add(tool.Evidence{Repo: "github:github.com:9", Name: "acme/gone", SHA: shaA, Path: "x.go", Start: 1, End: 2})
	f := Fallback(w.ledger, w, "Read so far.")
	var got []string
	for _, l := range f.Locations {
		got = append(got, withLines(l.Path, l))
		require.Equal(t, "https://github.com/acme/app", l.Web)
	}
	require.Equal(t, []string{"src/server.go:40-50", "src/client.go:1-5", "README.md:1-20"}, got)
	require.Equal(t, "Read so far.", f.Summary)

	for i := range 30 {
		w.put(0, strings.Repeat("a", i+1), numbered(900))
		w.read(0, strings.Repeat("a", i+1), 1, 900)
	}
	f = Fallback(w.ledger, w, "")
	require.Len(t, f.Locations, 10)
	require.Zero(t, f.Locations[9].Start, "of a very long range only the file is named")
	require.NotNil(t, Fallback(NewLedger(), w, "").Locations)
}

func FuzzProvideResults(f *testing.F) {
	f.Add("In src/server.go:10-20.", "acme/app", "src/server.go", "10-20", "has `some line of text(x)`", "lines 1-2 of server.go, server.go (line 9)")
	f.Add("`", "", "a:1", "٣", "`a b(`", "`docs/my file.md:3`, gone.py:3 (L9)")
	f.Add("x. Y. Z. A.", "https://h/acme/lib", "core/pool.go#L3-L4", "", "", "pool.go:3:4:5, line 9, lines 3-4 of **pool.go**")
	f.Fuzz(func(t *testing.T, summary, repo, file, lines, note, description string) {
		w := newWorld()
		w.read(0, "src/server.go", 1, 50)
		w.read(0, "src/client.go", 1, 5)
		w.read(0, "docs/my file.md", 3, 3)
		w.read(2, "core/pool.go", 3, 4)
		r := w.results()
		args := j{"summary": summary, "locations": []j{{"repo": repo, "file": file, "lines": lines, "note": note}}, "description": description}
		for range MaxRefusals + 1 {
			res := provide(t, r, args)
			require.True(t, res.IsError != res.Done)
		}
		found, ok := r.Findings()
		require.True(t, ok, "refused twice at most")
		require.NotEmpty(t, found.Summary)
		for _, l := range append(found.Locations, found.References...) {
			require.True(t, w.ledger.Covered(l.Repo, l.SHA, l.Path, l.Start, l.End), "%+v was not read", l)
			require.True(t, l.Start == 0 && l.End == 0 || l.Start >= 1 && l.End >= l.Start)
		}
		// What was accepted holds: given again, it is accepted at once.
		res := provide(t, w.results(), j{"summary": found.Summary, "locations": []j{}, "description": found.Description})
		require.True(t, res.Done, "%q: %s", found.Description, res.Text)
	})
}
