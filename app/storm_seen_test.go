package app

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/store"
)

var commentMarker = regexp.MustCompile(`^<!-- librarian run=([0-9a-f-]{36}) role=([a-z]+) part=(\d+)/`)

// once asserts that each question ended exactly once, and gives the runs of those that did not end as an answer, and how many have
// the sign that ends them.
func (f *flow) once(all []stormed) (unanswered []librarian.Run, marked int) {
	f.t.Helper()
	runs, err := store.Open(f.t.Context(), store.Options{Dir: f.cfg.Server.Data})
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, runs.Close()) }()
	ends, empty, progress := map[string]int{}, map[string]string{}, 0
	threads := map[string]bool{}
	for _, a := range all {
		if key := fmt.Sprint(a.repo, a.issue); threads[key] {
			continue
		} else {
			threads[key] = true
		}
		for _, c := range f.sim.Comments(a.repo, a.issue) {
			m := commentMarker.FindStringSubmatch(c.Body)
			switch {
			case c.App == "" || m == nil:
			case m[2] == librarian.RoleProgress:
				progress++
			case m[3] == "1":
				ends[m[1]]++
				if !strings.Contains(c.Body, "/blob/") {
					empty[m[1]] = c.Body
				}
			}
		}
	}
	require.Zero(f.t, progress, "progress comments are taken away")
	for _, a := range all {
		repo, err := f.sim.Repo(a.repo)
		require.NoError(f.t, err)
		id := librarian.GitHubRepo(strings.TrimPrefix(f.sim.URL(), "http://"), repo.ID)
		found, err := runs.Find(f.t.Context(), store.Filter{Repo: id, Number: a.issue, Trigger: librarian.TriggerIssueComment, TriggerID: a.comment, Limit: 10})
		require.NoError(f.t, err)
		require.NotEmpty(f.t, found, "%+v", a)
		published := 0
		for _, r := range found {
			switch r.State {
			case librarian.StatePublished:
				published++
				require.Equal(f.t, 1, ends[string(r.ID)], "one answer: %+v %s", a, r.ID)
				require.Empty(f.t, empty[string(r.ID)], "an answer says where: %+v", a)
			case librarian.StateDeclined:
				require.Equal(f.t, "confused", f.mark(a.comment), "%+v", a)
				f.story(runs, r)
			default:
				require.Equal(f.t, 1, ends[string(r.ID)], "%s is told once: %+v %s", r.State, a, r.ID)
				f.story(runs, r)
			}
		}
		require.LessOrEqual(f.t, published, 1)
		if published == 0 {
			unanswered = append(unanswered, found[0])
		}
		if f.mark(a.comment) != "" {
			marked++
		}
	}
	return unanswered, marked
}

// onlyKilled asserts of the runs that ended without an answer what alone may keep a question from one: the process was killed in each of
// the attempts that a request has (O6). A storm with fewer kills than that leaves no question unanswered.
func (f *flow) onlyKilled(unanswered []librarian.Run, kills []time.Time) {
	f.t.Helper()
	runs, err := store.Open(f.t.Context(), store.Options{Dir: f.cfg.Server.Data})
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, runs.Close()) }()
	for _, r := range unanswered {
		require.Equal(f.t, librarian.StateInterrupted, r.State, r.ID)
		require.Equal(f.t, librarian.MaxAttempts, r.Attempt, r.ID)
		told, known, err := runs.Last(f.t.Context(), r.ID, librarian.EventOutcome)
		require.NoError(f.t, err)
		require.True(f.t, known, r.ID)
		within := 0
		for _, at := range kills {
			if at.After(r.CreatedAt) && at.Before(told.At) {
				within++
			}
		}
		require.GreaterOrEqual(f.t, within, librarian.MaxAttempts, "%s: the process was not killed that often while it was worked", r.ID)
	}
}

// story logs what became of a run that was not answered.
func (f *flow) story(runs *store.Store, r librarian.Run) {
	f.t.Helper()
	f.t.Logf("%s: %s after %d attempts", r.ID, r.State, r.Attempt)
	events, err := runs.Events(f.t.Context(), r.ID, 0)
	require.NoError(f.t, err)
	for _, e := range events {
		f.t.Logf("%s attempt %d %s %.500s", e.At.Format(time.TimeOnly+".000"), e.Attempt, e.Kind, e.Data)
	}
	for line := range strings.Lines(f.log.String()) {
		if strings.Contains(line, string(r.ID)) {
			f.t.Log(strings.TrimSpace(line))
		}
	}
}

var (
	eyesPath  = regexp.MustCompile(`/issues/comments/(\d+)/reactions$`)
	newAnswer = regexp.MustCompile(`/issues/\d+/comments$`)
)

