package checkout

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// GrepOptions say what Grep looks for.
type GrepOptions struct {
	// Pattern is RE2 syntax (see regexp/syntax), applied to one line at a time.
	Pattern    string
	Literal    bool // Pattern is plain text
	IgnoreCase bool
	Path       string // a folder or file; "" is the whole tree
	Glob       string // only files that match, see FindOptions; "" is all
	Context    int    // lines before and after each match, 20 at most
	Limit      int    // of matching lines; 0 means 100
}

// GrepLine is one line of a result.
type GrepLine struct {
	Path  string
	Line  int    // from 1
	Text  string // valid UTF-8, at most 2,000 bytes; of a long line that matches those around the first match
	Skip  int    // bytes of the line before Text
	At    int    // of a line of more than 500 bytes: where in Text the first match is, its begin or its end
	Size  int    // bytes of the whole line
	Match bool   // false for a line of context
}

// GrepResult is what Grep found, by path and line. Where matches are near each
// other their context is given once.
type GrepResult struct {
	Lines    []GrepLine
	Matches  int
	Files    int  // with matches
	Searched int  // files looked into
	Binary   int  // files left out because they are binary or larger than 32 MiB
	Limited  bool // there was more than Limit
}

const (
	maxGrepText    = 2000
	longLine       = 500 // bytes up to which it does not matter where on a line the match is
	maxGrepContext = 20
)

// PatternError says that a pattern is not RE2 syntax.
type PatternError struct {
	Pattern string
	Err     error
	Plain   string // how to search for plain text instead, as a clause; empty: grep's way
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("pattern %q: %s", clip(e.Pattern, 100), strings.TrimPrefix(e.Err.Error(), "error parsing regexp: "))
}

// Unwrap gives the parser's error.
func (e *PatternError) Unwrap() error { return e.Err }

// Hint says what to try next.
func (e *PatternError) Hint() string {
	return "Patterns are RE2 syntax, without look-around and back references; " + cmp.Or(e.Plain, "set literal to search for plain text") + "."
}

// Grep searches the lines of the tree's text files. Time grows linearly with
// the text whatever the pattern is. Symbolic links and submodules are left out.
// Of more matches than Limit it gives the same each time: in a tree of many files
// those of runs of files all over it come first, and then what is first by path.
func (c *Checkout) Grep(ctx context.Context, o GrepOptions) (GrepResult, error) {
	c.store.searches.Add(1)
	defer c.store.searches.Add(-1)
	var res GrepResult
	m, err := newMatcher(o)
	if err != nil {
		return res, err
	}
	tree, files, err := c.grepFiles(ctx, o)
	if err != nil {
		return res, err
	}
	limit := cmp.Or(o.Limit, 100)
	around := min(max(o.Context, 0), maxGrepContext)
	workers := make([]*scanner, min(runtime.GOMAXPROCS(0), 8))
	for i := range workers {
		workers[i] = &scanner{matcher: m, treeFiles: treeFiles{dir: c.tree.dir}}
		defer workers[i].close()
		if m.prog != nil {
			workers[i].dfa = newDFA(m.prog)
		}
	}
	index := c.sifter(m, tree, files, len(workers))
	if len(files) >= filesForIndex {
		defer c.store.wantIndex(c.tree) // for the next one
	}
	var kept []fileMatches
	lines := 0
	var batch []toSearch
	for order := newSearchOrder(files); !res.Limited; {
		part := order.next(index.x != nil)
		if len(part) == 0 {
			break
		}
		hints := index.sift(ctx, part)
		batch = batch[:0]
		for i, h := range hints {
			if h.is == mayMatch {
				batch = append(batch, toSearch{&tree.Entries[part[i]], h.spans})
			}
		}
		found := make([]fileMatches, len(batch))
		if err := grepBatch(ctx, workers, batch, found, around, limit-res.Matches+1); err != nil {
			return res, err
		}
		for _, h := range hints {
			f := fileMatches{binary: h.is == notText}
			if h.is == mayMatch {
				f, found = found[0], found[1:]
			}
			if f.binary {
				res.Binary++
				continue
			}
			res.Searched++
			if f.matches > 0 && res.Matches < limit {
				res.Files++
			}
			res.Limited = res.Limited || res.Matches+f.matches > limit
			if f.matches > 0 && res.Matches < limit {
				res.Matches += f.cut(limit-res.Matches, around)
				kept = append(kept, f)
				lines += len(f.lines)
			}
			if res.Limited {
				break
			}
		}
	}
	slices.SortFunc(kept, func(a, b fileMatches) int { return cmp.Compare(a.path, b.path) })
	if lines > 0 {
		res.Lines = make([]GrepLine, 0, lines)
	}
	for i := range kept {
		for _, l := range kept[i].lines {
			res.Lines = append(res.Lines, kept[i].line(l))
		}
	}
	return res, nil
}

// cut leaves at most so many matches with what is around them, and tells how many.
func (f *fileMatches) cut(limit, around int) int {
	if f.matches <= limit {
		return f.matches
	}
	n, end, kept := 0, int32(0), len(f.lines)
	for i, l := range f.lines {
		if l.match {
			if n == limit {
				kept = i // and nothing behind it: what follows would look as if it came next
				break
			}
			n++
			end = l.line
		}
	}
	for kept > 0 && f.lines[kept-1].line > end+int32(around) {
		kept--
	}
	f.lines = f.lines[:kept]
	return n
}

// grepFiles lists the files to search, by their numbers in the listing.
func (c *Checkout) grepFiles(ctx context.Context, o GrepOptions) (*Tree, []int32, error) {
	base, err := c.clean(o.Path)
	if err != nil {
		return nil, nil, err
	}
	t, err := c.Tree(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("checkout: read listing: %w", err)
	}
	from, to := t.span(base)
	if base != "" && from == to {
		e, err := c.Lookup(ctx, base)
		if err != nil {
			return nil, nil, err
		}
		from, _ = slices.BinarySearchFunc(t.Entries, e.Path, func(e Entry, p string) int { return cmp.Compare(e.Path, p) })
		to = from + 1
	}
	match := func(string) bool { return true }
	if o.Glob != "" {
		if match, err = compileGlob(o.Glob); err != nil {
			return nil, nil, fmt.Errorf("checkout: grep: %w", err)
		}
	}
	cut := 0
	if base != "" && t.IsDir(base) {
		cut = len(base) + 1
	}
	out := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		e := &t.Entries[i]
		if (e.Kind == File || e.Kind == Exec) && (match(e.Path[cut:]) || cut > 0 && match(e.Path)) {
			out = append(out, int32(i))
		}
	}
	return t, out, nil
}
