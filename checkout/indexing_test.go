package checkout

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// checkoutOf gives a checkout of files by path; a name that begins with "link" is a symbolic link.
func checkoutOf(t *testing.T, files map[string][]byte, change func(*Options)) *Checkout {
	t.Helper()
	srv := checkouttest.NewServer(t)
	p := &checkouttest.Pack{}
	byDir := map[string][]checkouttest.TreeEntry{}
	for _, path := range slices.Sorted(func(yield func(string) bool) {
		for path := range files {
			if !yield(path) {
				return
			}
		}
	}) {
		dir, name, ok := strings.Cut(path, "/")
		if !ok {
			dir, name = "", path
		}
		mode := "100644"
		if strings.HasPrefix(name, "link") {
			mode = "120000"
		}
		byDir[dir] = append(byDir[dir], checkouttest.TreeEntry{Mode: mode, Name: name, OID: p.Add("blob", files[path])})
	}
	root := byDir[""]
	for dir, entries := range byDir {
		if dir != "" {
			root = append(root, checkouttest.TreeEntry{Mode: "40000", Name: dir, OID: p.Add("tree", checkouttest.TreeData(entries...))})
		}
	}
	slices.SortFunc(root, func(a, b checkouttest.TreeEntry) int { return strings.Compare(a.Name, b.Name) })
	srv.AddRaw(t, "acme/tree", p, root...)
	opt := Options{Dir: t.TempDir(), PrivateHosts: []string{srv.Host()}}
	if change != nil {
		change(&opt)
	}
	s, err := New(opt)
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c, err := s.Acquire(t.Context(), Request{Repo: Repo{ID: "github:test:tree", Name: "acme/tree", URL: srv.RepoURL("acme/tree"), Class: Public}})
	require.NoError(t, err)
	t.Cleanup(c.Release)
	return c
}

// anyText makes files that are hard on a search: every encoding, either line
// end, long lines, binaries, and characters that fold to others.
type anyText struct{ *rand.Rand }

var textWords = strings.Fields("handler Handler HANDLER error errNo parse_tree ParseTree kelvin \u212aelvin Kelvin si\u017fe size SIZE caf\u00e9 CAF\u00c9 na\u00efve 0x1f 404 4096 foo.bar(baz) a->b x[i] return if ab abc \u65e5\u672c\u8a9e \u2026 TODO: \ufffd")

func (r anyText) line() string {
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteString(textWords[r.IntN(len(textWords))])
		b.WriteString([]string{" ", "", "_", "\t", ", "}[r.IntN(5)])
	}
	if r.IntN(60) == 0 {
		b.WriteString(strings.Repeat("long ", 3000))
		b.WriteString(textWords[r.IntN(len(textWords))])
	}
	return b.String()
}

func (r anyText) file() []byte {
	end := []string{"\n", "\n", "\r\n"}[r.IntN(3)]
	var b strings.Builder
	lines := r.IntN(12)
	if r.IntN(12) == 0 {
		lines = 300 // some stretches
	}
	for range lines {
		b.WriteString(r.line() + end)
	}
	if r.IntN(3) == 0 {
		b.WriteString(r.line())
	}
	text := b.String()
	switch r.IntN(12) {
	case 0: // UTF-16, either way round
		big := r.IntN(2)
		out := []byte{0xff, 0xfe}
		if big == 1 {
			out = []byte{0xfe, 0xff}
		}
		for _, u := range utf16.Encode([]rune(text)) {
			out = append(out, byte(u>>(8*big)), byte(u>>(8-8*big)))
		}
		return out
	case 1: // Latin-1, with some UTF-8 in it perhaps
		return []byte(strings.ReplaceAll(text, "\u00e9", "\xe9"))
	case 2:
		return []byte("\xef\xbb\xbf" + text)
	case 3:
		return []byte("\x00\x01" + text)
	case 4: // no encoding at all
		out := []byte(text)
		for i := range out {
			if r.IntN(40) == 0 {
				out[i] = byte(1 + r.IntN(255))
			}
		}
		return out
	case 5:
		return nil
	}
	return []byte(text)
}

