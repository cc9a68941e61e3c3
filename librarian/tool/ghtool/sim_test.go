package ghtool_test

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/tool/ghtool"
)

// simulated is an API over githubsim, whose answers are checked against GitHub's own description.
type simulated struct {
	*githubsim.Server
	token string
}

func (s simulated) Repo(_ context.Context, name librarian.RepoName) (librarian.Repo, error) {
	r, err := s.Server.Repo(name.String())
	if err != nil {
		return librarian.Repo{}, &librarian.UserError{Message: name.String() + " does not exist or cannot be read.", Err: err}
	}
	return librarian.Repo{ID: librarian.GitHubRepo(host, r.ID), Host: host, Owner: name.Owner, Name: name.Name, Visibility: librarian.Public}, nil
}

func (s simulated) Get(ctx context.Context, _ *librarian.Repo, path string, query url.Values, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.APIURL()+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Authorization", "Bearer "+s.token)
	return http.DefaultClient.Do(req)
}

func (s simulated) Readable(_ context.Context, _ librarian.RepoID, private bool) bool {
	return !private
}

// The tools against a GitHub that serves real git repositories.
func TestAgainstTheSimulatedGitHub(t *testing.T) {
	t.Parallel()
	s := githubsim.New(githubsim.Options{})
	require.NoError(t, s.Start(context.Background(), "127.0.0.1:0"))
	t.Cleanup(s.Close)
	code := filepath.Join(t.TempDir(), "code.git")
	ids := checkouttest.Build(t, code, `
-- @commit c --
-- README.md --
# One
-- src/a b#c.go --
package a

func needle() {}
-- src/link.go (symlink) --
a b#c.go
-- out (symlink) --
/etc/passwd
-- .gitmodules --
[submodule "s"]
	path = src/sub
	url = https://forge.example/other/dep.git
-- src/sub (submodule) --
1111111111111111111111111111111111111111
-- @branch topic/x --
-- @commit t --
-- topic.txt --
t
`)
	git := func(args ...string) string { return checkouttest.Git(t, code, args...) }
	git("read-tree", ids["c"])
	git("update-index", "--add", "--cacheinfo", "100644,"+git("rev-parse", ids["c"]+":README.md")+",src/a\nb \x1b.md")
	git("update-ref", "refs/heads/odd", git("commit-tree", "-p", ids["c"], "-m", "odd", git("write-tree")))
	_, err := s.CreateUser("ann")
	require.NoError(t, err)
	_, err = s.CreateOrg("acme")
	require.NoError(t, err)
	_, err = s.CreateRepo("acme", "one", githubsim.RepoOptions{Path: code, Description: "The first", Stars: 3, Language: "Go", Topics: []string{"demo"}})
	require.NoError(t, err)
	_, err = s.CreateRepo("acme", "secret", githubsim.RepoOptions{Path: code, Visibility: githubsim.Private, Description: "The first, in secret"})
	require.NoError(t, err)
	require.NoError(t, s.SetPermission("acme/secret", "ann", "admin", "")) // so that the token sees more than the run may
	token, err := s.CreateUserToken("ann")
	require.NoError(t, err)
	issue, err := s.OpenIssue("acme/one", "ann", "It breaks", "Look at `needle`.")
	require.NoError(t, err)
	_, err = s.Comment("acme/one", issue.Number, "ann", "Still does.")
	require.NoError(t, err)
	pull, err := s.OpenPull("acme/one", "ann", githubsim.PullOptions{Title: "Mend it", Body: "Does.", Head: "topic/x", Base: "main"})
	require.NoError(t, err)

	h := &hub{t: t}
	tools := ghtool.Tools(ghtool.Options{API: simulated{s, token}, Host: host})
	run := func(name, args string) string {
		t.Helper()
		for _, tl := range tools {
			if tl.Spec().Name == name {
				r := call(t, tl, args)
				require.False(t, r.IsError, "%s %+v", r.Text, s.Requests()[max(0, len(s.Requests())-3):])
				return r.Text
			}
		}
		h.t.Fatalf("no tool %s", name)
		return ""
	}
	require.Contains(t, run("search_repos", `{"query":"first"}`), "1 repositories match; showing 1.\n\nacme/one (★3 · Go")
	got := run("search_github_code", `{"pattern":"needle"}`)
	require.Contains(t, got, "1 matches across 1 repos (github).\n\nacme/one:src/a b#c.go\n")
	require.NotContains(t, got, "secret")

	require.Equal(t, "package a\n\nfunc needle() {}", run("read_github_file", `{"owner":"acme","repo":"one","path":"src/a b#c.go"}`))
	require.Equal(t, "t", run("read_github_file", `{"owner":"acme","repo":"one","path":"topic.txt","ref":"topic/x"}`))
	require.Equal(t, "t", run("read_github_file", `{"owner":"acme","repo":"one","path":"topic.txt","ref":"`+ids["t"]+`"}`))
	require.Equal(t, "symlink -> a b#c.go", run("read_github_file", `{"owner":"acme","repo":"one","path":"src/link.go"}`))
	require.Equal(t, "symlink -> /etc/passwd", run("read_github_file", `{"owner":"acme","repo":"one","path":"out"}`))
	require.Equal(t, "submodule https://forge.example/other/dep.git at 1111111111111111111111111111111111111111", run("read_github_file", `{"owner":"acme","repo":"one","path":"src/sub"}`))
	// A name that no line can hold is shown so that it can be given back (G10).
	require.Contains(t, run("read_github_file", `{"owner":"acme","repo":"one","path":"src","ref":"odd"}`), `"a\nb \x1b.md"`+"\n")
	require.Equal(t, "# One", run("read_github_file", `{"owner":"acme","repo":"one","path":"\"src/a\\nb \\x1b.md\"","ref":"odd"}`))
	require.Equal(t, ".gitmodules\nout\nREADME.md\nsrc/", run("read_github_file", `{"owner":"acme","repo":"one","path":""}`))

	got = run("read_thread", `{"owner":"acme","repo":"one","number":`+itoa(issue.Number)+`}`)
	require.Contains(t, got, "Issue acme/one#"+itoa(issue.Number)+": It breaks (open)\n")
	require.Contains(t, got, "> Look at `needle`.\n")
	require.Contains(t, got, "Remark 1 by @ann (")
	require.Contains(t, got, "> Still does.")
	got = run("read_thread", `{"owner":"acme","repo":"one","number":`+itoa(pull.Number)+`}`)
	require.Contains(t, got, "Pull request acme/one#"+itoa(pull.Number)+": Mend it (open)\nmain ← topic/x at "+ids["t"]+"; 1 file changed, +1 −0\n  added topic.txt (+1 −0)\n")
}
