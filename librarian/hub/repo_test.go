package hub_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/hub"
)

func name(t *testing.T, s string) librarian.RepoName {
	t.Helper()
	n, err := librarian.ParseRepoName(s)
	require.NoError(t, err)
	return n
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	for _, c := range []struct {
		repo     string
		found    bool
		covered  bool
		visible  librarian.Visibility
		archived bool
	}{
		{repo: "acme/app", found: true, covered: true, visible: librarian.Public},
		{repo: "acme/secret", found: true, covered: true, visible: librarian.Private},
		{repo: "acme/inner", found: true, covered: true, visible: librarian.Internal},
		{repo: "acme/other"},
		{repo: "globex/lib", found: true, visible: librarian.Public},
		{repo: "globex/vault"},
	} {
		t.Run(c.repo, func(t *testing.T) {
			t.Parallel()
			n := name(t, c.repo)
			byName, errName := w.hub.ByName(ctx, w.inst, n)
			byID, errID := w.hub.ByID(ctx, w.inst, w.id(c.repo))
			if !c.found {
				require.ErrorIs(t, errName, librarian.ErrNotFound)
				require.ErrorIs(t, errID, librarian.ErrNotFound)
				return
			}
			require.NoError(t, errName)
			require.NoError(t, errID)
			require.Equal(t, byName, byID)
			want := librarian.Repo{ID: w.id(c.repo), Host: w.hub.Host(), Owner: n.Owner, Name: n.Name, Visibility: c.visible, DefaultBranch: "main",
				CloneURL: w.URL() + "/" + c.repo + ".git", WebURL: w.URL() + "/" + c.repo}
			if c.covered {
				want.Installation = w.inst
			}
			require.Equal(t, want, byName)
		})
	}
}

func TestG12_NamesInAnyCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	a, err := w.hub.ByName(ctx, w.inst, name(t, "ACME/App"))
	require.NoError(t, err)
	b, err := w.hub.ByName(ctx, w.inst, name(t, "acme/app"))
	require.NoError(t, err)
	require.Equal(t, a, b)
}

func TestT7_RenamedRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	require.NoError(t, w.RenameRepo("acme/app", "application"))
	for what, find := range map[string]func() (librarian.Repo, error){
		"by old name": func() (librarian.Repo, error) { return w.hub.ByName(ctx, w.inst, name(t, "acme/app")) },
		"by new name": func() (librarian.Repo, error) { return w.hub.ByName(ctx, w.inst, name(t, "acme/application")) },
		"by id":       func() (librarian.Repo, error) { return w.hub.ByID(ctx, w.inst, w.id("acme/app")) },
	} {
		r, err := find()
		require.NoError(t, err, what)
		require.Equal(t, "acme/application", r.FullName(), what)
		require.Equal(t, w.id("acme/app"), r.ID, what)
		require.Equal(t, w.inst, r.Installation, what)
	}
}

func TestT7_MadePrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	r, err := w.hub.ByID(ctx, w.inst, w.id("acme/app"))
	require.NoError(t, err)
	require.False(t, r.Private())
	require.NoError(t, w.SetVisibility("acme/app", "private"))
	r, err = w.hub.ByID(ctx, w.inst, w.id("acme/app"))
	require.NoError(t, err)
	require.True(t, r.Private(), "an old answer was believed")
	require.NoError(t, w.SetVisibility("globex/lib", "private"))
	_, err = w.hub.ByName(ctx, w.inst, name(t, "globex/lib"))
	require.ErrorIs(t, err, librarian.ErrNotFound)
}

