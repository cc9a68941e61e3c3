package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Kind is what an entry of a commit's tree is.
type Kind string

// The kinds of entries. Only text has lines that can be cited.
const (
	KindText      Kind = "text"
	KindBinary    Kind = "binary"
	KindDir       Kind = "directory"
	KindSymlink   Kind = "symlink"
	KindSubmodule Kind = "submodule"
	KindLFS       Kind = "lfs" // a pointer file
)

// FileInfo is what the tree knows of an entry. Lines are counted as GitHub counts them; 0 for what is not text.
type FileInfo struct {
	Lines int
	Kind  Kind
}

// Tree answers from a commit's tree. App makes it over checkouts.
type Tree interface {
	// Stat's error is fs.ErrNotExist where the tree has no such path, spelt exactly so.
	Stat(ctx context.Context, repo librarian.RepoID, sha, path string) (FileInfo, error)
	// Nearest lists paths of the tree that are like path, the likest first; a few are enough.
	Nearest(ctx context.Context, repo librarian.RepoID, sha, path string) []string
	// Lines gives lines start to end, without line ends; an end past the file is cut.
	Lines(ctx context.Context, repo librarian.RepoID, sha, path string, start, end int) ([]string, error)
}

// Source is a repository at a commit that the run opened, under the key by which the model names it.
type Source struct {
	Key  string // "owner/repo" or "owner/repo@ref"
	Repo librarian.Repo
	SHA  string // full
}

// Sources resolves what a model calls a repository to what the run opened. Keys are found in any case.
type Sources interface {
	Source(key string) (Source, bool)
	Sources() []Source
}

// claim is a location as the model wrote it.
type claim struct{ repo, file, lines, note string }

// remembered is a Tree that is asked for each path once: a long answer mentions the same files again and again. It serves
// one call and one goroutine.
type remembered struct {
	Tree
	stats map[fileKey]stat
}

type stat struct {
	info FileInfo
	err  error
}

func remember(t Tree) Tree { return &remembered{Tree: t, stats: map[fileKey]stat{}} }

func (t *remembered) Stat(ctx context.Context, repo librarian.RepoID, sha, path string) (FileInfo, error) {
	key := fileKey{repo, sha, path}
	s, ok := t.stats[key]
	if !ok {
		s.info, s.err = t.Tree.Stat(ctx, repo, sha, path)
		t.stats[key] = s
	}
	return s.info, s.err
}

// checker holds claims against what was shown and what the tree holds.
type checker struct {
	ledger  *Ledger
	sources Sources
	tree    Tree
}

const (
	maxNearest    = 3
	maxRangesTold = 10
	maxQuoteLines = 50_000 // lines of a file in which a quoted line is looked for
)

// check gives the locations that a claim comes to: none and a problem, worded for the model, when it does not hold. A
// claim that holds but whose note quotes what the file does not say gives both. The error is a failure to look.
func (c checker) check(ctx context.Context, cl claim) (found []librarian.Location, problem string, err error) {
	src, problem := c.source(cl.repo)
	if problem != "" {
		return nil, problem, nil
	}
	file, lines, info, problem, err := c.file(ctx, src, cl.file, cl.lines)
	if problem != "" || err != nil {
		return nil, problem, err
	}
	ranges, err := parseLines(lines)
	if err != nil {
		return nil, err.Error() + ".", nil
	}
	if len(ranges) == 0 {
		ranges = []Range{{}}
	}
	for _, r := range ranges {
		if problem := c.shown(src, file, info, r); problem != "" {
			return nil, problem, nil
		}
		found = append(found, locate(src, file, r, cl.note))
	}
	missing, err := c.misquoted(ctx, src, file, info, ranges[0], cl.note)
	if err != nil || missing == "" {
		return found, "", err
	}
	return found, fmt.Sprintf("the note quotes `%s`, which does not stand in %s. Quote it exactly, or say it in words.", clip(missing, 120), showPath(file)), nil
}

// locate makes the location; all of it but the note comes from the host.
func locate(src Source, file string, r Range, note string) librarian.Location {
	return librarian.Location{
		Repo: src.Repo.ID, Name: sourceName(src), SHA: src.SHA, Path: file, Start: r.Start, End: r.End, Note: note,
		Web: src.Repo.WebURL, Private: src.Repo.Private(),
	}
}

