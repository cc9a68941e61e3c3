package githubsim_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// clone clones as git does with a token in a header given by the environment.
func (s *sim) clone(repo, token string, args ...string) (dir, output string, err error) {
	dir = filepath.Join(s.t.TempDir(), "clone")
	cmd := gitCommand(s.t, ".", append(append([]string{"clone", "-q"}, args...), s.URL()+"/"+repo, dir)...)
	if token != "" {
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=Authorization: Basic "+basic)
	}
	out, err := cmd.CombinedOutput()
	return dir, string(out), err
}

func TestClone(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	before := tree(t, s.repo)
	token := s.token(&github.InstallationTokenOptions{Repositories: []string{"vault"}, Permissions: &github.InstallationPermissions{Contents: new("read")}})

	dir, out, err := s.clone("acme/vault.git", token, "--filter=blob:none", "--no-checkout")
	require.NoError(t, err, out)
	require.Equal(t, s.head, git(t, dir, "rev-parse", "HEAD"))
	require.NotEmpty(t, git(t, dir, "rev-list", "--objects", "--missing=print", "--filter-print-omitted", "--all"))
	require.Contains(t, git(t, dir, "rev-list", "--objects", "--missing=print", "HEAD"), "?", "blobs were left out")
	var v2 bool
	for _, r := range s.Requests() {
		v2 = v2 || strings.HasSuffix(r.Path, "/git-upload-pack") && r.Caller == githubsim.InstallationToken && r.Installation == s.inst.ID && r.Status == 200
	}
	require.True(t, v2)

	_, out, err = s.clone("acme/widget", "")
	require.NoError(t, err, out)
	for name, tc := range map[string]struct{ repo, token, want string }{
		"nothing for nobody":     {"acme/vault.git", "", "Authentication failed"},
		"missing for nobody":     {"acme/nothing.git", "", "Authentication failed"},
		"unknown token":          {"acme/vault.git", "ghs_unknown", "Authentication failed"},
		"unknown token, public":  {"acme/widget.git", "ghs_unknown", "Authentication failed"},
		"no access":              {"acme/vault.git", s.token(&github.InstallationTokenOptions{Repositories: []string{"widget"}}), "not found"},
		"missing":                {"acme/nothing.git", token, "not found"},
		"no contents permission": {"acme/vault.git", s.token(&github.InstallationTokenOptions{Permissions: &github.InstallationPermissions{Issues: new("read")}}), "403"},
	} {
		_, out, err := s.clone(tc.repo, tc.token)
		require.Error(t, err, name)
		require.Contains(t, out, tc.want, name)
	}
	require.Equal(t, before, tree(t, s.repo), "serving changes nothing in the repository")
}

// tree is the names and contents of the small files of a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			all[path] = string(text)
			return err
		}
		return err
	}))
	return all
}

func TestAnySHAIsServed(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	orphan := git(t, s.repo, "commit-tree", "-m", "on no branch", s.head+"^{tree}")
	dir, out, err := s.clone("acme/widget.git", "", "--depth=1")
	require.NoError(t, err, out)
	git(t, dir, "fetch", "-q", "origin", orphan)
	require.Equal(t, "commit", git(t, dir, "cat-file", "-t", orphan))
}

func TestWorkTreesAreServedWithoutTheirPrivateRefs(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	work := filepath.Join(t.TempDir(), "work tree")
	git(t, ".", "clone", "-q", s.repo, work)
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, work, "worktree", "add", "-q", linked, "v1")
	for i, path := range []string{work, linked} {
		name := fmt.Sprintf("local%d", i)
		made, err := s.CreateRepo("acme", name, githubsim.RepoOptions{Path: path})
		require.NoError(t, err)
		require.Equal(t, "main", made.DefaultBranch)
		refs := git(t, ".", "ls-remote", made.CloneURL)
		require.Contains(t, refs, git(t, path, "rev-parse", "HEAD")+"\tHEAD", "what is checked out there")
		require.Contains(t, refs, "refs/tags/v1")
		require.NotContains(t, refs, "refs/remotes/")
	}
	on := filepath.Join(t.TempDir(), "on a branch")
	git(t, work, "worktree", "add", "-q", "-b", "topic", on, "v1")
	made, err := s.CreateRepo("acme", "topic", githubsim.RepoOptions{Path: on})
	require.NoError(t, err)
	require.Equal(t, "topic", made.DefaultBranch)
	for _, path := range []string{filepath.Join(work, "src"), t.TempDir(), filepath.Join(work, "nothing")} {
		_, err := s.CreateRepo("acme", "bad", githubsim.RepoOptions{Path: path})
		require.Error(t, err, path)
	}
}