// What may not be seen and what does not exist must not differ in what is asked of GitHub.
func TestW4_SameRequestsWhateverIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	_, err := w.hub.ByName(ctx, w.inst, name(t, "acme/app")) // mints the token
	require.NoError(t, err)
	ask := func(s string) []string {
		before := len(w.Requests())
		_, err := w.hub.ByName(ctx, w.inst, name(t, s))
		if s != "acme/secret" { // which the gate refuses, after the same requests
			require.ErrorIs(t, err, librarian.ErrNotFound)
		}
		list := w.since(before)
		for i := range list {
			list[i] = regexp.MustCompile(`/repos/[^/ ]+/[^/ ]+`).ReplaceAllString(list[i], "/repos/O/R")
			list[i] = regexp.MustCompile(` [A-Za-z ]+$`).ReplaceAllString(list[i], "")
		}
		slices.Sort(list)
		return list
	}
	want := []string{"GET /repos/O/R", "GET /repos/O/R/installation"}
	for _, s := range []string{"acme/nothing", "acme/other", "globex/vault", "nobody/nothing", "acme/secret"} {
		require.Equal(t, want, ask(s), s)
	}
}

func TestNamesThatAreNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	before := len(w.Requests())
	for _, n := range []librarian.RepoName{{}, {Owner: "a"}, {Owner: "..", Name: ".."}, {Owner: "acme", Name: "app/../secret"}, {Owner: "acme", Name: "a?b=c"}} {
		_, err := w.hub.ByName(ctx, w.inst, n)
		require.ErrorIs(t, err, librarian.ErrNotFound, n)
	}
	for _, id := range []librarian.RepoID{"", "git:example.com/a/b", "file:/tmp/x", librarian.GitHubRepo("elsewhere.example", 5)} {
		_, err := w.hub.ByID(ctx, w.inst, id)
		require.ErrorIs(t, err, librarian.ErrNotFound, id)
	}
	require.Len(t, w.Requests(), before, "nothing of this is GitHub's business")
}

func TestW1_Permission(t *testing.T) {
	t.Parallel()
	c := &clock{}
	w := newWorld(t, githubsim.Options{}, func(o *hub.Options) { o.Now = c.now })
	require.NoError(t, w.SetPermission("acme/secret", "bob", "triage", "security-reviewer"))
	ask := func(repo string, p librarian.Principal) string {
		r := librarian.Repo{ID: w.id(repo), Owner: name(t, repo).Owner, Name: name(t, repo).Name}
		level, err := w.hub.Permission(ctx, w.inst, r, p)
		require.NoError(t, err)
		return level.String()
	}
	require.Equal(t, "write", ask("acme/app", w.principal("ada")))
	require.Equal(t, "read", ask("acme/app", w.principal("bob")), "everybody reads what is public")
	require.Equal(t, "read", ask("acme/secret", w.principal("ada")))
	require.Equal(t, "none", ask("acme/secret", w.principal("mallory")))
	require.Equal(t, "triage", ask("acme/secret", w.principal("bob")), "a custom role counts as what it maps to")

	impostor := librarian.Principal{ID: w.user["mallory"].ID, Login: "ada"}
	require.Equal(t, "unknown", ask("acme/app", impostor), "the login is not the user")
	require.Equal(t, "unknown", ask("globex/lib", w.principal("ada")), "403 is not a yes")
	require.Equal(t, "unknown", ask("acme/app", librarian.Principal{ID: 5, Login: "nobody"}), "404 is not a yes")

	before := len(w.Requests())
	require.Equal(t, "unknown", ask("acme/app", librarian.Principal{Login: librarian.GhostLogin}), "W8")
	require.Equal(t, "write", ask("acme/app", w.principal("ada")))
	require.Len(t, w.Requests(), before, "known for a minute")
	require.NoError(t, w.SetPermission("acme/app", "ada", "read", ""))
	require.Equal(t, "write", ask("acme/app", w.principal("ada")))
	c.forward(61 * time.Second)
	require.Equal(t, "read", ask("acme/app", w.principal("ada")), "and no longer")
}

