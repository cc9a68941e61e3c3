package checkout_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
)

func TestParseRepo(t *testing.T) {
	t.Parallel()
	const sha = "0123456789abcdef0123456789abcdef01234567"
	for _, tt := range []struct{ in, host, path, ref, rest string }{
		{"acme/web", "github.test", "acme/web", "", ""},
		{" acme/web ", "github.test", "acme/web", "", ""},
		{"acme/web.git", "github.test", "acme/web", "", ""},
		{"acme/web/", "github.test", "acme/web", "", ""},
		{"acme/.github", "github.test", "acme/.github", "", ""},
		{"github.test/acme/web", "github.test", "acme/web", "", ""},
		{"gitlab.test/a/b/c", "gitlab.test", "a/b/c", "", ""},
		{"https://github.test/acme/web", "github.test", "acme/web", "", ""},
		{"HTTPS://GitHub.test/Acme/Web.git/", "github.test", "Acme/Web", "", ""},
		{"https://ghe.test:8443/acme/web.git", "ghe.test:8443", "acme/web", "", ""},
		{"https://github.test:443/acme/web", "github.test", "acme/web", "", ""},
		{"https://www.github.test/acme/web/tree/v1", "github.test", "acme/web", "v1", ""},
		{"www.GitHub.test/acme/web", "github.test", "acme/web", "", ""},
		{"http://127.0.0.1:80/acme/web", "127.0.0.1", "acme/web", "", ""},
		{"https://www.gitlab.test:8443/acme/web", "www.gitlab.test:8443", "acme/web", "", ""},
		{"ssh://git@github.test/acme/web.git", "github.test", "acme/web", "", ""},
		{"ssh://git@github.test:22/acme/web.git", "github.test", "acme/web", "", ""},
		{"git@github.test:acme/web.git", "github.test", "acme/web", "", ""},
		{"git@gitlab.test:group/sub/web.git", "gitlab.test", "group/sub/web", "", ""},
		{"https://gitlab.test/group/sub/web", "gitlab.test", "group/sub/web", "", ""},
		{"https://gitlab.test/group/sub/web/-/tree/main/x", "gitlab.test", "group/sub/web", "main", "x"},
		{"https://gitlab.test/group/web/-/merge_requests/3", "gitlab.test", "group/web", "refs/merge-requests/3/head", ""},
		{"https://github.test/acme/web/tree/main", "github.test", "acme/web", "main", ""},
		{"https://github.test/acme/web/tree/feature/x/src", "github.test", "acme/web", "feature", "x/src"},
		{"https://github.test/acme/web/blob/v1.2/src/a.go#L10-L20", "github.test", "acme/web", "v1.2", "src/a.go"},
		{"https://github.test/acme/web/blob/refs/heads/main/a.go", "github.test", "acme/web", "refs/heads/main", "a.go"},
		{"https://github.test/acme/web/commit/" + sha, "github.test", "acme/web", sha, ""},
		{"https://github.test/acme/web/pull/12", "github.test", "acme/web", "refs/pull/12/head", ""},
		{"https://github.test/acme/web/pull/12/files?diff=split", "github.test", "acme/web", "refs/pull/12/head", ""},
		{"https://github.test/acme/web/releases/tag/v2", "github.test", "acme/web", "refs/tags/v2", ""},
		{"https://github.test/acme/web/issues/5", "github.test", "acme/web", "", ""},
		{"https://github.test/acme/web/issues", "github.test", "acme/web", "", ""},
	} {
		got, err := checkout.ParseRepo(tt.in, "github.test")
		require.NoError(t, err, tt.in)
		require.Equal(t, []string{tt.host, tt.path, tt.ref, tt.rest}, []string{got.Host, got.Path, got.Ref, got.Rest}, tt.in)
	}
	for _, in := range []string{
		"", "web", "acme/", "/web", "acme/..", "../web", "acme/.", "-acme/web", "acme/-web", "--upload-pack=x", "acme/web extra",
		"file:///etc", "ext::sh -c x", "git://github.test/acme/web", "ftp://github.test/a/b", "https://user:pw@github.test/acme/web",
		"https://token@github.test/acme/web", "https://github.test/acme", "https:///acme/web", "https://github.test/acme/%2e%2e",
		"https://github.test/acme/we%00b", "https://github.test/acme/web/pull/x1", "https://github.test/acme/web/tree/a..b",
		"acme/we\nb", "acme/web?x", "acme/.git", "https://github.test/a/b/c", "https://gitlab.test/a/.../c", "C:\\acme\\web",
		"https://github.test/acme/web/tree/-x", strings.Repeat("a", 3000) + "/b",
	} {
		_, err := checkout.ParseRepo(in, "github.test")
		require.Error(t, err, "%q", in)
	}
}

func TestG5_CheckRef(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"", "main", "feature/x", "v1.2.3", "refs/pull/7/head", "user@host", "a-b", "ünï", "1234567", "HEAD",
		"0123456789abcdef0123456789abcdef01234567", "dependabot/npm_and_yarn/@types/node-20"} {
		require.NoError(t, checkout.CheckRef(ok), ok)
	}
	for _, bad := range []string{"--upload-pack=touch x", "-x", "-c core.x=y", "a..b", "@{-1}", "main@{1}", "a b", "a\x00b", "a\nb", "a\x7fb",
		"a~1", "a^", "a^{tree}", "a:b", "a?b", "a*", "[a", "a\\b", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "x.lock/y", "a.", "@", "..",
		"a\xffb", strings.Repeat("a", 300)} {
		err := checkout.CheckRef(bad)
		var re *checkout.RefError
		require.ErrorAs(t, err, &re, "%q", bad)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestG12_CaseIsOneStore(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", small)
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/one")
	acquire(t, s, checkout.Request{Repo: r})
	r.ID = strings.ToUpper(r.ID)
	require.Equal(t, checkout.Cached, acquire(t, s, checkout.Request{Repo: r}).How())
	require.EqualValues(t, 1, s.Stats().Clones)
}