func TestGitOverHTTPRefusesWhatIsNotFetching(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	require.Equal(t, 403, s.call("GET", s.URL()+"/acme/widget.git/info/refs?service=git-receive-pack", "", "").status)
	require.Equal(t, 403, s.call("GET", s.URL()+"/acme/widget.git/info/refs", "", "").status)
	require.Equal(t, 403, s.call("POST", s.URL()+"/acme/widget.git/git-receive-pack", s.token(nil), "x").status)
	require.Equal(t, 404, s.call("GET", s.URL()+"/acme/widget.git/config", "", "").status)
	require.Equal(t, 404, s.call("GET", s.URL()+"/acme/widget.git/HEAD", "", "").status)
}

func TestChunkedFetch(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	const ask = "0014command=ls-refs\n00010009peel\n0000"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/acme/widget.git/git-upload-pack", io.MultiReader(strings.NewReader(ask)))
	require.NoError(t, err)
	require.Zero(t, req.ContentLength, "unknown, hence chunked")
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Git-Protocol", "version=2")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	require.Contains(t, string(text), s.head+" refs/heads/main")
}

func TestContents(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, c := t.Context(), s.asInstallation()
	get := func(path, ref string) (*github.RepositoryContent, []*github.RepositoryContent, error) {
		file, dir, _, err := c.Repositories.GetContents(ctx, "acme", "vault", path, &github.RepositoryContentGetOptions{Ref: ref})
		return file, dir, err
	}
	file, _, err := get("src/main.go", "")
	require.NoError(t, err)
	text, err := file.GetContent()
	require.NoError(t, err)
	require.Contains(t, text, "prepareQuery()")
	require.Equal(t, git(t, s.repo, "rev-parse", "main:src/main.go"), file.GetSHA())
	_, dir, err := get("src", s.head)
	require.NoError(t, err)
	require.Len(t, dir, 3)
	_, dir, err = get("", "v1")
	require.NoError(t, err)
	require.Len(t, dir, 2)
	_, _, err = get("src/query.go", "feature/x")
	refused(t, err, 404, "Not Found")
	_, _, err = get("src/main.go", "nothing")
	refused(t, err, 404, "No commit found for the ref nothing")
	file, _, err = get("docs/a b#c.md", "")
	require.NoError(t, err)
	require.Equal(t, 200, s.call("GET", file.GetHTMLURL(), s.token(nil), "").status, file.GetHTMLURL())
	file, _, err = get("src/link.go", "")
	require.NoError(t, err)
	require.Equal(t, "file", file.GetType(), "a link to a file is shown as that file")
	file, _, err = get("out", "")
	require.NoError(t, err)
	require.Equal(t, "symlink /etc/passwd", file.GetType()+" "+file.GetTarget())
	file, _, err = get("sub", "")
	require.NoError(t, err)
	require.Equal(t, "submodule", file.GetType())
	require.Equal(t, "https://example.org/sub.git", file.GetSubmoduleGitURL())
	for _, path := range []string{"../x", "src/../src", "src//main.go", ":(glob)*", "*"} {
		_, _, err = get(path, "")
		require.Error(t, err, path)
	}
	for _, ref := range []string{"--help", "main..v1", "main^", "@{-1}", "HEAD:src", "a b"} {
		_, _, err = get("src", ref)
		refused(t, err, 404, "")
	}
	raw := s.call("GET", "/repos/acme/widget/contents/README.md", "", "", "Accept: application/vnd.github.raw+json")
	require.Equal(t, "# Widget\n", raw.body)
	require.Equal(t, "# Widget\n", s.call("GET", "/repos/acme/widget/readme", "", "", "Accept: application/vnd.github.v3.raw").body)
}

