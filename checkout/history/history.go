// Package history reads a repository's past through a held checkout: log,
// show, blame and diff. It owns the order of the work: first the commits and
// trees that a question needs, then, in one batch, every blob that git will
// want to read, and only then git itself, which so never waits for the network.
// Every result says how many commits were looked at and whether that was all.
//
// It needs package checkout for everything that touches git or the network.
package history

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/librarian-app/librarian/checkout"
)

// Commit is one commit, without its changes.
type Commit struct {
	SHA     string
	Parents []string
	Author  string
	Email   string
	Date    time.Time // of the author
	Subject string
	Body    string // at most 4,000 bytes
}

// InputError says that an option has no meaning.
type InputError struct {
	What   string // "since"
	Reason string // a clause
}

func (e *InputError) Error() string { return e.What + " " + e.Reason }

// Hint is empty: the sentence says it all.
func (e *InputError) Hint() string { return "" }

// BudgetError says that a question needs more than may be fetched.
type BudgetError struct {
	What  string
	Limit int
}

func (e *BudgetError) Error() string { return e.What }

// Hint says what to try next.
func (e *BudgetError) Hint() string { return "Narrow it: name a path, or look at fewer commits." }

// maxBlobs bounds one batch: more means that the question is too wide.
const maxBlobs = 50_000

// commitFormat prints a commit, with -z, as so many fields that each end in NUL: the one byte that is in no message.
const (
	commitFormat = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%at%x00%s%x00%b"
	commitFields = 7
)

// details reads the commits named, in the order given.
func details(ctx context.Context, c *checkout.Checkout, shas []string) ([]Commit, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	var out []Commit
	err := c.Git(ctx, strings.NewReader(strings.Join(shas, "\n")+"\n"), func(r io.Reader) error {
		br := bufio.NewReader(io.LimitReader(r, 256<<20))
		for {
			var f [commitFields]string
			for i := range f {
				field, err := br.ReadString(0)
				if i == 0 && field == "" && errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				f[i] = strings.TrimSuffix(field, "\x00")
			}
			var at int64
			_, _ = fmt.Sscan(f[4], &at)
			out = append(out, Commit{SHA: f[0], Parents: strings.Fields(f[1]), Author: text(f[2], 200), Email: text(f[3], 200),
				Date: time.Unix(at, 0).UTC(), Subject: text(f[5], 500), Body: strings.TrimSpace(text(f[6], 4000))})
		}
	}, "log", "-z", "--no-walk=unsorted", "--stdin", commitFormat)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return out, nil
}

// text makes a string valid and short enough to hand on.
func text(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "�")
}

// lines runs a git command and hands over its output by lines.
func lines(ctx context.Context, c *checkout.Checkout, stdin string, each func(line string) error, args ...string) error {
	return c.Git(ctx, strings.NewReader(stdin), func(r io.Reader) error {
		sc := bufio.NewScanner(r)
		sc.Buffer(make([]byte, 64<<10), 64<<20)
		for sc.Scan() {
			if err := each(sc.Text()); err != nil {
				return err
			}
		}
		return sc.Err()
	}, args...)
}

// change is one line of a raw diff.
type change struct {
	oldMode, newMode string
	oldID, newID     string
	status           byte // A, D, M, T
	path             string
}

const none = "0000000000000000000000000000000000000000"

// rawDiff lists what each commit of stdin changed, without renames. -z output:
// "<commit>\0" and then ":<modes> <ids> <status>\0<path>\0" each.
func rawDiff(ctx context.Context, c *checkout.Checkout, stdin string, each func(commit string, ch change) error, args ...string) error {
	args = append([]string{"diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "-z", "--root"}, args...)
	return c.Git(ctx, strings.NewReader(stdin), func(r io.Reader) error {
		br := bufio.NewReaderSize(r, 64<<10)
		field := func() (string, error) {
			s, err := br.ReadString(0)
			return strings.TrimSuffix(s, "\x00"), err
		}
		commit := ""
		for {
			f, err := field()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if !strings.HasPrefix(f, ":") {
				commit = strings.TrimSpace(f)
				continue
			}
			p := strings.Fields(f[1:])
			path, err := field()
			if err != nil || len(p) != 5 {
				return io.ErrUnexpectedEOF
			}
			if err := each(commit, change{p[0], p[1], p[2], p[3], p[4][0], path}); err != nil {
				return err
			}
		}
	}, args...)
}

// blobs collects the ids of a change's two sides, submodules left out.
func (ch change) blobs(into map[string]bool) {
	if ch.oldID != none && ch.oldMode != "160000" {
		into[ch.oldID] = true
	}
	if ch.newID != none && ch.newMode != "160000" {
		into[ch.newID] = true
	}
}

func tooMany(n int) *BudgetError {
	return &BudgetError{What: fmt.Sprintf("this needs %d versions of files; the limit is %d", n, maxBlobs), Limit: maxBlobs}
}

// fill fetches blobs in one batch.
func fill(ctx context.Context, c *checkout.Checkout, set map[string]bool) error {
	if len(set) > maxBlobs {
		return tooMany(len(set))
	}
	ids := make([]string, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	_, err := c.Fill(ctx, ids)
	return err
}

// pathArgs ends a command line with paths, which git takes literally.
func pathArgs(paths []string) ([]string, error) {
	out := []string{"--"}
	for _, p := range paths {
		p = strings.Trim(p, "/")
		if p == "" || p == "." {
			continue
		}
		if strings.ContainsRune(p, 0) || p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") {
			return nil, &InputError{What: fmt.Sprintf("path %q", p), Reason: "is outside the tree"}
		}
		out = append(out, p)
	}
	return out, nil
}
