package run

import (
	"context"
	"fmt"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/report"
)

// Commands that can be said instead of a question.
const (
	commandHelp = "help"
)

// Command answers a request of kind command. Like Publish it can be called again; an error says that it should be.
func (r *Runner) Command(ctx context.Context, id librarian.RunID) error {
	run, err := r.o.Log.Run(ctx, id)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if run.State.Final() {
		return nil
	}
	repo, refused, err := r.mayAsk(ctx, run.Request)
	if err != nil {
		return err
	}
	state := librarian.StatePublished
	note := "answered " + run.Request.Command
	if refused != nil {
		state, note = librarian.StateDeclined, refused.Message
		if !refused.Silent {
			if err := r.o.Poster.React(ctx, run.Request.Place, librarian.ReactionConfused); err != nil {
				r.o.Logger.WarnContext(ctx, "could not set the reaction", "run", id, "error", err)
			}
		}
	} else {
		events, err := r.o.Log.Events(ctx, id, 0)
		if err != nil {
			return fmt.Errorf("run: %w", err)
		}
		h, err := readHistory(events, run.Attempt)
		if err != nil {
			return err
		}
		if err := r.say(ctx, run, h, librarian.RoleAnswer, []string{r.commandBody(run, repo)}); err != nil {
			return err
		}
	}
	if err := r.o.Progression.Advance(ctx, id, state, librarian.EventNote, librarian.NoteData{Text: note}); err != nil {
		return fmt.Errorf("run: command: %w", err)
	}
	return nil
}

func (r *Runner) commandBody(run librarian.Run, repo librarian.Repo) string {
	c := r.comment(run)
	if run.Request.Command != commandHelp {
		return c.Notice(fmt.Sprintf("`%s` is not available yet. Mention me with a question, or with `help`.", run.Request.Command))
	}
	name := ""
	if m, _, err := r.o.Models("", repo.Private()); err == nil {
		name = m.Name()
	}
	need := r.o.Ask.Least(repo.Visibility)
	reads := "I read this repository and public ones."
	return c.Help(report.Help{Model: name, WhoMay: whoMay(need), Reads: reads, Version: r.o.Version})
}

func whoMay(need access.Level) string {
	return "Who has " + need.String() + " permission in this repository may ask."
}
