package checkout

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Kind says what an entry of a tree is.
type Kind string

// The kinds of entries. Folders are not listed; they follow from the paths.
const (
	File      Kind = "file"
	Exec      Kind = "executable"
	Symlink   Kind = "symlink"   // never followed, never made on disk: a plain file that holds the target
	Submodule Kind = "submodule" // never fetched; an empty folder on disk
)

// Entry is one path of a commit's tree.
type Entry struct {
	Path string // with "/", relative; raw bytes, which need not be UTF-8
	Kind Kind
	OID  string // of the blob; of the commit for a submodule
	Size int64  // bytes; 0 for a submodule
}

// Tree is the whole listing of a commit, in the order of the paths' bytes.
type Tree struct {
	Entries []Entry
}

// Lookup gives the entry with exactly this path.
func (t *Tree) Lookup(path string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(t.Entries, path, func(e Entry, p string) int { return cmp.Compare(e.Path, p) })
	if !ok {
		return Entry{}, false
	}
	return t.Entries[i], true
}

// Under gives the entries below a folder ("" for all). The slice is shared.
func (t *Tree) Under(dir string) []Entry {
	lo, hi := t.span(dir)
	return t.Entries[lo:hi]
}

// span gives where the entries below a folder are.
func (t *Tree) span(dir string) (lo, hi int) {
	if dir = strings.Trim(dir, "/"); dir == "" || dir == "." {
		return 0, len(t.Entries)
	}
	lo, _ = slices.BinarySearchFunc(t.Entries, dir+"/", func(e Entry, p string) int { return cmp.Compare(e.Path, p) })
	hi, _ = slices.BinarySearchFunc(t.Entries, dir+"0", func(e Entry, p string) int { return cmp.Compare(e.Path, p) }) // '0' follows '/'
	return lo, hi
}

// IsDir reports whether path is a folder that holds something ("" is the root).
func (t *Tree) IsDir(path string) bool {
	path = strings.Trim(path, "/")
	return path == "" || path == "." || len(t.Under(path)) > 0
}

// Near gives at most n paths that look like path: same file name first, then
// same name but for case, then names that contain or are contained.
func (t *Tree) Near(path string, n int) []string {
	type hit struct {
		path string
		rank int
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	if base == "" {
		return nil
	}
	lowBase, lowPath := strings.ToLower(base), strings.ToLower(path)
	stem, _, _ := strings.Cut(lowBase, ".")
	var hits []hit
	for _, e := range t.Entries {
		name := e.Path[strings.LastIndexByte(e.Path, '/')+1:]
		low := strings.ToLower(name)
		lowStem, _, _ := strings.Cut(low, ".")
		rank := -1
		switch {
		case strings.ToLower(e.Path) == lowPath:
			rank = 0
		case name == base:
			rank = 1
		case low == lowBase:
			rank = 2
		case lowStem == stem && stem != "":
			rank = 3
		case len(stem) >= 4 && strings.Contains(low, stem), len(lowStem) >= 4 && strings.Contains(stem, lowStem):
			rank = 4
		}
		if rank >= 0 {
			// Nearer folders first: count the leading bytes they share.
			hits = append(hits, hit{e.Path, rank*10_000 + 5_000 - commonPrefix(e.Path, path)})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.rank, b.rank) })
	var out []string
	for _, h := range hits[:min(n, len(hits))] {
		out = append(out, h.path)
	}
	return out
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && n < 4_000 && a[n] == b[n] {
		n++
	}
	return n
}

// rawEntry is one entry of one tree object.
type rawEntry struct {
	mode string
	name string
	oid  string
}

// parseTree reads a tree object: "<mode> <name>\0<20 bytes>" each.
func parseTree(b []byte) ([]rawEntry, error) {
	var out []rawEntry
	for len(b) > 0 {
		sp := bytes.IndexByte(b, ' ')
		nul := bytes.IndexByte(b, 0)
		if sp < 0 || nul < sp || len(b) < nul+21 {
			return nil, errors.New("malformed tree")
		}
		out = append(out, rawEntry{string(b[:sp]), string(b[sp+1 : nul]), hex.EncodeToString(b[nul+1 : nul+21])})
		b = b[nul+21:]
	}
	return out, nil
}

// badName reports whether a name of a tree must not become a name on disk:
// the rule of git's verify_path (read-cache.c), its HFS+ and NTFS cases included.
func badName(name string) bool {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 255 {
		return true
	}
	low := strings.ToLower(strings.TrimRight(strings.Map(dropIgnored, name), " ."))
	low, _, _ = strings.Cut(low, ":")
	return low == ".git" || low == "git~1"
}

