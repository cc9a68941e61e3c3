package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/store"
)

// RunsOptions is a look at the runs that are kept: the terminal's, or those of a server. It may be taken beside the server.
type RunsOptions struct {
	Dir string // holds librarian.db
	URL string // of a PostgreSQL database; used instead of Dir where it is set
	Out io.Writer
	Now func() time.Time
}

// open opens the store; none is made where there is none.
func (o RunsOptions) open(ctx context.Context) (*store.Store, error) {
	if o.URL != "" {
		return openDatabase(ctx, store.Options{URL: o.URL, Now: o.Now})
	}
	if _, err := os.Stat(filepath.Join(o.Dir, store.File)); err != nil {
		return nil, &UsageError{Message: "there are no runs in " + o.Dir, Hint: "ask something first, or name a server's data directory with --data", Err: err}
	}
	runs, err := store.Open(ctx, store.Options{Dir: o.Dir, Now: o.Now})
	if err != nil {
		return nil, &UsageError{Message: "the runs in " + o.Dir + " cannot be read: " + err.Error(), Hint: "check who may read the directory", Err: err}
	}
	return runs, nil
}

// with opens the store and finds one run in it. What is no id, and an id that is not known, is the same mistake.
func (o RunsOptions) with(ctx context.Context, id string, f func(*store.Store, librarian.Run) error) (err error) {
	runs, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	known, err := librarian.ParseRunID(id)
	if err != nil {
		return unknownRun(librarian.RunID(id))
	}
	r, err := runs.Run(ctx, known)
	if errors.Is(err, librarian.ErrRunNotFound) {
		return unknownRun(known)
	}
	if err != nil {
		return fmt.Errorf("app: %w", err)
	}
	return f(runs, r)
}

func unknownRun(id librarian.RunID) error {
	err := librarian.RunNotFound(id)
	message, _ := librarian.UserMessage(err)
	return &UsageError{Message: message, Err: err}
}

