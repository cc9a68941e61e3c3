package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/librarian-app/librarian/checkout"
)

// LogOptions say which commits Log looks for. Empty fields do not restrict.
type LogOptions struct {
	From string // leave out what this ref or commit has; makes the whole history be fetched
	To   string // the ref or commit to begin at; "" is the checkout's commit
	// Paths are literal; a commit counts if it changes something at or below one.
	Paths  []string
	Author string // part of "Name <mail>", without regard to case
	Since  time.Time
	// Added looks for commits that change how often this text occurs (git's -S).
	Added string
	// Touched looks for commits with an added or removed line that matches this
	// regular expression (git's -G), in RE2 syntax.
	Touched string
	// LookAt bounds the commits looked at, newest first: 300 by default, 20,000 at most.
	LookAt int
	// Limit bounds the commits given: 20 by default, 500 at most.
	Limit int
	// Merges counts merges too, by what they brought to their first parent. With
	// paths or a text they so say once more what the commits say that they merge.
	Merges bool
}

// LogEntry is a commit that was found, with the paths it changed.
type LogEntry struct {
	Commit
	Changed []Changed // at most 50, of those that were asked for
	More    int       // further ones
}

// Changed is one path that a commit changed.
type Changed struct {
	Status byte // 'A' added, 'M' modified, 'D' deleted, 'T' of another kind
	Path   string
}

// LogResult is what Log found, newest first.
type LogResult struct {
	Commits  []LogEntry
	LookedAt int    // commits
	Stopped  bool   // LookAt was reached and there is more history
	Limited  bool   // there were more matches than Limit
	Shallow  bool   // the host's own copy is a shallow clone, whose history breaks off among the commits looked at
	To       string // full id
	From     string // full id, or ""
}

const (
	maxLookAt  = 20_000
	maxChanged = 50
)

// Log lists commits.
func Log(ctx context.Context, c *checkout.Checkout, o LogOptions) (LogResult, error) {
	res := LogResult{}
	paths, err := pathArgs(o.Paths)
	if err != nil {
		return res, err
	}
	pattern := o.Touched
	if o.Touched != "" {
		var err error
		if o.Touched, err = ere(pattern); err != nil {
			return res, &checkout.PatternError{Pattern: pattern, Err: err, Plain: "use added to search for plain text"}
		}
	}
	for _, p := range [][2]string{{"added", o.Added}, {"touched", pattern}, {"author", o.Author}} {
		if strings.ContainsRune(p[1], 0) {
			return res, &InputError{What: p[0], Reason: "has a NUL character, which no text holds"}
		}
	}
	if strings.Contains(o.Author, "\n") { // to git each line is a pattern, and an empty one fits everybody
		return res, &InputError{What: "author", Reason: "has more than one line"}
	}
	if o.Added != "" && o.Touched != "" {
		return res, &InputError{What: "a search", Reason: "is either for added text or for touched lines, not for both"}
	}
	lookAt := min(o.LookAt, maxLookAt)
	if lookAt <= 0 {
		lookAt = 300
	}
	limit := min(o.Limit, 500)
	if limit <= 0 {
		limit = 20
	}
	if err := res.bring(ctx, c, o, lookAt); err != nil {
		return res, err
	}
	seen, err := res.list(ctx, c, o, lookAt)
	if err != nil {
		return res, err
	}
	found, err := res.match(ctx, c, o, paths, seen, limit)
	if err != nil {
		return res, err
	}
	var shas []string
	for _, f := range found {
		shas = append(shas, f.sha)
	}
	commits, err := details(ctx, c, shas)
	if err != nil {
		return res, err
	}
	by := map[string]Commit{}
	for _, cm := range commits {
		by[cm.SHA] = cm
	}
	for _, f := range found {
		res.Commits = append(res.Commits, LogEntry{Commit: by[f.sha], Changed: f.changed, More: f.more})
	}
	return res, nil
}

// bring fetches the history that is needed. Of a plain log the newest commits
// are enough; what a range leaves out is only known from the whole.
func (r *LogResult) bring(ctx context.Context, c *checkout.Checkout, o LogOptions, lookAt int) (err error) {
	const depth = checkout.Whole
	if o.From != "" {
		if r.From, err = bring(ctx, c, o.From, depth); err != nil {
			return err
		}
	}
	if r.To = c.SHA(); o.To != "" {
		if r.To, err = bring(ctx, c, o.To, 1); err != nil {
			return err
		}
	}
	if o.From != "" {
		return c.Deepen(ctx, r.To, depth)
	}
	return deepen(ctx, c, r.To, lookAt)
}

// deepen fetches the newest commits of a history and their parents. So many
// generations are surely enough, but where there are many merges a tenth of
// them hold as many commits. So it goes on until none of the commits to look
// at is one where the history is cut off: what lies behind such a one comes
// after it, whatever its date.
func deepen(ctx context.Context, c *checkout.Checkout, tip string, lookAt int) error {
	for depth := lookAt/8 + 2; ; depth *= 2 {
		depth = min(depth, lookAt+2)
		if err := c.Deepen(ctx, tip, depth); err != nil {
			return err
		}
		cut := c.CutOff()
		if depth == lookAt+2 || len(cut) == 0 {
			return nil
		}
		enough := true
		err := lines(ctx, c, "", func(l string) error {
			enough = enough && !cut[l]
			return nil
		}, "rev-list", "--date-order", "--max-count="+strconv.Itoa(lookAt), tip)
		if err != nil {
			return fmt.Errorf("history: log: %w", err)
		}
		if enough {
			return nil
		}
	}
}

