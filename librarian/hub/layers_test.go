package hub_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/hub"
	"github.com/librarian-app/librarian/librarian/settings"
)

// file gives a repository one file on its default branch, made anew.
func (w *world) file(repo, visibility, path, text string, covered bool) {
	w.t.Helper()
	dir := w.t.TempDir() + "/r.git"
	archive := "-- @commit first --\n-- " + path + " --\n" + text + "\n"
	checkouttest.Build(w.t, dir, archive)
	owner, name, _ := strings.Cut(repo, "/")
	r, err := w.CreateRepo(owner, name, githubsim.RepoOptions{Path: dir, Visibility: visibility})
	require.NoError(w.t, err)
	w.repo[repo] = r
	if covered {
		require.NoError(w.t, w.AddRepositories(w.inst, name))
	}
}

func (w *world) layers() *hub.Layers {
	base := settings.Default()
	base.Models = settings.Models{Default: "builtin/scout", Allowed: []string{"builtin/scout"}}
	return hub.NewLayers(w.hub, base)
}

func (w *world) effective(l *hub.Layers, repo string) (settings.Settings, []string) {
	w.t.Helper()
	s, faults, err := l.Effective(ctx, w.inst, librarian.Repo{ID: w.id(repo)})
	require.NoError(w.t, err)
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.String())
	}
	return s, lines
}

func TestLayers(t *testing.T) {
	t.Parallel()
	c := &clock{}
	w := newWorld(t, githubsim.Options{}, func(o *hub.Options) { o.Now = c.now })
	l := w.layers()
	s, told := w.effective(l, "acme/app")
	require.Empty(t, told, w.log.String())
	require.Equal(t, access.Triage, s.Ask.Public, "no files: the server's")
	_, err := w.hub.ByName(ctx, w.inst, librarian.RepoName{Owner: "acme", Name: ".github"})
	require.ErrorIs(t, err, librarian.ErrNotFound)

	w.file("acme/.github", "private", "librarian.yml", "ask: {public: write}\nshare: [{from: acme/backend-*, into: acme/*}]\nlimits: {steps: 10}", true)
	w.file("acme/code", "public", ".github/librarian.yml", "ask: {public: none}\nlimits: {steps: 5}\nshare: [{from: acme/secret, into: acme/code}]", true)
	s, _ = w.effective(l, "acme/app")
	require.Equal(t, access.Triage, s.Ask.Public, "believed for half a minute")
	c.forward(31 * time.Second)
	for range 2 {
		s, told = w.effective(l, "acme/code")
		require.Equal(t, access.Write, s.Ask.Public)
		require.Equal(t, 5, s.Limits.Steps)
		require.Equal(t, []access.ShareRule{{From: "acme/backend-*", Into: "acme/*"}}, s.Share)
		require.Equal(t, []string{
			"acme/code/.github/librarian.yml, line 1, ask.public: is wider than what is set above, and was ignored; it stays write",
			"acme/code/.github/librarian.yml, line 3, share: is the organisation's to set, and was ignored"}, told, "W11")
	}
	s, told = w.effective(l, "acme/secret")
	require.Empty(t, told, "T9: another repository's faults are not told here")
	require.Equal(t, 10, s.Limits.Steps)

	// Asked again it is confirmed by its ETag.
	c.forward(31 * time.Second)
	n := len(w.Requests())
	w.effective(l, "acme/code")
	confirmed := 0
	for _, r := range w.Requests()[n:] {
		if strings.Contains(r.Path, "/contents/") {
			require.Equal(t, http.StatusNotModified, r.Status)
			confirmed++
		}
	}
	require.Equal(t, 2, confirmed)
	n = len(w.Requests())
	w.effective(l, "acme/code")
	require.Len(t, w.Requests(), n)
	l.Forget(w.inst)
	w.effective(l, "acme/code")
	require.Greater(t, len(w.Requests()), n)
}

