package checkout_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// asked lists what a server was asked, in order.
func asked(srv *checkouttest.Server) []string {
	var out []string
	for _, r := range srv.Log() {
		what := r.Command
		if r.Method == http.MethodGet {
			what = "capabilities"
		}
		out = append(out, what)
	}
	return out
}

// TestCapabilitiesAreAskedOnce: of a repository that is new while the ref is
// being resolved, and then not again, unless a fetch fails.
func TestCapabilitiesAreAskedOnce(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	came := make(chan struct{}, 1)
	broken := false
	srv.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			select {
			case came <- struct{}{}:
			default:
			}
			return false
		}
		if broken {
			http.Error(w, "no", http.StatusInternalServerError)
			return true
		}
		select {
		case <-came: // the ref is not resolved before the other question is there
			came <- struct{}{}
			return false
		case <-r.Context().Done():
			return true
		}
	}
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/one")
	acquire(t, s, checkout.Request{Repo: r})
	require.ElementsMatch(t, []string{"ls-refs", "capabilities", "fetch"}, asked(srv))
	require.EqualValues(t, 3, s.Stats().Requests)

	srv.Reset()
	sameAsUpstream(t, srv.Dir("acme/one"), acquire(t, s, checkout.Request{Repo: r, Ref: "topic"}))
	require.Equal(t, []string{"ls-refs", "fetch", "fetch"}, asked(srv))

	broken = true
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: ids["first"]})
	var ue *checkout.UpstreamError
	require.ErrorAs(t, err, &ue)
	broken = false
	srv.Reset()
	sameAsUpstream(t, srv.Dir("acme/one"), acquire(t, s, checkout.Request{Repo: r, Ref: ids["first"]}))
	require.Equal(t, "capabilities", asked(srv)[0])
}

// TestCapabilitiesAreNoPermission: what was learnt with one's credentials opens nothing to another.
func TestCapabilitiesAreNoPermission(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	srv.Auth = func(_, _, password string) int {
		if password != "good-token" {
			return http.StatusNotFound
		}
		return 0
	}
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/one")
	r.Class = "private-3"
	acquire(t, s, checkout.Request{Repo: r, Credentials: token("good-token"), Checked: true})
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: ids["third"], Credentials: token("bad-token"), Checked: true})
	var nf *checkout.NotFoundError
	require.ErrorAs(t, err, &nf)
}