// looked is a commit that is looked at.
type looked struct {
	sha   string
	first string // its first parent, for a merge; else ""
}

// line is how diff-tree is told of it: what it changed, a merge against its first
// parent.
func (l looked) line() string { return strings.TrimSpace(l.sha + " " + l.first) }

// list gives the commits to look at, newest first; merges that are not asked for
// are counted but left out. Author and date narrow what is found, not what is
// looked at.
func (r *LogResult) list(ctx context.Context, c *checkout.Checkout, o LogOptions, lookAt int) ([]looked, error) {
	var all []looked
	args := []string{"rev-list", "--parents", "--date-order", "--max-count=" + strconv.Itoa(lookAt+1)}
	tips := []string{r.To}
	if r.From != "" {
		tips = append(tips, "^"+r.From)
	}
	err := lines(ctx, c, "", func(l string) error {
		f := strings.Fields(l)
		if len(f) > 2 {
			all = append(all, looked{f[0], f[1]})
		} else if len(f) > 0 {
			all = append(all, looked{sha: f[0]})
		}
		return nil
	}, append(args, tips...)...)
	if err != nil {
		return nil, fmt.Errorf("history: log: %w", err)
	}
	if len(all) > lookAt {
		all, r.Stopped = all[:lookAt], true
	}
	r.LookedAt = len(all)
	cut := c.CutOff() // by now only where the host has no more
	r.Shallow = slices.ContainsFunc(all, func(l looked) bool { return cut[l.sha] })
	want := map[string]bool{}
	if o.Author != "" || !o.Since.IsZero() {
		args := []string{"rev-list", "--no-walk=unsorted", "--stdin", "--fixed-strings", "--regexp-ignore-case"}
		if o.Author != "" {
			args = append(args, "--author="+o.Author)
		}
		if !o.Since.IsZero() { // to git no time is before 1970, and a negative one is far ahead
			args = append(args, "--max-age="+strconv.FormatInt(max(o.Since.Unix(), 0), 10))
		}
		var in strings.Builder
		for _, f := range all {
			in.WriteString(f.sha + "\n")
		}
		err := lines(ctx, c, in.String(), func(l string) error { want[l] = true; return nil }, args...)
		if err != nil {
			return nil, fmt.Errorf("history: log: %w", err)
		}
	}
	var out []looked
	for _, f := range all {
		if (f.first == "" || o.Merges) && (o.Author == "" && o.Since.IsZero() || want[f.sha]) {
			out = append(out, f)
		}
	}
	return out, nil
}

// foundCommit is a commit that matches.
type foundCommit struct {
	sha     string
	changed []Changed
	more    int
}

var errEnough = errors.New("enough")

// fillMany fetches more versions of files than are fetched in one batch, where
// git can do that by itself.
func fillMany(ctx context.Context, c *checkout.Checkout, seen []looked, paths []string, n int) error {
	shas := make([]string, len(seen))
	for i, l := range seen {
		shas[i] = l.sha
	}
	err := c.Backfill(ctx, shas, paths[1:])
	if errors.Is(err, checkout.ErrNoBackfill) {
		return tooMany(n)
	}
	return err
}

// match gives the commits whose changes are asked for.
func (r *LogResult) match(ctx context.Context, c *checkout.Checkout, o LogOptions, paths []string, seen []looked, limit int) ([]foundCommit, error) {
	all := o.Added == "" && o.Touched == "" && len(paths) == 1 // also those that changed nothing
	if all && len(seen) > limit {
		seen, r.Limited = seen[:limit], true
	}
	var in strings.Builder
	for _, l := range seen {
		in.WriteString(l.line() + "\n")
	}
	stdin, args := in.String(), []string{"--stdin"}
	if o.Added != "" || o.Touched != "" {
		set := map[string]bool{}
		err := rawDiff(ctx, c, stdin, func(_ string, ch change) error { ch.blobs(set); return nil }, append(args, paths...)...)
		if err != nil {
			return nil, fmt.Errorf("history: log: %w", err)
		}
		if len(set) > maxBlobs {
			err = fillMany(ctx, c, seen, paths, len(set))
		} else {
			err = fill(ctx, c, set)
		}
		if err != nil {
			return nil, err
		}
		if o.Added != "" {
			args = append(args, "-S"+o.Added)
		} else {
			args = append(args, "-G"+o.Touched)
		}
	}
	var out []foundCommit
	if all {
		for _, l := range seen {
			out = append(out, foundCommit{sha: l.sha})
		}
	}
	at := -1 // of the commit in out that git is at
	err := rawDiff(ctx, c, stdin, func(sha string, ch change) error {
		for all && (at < 0 || out[at].sha != sha) && at+1 < len(out) {
			at++
		}
		if !all && (at < 0 || out[at].sha != sha) {
			if len(out) == limit {
				r.Limited = true
				return errEnough
			}
			out, at = append(out, foundCommit{sha: sha}), at+1
		}
		f := &out[at]
		if len(f.changed) == maxChanged {
			f.more++
		} else {
			f.changed = append(f.changed, Changed{Status: ch.status, Path: ch.path})
		}
		return nil
	}, append(args, paths...)...)
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("history: log: %w", err)
	}
	return out, nil
}
