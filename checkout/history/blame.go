package history

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/librarian-app/librarian/checkout"
)

// BlameLine says where one line comes from.
type BlameLine struct {
	Line   int    // in the file asked for
	Text   string // at most 2,000 bytes
	Commit int    // index into BlameResult.Commits
	Path   string // the file's path in that commit
	Source int    // the line's number there
}

// BlameResult is a file with the origin of its lines.
type BlameResult struct {
	Lines   []BlameLine
	Commits []Commit // newest first by Date, without bodies and parents
	Renames int      // renames that were followed
	Shallow bool     // the host's own copy is a shallow clone: what is older is put down to the commit where it breaks off
	Cut     bool     // the file goes on after the last line given
}

const (
	maxBlameLines = 2000
	maxRenames    = 10
	maxLacking    = 20 // versions fetched one by one, because git asked for them
)

// lacking is how git blame names a version of a file that the store does not have.
var lacking = regexp.MustCompile(`(?:Cannot read blob|unable to read) ([0-9a-f]{40,64})\b`)

// Blame says which commit each of a file's lines, from first to last (1-based,
// inclusive; 0, 0 is all, 2,000 at most), comes from. Renames are followed.
func Blame(ctx context.Context, c *checkout.Checkout, path string, first, last int) (BlameResult, error) {
	var res BlameResult
	e, err := c.Lookup(ctx, path)
	if err != nil {
		return res, err
	}
	if e.Kind != checkout.File && e.Kind != checkout.Exec {
		return res, &InputError{What: fmt.Sprintf("path %q", path), Reason: "is a " + string(e.Kind)}
	}
	if e.Size == 0 {
		return res, nil
	}
	first = max(first, 1)
	if last != 0 && last < first {
		return res, &InputError{What: "the range", Reason: "ends before it begins"}
	}
	if last == 0 || last-first >= maxBlameLines {
		last = first + maxBlameLines
	}
	if err := c.Deepen(ctx, c.SHA(), checkout.Whole); err != nil {
		return res, err
	}
	if res.Renames, err = prefetch(ctx, c, e.Path); err != nil {
		return res, err
	}
	err = res.read(ctx, c, e.Path, first, last)
	for range maxLacking { // git follows more renames than are foreseen, and may take another file for the one before
		m := lacking.FindStringSubmatch(fmt.Sprint(err))
		if err == nil || m == nil {
			break
		}
		if err := fill(ctx, c, map[string]bool{m[1]: true}); err != nil {
			return res, err
		}
		res.Lines, res.Commits = nil, nil
		err = res.read(ctx, c, e.Path, first, last)
	}
	if err == nil && len(res.Lines) > maxBlameLines {
		res.Lines, res.Cut = res.Lines[:maxBlameLines], true
	}
	cut := c.CutOff() // where even the host has no more
	res.Shallow = slices.ContainsFunc(res.Commits, func(cm Commit) bool { return cut[cm.SHA] })
	return res, err
}

// pastName is a name that a file had, and the commits from which back it had it.
type pastName struct {
	path string
	tips []string
}

// prefetch fetches every version that the file ever had, by this name and by
// those it had before: more than one where it was moved on several branches. It
// is two requests, and two more for each rename.
func prefetch(ctx context.Context, c *checkout.Checkout, path string) (renames int, err error) {
	for queue := []pastName{{path, []string{c.SHA()}}}; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		set := map[string]bool{}
		born, err := pathHistory(ctx, c, name.tips, name.path, set)
		if err != nil {
			return renames, fmt.Errorf("history: blame: %w", err)
		}
		// Where it came into being, it may have been moved from a path that went
		// away: git compares all that came with all that went.
		gone := map[string]bool{}
		if len(born) > 0 && renames < maxRenames {
			err := rawDiff(ctx, c, strings.Join(born, "\n")+"\n", func(_ string, ch change) error {
				if ch.oldID == none || ch.newID == none {
					ch.blobs(gone)
				}
				return nil
			}, "--stdin", "-m")
			if err != nil {
				return renames, fmt.Errorf("history: blame: %w", err)
			}
		}
		for id := range gone {
			set[id] = true
		}
		if err := fill(ctx, c, set); err != nil {
			return renames, err
		}
		if len(gone) == 0 {
			continue
		}
		before, err := renamedFrom(ctx, c, born, name.path)
		if err != nil {
			return renames, err
		}
		before = before[:min(len(before), maxRenames-renames)]
		renames += len(before)
		queue = append(queue, before...)
	}
	return renames, nil
}

