package hub_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/hub"
)

// repoRequests are the statuses of the requests for a repository since the n-th request.
func (w *world) repoRequests(n int) (statuses []int, conditional int) {
	for _, r := range w.Requests()[n:] {
		if regexp.MustCompile(`/api/v3/repositories/\d+$|/repos/[^/]+/[^/]+$`).MatchString(r.Path) {
			statuses = append(statuses, r.Status)
			if r.Conditional {
				conditional++
			}
		}
	}
	return statuses, conditional
}

func TestAnswersAreConfirmedNotRepeated(t *testing.T) {
	t.Parallel()
	c := &clock{}
	w := newWorld(t, githubsim.Options{Now: c.now}, func(o *hub.Options) { o.Now = c.now })
	for range 3 {
		_, err := w.hub.ByID(ctx, w.inst, w.id("acme/app"))
		require.NoError(t, err)
	}
	statuses, conditional := w.repoRequests(0)
	require.Equal(t, []int{http.StatusOK, http.StatusNotModified, http.StatusNotModified}, statuses)
	require.Equal(t, 2, conditional)

	c.forward(time.Hour) // another token, the same cache
	n := len(w.Requests())
	_, err := w.hub.ByID(ctx, w.inst, w.id("acme/app"))
	require.NoError(t, err)
	require.Equal(t, 2, w.minted())
	statuses, _ = w.repoRequests(n)
	require.Equal(t, []int{http.StatusNotModified}, statuses)
}

// One installation's answer must never be given to another, nor be used for it.
func TestCachesAreSeparate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	other, err := w.Install(w.app, "globex")
	require.NoError(t, err)
	_, err = w.hub.ByName(ctx, w.inst, librarian.RepoName{Owner: "acme", Name: "secret"})
	require.NoError(t, err)
	n := len(w.Requests())
	_, err = w.hub.ByName(ctx, other.ID, librarian.RepoName{Owner: "acme", Name: "secret"})
	require.ErrorIs(t, err, librarian.ErrNotFound)
	statuses, conditional := w.repoRequests(n)
	require.Equal(t, []int{http.StatusNotFound}, statuses)
	require.Zero(t, conditional)
}

func TestRemovedRepositoryIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	_, err := w.hub.ByID(ctx, w.inst, w.id("acme/secret"))
	require.NoError(t, err)
	require.NoError(t, w.RemoveRepositories(w.inst, "secret"))
	_, err = w.hub.ByID(ctx, w.inst, w.id("acme/secret"))
	require.ErrorIs(t, err, librarian.ErrNotFound)
	_, err = w.hub.ByName(ctx, w.inst, librarian.RepoName{Owner: "acme", Name: "secret"})
	require.ErrorIs(t, err, librarian.ErrNotFound)
}

func TestReadsSurviveFaults(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]githubsim.Fault{
		"502":             {Status: 502},
		"503":             {Status: 503},
		"cut":             {Cut: true},
		"secondary limit": githubsim.SecondaryLimit(nil, 0, time.Second),
		"429":             {Status: 429, Header: http.Header{"Retry-After": {"1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, githubsim.Options{})
			f.Path, f.Count = regexp.MustCompile(`/repositories/`), 1
			w.Inject(f)
			_, err := w.hub.ByID(ctx, w.inst, w.id("acme/app"))
			require.NoError(t, err)
		})
	}
}

func TestAnEndlessAnswerIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/repositories/`), Status: 200,
		Body: `{"id":5,"full_name":"` + strings.Repeat("a", 17<<20) + `"}`})
	_, err := w.hub.ByID(ctx, w.inst, w.id("acme/app"))
	require.ErrorContains(t, err, "longer than 16 MiB")
}

// Issue 6, 6: of a second identical run at least 80 % of the calls that can be are conditional and answered 304.
func TestSecondRunIsConditional(t *testing.T) {
	t.Parallel()
	c := &clock{}
	w := newWorld(t, githubsim.Options{Now: c.now}, func(o *hub.Options) { o.Now = c.now })
	pull, _ := w.withCode()
	asked, err := w.Comment("acme/code", pull.Number, "ada", "@librarian why?")
	require.NoError(t, err)
	place := w.place("acme/code", pull, asked.ID)
	place.Kind = librarian.PlacePull
	layers := w.layers()
	run := func() (reads, confirmed int) {
		n := len(w.Requests())
		repo, err := w.hub.ByID(ctx, w.inst, place.Repo)
		require.NoError(t, err)
		_, _, err = layers.Effective(ctx, w.inst, repo)
		require.NoError(t, err)
		_, err = w.hub.Permission(ctx, w.inst, repo, w.principal("ada"))
		require.NoError(t, err)
		_, err = w.hub.Thread(ctx, place)
		require.NoError(t, err)
		_, err = w.hub.ByName(ctx, w.inst, librarian.RepoName{Owner: "globex", Name: "lib"})
		require.NoError(t, err)
		there, err := w.hub.TriggerExists(ctx, place)
		require.NoError(t, err)
		require.True(t, there)
		for _, r := range w.Requests()[n:] {
			if r.Method != http.MethodGet || r.Status == http.StatusNotFound || strings.HasSuffix(r.Path, "/installation") {
				continue // a mint, what is not there, and what the App asks with its own key: none of these can be kept
			}
			reads++
			if r.Conditional && r.Status == http.StatusNotModified {
				confirmed++
			}
		}
		return reads, confirmed
	}
	run()
	c.forward(2 * time.Minute) // nothing of the first is believed any longer
	reads, confirmed := run()
	t.Logf("%d of %d confirmed", confirmed, reads)
	require.GreaterOrEqual(t, reads, 9)
	require.GreaterOrEqual(t, confirmed*100, reads*80)
}