// dropIgnored drops the code points that HFS+ ignores in names.
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// walkTree lists a commit's tree level by level, so that depth costs no stack,
// and sees that commit and trees hold what their names say. Sizes are not set.
func (s *Store) walkTree(ctx context.Context, gitDir string, repo Repo, sha string) ([]Entry, error) {
	bud := &s.opt.Budget
	type dir struct{ path, oid string }
	level := []dir{}
	err := s.catFile(ctx, gitDir, func(w io.Writer) error { _, err := fmt.Fprintln(w, sha); return err }, func(o object, body io.Reader) error {
		b, err := readWhole(o, body, "commit", sha, 16<<20)
		if err != nil {
			return err
		}
		root, err := treeOf(b)
		level = append(level, dir{"", root})
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []Entry
	n, pathBytes := 0, 0
	refuse := func(format string, args ...any) error {
		return &RefusedError{Repo: repo.Name, Reason: fmt.Sprintf(format, args...)}
	}
	for depth := 0; len(level) > 0; depth++ {
		if depth > bud.Depth {
			return nil, tooDeep(repo, bud.Depth)
		}
		var next []dir
		i := 0
		ask := func(w io.Writer) error {
			for _, d := range level {
				if _, err := io.WriteString(w, d.oid+"\n"); err != nil {
					return err
				}
			}
			return nil
		}
		err := s.catFile(ctx, gitDir, ask, func(o object, body io.Reader) error {
			at := level[i]
			i++
			b, err := readWhole(o, body, "tree", at.oid, 64<<20)
			if err != nil {
				return err
			}
			raw, err := parseTree(b)
			if err != nil {
				return err
			}
			if name, ok := twice(raw); ok {
				return refuse("has one path twice: %q", clip(at.path+name, 100))
			}
			for _, r := range raw {
				if badName(r.name) {
					return refuse("has a path that is not safe to write: %q", clip(at.path+r.name, 100))
				}
				p := at.path + r.name
				if len(p) > 4000 {
					return refuse("has a path of %d bytes", len(p))
				}
				// Counted before anything is kept: a few trees that each name one other ten times stand for any number of folders.
				if n++; n > bud.Entries {
					return &BudgetError{Repo: repo.Name, Limit: int64(bud.Entries), What: fmt.Sprintf("has more than %d files and folders", bud.Entries)}
				}
				if pathBytes += len(p); pathBytes > maxPathBytes {
					return &BudgetError{Repo: repo.Name, Limit: maxPathBytes, What: "has paths of more than " + humanBytes(maxPathBytes) + " in all"}
				}
				e := Entry{Path: p, OID: r.oid}
				switch r.mode {
				case "40000", "040000":
					next = append(next, dir{p + "/", r.oid})
					continue
				case "120000":
					e.Kind = Symlink
				case "160000":
					e.Kind = Submodule
				case "100755":
					e.Kind = Exec
				default:
					e.Kind = File
				}
				out = append(out, e)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		level = next
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// maxPathBytes bounds the sum of a tree's paths, which are held in memory. Linux has 3 MB of them.
const maxPathBytes = 64 << 20

// twice gives a name that a tree has more than once, be it of a file and of a
// folder. Such names need not be neighbours, and a tree need not be sorted
// (benignFaults).
func twice(raw []rawEntry) (string, bool) {
	names := make([]string, len(raw))
	for i, r := range raw {
		names[i] = r.name
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return names[i], true
		}
	}
	return "", false
}

func tooDeep(repo Repo, depth int) *BudgetError {
	return &BudgetError{Repo: repo.Name, Limit: int64(depth), What: fmt.Sprintf("has folders more than %d levels deep", depth)}
}

// encode writes the listing: "<kind> <oid> <size>\t<path>\0" each.
func (t *Tree) encode() []byte {
	var b bytes.Buffer
	for _, e := range t.Entries {
		fmt.Fprintf(&b, "%s %s %d\t%s\x00", e.Kind, e.OID, e.Size, e.Path)
	}
	return b.Bytes()
}

// decodeTree reads what encode wrote. The first search of a tree waits for it: it goes over each byte once.
func decodeTree(list string) (*Tree, error) {
	t := &Tree{Entries: make([]Entry, 0, strings.Count(list, "\x00"))}
	bad := errors.New("malformed listing")
	kind := File
	for list != "" {
		var e Entry
		if n := len(kind); strings.HasPrefix(list, string(kind)) && n < len(list) && list[n] == ' ' {
			list = list[n+1:]
		} else {
			text, rest, ok := strings.Cut(list, " ")
			if !ok {
				return nil, bad
			}
			kind, list = Kind(text), rest
		}
		e.Kind = kind
		if len(list) < oidLength+3 || list[oidLength] != ' ' {
			return nil, bad
		}
		e.OID, list = list[:oidLength], list[oidLength+1:]
		i := 0
		for ; i < len(list) && i < 18 && list[i] >= '0' && list[i] <= '9'; i++ {
			e.Size = 10*e.Size + int64(list[i]-'0')
		}
		end := strings.IndexByte(list, 0)
		if i == 0 || end <= i || list[i] != '\t' {
			return nil, bad
		}
		e.Path, list = list[i+1:end], list[end+1:]
		t.Entries = append(t.Entries, e)
	}
	return t, nil
}

// oidLength is how many characters a hash of SHA-1 has; other repositories are refused.
const oidLength = 40