// sourceName is owner/name; a repository without an owner (a folder on the terminal) goes by its name, else by its key.
func sourceName(src Source) string {
	switch {
	case src.Repo.Name == "":
		return src.Key
	case src.Repo.Owner == "":
		return src.Repo.Name
	}
	return src.Repo.FullName()
}

// source finds the opened repository that a model means: by its key, by a URL of it, or, unnamed, the only one.
func (c checker) source(key string) (Source, string) {
	trimmed := strings.Trim(strings.TrimSpace(key), "`\"'/")
	if _, rest, ok := strings.Cut(trimmed, "://"); ok {
		if _, after, ok := strings.Cut(rest, "/"); ok {
			trimmed = strings.TrimSuffix(after, ".git")
		}
	}
	for _, k := range []string{key, trimmed} {
		if src, ok := c.sources.Source(k); ok && k != "" {
			return src, ""
		}
	}
	all := c.sources.Sources()
	if trimmed == "" && len(all) == 1 {
		return all[0], ""
	}
	if len(all) == 0 {
		return Source{}, fmt.Sprintf("repo %q was not opened, nor was any other in this run. Open it with checkout_repo, or give no location.", clip(key, 120))
	}
	keys := make([]string, 0, len(all))
	for _, s := range all {
		keys = append(keys, s.Key)
	}
	slices.Sort(keys)
	return Source{}, fmt.Sprintf("repo %q was not opened in this run. Opened: %s.", clip(key, 120), clip(strings.Join(slices.Compact(keys), ", "), 400))
}

var pathTail = regexp.MustCompile(`^(.+?)(?::|#)(L?\d[\dL\-–—, ]*)$`)

// file finds the path that a model means: as it is written, else without what models like to put around a path. It
// also takes lines from a path that ends in them.
func (c checker) file(ctx context.Context, src Source, file, lines string) (string, string, FileInfo, string, error) {
	tried := map[string]bool{}
	try := func(p string) (FileInfo, bool, error) {
		if tried[p] || !fs.ValidPath(p) || p == "." {
			return FileInfo{}, false, nil
		}
		tried[p] = true
		info, err := c.tree.Stat(ctx, src.Repo.ID, src.SHA, p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return FileInfo{}, false, fmt.Errorf("report: look up %s: %w", showPath(p), err)
		}
		return info, err == nil, nil
	}
	for _, v := range pathVariants(src, file) {
		if info, ok, err := try(v); ok || err != nil {
			return v, lines, info, "", err
		}
	}
	if m := pathTail.FindStringSubmatch(strings.Trim(file, "` ")); m != nil {
		for _, v := range pathVariants(src, m[1]) {
			if info, ok, err := try(v); ok || err != nil {
				if strings.TrimSpace(lines) == "" {
					lines = m[2]
				}
				return v, lines, info, "", err
			}
		}
	}
	if strings.TrimSpace(file) == "" {
		return "", "", FileInfo{}, "file is empty; give a path in the repository.", nil
	}
	near := c.tree.Nearest(ctx, src.Repo.ID, src.SHA, file)
	near = near[:min(len(near), maxNearest)]
	for _, n := range near { // the same name, composed otherwise than the tree spells it
		if norm.NFC.String(n) == norm.NFC.String(file) {
			if info, ok, err := try(n); ok || err != nil {
				return n, lines, info, "", err
			}
		}
	}
	problem := fmt.Sprintf("%s is not in %s at %s.", clip(showPath(file), 200), src.Key, short(src.SHA))
	if len(near) > 0 {
		problem += " Nearest: " + strings.Join(near, ", ") + "."
	}
	return "", "", FileInfo{}, problem, nil
}

// pathVariants lists the ways to read a path a model wrote, the plainest first.
func pathVariants(src Source, file string) []string {
	out := []string{file}
	if p, no := tool.CleanPath(strings.Trim(strings.TrimSpace(file), "`")); no == "" { // as a tool wrote a name that is quoted
		out = append(out, p)
	}
	trimmed := strings.TrimLeft(strings.Trim(strings.TrimSpace(file), "`\"'"), "/")
	if trimmed == "" {
		return out
	}
	out = append(out, trimmed, path.Clean(trimmed))
	for _, prefix := range []string{src.Key, sourceName(src), src.Repo.Name} {
		for _, sep := range []string{":", "/"} {
			if n := len(prefix) + 1; prefix != "" && len(trimmed) > n && strings.EqualFold(trimmed[:n], prefix+sep) {
				out = append(out, path.Clean(strings.TrimLeft(trimmed[n:], "/")))
			}
		}
	}
	return out
}

