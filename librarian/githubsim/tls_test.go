package githubsim_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

func TestL5_EnterpriseHostWithTLS(t *testing.T) {
	t.Parallel()
	config, ca, err := githubsim.TestCA()
	require.NoError(t, err)
	s := start(t, githubsim.Options{TLS: config})
	require.True(t, strings.HasPrefix(s.APIURL(), "https://127.0.0.1:"))
	require.True(t, strings.HasSuffix(s.APIURL(), "/api/v3/"))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(ca))
	token, err := s.CreateUserToken("ann")
	require.NoError(t, err)
	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	defer trusting.CloseIdleConnections()
	client, err := github.NewClient(trusting).WithAuthToken(token).WithEnterpriseURLs(s.APIURL(), s.APIURL())
	require.NoError(t, err)
	repo, _, err := client.Repositories.Get(t.Context(), "acme", "vault")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(repo.GetCloneURL(), s.URL()+"/"))
	_, _, err = s.asUser("ann").Repositories.Get(t.Context(), "acme", "vault")
	require.ErrorContains(t, err, "certificate", "who does not know the CA does not trust it")

	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, ca, 0o600))
	clone := gitCommand(t, t.TempDir(), "clone", "-q", "--filter=blob:none", "--no-checkout", repo.GetCloneURL(), "c")
	clone.Env = append(clone.Env, "GIT_SSL_CAINFO="+file, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader",
		"GIT_CONFIG_VALUE_0=Authorization: Bearer "+token)
	out, err := clone.CombinedOutput()
	require.NoError(t, err, string(out))
	clone = gitCommand(t, t.TempDir(), "clone", "-q", repo.GetCloneURL(), "c")
	require.Error(t, clone.Run())
}

func TestT9_ContentsOfDotGitHub(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	tree := t.TempDir()
	git(t, tree, "init", "-q", "-b", "main")
	require.NoError(t, os.MkdirAll(filepath.Join(tree, ".github"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(tree, ".github", "librarian.yml"), []byte("enabled: false\n"), 0o600))
	git(t, tree, "add", ".")
	git(t, tree, "commit", "-q", "-m", "Settings")
	_, err := s.CreateRepo("acme", ".github", githubsim.RepoOptions{Path: tree, Visibility: githubsim.Private})
	require.NoError(t, err)
	file, _, _, err := s.asInstallation().Repositories.GetContents(t.Context(), "acme", ".github", ".github/librarian.yml", nil)
	require.NoError(t, err)
	text, err := file.GetContent()
	require.NoError(t, err)
	require.Equal(t, "enabled: false\n", text)
	// Without the permission, outside the installation, for a stranger: refused, each in its way.
	_, _, _, err = s.asUser("eve").Repositories.GetContents(t.Context(), "acme", ".github", ".github/librarian.yml", nil)
	refused(t, err, 404, "")
	narrow := s.tokenOf(map[string]string{"issues": "write"})
	require.Equal(t, 403, s.call("GET", "/repos/acme/.github/contents/.github/librarian.yml", narrow, "").status)
	require.Equal(t, 404, s.call("GET", "/repos/acme/widget/contents/.github/librarian.yml", s.token(nil), "").status)
}