// pattern makes a pattern from a line: pieces of it, as they are or as
// something that matches them and more.
func (r anyText) pattern() GrepOptions {
	o := GrepOptions{IgnoreCase: r.IntN(3) == 0, Limit: []int{0, 0, 1, 5, 1 << 20}[r.IntN(5)], Context: r.IntN(3), Path: []string{"", "", "dir1"}[r.IntN(3)], Glob: []string{"", "", "*1*"}[r.IntN(3)]}
	line := []rune(r.line())
	if len(line) > 40 {
		line = line[:40]
	}
	from := r.IntN(len(line) + 1)
	piece := line[from:min(len(line), from+1+r.IntN(14))]
	if r.IntN(3) == 0 {
		o.Pattern, o.Literal = string(piece), true
		if r.IntN(20) == 0 {
			o.Pattern += "\xc3"
		}
		return o
	}
	var b strings.Builder
	for _, c := range piece {
		q := quoteRune(c)
		switch r.IntN(20) {
		case 0:
			b.WriteString(".")
		case 1:
			b.WriteString("[" + q + "x-z]")
		case 2:
			b.WriteString("(" + q + "|qq+)")
		case 3:
			b.WriteString(q + "?")
		case 4:
			b.WriteString(q + "*")
		case 5:
			b.WriteString(q + "{1,3}")
		case 6:
			b.WriteString("(?i:" + q + ")")
		case 7:
			b.WriteString(`\w*` + q)
		case 8:
			b.WriteString(q + `(\b|\B)`)
		case 9:
			b.WriteString(kindOf(c) + []string{"", "+", "{1,}", "{2}|" + q, "?"}[r.IntN(5)])
		case 10, 11:
			b.WriteString(kindOf(c))
		default:
			b.WriteString(q)
		}
	}
	o.Pattern = b.String()
	switch r.IntN(10) {
	case 0:
		o.Pattern = "^" + o.Pattern
	case 1:
		o.Pattern += "$"
	case 2:
		o.Pattern += "|" + string(quoteRune([]rune(textWords[r.IntN(len(textWords))])[0])) + "andler"
	case 3:
		o.Pattern = "(" + o.Pattern + "){2}|" + o.Pattern
	}
	return o
}

// kindOf gives a set of characters that c is among.
func kindOf(c rune) string {
	switch {
	case c >= 'a' && c <= 'z':
		return "[a-z]"
	case c >= 'A' && c <= 'Z':
		return "[A-Z]"
	case c >= '0' && c <= '9':
		return `\d`
	case c == ' ' || c == '\t':
		return `\s`
	}
	return quoteRune(c)
}

