package githubsim_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// selfSigned makes a certificate for 127.0.0.1 and the file that names it as an authority.
func selfSigned(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// L5
func TestL5_EnterpriseHostWithTLS(t *testing.T) {
	t.Parallel()
	certificate, ca := selfSigned(t)
	s := start(t, githubsim.Options{TLS: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}})
	require.Regexp(t, `^https://127\.0\.0\.1:\d+/api/v3/$`, s.APIURL())
	pool := x509.NewCertPool()
	text, err := os.ReadFile(ca)
	require.NoError(t, err)
	require.True(t, pool.AppendCertsFromPEM(text))
	c, err := github.NewClient(&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}).
		WithEnterpriseURLs(s.URL(), s.URL())
	require.NoError(t, err)
	repo, _, err := c.Repositories.Get(t.Context(), "acme", "widget")
	require.NoError(t, err)
	require.Equal(t, s.URL()+"/acme/widget.git", repo.GetCloneURL())
	cmd := gitCommand(t, ".", "ls-remote", repo.GetCloneURL(), "HEAD")
	cmd.Env = append(cmd.Env, "GIT_SSL_CAINFO="+ca)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), s.head)
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