func TestW1_PermissionFailsClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/permission$`), Status: 502})
	level, err := w.hub.Permission(ctx, w.inst, librarian.Repo{ID: w.id("acme/app"), Owner: "acme", Name: "app"}, w.principal("ada"))
	require.Error(t, err)
	require.NotErrorIs(t, err, librarian.ErrNotFound)
	require.Equal(t, "unknown", level.String())
}

// What somebody may do while the App is suspended is not known, and not that it is nothing: once it is back, they are not refused for it.
func TestW1_PermissionOutlivesASuspension(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	repo := librarian.Repo{ID: w.id("acme/app"), Owner: "acme", Name: "app"}
	require.NoError(t, w.SuspendInstallation(w.inst))
	level, _ := w.hub.Permission(ctx, w.inst, repo, w.principal("ada"))
	require.Equal(t, "unknown", level.String())
	require.NoError(t, w.UnsuspendInstallation(w.inst))
	level, err := w.hub.Permission(ctx, w.inst, repo, w.principal("ada"))
	require.NoError(t, err)
	require.NotEqual(t, "unknown", level.String())
}

func TestApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	app, err := w.hub.App(ctx)
	require.NoError(t, err)
	require.Equal(t, hub.App{ID: w.app.ID, Slug: "librarian", BotID: w.app.BotUserID, BotLogin: "librarian[bot]"}, app)

	w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/users/`), Status: 401, Count: 1}) // a server in private mode
	app, err = w.hub.App(ctx)
	require.NoError(t, err)
	require.Equal(t, w.app.BotUserID, app.BotID)
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	token, err := w.CreateUserToken("ada")
	require.NoError(t, err)
	person, anyone := w.newHub(hub.Options{UserToken: token}), w.newHub(hub.Options{})

	r, err := person.ByName(ctx, 0, name(t, "acme/secret"))
	require.NoError(t, err)
	require.Equal(t, "acme/secret", r.FullName())
	require.Zero(t, r.Installation)
	_, err = person.ByID(ctx, 0, w.id("globex/vault"))
	require.ErrorIs(t, err, librarian.ErrNotFound)
	tok, err := person.ReadToken(ctx, 0, w.repo["acme/secret"].ID)
	require.NoError(t, err)
	require.Contains(t, tok.Secrets(), token)

	_, err = anyone.ByName(ctx, 0, name(t, "acme/secret"))
	require.ErrorIs(t, err, librarian.ErrNotFound)
	_, err = anyone.ByName(ctx, 0, name(t, "acme/app"))
	require.NoError(t, err)
	tok, err = anyone.ReadToken(ctx, 0, w.repo["acme/app"].ID)
	require.NoError(t, err)
	require.True(t, tok.IsZero())
	require.Empty(t, tok.Authorization())

	_, err = anyone.App(ctx)
	require.Error(t, err)
	_, _, err = anyone.PostClient(ctx, w.postPlace("acme/app"))
	require.Error(t, err)
}

// When GitHub's two answers do not fit together, as during a removal, the stricter one counts.
func TestPrivateOutsideTheInstallation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/installation$`), Status: 404})
	_, err := w.hub.ByName(ctx, w.inst, name(t, "acme/secret"))
	require.ErrorIs(t, err, librarian.ErrNotFound)
	r, err := w.hub.ByName(ctx, w.inst, name(t, "acme/app"))
	require.NoError(t, err)
	require.Zero(t, r.Installation)
}

func TestL5_EnterpriseHostWithItsOwnCA(t *testing.T) {
	t.Parallel()
	ca := httptest.NewTLSServer(nil)
	t.Cleanup(ca.Close)
	w := newWorld(t, githubsim.Options{TLS: &tls.Config{Certificates: ca.TLS.Certificates}}, func(o *hub.Options) {
		o.RootCAs = x509.NewCertPool()
		o.RootCAs.AddCert(ca.Certificate())
	})
	r, err := w.hub.ByName(ctx, w.inst, name(t, "acme/secret"))
	require.NoError(t, err)
	require.Equal(t, w.URL()+"/acme/secret.git", r.CloneURL)
	require.True(t, strings.HasPrefix(r.CloneURL, "https://127.0.0.1:"))
	stranger := w.newHub(hub.Options{AppID: w.app.ID, PrivateKey: appKey()})
	_, err = stranger.App(ctx)
	require.ErrorContains(t, err, "certificate")
}
