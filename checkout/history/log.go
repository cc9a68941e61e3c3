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
	To       string // full id
	From     string // full id, or ""
}

const (
	maxLookAt  = 20_000
	maxChanged = 50
)

// Log lists commits. Merges count as what they are, commits without changes of
// their own: they are looked at but match no path and no text.
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
		if r.From, err = c.Bring(ctx, o.From, depth); err != nil {
			return err
		}
	}
	if r.To = c.SHA(); o.To != "" {
		if r.To, err = c.Bring(ctx, o.To, 1); err != nil {
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

// list gives the commits to look at, newest first, merges left out but counted.
// Author and date narrow what is found, not what is looked at.
func (r *LogResult) list(ctx context.Context, c *checkout.Checkout, o LogOptions, lookAt int) ([]string, error) {
	type found struct {
		sha   string
		merge bool
	}
	var all []found
	args := []string{"rev-list", "--parents", "--date-order", "--max-count=" + strconv.Itoa(lookAt+1)}
	tips := []string{r.To}
	if r.From != "" {
		tips = append(tips, "^"+r.From)
	}
	err := lines(ctx, c, "", func(l string) error {
		f := strings.Fields(l)
		if len(f) > 0 {
			all = append(all, found{f[0], len(f) > 2})
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
	want := map[string]bool{}
	if o.Author != "" || !o.Since.IsZero() {
		args := []string{"rev-list", "--no-walk=unsorted", "--stdin", "--no-merges", "--fixed-strings", "--regexp-ignore-case"}
		if o.Author != "" {
			args = append(args, "--author="+o.Author)
		}
		if !o.Since.IsZero() {
			args = append(args, "--min-age=-1", "--max-age="+strconv.FormatInt(o.Since.Unix(), 10))
			args = slices.DeleteFunc(args, func(a string) bool { return a == "--min-age=-1" })
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
	var out []string
	for _, f := range all {
		if !f.merge && (o.Author == "" && o.Since.IsZero() || want[f.sha]) {
			out = append(out, f.sha)
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

// match gives the commits whose changes are asked for.
func (r *LogResult) match(ctx context.Context, c *checkout.Checkout, o LogOptions, paths, seen []string, limit int) ([]foundCommit, error) {
	stdin := strings.Join(seen, "\n") + "\n"
	args := []string{"--stdin"}
	if o.Added != "" || o.Touched != "" {
		set := map[string]bool{}
		err := rawDiff(ctx, c, stdin, func(_ string, ch change) error { ch.blobs(set); return nil }, append(args, paths...)...)
		if err != nil {
			return nil, fmt.Errorf("history: log: %w", err)
		}
		if err := fill(ctx, c, set); err != nil {
			return nil, err
		}
		if o.Added != "" {
			args = append(args, "-S"+o.Added)
		} else {
			args = append(args, "-G"+o.Touched)
		}
	}
	var out []foundCommit
	err := rawDiff(ctx, c, stdin, func(sha string, ch change) error {
		if len(out) == 0 || out[len(out)-1].sha != sha {
			if len(out) == limit {
				r.Limited = true
				return errEnough
			}
			out = append(out, foundCommit{sha: sha})
		}
		f := &out[len(out)-1]
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
