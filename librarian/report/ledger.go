package report

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Range is a run of lines, counted from 1, both ends inclusive. The zero Range is a file as a whole.
type Range struct{ Start, End int }

// String is "80-140", or "42" for a single line, or "" for the whole file.
func (r Range) String() string {
	switch {
	case r.Start == 0:
		return ""
	case r.Start == r.End:
		return strconv.Itoa(r.Start)
	default:
		return strconv.Itoa(r.Start) + "-" + strconv.Itoa(r.End)
	}
}

// File is a file at a commit that was shown, wholly or in part.
type File struct {
	Repo librarian.RepoID
	Name string // owner/name when it was read
	SHA  string
	Path string
	// Ranges are the lines that were shown, sorted, joined where they touch; empty for a file that was shown
	// without lines.
	Ranges []Range
	Last   Range // the range that was shown last
	Shown  int   // how often something of the file was shown
	Order  int   // when something of it was shown last: larger is later
}

// Ledger records what was really shown to the model. It is a view of a run's log: replaying the log's tool ends makes it
// anew. It may be used by several goroutines at once.
type Ledger struct {
	mu    sync.RWMutex
	files map[fileKey]*File
	clock int
}

type fileKey struct {
	repo librarian.RepoID
	sha  string
	path string
}

// NewLedger makes an empty ledger.
func NewLedger() *Ledger { return &Ledger{files: map[fileKey]*File{}} }

// Add records what a tool's result showed. Ranges that make no sense (an end before the start, a line below 1) are
// left out: the ledger would rather know too little.
func (l *Ledger) Add(evidence ...tool.Evidence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range evidence {
		l.add(librarian.Evidence{Repo: librarian.RepoID(e.Repo), Name: e.Name, SHA: e.SHA, Path: e.Path, Start: e.Start, End: e.End})
	}
}

// Replay records what a tool call from the run's log showed.
func (l *Ledger) Replay(end librarian.ToolEndData) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range end.Evidence {
		l.add(e)
	}
}

func (l *Ledger) add(e librarian.Evidence) {
	if e.Repo == "" || e.SHA == "" || e.Path == "" || e.Start < 0 || e.End < e.Start || (e.Start == 0 && e.End != 0) {
		return
	}
	key := fileKey{e.Repo, e.SHA, e.Path}
	f := l.files[key]
	if f == nil {
		f = &File{Repo: e.Repo, Name: e.Name, SHA: e.SHA, Path: e.Path}
		l.files[key] = f
	}
	l.clock++
	f.Shown++
	f.Order = l.clock
	f.Last = Range{e.Start, e.End}
	if e.Start > 0 {
		f.Ranges = join(f.Ranges, f.Last)
	}
}

// join puts r into sorted, disjoint ranges. It makes a new slice, because readers may hold the old one.
func join(ranges []Range, r Range) []Range {
	out := make([]Range, 0, len(ranges)+1)
	for _, o := range ranges {
		if o.End+1 < r.Start || r.End+1 < o.Start {
			out = append(out, o)
			continue
		}
		r = Range{min(r.Start, o.Start), max(r.End, o.End)}
	}
	out = append(out, r)
	slices.SortFunc(out, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// Covered reports whether lines start to end of a file at a commit lie in the union of what was shown of it. Start 0 asks
// whether anything of the file was shown.
func (l *Ledger) Covered(repo librarian.RepoID, sha, path string, start, end int) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	f := l.files[fileKey{repo, sha, path}]
	if f == nil {
		return false
	}
	if start == 0 {
		return true
	}
	return slices.ContainsFunc(f.Ranges, func(r Range) bool { return r.Start <= start && start <= end && end <= r.End })
}

// Ranges lists the lines that were shown of a file at a commit; ok is false when nothing of it was.
func (l *Ledger) Ranges(repo librarian.RepoID, sha, path string) (ranges []Range, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	f := l.files[fileKey{repo, sha, path}]
	if f == nil {
		return nil, false
	}
	return slices.Clone(f.Ranges), true
}

// Files lists everything that was shown, in the order in which it was shown last.
func (l *Ledger) Files() []File {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := make([]File, 0, len(l.files))
	for _, f := range l.files {
		c := *f
		c.Ranges = slices.Clone(f.Ranges)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Order, b.Order) })
	return out
}