func quoteRune(c rune) string {
	if strings.ContainsRune(`\.+*?()|[]{}^$-`, c) {
		return `\` + string(c)
	}
	return string(c)
}

// TestIndexChangesNothing: whatever the tree and the pattern, a search with the
// index finds and counts what one without does, while it leaves files out.
func TestIndexChangesNothing(t *testing.T) {
	t.Parallel()
	r := anyText{rand.New(rand.NewPCG(3, 5))}
	files := map[string][]byte{}
	for i := range 400 {
		name := fmt.Sprintf("dir%d/file%d", i%4, i)
		if i%20 == 7 {
			name = fmt.Sprintf("dir%d/link%d", i%4, i)
		}
		files[name] = r.file()
	}
	c := checkoutOf(t, files, nil)
	var asked []GrepOptions
	var want []GrepResult
	patterns := 200
	if os.Getenv("LIBRARIAN_LONG") != "" {
		patterns = 5000
	}
	for len(asked) < patterns {
		o := r.pattern()
		found, err := c.Grep(t.Context(), o)
		if err != nil {
			var bad *PatternError
			require.ErrorAs(t, err, &bad, "%q", o.Pattern)
			continue
		}
		asked, want = append(asked, o), append(want, found)
	}
	require.NoError(t, c.store.makeIndex(t.Context(), c.tree))
	left, parts, matches := 0, 0, 0
	for i, o := range asked {
		found, err := c.Grep(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, want[i], found, "%+v", o)
		matches += found.Matches

		m, err := newMatcher(o)
		require.NoError(t, err)
		tree, nos, err := c.grepFiles(t.Context(), o)
		require.NoError(t, err)
		for _, k := range c.sifter(m, tree, nos, 2).sift(t.Context(), nos) {
			if k.is == noMatch {
				left++
			}
			if k.spans != nil {
				parts++
			}
		}
	}
	require.NotNil(t, c.tree.index.open)
	require.Greater(t, parts, patterns/10, "files that were looked into in parts")
	require.Greater(t, left, 30*patterns, "files that were not looked into")
	require.Greater(t, matches, 3*patterns)
}

// TestGramQueries: what patterns ask for of a file, told by texts that they may be in and texts that they are not in.
func TestGramQueries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		o       GrepOptions
		in, out []string // nil for out: nothing can be asked for
	}{
		{GrepOptions{Pattern: "readAll"}, []string{"x readAll", "XreadAll"}, []string{"readal", "eadall", "readall", "READALL"}},
		{GrepOptions{Pattern: "read(All|Full)"}, []string{"readAll", "readFull"}, []string{"reader", "read"}},
		{GrepOptions{Pattern: "func [A-Z]x"}, []string{"func Ax"}, []string{"func", "func _x", "func ax"}},
		{GrepOptions{Pattern: `func\s+\w+Handler\(`}, []string{"func aHandler("}, []string{"func", "handler("}},
		{GrepOptions{Pattern: "colou?r"}, []string{"color", "colour"}, []string{"cool"}},
		{GrepOptions{Pattern: "(abcd)+"}, []string{"abcd"}, []string{"abc"}},
		{GrepOptions{Pattern: "(abcd){2,}"}, []string{"abcdabcd"}, []string{"abcd"}},
		{GrepOptions{Pattern: "abcd|xyzw"}, []string{"abcd", "xyzw"}, []string{"abc", "xyz"}},
		{GrepOptions{Pattern: "kelvin", IgnoreCase: true}, []string{"\u212aELVIN", "kelvin"}, []string{"elvin"}},
		{GrepOptions{Pattern: "\u00e9t\u00e9", IgnoreCase: true}, []string{"\u00c9T\u00c9", "\u00e9t\u00e9"}, []string{"ete"}},
		{GrepOptions{Pattern: "aaa bbb ccc", Literal: true}, []string{"aaa bbb ccc"}, []string{"aaa bbb", "bbb ccc"}},
		{GrepOptions{Pattern: "0123456789[0-9][0-9]abc"}, []string{"012345678900abc"}, []string{"0123456789", "00abc"}},
		{GrepOptions{Pattern: "ab"}, []string{""}, nil},
		{GrepOptions{Pattern: "(abcd)*"}, []string{""}, nil},
		{GrepOptions{Pattern: "abcd|x"}, []string{""}, nil},
		{GrepOptions{Pattern: `[A-Z][a-z]+[0-9]{3,}\(`}, []string{"Abc123(", "XAb0001("}, []string{"abc12(", "123(", "Xyz 9876"}},
		{GrepOptions{Pattern: `\d+\.\d{2}`}, []string{"1.25", "x10.255"}, []string{"1.2", "abc 25"}},
		{GrepOptions{Pattern: `(ab)+cd`}, []string{"ababcd"}, []string{"abab", "abxcd"}},
		{GrepOptions{Pattern: `x(aa|bb)+y`}, []string{"xaay", "xaabby"}, []string{"xy", "xaab", "aay"}},
		{GrepOptions{Pattern: `(foo.*|ba.*)qux`}, []string{"foo qux", "bazqux"}, []string{"foo qu", "uxq"}},
		{GrepOptions{Pattern: `[a-z]{2}[A-Z]=`, IgnoreCase: true}, []string{"Abc=", "abC="}, []string{"a1b="}},
		{GrepOptions{Pattern: "\u212a123", IgnoreCase: true}, []string{"K123", "k123", "\u212a123"}, []string{"k 12 3"}},
		{GrepOptions{Pattern: "[\u00e9]99\\("}, []string{"\u00e999("}, []string{"99("}},
		{GrepOptions{Pattern: `[a-z][a-z]{3}`}, []string{""}, nil},
		{GrepOptions{Pattern: "caf\xc3", Literal: true}, []string{""}, nil},
		{GrepOptions{Pattern: `\x{fffd}..`}, []string{""}, nil},
	} {
		m, err := newMatcher(tt.o)
		require.NoError(t, err)
		q := gramsOf(m)
		if tt.out == nil {
			require.Nil(t, q, "%q", tt.o.Pattern)
			continue
		}
		require.NotNil(t, q, "%q", tt.o.Pattern)
		var k marker
		for _, text := range tt.in {
			b := k.mark(nil, []byte(text))[1:]
			require.True(t, q.in(b), "%q in %q", tt.o.Pattern, text)
		}
		for _, text := range tt.out {
			b := k.mark(nil, []byte(text))[1:]
			require.False(t, q.in(b), "%q in %q", tt.o.Pattern, text)
		}
	}
}

func manyFiles(n int) map[string][]byte {
	files := map[string][]byte{}
	for i := range n {
		files[fmt.Sprintf("dir%d/file%d", i%7, i)] = []byte(strings.Repeat(fmt.Sprintf("line of %d and nothing else\n", i), 1+i%90))
	}
	return files
}

func awaitIndexes(t *testing.T, s *Store, n int64) {
	t.Helper()
	require.Eventually(t, func() bool { return s.Stats().Indexes == n }, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return !s.indexing }, time.Minute, time.Millisecond)
}

// TestIndexMakesItself: searches at once, of which the first have no index and
// later ones do; a tree that was given back keeps its index, and takes it along.
func TestIndexMakesItself(t *testing.T) {
	t.Parallel()
	c := checkoutOf(t, manyFiles(2*filesForIndex), nil)
	s := c.store
	require.NoError(t, s.Evict(t.Context()))
	before := s.Stats().Disk
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 40 {
				want := 40*i + n
				r, err := c.Grep(context.Background(), GrepOptions{Pattern: fmt.Sprintf("line of %d and", want), Limit: 1000})
				if err != nil || r.Files != 1 || r.Matches != 1+want%90 || r.Searched != 2*filesForIndex {
					t.Errorf("%d: %v, %d files, %d matches, %d searched", want, err, r.Files, r.Matches, r.Searched)
				}
			}
		})
	}
	wg.Wait()
	awaitIndexes(t, s, 1)
	_, err := c.Grep(t.Context(), GrepOptions{Pattern: "line of 77 and"})
	require.NoError(t, err)
	require.NotNil(t, c.tree.index.open)

	fi, err := os.Stat(c.tree.indexPath())
	require.NoError(t, err)
	require.NoError(t, s.Evict(t.Context()))
	require.Equal(t, onDisk(fi.Size()), s.Stats().Disk-before, "it counts on the disk")
	c.Release()
	require.Nil(t, c.tree.index.open)
	trees, err := filepath.Glob(filepath.Join(s.opt.Dir, "stores/*/*/trees/*"))
	require.NoError(t, err)
	require.Len(t, trees, 1)
	rebudget(s, func(b *Budget) { b.DiskBytes = 1 })
	require.NoError(t, s.Evict(t.Context()))
	require.NoFileExists(t, c.tree.indexPath())
	left, err := filepath.Glob(filepath.Join(s.opt.Dir, "tmp/*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// rebudget changes a store's budget while nothing is evicted by it: what a start or an acquire set off may still be under way.
func rebudget(s *Store, change func(*Budget)) {
	s.evicting.Lock()
	defer s.evicting.Unlock()
	change(&s.opt.Budget)
}

// TestIndexIsNotForAll: few files, or little room on the disk, and there is none.
func TestIndexIsNotForAll(t *testing.T) {
	t.Parallel()
	few := checkoutOf(t, manyFiles(filesForIndex-1), nil)
	full := checkoutOf(t, manyFiles(filesForIndex), nil)
	rebudget(full.store, func(b *Budget) { b.FreeBytes = 1 << 60 })
	for _, c := range []*Checkout{few, full} {
		_, err := c.Grep(t.Context(), GrepOptions{Pattern: "line of 7 and"})
		require.NoError(t, err)
	}
	require.NoError(t, few.store.Close()) // waits for what is in the background
	require.NoError(t, full.store.Close())
	require.NoFileExists(t, few.tree.indexPath())
	require.NoFileExists(t, full.tree.indexPath())
}

// TestIndexDamaged: wherever a byte of the file is wrong, whatever is missing of
// it, and if it is another tree's, a search finds the same, and the index is made anew.
func TestIndexDamaged(t *testing.T) {
	t.Parallel()
	c := checkoutOf(t, manyFiles(filesForIndex), nil)
	s := c.store
	ask := GrepOptions{Pattern: "line of (7|77|498) and", Context: 1}
	want, err := c.Grep(t.Context(), ask)
	require.NoError(t, err)
	awaitIndexes(t, s, 1)
	good, err := os.ReadFile(c.tree.indexPath())
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	var bad [][]byte
	for i := range 40 {
		at := rng.IntN(len(good))
		if i%2 == 0 {
			at = len(good) - 1 - rng.IntN(min(len(good), filesForIndex+300)) // in the head
		}
		b := slices.Clone(good)
		b[at] ^= byte(1 + rng.IntN(255))
		bad = append(bad, b)
	}
	foreign := slices.Clone(good)
	copy(foreign[len(foreign)-len(headMagic)-40:], strings.Repeat("ab", 20))
	bad = append(bad, foreign, nil, good[1:], good[:len(good)/2], good[:headSize-1], slices.Concat(good, good[:9]))
	for i, b := range bad {
		c.tree.index.close()
		require.NoError(t, writeFile(c.tree.indexPath(), b))
		got, err := c.Grep(t.Context(), ask)
		require.NoError(t, err)
		require.Equal(t, want, got, "%d", i)
		awaitIndexes(t, s, int64(i+2))
		again, err := os.ReadFile(c.tree.indexPath())
		require.NoError(t, err)
		require.Equal(t, good, again)
	}
	// One that goes bad while it is open.
	_, err = c.Grep(t.Context(), ask)
	require.NoError(t, err)
	f, err := os.OpenFile(c.tree.indexPath(), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(make([]byte, 100), 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	got, err := c.Grep(t.Context(), ask)
	require.NoError(t, err)
	require.Equal(t, want, got)
	awaitIndexes(t, s, int64(len(bad)+2))
}