func TestGitData(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, c := t.Context(), s.asInstallation()
	branch, _, err := c.Repositories.GetBranch(ctx, "acme", "vault", "feature/x", 0)
	require.NoError(t, err)
	require.Equal(t, git(t, s.repo, "rev-parse", "feature/x"), branch.GetCommit().GetSHA())
	_, _, err = c.Repositories.GetBranch(ctx, "acme", "vault", "nothing", 0)
	require.Error(t, err)
	branches, _, err := c.Repositories.ListBranches(ctx, "acme", "vault", nil)
	require.NoError(t, err)
	require.Len(t, branches, 2)
	tags, _, err := c.Repositories.ListTags(ctx, "acme", "vault", nil)
	require.NoError(t, err)
	require.Equal(t, s.head, tags[1].GetCommit().GetSHA(), "an annotated tag is peeled")
	for _, ref := range []string{"main", "heads/main", "v2", s.head, s.head[:9], "refs/heads/main", "HEAD"} {
		sha, _, err := c.Repositories.GetCommitSHA1(ctx, "acme", "vault", ref, "")
		require.NoError(t, err, ref)
		require.Equal(t, s.head, sha, ref)
	}
	commit, _, err := c.Repositories.GetCommit(ctx, "acme", "vault", "main", nil)
	require.NoError(t, err)
	require.Equal(t, "Second", commit.GetCommit().GetMessage())
	require.Len(t, commit.Files, 6)
	require.Equal(t, 11, commit.GetStats().GetAdditions())
	_, _, err = c.Repositories.GetCommit(ctx, "acme", "vault", "nothing", nil)
	refused(t, err, 422, "No commit found for SHA: nothing")
	list, _, err := c.Repositories.ListCommits(ctx, "acme", "vault", &github.CommitsListOptions{Path: "src/query.go"})
	require.NoError(t, err)
	require.Len(t, list, 1)
	ref, _, err := c.Git.GetRef(ctx, "acme", "vault", "heads/feature/x")
	require.NoError(t, err)
	require.Equal(t, branch.GetCommit().GetSHA(), ref.GetObject().GetSHA())
	ref, _, err = c.Git.GetRef(ctx, "acme", "vault", "tags/v2")
	require.NoError(t, err)
	tag, _, err := c.Git.GetTag(ctx, "acme", "vault", ref.GetObject().GetSHA())
	require.NoError(t, err)
	require.Equal(t, s.head, tag.GetObject().GetSHA())
	refs, _, err := c.Git.ListMatchingRefs(ctx, "acme", "vault", &github.ReferenceListOptions{Ref: "tags/v"})
	require.NoError(t, err)
	require.Len(t, refs, 2)
	all, _, err := c.Git.GetTree(ctx, "acme", "vault", "main", true)
	require.NoError(t, err)
	require.Len(t, all.Entries, 10)
	blob, _, err := c.Git.GetBlobRaw(ctx, "acme", "vault", git(t, s.repo, "rev-parse", "main:README.md"))
	require.NoError(t, err)
	require.Equal(t, "# Widget\n", string(blob))
	low, _, err := c.Git.GetCommit(ctx, "acme", "vault", s.head)
	require.NoError(t, err)
	require.Equal(t, "Ann", low.GetAuthor().GetName())
	_, err = s.CreateRepo("acme", "bare", githubsim.RepoOptions{})
	require.NoError(t, err)
	_, _, err = c.Repositories.GetBranch(ctx, "acme", "bare", "main", 0)
	require.Error(t, err)
}

