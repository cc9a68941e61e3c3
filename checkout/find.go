package checkout

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// list gives what is directly in dir.
func (t *Tree) list(dir string) []ListItem {
	cut := 0
	if dir != "" {
		cut = len(dir) + 1
	}
	var out []ListItem
	last := ""
	for _, e := range t.Under(dir) {
		rest := e.Path[cut:]
		if d, _, ok := strings.Cut(rest, "/"); ok {
			if d != last {
				out = append(out, ListItem{Name: d, Dir: true})
				last = d
			}
			continue
		}
		out = append(out, ListItem{Name: rest, Kind: e.Kind, Size: e.Size})
	}
	slices.SortFunc(out, func(a, b ListItem) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(out, func(a, b ListItem) bool { return a.Dir && b.Dir && a.Name == b.Name })
}

// FindOptions say what Find looks for.
type FindOptions struct {
	// Glob is a shell pattern: "*" and "?" stay within a segment, "**" does not,
	// "[a-z]", "{a,b}". Without a slash it is compared with the last segment,
	// with one it is compared with the path below Path. With a slash at its end
	// it means folders only.
	Glob  string
	Path  string // a folder; "" is the root
	Limit int    // of paths; 0 means 1,000
}

// FindResult is what Find found, in the order of the paths.
type FindResult struct {
	Paths   []string // folders end in "/"
	Limited bool     // there was more than Limit
}

// Find gives the files and folders whose paths match a glob.
func (c *Checkout) Find(ctx context.Context, o FindOptions) (FindResult, error) {
	var res FindResult
	glob, folders := strings.CutSuffix(o.Glob, "/")
	match, err := compileGlob(glob)
	if err != nil {
		return res, fmt.Errorf("checkout: find: %w", err)
	}
	base, err := c.clean(o.Path)
	if err != nil {
		return res, err
	}
	t, err := c.Tree(ctx)
	if err != nil {
		return res, fmt.Errorf("checkout: read listing: %w", err)
	}
	if base != "" && !t.IsDir(base) {
		_, err := c.Lookup(ctx, base)
		if err == nil {
			err = c.pathError(base, "is not a directory")
		}
		return res, err
	}
	limit := cmp.Or(o.Limit, 1000)
	cut := 0
	if base != "" {
		cut = len(base) + 1
	}
	add := func(p string) bool {
		if len(res.Paths) == limit {
			res.Limited = true
			return false
		}
		res.Paths = append(res.Paths, p)
		return true
	}
	last := ""
	for _, e := range t.Under(base) {
		// What lies below one folder is together: a folder is new where the path before parts from this one.
		from := max(cut, commonPrefix(last, e.Path))
		last = e.Path
		for i := from; i < len(e.Path); i++ {
			if e.Path[i] != '/' {
				continue
			}
			if match(e.Path[cut:i]) && !add(e.Path[:i]+"/") {
				return res, nil
			}
		}
		if !folders && match(e.Path[cut:]) && !add(e.Path) {
			return res, nil
		}
	}
	return res, nil
}

// GlobError says that a glob is malformed.
type GlobError struct {
	Glob   string
	Reason string // a clause: "is empty"
}

func (e *GlobError) Error() string { return fmt.Sprintf("glob %q %s", clip(e.Glob, 100), e.Reason) }

// Hint says what to try next.
func (e *GlobError) Hint() string {
	return `Globs are like *.go, src/**/*_test.ts or {a,b}/[a-z]*.md; put a \ before a literal { or [.`
}

// compileGlob turns a glob into a test of paths.
func compileGlob(glob string) (func(path string) bool, error) {
	if glob == "" {
		return nil, &GlobError{Glob: glob, Reason: "is empty"}
	}
	if len(glob) > 1000 {
		return nil, &GlobError{Glob: glob, Reason: "is longer than 1,000 bytes"}
	}
	anchored := strings.Contains(glob, "/")
	g := strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
	var re strings.Builder
	re.WriteString(`(?s)\A(?:`)
	if !anchored {
		re.WriteString(`(?:.*/)?`)
	}
	depth := 0
	for i := 0; i < len(g); i++ {
		switch ch := g[i]; ch {
		case '*':
			switch {
			case strings.HasPrefix(g[i:], "**/"):
				re.WriteString(`(?:.*/)?`)
				i += 2
			case strings.HasPrefix(g[i:], "**"):
				re.WriteString(`.*`)
				i++
			default:
				re.WriteString(`[^/]*`)
			}
		case '?':
			re.WriteString(`[^/]`)
		case '[':
			end := strings.IndexByte(g[i+1:], ']')
			if end <= 0 {
				re.WriteString(`\[`)
				continue
			}
			class := g[i+1 : i+1+end]
			neg := ""
			if class[0] == '!' || class[0] == '^' {
				neg, class = "^", class[1:]
			}
			class = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(class)
			if class == "" {
				return nil, &GlobError{Glob: glob, Reason: "has an empty class"}
			}
			re.WriteString("[" + neg + class + "]")
			i += end + 1
		case '{':
			depth++
			re.WriteString(`(?:`)
		case '}':
			if depth == 0 {
				re.WriteString(`\}`)
				continue
			}
			depth--
			re.WriteString(`)`)
		case ',':
			if depth > 0 {
				re.WriteString(`|`)
			} else {
				re.WriteString(`,`)
			}
		case '\\':
			if i+1 < len(g) {
				i++
				re.WriteString(regexp.QuoteMeta(g[i : i+1]))
			}
		default:
			re.WriteString(regexp.QuoteMeta(g[i : i+1]))
		}
	}
	if depth > 0 {
		return nil, &GlobError{Glob: glob, Reason: "has a { without a }"}
	}
	re.WriteString(`)/?\z`)
	r, err := regexp.Compile(re.String())
	if err != nil {
		return nil, &GlobError{Glob: glob, Reason: "is malformed"}
	}
	sure := globText(g)
	return func(path string) bool { return strings.Contains(path, sure) && r.MatchString(path) }, nil
}

// globText gives a text that is in every path that a glob matches: most paths
// are told by it without the expression. It may be empty.
func globText(glob string) string {
	if strings.ContainsAny(glob, `[]{}\`) {
		return ""
	}
	best := ""
	for run := range strings.FieldsFuncSeq(glob, func(r rune) bool { return r == '*' || r == '?' }) {
		if run = strings.Trim(run, "/"); len(run) > len(best) { // the slash after ** need not be there
			best = run
		}
	}
	return best
}
