package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/settings"
)

// Spending is what was asked and spent so far.
type Spending interface {
	// Asked counts the questions that were admitted since, of one user of the installation, in one repository, and in one
	// thread of it, the run itself left out.
	Asked(ctx context.Context, run librarian.Run, since time.Time) (user, repo, thread int, err error)
	// Cost is what the installation's runs cost since, in US dollars, as far as prices are known.
	Cost(ctx context.Context, installation int64, since time.Time) (float64, error)
}

// ThreadRunsHour is how many questions one thread may hold in an hour; a machine that talks to itself asks more.
const ThreadRunsHour = 30

// nearly is the share of a budget at which an operator is told.
const nearly = 0.8

// The budgets, as [Options].Budget names them.
const (
	BudgetUser         = "user"
	BudgetRepository   = "repository"
	BudgetThread       = "thread"
	BudgetInstallation = "installation"
)

// withinCaps refuses what is over the caps: visibly, by one line the first time and a sign from then on.
func (r *Runner) withinCaps(ctx context.Context, run librarian.Run, l settings.Limits) (*librarian.Outcome, error) {
	now := r.o.Now()
	user, repo, _, err := r.o.Spending.Asked(ctx, run, now.Add(-24*time.Hour))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLog, err)
	}
	_, _, thread, err := r.o.Spending.Asked(ctx, run, now.Add(-time.Hour))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLog, err)
	}
	cost, err := r.o.Spending.Cost(ctx, run.Request.Place.Installation, monthOf(now))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLog, err)
	}
	for i, c := range []struct {
		which     string
		used, cap float64
		line      string
	}{
		{BudgetUser, float64(user), float64(l.UserRuns), "You have asked " + questions(l.UserRuns, "", "") + " in the last 24 hours, which is the limit here."},
		{BudgetRepository, float64(repo), float64(l.RepositoryRuns), questions(l.RepositoryRuns, " was asked", " were asked") + " in this repository in the last 24 hours, which is the limit."},
		{BudgetThread, float64(thread), ThreadRunsHour, questions(ThreadRunsHour, " was asked", " were asked") + " in this thread in the last hour, which is the limit."},
		{BudgetInstallation, cost, l.MonthlyCost, "This month's budget of " + dollars(l.MonthlyCost) + " is spent; the next one begins on " + monthOf(now).AddDate(0, 1, 0).Format("2 January") + " (UTC)."},
	} {
		if c.cap <= 0 || i == 0 && run.Request.Principal.Repository { // configured events have the repository's cap
			continue
		}
		if c.used >= c.cap {
			r.budget(c.which, true)
			out := declined(c.line, false)
			told, err := r.toldBefore(ctx, run, now.Add(-24*time.Hour))
			if err != nil {
				return nil, err
			}
			if !told {
				out.Message = c.line
			}
			return out, nil
		}
		if c.used >= nearly*c.cap {
			r.budget(c.which, false)
			r.o.Logger.WarnContext(ctx, "a budget is nearly used", "run", run.ID, "used", c.used, "of", c.cap, "which", c.line)
		}
	}
	return nil, nil
}

// dollars leaves out the cents where there are none.
func dollars(d float64) string { return "$" + strings.TrimSuffix(fmt.Sprintf("%.2f", d), ".00") }

func questions(n int, one, many string) string {
	if n == 1 {
		return "1 question" + one
	}
	return fmt.Sprintf("%d questions", n) + many
}

func (r *Runner) budget(which string, spent bool) {
	if r.o.Budget != nil {
		r.o.Budget(which, spent)
	}
}

// maxTold bounds the threads that are remembered.
const maxTold = 10_000

// toldBefore reports whether a refusal was put into words in this thread since; from then on a sign is enough. Of several that are
// refused at once, one is told: the log knows of those that are over, and the memory of those under way.
func (r *Runner) toldBefore(ctx context.Context, run librarian.Run, since time.Time) (bool, error) {
	if told, err := r.toldInLog(ctx, run, since); err != nil || told {
		return told, err
	}
	thread := fmt.Sprintf("%s/%s/%d", run.Request.Place.Repo, run.Request.Place.Kind, run.Request.Place.Number)
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.told[thread]; ok && at.After(since) {
		return true, nil
	}
	if len(r.told) >= maxTold {
		clear(r.told)
	}
	r.told[thread] = r.o.Now()
	return false, nil
}

func (r *Runner) toldInLog(ctx context.Context, run librarian.Run, since time.Time) (bool, error) {
	runs, err := r.questions(ctx, run.Request.Place, false)
	if err != nil {
		return false, err
	}
	for _, x := range runs {
		if x.ID == run.ID || x.CreatedAt.Before(since) || x.State != librarian.StateDeclined && x.State != librarian.StateVerified {
			continue
		}
		h, err := r.history(ctx, x)
		if err != nil {
			return false, err
		}
		if h.outcome != nil && h.outcome.Kind == librarian.OutcomeDeclined && h.outcome.Message != "" {
			return true, nil
		}
	}
	return false, nil
}

// maxShown is how many refusals one person is shown in an hour, in all of an installation. Each is a write of the few that GitHub allows
// it: a stranger who mentions us five hundred times would else have nobody answered.
const maxShown = 10

// asker is a person in an installation.
type asker struct{ installation, user int64 }

// hush makes a refusal silent when its asker was shown enough of them. It is for those that nothing was set or said before.
func (r *Runner) hush(q librarian.Request, refused *librarian.Outcome) {
	if refused.Silent {
		return
	}
	who, now := asker{q.Place.Installation, q.Principal.ID}, r.o.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := slices.DeleteFunc(r.shown[who], func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	if len(shown) >= maxShown {
		refused.Silent = true
		refused.Reason += "; the asker was shown enough of that"
	} else {
		shown = append(shown, now)
	}
	if len(r.shown) >= maxTold {
		clear(r.shown)
	}
	r.shown[who] = shown
}