// pathHistory collects all versions of a path, along all lines of history, and
// gives the commits in which git would look for another name of it: where it
// comes into being, and those merges that have it from no parent as it is while
// some parent lacks it.
func pathHistory(ctx context.Context, c *checkout.Checkout, tips []string, path string, set map[string]bool) (born []string, err error) {
	var commits strings.Builder
	args := append([]string{"rev-list", "--full-history"}, tips...)
	err = lines(ctx, c, "", func(l string) error { commits.WriteString(l + "\n"); return nil }, append(args, "--", path)...)
	if err != nil || commits.Len() == 0 {
		return nil, err
	}
	merges := map[string]bool{}
	err = lines(ctx, c, commits.String(), func(l string) error { merges[l] = true; return nil }, "rev-list", "--no-walk=unsorted", "--min-parents=2", "--stdin")
	if err != nil {
		return nil, err
	}
	differs, lacks := map[string]int{}, map[string]bool{}
	err = rawDiff(ctx, c, commits.String(), func(commit string, ch change) error {
		ch.blobs(set)
		if differs[commit]++; ch.oldID == none && !lacks[commit] {
			lacks[commit] = true
			born = append(born, commit)
		}
		return nil
	}, "--stdin", "-m", "--", path)
	if err != nil {
		return nil, err
	}
	// A first commit has nothing that the path could have been moved from.
	err = lines(ctx, c, commits.String(), func(l string) error { lacks[l] = false; return nil }, "rev-list", "--no-walk=unsorted", "--max-parents=0", "--stdin")
	return slices.DeleteFunc(born, func(c string) bool { return !lacks[c] || merges[c] && differs[c] < 2 }), err
}

// renamedFrom finds the names that path had before, and where. A merge may have
// brought a move on one side together with changes by the old name on the other,
// so all parents are looked at.
func renamedFrom(ctx context.Context, c *checkout.Checkout, born []string, path string) (before []pastName, err error) {
	commit := ""
	err = lines(ctx, c, strings.Join(born, "\n")+"\n", func(l string) error {
		f := strings.Split(l, "\t")
		switch {
		case len(f) == 1:
			commit = strings.TrimSpace(l)
		case len(f) == 3 && strings.HasPrefix(f[0], "R") && unquote(f[2]) == path:
			from := unquote(f[1])
			i := slices.IndexFunc(before, func(n pastName) bool { return n.path == from })
			if i < 0 {
				i, before = len(before), append(before, pastName{path: from})
			}
			before[i].tips = append(before[i].tips, commit+"^@") // which of the parents it was, git does not say
		}
		return nil
	}, "diff-tree", "--stdin", "-m", "-r", "-M", "-l400", "--name-status", "--diff-filter=R")
	if err != nil {
		err = fmt.Errorf("history: blame: %w", err)
	}
	return before, err
}

// read runs git blame and parses its porcelain (see git-blame(1)).
func (r *BlameResult) read(ctx context.Context, c *checkout.Checkout, path string, first, last int) error {
	index := map[string]int{}
	paths := map[string]string{}
	var cur BlameLine
	err := lines(ctx, c, "", func(l string) error {
		if t, ok := strings.CutPrefix(l, "\t"); ok {
			cur.Text = text(strings.TrimSuffix(t, "\r"), 2000)
			r.Lines = append(r.Lines, cur)
			return nil
		}
		word, rest, _ := strings.Cut(l, " ")
		at := &Commit{}
		if cur.Commit < len(r.Commits) {
			at = &r.Commits[cur.Commit]
		}
		switch word {
		case "author":
			at.Author = text(rest, 200)
		case "author-mail":
			at.Email = text(strings.Trim(rest, "<>"), 200)
		case "author-time":
			n, _ := strconv.ParseInt(rest, 10, 64)
			at.Date = time.Unix(n, 0).UTC()
		case "summary":
			at.Subject = text(rest, 500)
		case "filename":
			cur.Path = unquote(rest)
			paths[at.SHA] = cur.Path
		default:
			f := strings.Fields(l)
			if len(word) != 40 || len(f) < 3 {
				return nil
			}
			i, ok := index[word]
			if !ok {
				i = len(r.Commits)
				index[word] = i
				r.Commits = append(r.Commits, Commit{SHA: word})
			}
			cur = BlameLine{Commit: i, Path: paths[word]}
			cur.Source, _ = strconv.Atoi(f[1])
			cur.Line, _ = strconv.Atoi(f[2])
		}
		return nil
	}, "blame", "--porcelain", fmt.Sprintf("-L%d,%d", first, last), c.SHA(), "--", path)
	if err != nil && strings.Contains(err.Error(), "has only") {
		return &InputError{What: "the range", Reason: "begins after the end of the file"}
	}
	if err != nil {
		return fmt.Errorf("history: blame: %w", err)
	}
	slices.SortFunc(r.Lines, func(a, b BlameLine) int { return a.Line - b.Line })
	r.newestFirst()
	return nil
}

// newestFirst orders the commits, which git gives as it comes upon them.
func (r *BlameResult) newestFirst() {
	order := make([]int, len(r.Commits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.Commits[b].Date.Compare(r.Commits[a].Date) })
	sorted, place := make([]Commit, len(order)), make([]int, len(order))
	for to, from := range order {
		sorted[to], place[from] = r.Commits[from], to
	}
	for i := range r.Lines {
		r.Lines[i].Commit = place[r.Lines[i].Commit]
	}
	r.Commits = sorted
}