// acknowledged gives, for each question, the time from before it was written to 👀, which stands there delay after it was sent.
func (f *flow) acknowledged(all []stormed, delay time.Duration) []time.Duration {
	eyes := map[int64]time.Time{}
	for _, r := range f.sim.Requests() {
		if m := eyesPath.FindStringSubmatch(r.Path); m != nil && r.Method == "POST" && strings.Contains(r.Body, "eyes") && r.Status/100 == 2 {
			id, _ := strconv.ParseInt(m[1], 10, 64)
			if eyes[id].IsZero() {
				eyes[id] = r.Time.Add(delay)
			}
		}
	}
	var out []time.Duration
	for _, a := range all {
		if !eyes[a.comment].IsZero() {
			out = append(out, eyes[a.comment].Sub(a.at))
		}
	}
	slices.Sort(out)
	return out
}

// limitsKept asserts GitHub's bounds for what writes, by installation: 80 in any minute, 500 in an hour, and what makes content a
// second apart. It makes no difference whether the process was killed meanwhile.
func (f *flow) limitsKept() {
	f.t.Helper()
	writes := map[int64][]time.Time{}
	most := 0
	for _, r := range f.sim.Requests() {
		if r.Caller != githubsim.InstallationToken || r.Method == "GET" || !strings.Contains(r.Path, "/repos/") {
			continue
		}
		writes[r.Installation] = append(writes[r.Installation], r.Time)
	}
	require.NotEmpty(f.t, writes)
	for in, at := range writes {
		require.LessOrEqual(f.t, len(at), 500, "installation %d", in)
		slices.SortFunc(at, time.Time.Compare)
		for i := range at {
			n := 1
			for n <= i && at[i].Sub(at[i-n]) < time.Minute {
				n++
			}
			most = max(most, n)
		}
	}
	n, nearest := f.contentSpaced()
	f.t.Logf("at most %d writes in a minute; of %d that make content the nearest are %s apart", most, n, nearest)
	require.LessOrEqual(f.t, most, 80)
}

var (
	makesContent   = regexp.MustCompile(`/repos/[^/]+/[^/]+/((issues|pulls|commits)/(\w+/)?comments(/\d+)?(/replies)?|pulls/\d+/reviews(/\d+)?|check-runs(/\d+)?)$`)
	mutatesContent = regexp.MustCompile(`^mutation (add|update)\w*Comment`)
)

// contentSpaced asserts that any two requests of one installation that make or edit comments, reviews or check runs came to GitHub a
// second apart at least, whatever became of them, and gives how many there were and how near the nearest came.
func (f *flow) contentSpaced() (n int, nearest time.Duration) {
	f.t.Helper()
	all := map[int64][]githubsim.Request{}
	for _, r := range f.sim.Requests() {
		if r.Installation == 0 { // a fault struck before it was looked at
			continue
		}
		if rest := (r.Method == "POST" || r.Method == "PATCH") && makesContent.MatchString(r.Path); rest || mutatesContent.MatchString(r.GraphQL) {
			all[r.Installation] = append(all[r.Installation], r)
		}
	}
	nearest = time.Hour
	for in, made := range all {
		slices.SortFunc(made, func(a, b githubsim.Request) int { return a.Time.Compare(b.Time) })
		for i := 1; i < len(made); i++ {
			a, b := made[i-1], made[i]
			nearest = min(nearest, b.Time.Sub(a.Time))
			require.GreaterOrEqual(f.t, b.Time.Sub(a.Time), time.Second, "installation %d: %s %s%s (%d), then %s %s%s (%d)",
				in, a.Method, a.Path, a.GraphQL, a.Status, b.Method, b.Path, b.GraphQL, b.Status)
		}
		n += len(made)
	}
	return n, nearest
}

// answersBeforeEyes counts the answers to questions, all in one repository, that were posted when the last of them had its 👀.
func (f *flow) answersBeforeEyes(questions []stormed) int {
	answers, marked := 0, 0
	for _, r := range f.sim.Requests() {
		switch m := eyesPath.FindStringSubmatch(r.Path); {
		case r.Method != "POST" || !strings.Contains(r.Path, questions[0].repo):
		case m != nil && strings.Contains(r.Body, "eyes"):
			if marked++; marked == len(questions) {
				return answers
			}
		case newAnswer.MatchString(r.Path):
			answers++
		}
	}
	return answers
}

// slowestAnswer is the longest time from an outcome to its answer's being posted.
func (f *flow) slowestAnswer() (slowest time.Duration) {
	f.t.Helper()
	runs, err := store.Open(f.t.Context(), store.Options{Dir: f.cfg.Server.Data})
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, runs.Close()) }()
	found, err := runs.Find(f.t.Context(), store.Filter{Kind: librarian.KindQuestion})
	require.NoError(f.t, err)
	for _, r := range found {
		outcome, known, err := runs.Last(f.t.Context(), r.ID, librarian.EventOutcome)
		require.NoError(f.t, err)
		require.True(f.t, known)
		posted, known, err := runs.Last(f.t.Context(), r.ID, librarian.EventPosted)
		require.NoError(f.t, err)
		require.True(f.t, known)
		slowest = max(slowest, posted.At.Sub(outcome.At))
	}
	return slowest
}