// shown says what is wrong with citing r of a file that exists; "" is nothing.
func (c checker) shown(src Source, file string, info FileInfo, r Range) string {
	name := showPath(file)
	switch {
	case info.Kind == KindDir:
		return name + " is a directory; cite a file in it."
	case info.Kind != KindText && r.Start > 0:
		return fmt.Sprintf("%s has no lines to cite (%s); cite it without lines.", name, info.Kind)
	case r.End > info.Lines && r.Start > 0:
		return fmt.Sprintf("%s of %s: the file has %s.", lineWords(r), name, plural(info.Lines, "line", "lines"))
	case c.ledger.Covered(src.Repo.ID, src.SHA, file, r.Start, r.End):
		return ""
	}
	for _, other := range c.sources.Sources() { // the same repository, read at another commit
		if other.Repo.ID == src.Repo.ID && other.SHA != src.SHA && c.ledger.Covered(other.Repo.ID, other.SHA, file, r.Start, r.End) {
			return fmt.Sprintf("%s was read at %s, not at %s; give %q as repo.", name, other.Key, src.Key, other.Key)
		}
	}
	ranges, ok := c.ledger.Ranges(src.Repo.ID, src.SHA, file)
	if !ok {
		return name + " was not read in this run. Read it first, or leave it out."
	}
	if len(ranges) == 0 {
		return name + " was shown without lines; cite it without lines."
	}
	return fmt.Sprintf("%s of %s were not all read. Read so far: %s.", lineWords(r), name, rangeList(ranges))
}

func lineWords(r Range) string {
	if r.Start == r.End {
		return "line " + r.String()
	}
	return "lines " + r.String()
}

func rangeList(ranges []Range) string {
	var words []string
	for i, r := range ranges {
		if i == maxRangesTold {
			words = append(words, fmt.Sprintf("and %d more", len(ranges)-i))
			break
		}
		words = append(words, r.String())
	}
	return strings.Join(words, ", ")
}

// short is a sha as people write it.
func short(sha string) string { return sha[:min(len(sha), 7)] }

var codeSpan = regexp.MustCompile("``? ?([^`\n]+?) ?``?")

// misquoted finds a line of code that a note quotes and the file does not hold; "" when all stand there.
func (c checker) misquoted(ctx context.Context, src Source, file string, info FileInfo, r Range, note string) (string, error) {
	var quotes []string
	for _, m := range codeSpan.FindAllStringSubmatch(note, -1) {
		if isCodeLine(m[1]) {
			quotes = append(quotes, m[1])
		}
	}
	if len(quotes) == 0 || info.Kind != KindText {
		return "", nil
	}
	start := max(1, r.Start-maxQuoteLines/2)
	lines, err := c.tree.Lines(ctx, src.Repo.ID, src.SHA, file, start, min(info.Lines, start+maxQuoteLines-1))
	if err != nil {
		return "", fmt.Errorf("report: read %s: %w", showPath(file), err)
	}
	body := bare(strings.Join(lines, "\n")) + "\n" + bare(strings.Join(uncommented(lines), "\n"))
	for _, q := range quotes {
		for _, part := range strings.FieldsFunc(strings.ReplaceAll(q, "...", "…"), func(r rune) bool { return r == '…' }) {
			if !strings.Contains(body, bare(part)) {
				return q, nil
			}
		}
	}
	return "", nil
}

// uncommented takes the marks of comments off, so that code in a comment may be quoted over its line ends.
func uncommented(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimLeft(l, " \t/*#;-!")
	}
	return out
}

// isCodeLine tells a quoted line from a name put in code font: several words, and a sign that prose does not have. What a
// name alone refers to may well stand in another file.
func isCodeLine(s string) bool {
	return len(strings.Fields(s)) > 1 && strings.ContainsAny(s, "(){}[]=;<>&|")
}

// bare is s without white space, so that a quote may be wrapped or indented otherwise.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