// ListRuns prints the newest runs, a line each: when, id, state, place, asker, what it cost, the votes on its answer, and the question's first line.
func ListRuns(ctx context.Context, o RunsOptions, limit int) (err error) {
	runs, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	found, err := runs.Find(ctx, store.Filter{Limit: limit})
	if err != nil {
		return fmt.Errorf("app: %w", err)
	}
	w := tabwriter.NewWriter(o.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHEN\tRUN\tSTATE\tPLACE\tASKER\tCOST\tVOTES\tQUESTION")
	for _, r := range found {
		out, _, err := outcomeOf(ctx, runs, r.ID)
		if err != nil {
			return err
		}
		cost := "-"
		if c := out.Usage.Cost; c != nil {
			cost = fmt.Sprintf("$%.2f", *c)
		}
		votes, err := votesOf(ctx, runs, r.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.CreatedAt.Local().Format("2006-01-02 15:04"), r.ID, r.State, place(r.Request.Place),
			shown(cmp.Or(r.Request.Principal.Login, "-"), 39), cost, cmp.Or(votes, "-"), shown(firstLine(asked(r.Request)), 80))
	}
	return w.Flush()
}

// asked is what a request says; a command has its name before its arguments.
func asked(r librarian.Request) string {
	if r.Kind == librarian.KindCommand {
		return strings.TrimSpace(r.Command + " " + r.Question)
	}
	return strings.TrimSpace(r.Question)
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}

// shown is text of others in one line of at most n characters that cannot speak to the terminal, without secrets.
func shown(s string, n int) string {
	s = strings.Join(strings.Fields(strings.Map(printable, report.Redact(s, nil))), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func place(p librarian.Place) string {
	switch {
	case p.Kind == librarian.PlaceTerminal:
		return "terminal"
	case p.Number == 0:
		return p.RepoName.String()
	}
	return fmt.Sprintf("%s#%d", p.RepoName, p.Number)
}

func outcomeOf(ctx context.Context, runs *store.Store, id librarian.RunID) (out librarian.Outcome, ok bool, err error) {
	e, ok, err := runs.Last(ctx, id, librarian.EventOutcome)
	if err == nil && ok {
		err = json.Unmarshal(e.Data, &out)
	}
	if err != nil {
		return out, false, fmt.Errorf("app: outcome of run %s: %w", id, err)
	}
	return out, ok, nil
}

// votesOf is what readers thought of a run's answer when that was last counted; empty: nothing.
func votesOf(ctx context.Context, runs *store.Store, id librarian.RunID) (string, error) {
	var v librarian.VotesData
	e, ok, err := runs.Last(ctx, id, librarian.EventVotes)
	if err == nil && ok {
		err = json.Unmarshal(e.Data, &v)
	}
	if err != nil {
		return "", fmt.Errorf("app: votes of run %s: %w", id, err)
	}
	if v.Up+v.Down == 0 {
		return "", nil
	}
	return fmt.Sprintf("👍 %d 👎 %d", v.Up, v.Down), nil
}

// ShowRun prints a run: question, trace, findings, cost, and where it was posted.
func ShowRun(ctx context.Context, o RunsOptions, id string) error {
	return o.with(ctx, id, func(runs *store.Store, r librarian.Run) error {
		events, err := runs.Events(ctx, r.ID, 0)
		if err != nil {
			return fmt.Errorf("app: %w", err)
		}
		q := r.Request
		fmt.Fprintf(o.Out, "%s asked at %s, %s (%s):\n\n    %s\n\n", shown(cmp.Or(q.Principal.Login, "somebody"), 39), place(q.Place),
			r.CreatedAt.Local().Format("2006-01-02 15:04:05"), r.State,
			strings.ReplaceAll(strings.Map(printable, report.Redact(asked(q), nil)), "\n", "\n    "))
		var calls []librarian.ToolEndData
		var posted []string
		for _, e := range events {
			switch e.Kind {
			case librarian.EventToolEnd:
				var d librarian.ToolEndData
				if json.Unmarshal(e.Data, &d) == nil && e.Attempt == r.Attempt {
					calls = append(calls, d)
				}
			case librarian.EventPosted:
				var d librarian.PostedData
				if json.Unmarshal(e.Data, &d) == nil && d.Role == librarian.RoleAnswer && !d.Deleted && d.URL != "" {
					posted = append(posted, d.URL)
				}
			}
		}
		if len(calls) > 0 {
			fmt.Fprintf(o.Out, "%s\n\n", strings.Map(printable, report.Trace(calls, nil)))
		}
		out, ok, err := outcomeOf(ctx, runs, r.ID)
		switch {
		case err != nil:
			return err
		case ok:
			fmt.Fprint(o.Out, report.Plain(r.ID, out, nil))
		case r.Request.Kind == librarian.KindCommand:
			fmt.Fprintf(o.Out, "A command has no findings. run %s\n", r.ID)
		case r.State.Final():
			fmt.Fprintf(o.Out, "What it found is not kept any more. run %s\n", r.ID)
		default:
			fmt.Fprintf(o.Out, "It has not ended. run %s\n", r.ID)
		}
		for _, u := range posted {
			fmt.Fprintf(o.Out, "Posted: %s\n", u)
		}
		votes, err := votesOf(ctx, runs, r.ID)
		if err == nil && votes != "" {
			fmt.Fprintf(o.Out, "Votes: %s\n", votes)
		}
		return err
	})
}

// TranscriptRun prints a run's log, one JSON object a line: seq, at, attempt, kind, data. Secrets are taken out.
func TranscriptRun(ctx context.Context, o RunsOptions, id string) error {
	return o.with(ctx, id, func(runs *store.Store, r librarian.Run) error {
		events, err := runs.Events(ctx, r.ID, 0)
		if err != nil {
			return fmt.Errorf("app: %w", err)
		}
		enc := json.NewEncoder(o.Out)
		enc.SetEscapeHTML(false)
		for _, e := range events {
			if err := enc.Encode(struct {
				Seq     int64               `json:"seq"`
				At      time.Time           `json:"at"`
				Attempt int                 `json:"attempt"`
				Kind    librarian.EventKind `json:"kind"`
				Data    any                 `json:"data"`
			}{e.Seq, e.At, e.Attempt, e.Kind, withoutSecrets(e.Data)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// withoutSecrets redacts an event's data. What would no longer be JSON then is given as text.
func withoutSecrets(raw json.RawMessage) any {
	clean := report.Redact(string(raw), nil)
	if json.Valid([]byte(clean)) {
		return json.RawMessage(clean)
	}
	return clean
}

// ForgetRun removes a run with everything that was said in it. What was posted stays where it is, since nothing here can write to
// GitHub; it is named, for its author or an administrator to delete.
func ForgetRun(ctx context.Context, o RunsOptions, id string) error {
	return o.with(ctx, id, func(runs *store.Store, r librarian.Run) error {
		events, err := runs.Events(ctx, r.ID, 0)
		if err != nil {
			return fmt.Errorf("app: %w", err)
		}
		if err := runs.Forget(ctx, r.ID); err != nil {
			return fmt.Errorf("app: %w", err)
		}
		fmt.Fprintf(o.Out, "Forgot run %s.\n", r.ID)
		for _, e := range events {
			var d librarian.PostedData
			if e.Kind == librarian.EventPosted && json.Unmarshal(e.Data, &d) == nil && d.Role == librarian.RoleAnswer && !d.Deleted {
				fmt.Fprintf(o.Out, "Its answer was posted and stays until somebody deletes it there: %s\n", cmp.Or(d.URL, fmt.Sprintf("comment %d in %s", d.Comment, place(r.Request.Place))))
			}
		}
		return nil
	})
}