func TestT9_LayersUnreadable(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]githubsim.Fault{
		"forbidden":    {Status: 403},
		"broken":       {Status: 500},
		"not JSON":     {Status: 200, Body: "<html>"},
		"cut":          {Cut: true},
		"not a base64": {Status: 200, Body: `{"type":"file","encoding":"base64","content":"%%%"}`},
		"too large":    {Status: 200, Body: `{"type":"file","encoding":"none","content":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, githubsim.Options{})
			w.file("acme/code", "public", ".github/librarian.yml", "limits: {steps: 5}", true)
			l := w.layers()
			f.Path = regexp.MustCompile(`/contents/`)
			remove := w.Inject(f)
			s, told := w.effective(l, "acme/code")
			require.Equal(t, access.Write, s.Ask.Public)
			require.True(t, s.Read.OwnOnly)
			require.Equal(t, 40, s.Limits.Steps, "other keys keep their default")
			require.Len(t, told, 1)
			require.Contains(t, told[0], "acme/code/.github/librarian.yml: could not be read")
			require.Contains(t, w.log.String(), "settings could not be read")
			remove()
			s, told = w.effective(l, "acme/code")
			require.Empty(t, told, "it is not believed for longer than it lasts")
			require.Equal(t, 5, s.Limits.Steps)
		})
	}
}

func TestLayersThatCannotBeTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	w.file("acme/code", "public", ".github/librarian.yml", "x", true)
	l := w.layers()
	remove := w.Inject(githubsim.SecondaryLimit(regexp.MustCompile(`/contents/`), 0, time.Hour))
	_, _, err := l.Effective(ctx, w.inst, librarian.Repo{ID: w.id("acme/code")})
	var limit *librarian.RateLimitError
	require.ErrorAs(t, err, &limit)
	remove()
	_, _, err = l.Effective(ctx, w.inst, librarian.Repo{ID: w.id("acme/other")})
	require.ErrorIs(t, err, librarian.ErrNotFound, "the installation does not cover it")
	_, _, err = l.Effective(ctx, w.inst, librarian.Repo{ID: "git:example.com/x"})
	require.ErrorIs(t, err, librarian.ErrNotFound)

	anyone := w.newHub(hub.Options{})
	s, told, err := hub.NewLayers(anyone, settings.Default()).Effective(ctx, 0, librarian.Repo{})
	require.NoError(t, err)
	require.Empty(t, told)
	require.Equal(t, settings.Default(), s)
}

func TestOrganisationFileOfAPublicRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	w.file("acme/.github", "public", "librarian.yml", "enabled: false", false)
	l := w.layers()
	s, _ := w.effective(l, "acme/app")
	require.False(t, s.Enabled, "the App is not installed on it, and reads it as anybody can")

	require.NoError(t, w.RenameRepo("acme/.github", "dotgithub"))
	l.Forget(w.inst)
	s, _ = w.effective(l, "acme/app")
	require.True(t, s.Enabled, "what was renamed is no organisation's settings")
}

// What a link out of the tree stands for, or a submodule, GitHub does not tell: it may be anything, so that access is the strictest. An
// empty file says nothing.
func TestT9_ALayerThatIsNoFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	for _, name := range []string{"linked", "nested", "empty"} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".github", "librarian.yml")
		checkouttest.Git(t, dir, "init", "-q", "-b", "main")
		require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
		switch name {
		case "linked":
			require.NoError(t, os.Symlink("../../elsewhere.yml", file))
		case "empty":
			require.NoError(t, os.WriteFile(file, nil, 0o600))
		}
		checkouttest.Git(t, dir, "add", "-A")
		if name == "nested" {
			checkouttest.Git(t, dir, "update-index", "--add", "--cacheinfo", "160000,0123456789012345678901234567890123456789,.github/librarian.yml")
		}
		checkouttest.Git(t, dir, "commit", "-q", "-m", "Begin")
		r, err := w.CreateRepo("acme", name, githubsim.RepoOptions{Path: dir, Visibility: "public"})
		require.NoError(t, err)
		w.repo["acme/"+name] = r
		require.NoError(t, w.AddRepositories(w.inst, name))
	}
	l := w.layers()
	for _, name := range []string{"acme/linked", "acme/nested"} {
		s, told := w.effective(l, name)
		require.Equal(t, access.Write, s.Ask.Public, name)
		require.True(t, s.Read.OwnOnly, name)
		require.Len(t, told, 1)
		require.Contains(t, told[0], name+"/.github/librarian.yml: could not be read; until mended, only people with write permission may ask")
	}
	s, told := w.effective(l, "acme/empty")
	require.Equal(t, access.Triage, s.Ask.Public)
	require.Empty(t, told)
}