// T2
func TestT2_PullRequestsAreRefs(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, c := t.Context(), s.asInstallation()
	made, err := s.OpenPull("acme/vault", "bob", githubsim.PullOptions{Title: "P", Head: "main", Base: "feature/x", ForkDeleted: true})
	require.NoError(t, err)
	pull, _, err := c.PullRequests.Get(ctx, "acme", "vault", made.Number)
	require.NoError(t, err)
	require.Equal(t, s.head, pull.GetHead().GetSHA())
	require.Nil(t, pull.GetHead().Repo)
	require.Equal(t, 6, pull.GetChangedFiles())
	require.Equal(t, 1, pull.GetCommits())
	files, _, err := c.PullRequests.ListFiles(ctx, "acme", "vault", made.Number, nil)
	require.NoError(t, err)
	require.Len(t, files, 6)
	require.Contains(t, git(t, ".", "ls-remote", s.repo, "refs/pull/1/head"), s.head)
	issue, _, err := c.Issues.Get(ctx, "acme", "vault", made.Number)
	require.NoError(t, err)
	require.True(t, issue.IsPullRequest())
	require.NoError(t, s.PushPull("acme/vault", made.Number, "bob", "feature/x"))
	pull, _, err = c.PullRequests.Get(ctx, "acme", "vault", made.Number)
	require.NoError(t, err)
	require.Contains(t, git(t, ".", "ls-remote", s.repo, "refs/pull/1/head"), pull.GetHead().GetSHA())
	require.NotEqual(t, s.head, pull.GetHead().GetSHA())
	list, _, err := c.PullRequests.List(ctx, "acme", "vault", nil)
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, _, err = c.PullRequests.Get(ctx, "acme", "vault", 2)
	refused(t, err, 404, "")
}

func TestDefaultBranchChanges(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	require.Error(t, s.SetDefaultBranch("acme/widget", "nothing"))
	require.NoError(t, s.SetDefaultBranch("acme/widget", "feature/x"))
	got, err := s.Repo("acme/widget")
	require.NoError(t, err)
	require.Equal(t, "feature/x", got.DefaultBranch)
	require.Contains(t, git(t, ".", "ls-remote", "--symref", got.CloneURL, "HEAD"), "refs/heads/feature/x")
}

func TestLinksCanBeFollowed(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	get := func(path, token string) (int, string) {
		a := s.call("GET", s.URL()+path, token, "")
		return a.status, a.body
	}
	status, text := get("/acme/widget/blob/"+s.head+"/src/query.go", "")
	require.Equal(t, 200, status)
	require.Contains(t, strings.Split(text, "\n")[3], "func prepareQuery")
	status, _ = get("/acme/widget/raw/feature/x/src/main.go", "")
	require.Equal(t, 200, status)
	status, text = get("/acme/widget/blob/main/docs/a%20b%23c.md?plain=1", "")
	require.Equal(t, 200, status)
	require.Equal(t, "spaces\n", text)
	for _, path := range []string{"/acme/vault/blob/main/README.md", "/acme/widget/blob/main/nothing", "/acme/widget/blob/nothing/README.md", "/x", "/x/y/z"} {
		status, _ = get(path, "")
		require.Equal(t, 404, status, path)
	}
	status, _ = get("/acme/vault/blob/main/README.md", s.token(nil))
	require.Equal(t, 200, status)
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "so")
	require.NoError(t, err)
	c, err := s.Comment("acme/widget", 1, "ann", "thus")
	require.NoError(t, err)
	status, text = get(strings.TrimPrefix(c.URL, s.URL()), "")
	require.Equal(t, 200, status)
	require.Contains(t, text, "thus")
}

func TestCloseEndsGit(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// A request whose body never ends keeps git waiting; Close must not wait for it. 8 MiB are more than the sockets between
	// hold: once they are written, git is there and reads.
	body, never := io.Pipe()
	defer func() { _ = never.Close() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/acme/widget.git/git-upload-pack", body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	done := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		done <- err
	}()
	_, err = never.Write(make([]byte, 8<<20))
	require.NoError(t, err)
	s.Close()
	require.NoError(t, never.Close())
	require.Error(t, <-done)
}

// A repository of another user is served, since safe.directory names just it.
func TestSomebodyElsesRepository(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give a repository to another user")
	}
	s := start(t, githubsim.Options{})
	work := filepath.Join(t.TempDir(), "work")
	git(t, ".", "clone", "-q", s.repo, work)
	for _, dir := range []string{s.repo, work} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, 65534, 65534)
		}))
	}
	out, err := gitCommand(t, work, "status").CombinedOutput()
	require.Error(t, err, "git itself refuses: %s", out)
	_, err = s.CreateRepo("acme", "theirs", githubsim.RepoOptions{Path: work})
	require.NoError(t, err)
	for _, name := range []string{"widget", "theirs"} {
		_, text, err := s.clone("acme/"+name, "")
		require.NoError(t, err, text)
		require.Equal(t, 200, s.call("GET", "/repos/acme/"+name+"/contents/README.md", "", "").status)
	}
}
