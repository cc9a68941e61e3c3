package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/agent"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/settings"
)

// help says how to ask, what is in force in this repository, where code goes and what is left of the budgets.
func (r *Runner) help(ctx context.Context, run librarian.Run, adm admission) (report.Help, error) {
	s, private := adm.set, adm.repo.Private()
	name, _ := s.Models.Pick("", private)
	h := report.Help{
		Model: name, Version: r.o.Version, Reads: "I read this repository and public ones.",
		WhoMay:   "Who has " + s.Ask.Least(adm.repo.Visibility).String() + " permission in this repository may ask.",
		Problems: problems(adm),
	}
	if s.Read.OwnOnly {
		h.Reads = "I read this repository and no other."
	} else if len(s.Share) > 0 && private {
		h.Reads += " Of the organisation's private ones those that its rules share into this one, where the asker can read them and names them."
	}
	h.Settings = append(h.Settings, "Ways to ask: "+ways(s.Triggers)+".")
	if models := s.Models.For(private); len(models) > 1 {
		h.Settings = append(h.Settings, "Models that may answer here: "+strings.Join(models, ", ")+".")
	}
	if private && len(s.Egress) > 0 {
		h.Settings = append(h.Settings, "From private code, text may also go to: "+strings.Join(s.Egress, ", ")+".")
	}
	if len(s.Tools.Disabled) > 0 {
		h.Settings = append(h.Settings, "Not used here: "+strings.Join(s.Tools.Disabled, ", ")+".")
	}
	if r.o.Unseen != nil {
		name, unseen, err := r.o.Unseen(ctx, run.Request.Place.Installation, adm.repo)
		if err != nil {
			return h, &errAskLater{err}
		}
		if unseen {
			h.Settings = append(h.Settings, "I see no settings of the organisation. If "+name.String()+" exists and is private, they have no effect until I am installed on it too.")
		}
	}
	h.Settings = append(h.Settings, "One question may take "+spans(s.Limits)+".")
	left, err := r.left(ctx, run, s.Limits)
	if err != nil {
		return h, err
	}
	h.Settings = append(h.Settings, left)
	return h, nil
}

func ways(t settings.Triggers) string {
	var out []string
	for _, w := range []struct {
		open bool
		name string
	}{
		{t.Mention, "a mention"}, {t.Label && t.LabelName != "", "the label " + t.LabelName},
		{t.Events && len(t.Questions) > 0, "configured events"}, {t.Dispatch, "repository_dispatch"},
	} {
		if w.open {
			out = append(out, w.name)
		}
	}
	return strings.Join(out, ", ")
}

func spans(l settings.Limits) string {
	out := fmt.Sprintf("%d steps, %s and %d tokens of input", l.Steps, agent.Short(l.Time), l.InputTokens)
	if l.Cost > 0 {
		out += fmt.Sprintf(", $%.2f where the price is known", l.Cost)
	}
	return out
}

// left is what the asker, the repository and the installation may still use.
func (r *Runner) left(ctx context.Context, run librarian.Run, l settings.Limits) (string, error) {
	now := r.o.Now()
	user, repo, _, err := r.o.Spending.Asked(ctx, run, now.Add(-24*time.Hour))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errLog, err)
	}
	cost, err := r.o.Spending.Cost(ctx, run.Request.Place.Installation, monthOf(now))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errLog, err)
	}
	var out []string
	if l.UserRuns > 0 {
		out = append(out, fmt.Sprintf("%d of your %d questions in 24 hours", max(l.UserRuns-user, 0), l.UserRuns))
	}
	if l.RepositoryRuns > 0 {
		out = append(out, fmt.Sprintf("%d of this repository's %d", max(l.RepositoryRuns-repo, 0), l.RepositoryRuns))
	}
	if l.MonthlyCost > 0 {
		out = append(out, fmt.Sprintf("%s of the month's %s", dollars(max(l.MonthlyCost-cost, 0)), dollars(l.MonthlyCost)))
	}
	if len(out) == 0 {
		return "Nothing bounds how many questions may be asked.", nil
	}
	return "Left: " + strings.Join(out, ", ") + ".", nil
}

// monthOf is when the calendar month began that t is in, in UTC wherever the server stands.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}
