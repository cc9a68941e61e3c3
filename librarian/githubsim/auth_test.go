package githubsim_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// jwt signs claims by hand, so that wrong ones can be made.
func jwt(t *testing.T, key []byte, header, claims string) string {
	t.Helper()
	block, _ := pem.Decode(key)
	private, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	require.NoError(t, err)
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, sum[:])
	require.NoError(t, err)
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func TestJWTIsVerified(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	otherKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	other := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(otherKey)})
	id := strconv.FormatInt(s.app.ID, 10)
	const rs256 = `{"alg":"RS256","typ":"JWT"}`
	claims := func(iss string, iat, exp int64) func() string { // seconds from the moment of the call
		return func() string {
			now := s.clock.Now().Unix()
			return fmt.Sprintf(`{"iss":%s,"iat":%d,"exp":%d}`, iss, now+iat, now+exp)
		}
	}
	for name, tc := range map[string]struct {
		key    []byte
		header string
		claims func() string
		status int
	}{
		"right":             {appKey(), rs256, claims(`"`+id+`"`, -60, 540), 200},
		"numeric issuer":    {appKey(), rs256, claims(id, -60, 540), 200},
		"client id":         {appKey(), rs256, claims(`"`+s.app.ClientID+`"`, -60, 600), 200},
		"another's key":     {other, rs256, claims(id, -60, 540), 401},
		"expired":           {appKey(), rs256, claims(id, -600, -1), 401},
		"too long":          {appKey(), rs256, claims(id, 0, 900), 401},
		"from the future":   {appKey(), rs256, claims(id, 30, 300), 401},
		"no times":          {appKey(), rs256, func() string { return `{"iss":` + id + `}` }, 401},
		"unknown issuer":    {appKey(), rs256, claims("99", 0, 300), 404},
		"another algorithm": {appKey(), `{"alg":"none"}`, claims(id, 0, 300), 401},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.status, s.call("GET", "/app", jwt(t, tc.key, tc.header, tc.claims()), "").status)
		})
	}
	t.Run("an App may not read repositories as itself", func(t *testing.T) {
		_, _, err := s.asApp().Repositories.Get(t.Context(), "acme", "widget")
		refused(t, err, 403, "Resource not accessible by integration")
	})
}

func TestAppAndInstallations(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx := t.Context()
	app, _, err := s.asApp().Apps.Get(ctx, "")
	require.NoError(t, err)
	require.Equal(t, "librarian", app.GetSlug())
	in, _, err := s.asApp().Apps.FindRepositoryInstallation(ctx, "acme", "vault")
	require.NoError(t, err)
	require.Equal(t, s.inst.ID, in.GetID())
	in, _, err = s.asApp().Apps.FindUserInstallation(ctx, "acme")
	require.NoError(t, err)
	require.Equal(t, "write", in.GetPermissions().GetIssues())
	_, _, err = s.asApp().Apps.FindUserInstallation(ctx, "eve")
	refused(t, err, 404, "")
	list, _, err := s.asApp().Apps.ListInstallations(ctx, nil)
	require.NoError(t, err)
	require.Len(t, list, 1)

	second, err := s.CreateApp("second", "acme", githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	theirs := *s
	theirs.app = second
	_, _, err = theirs.asApp().Apps.GetInstallation(ctx, s.inst.ID)
	refused(t, err, 404, "")
	_, _, err = theirs.asApp().Apps.CreateInstallationToken(ctx, s.inst.ID, nil)
	refused(t, err, 404, "")
}

func TestTokensAreNarrow(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx := t.Context()
	as := func(tok string) *github.Client { return s.asUser("").WithAuthToken(tok) }

	_, err := s.OpenIssue("acme/vault", "ann", "Secret", "x")
	require.NoError(t, err)
	_, err = s.OpenIssue("acme/widget", "ann", "Open", "x")
	require.NoError(t, err)

	narrow := as(s.token(&github.InstallationTokenOptions{Repositories: []string{"widget"},
		Permissions: &github.InstallationPermissions{Contents: new("read")}}))
	_, _, err = narrow.Repositories.Get(ctx, "acme", "widget")
	require.NoError(t, err)
	_, _, err = narrow.Repositories.Get(ctx, "acme", "vault")
	refused(t, err, 404, "Not Found")
	_, _, err = narrow.Issues.CreateComment(ctx, "acme", "widget", 1, &github.IssueComment{Body: new("hi")})
	refused(t, err, 403, "Resource not accessible by integration")
	repos, _, err := narrow.Apps.ListRepos(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, 1, repos.GetTotalCount())

	vault, _, err := s.asInstallation().Repositories.Get(ctx, "acme", "vault")
	require.NoError(t, err)
	reader := as(s.token(&github.InstallationTokenOptions{RepositoryIDs: []int64{vault.GetID()},
		Permissions: &github.InstallationPermissions{Contents: new("read")}}))
	_, _, _, err = reader.Repositories.GetContents(ctx, "acme", "vault", "README.md", nil)
	require.NoError(t, err)
	_, _, err = reader.Issues.Get(ctx, "acme", "vault", 1)
	refused(t, err, 403, "Resource not accessible by integration")
	_, _, err = reader.Issues.Get(ctx, "acme", "widget", 1)
	require.NoError(t, err, "what is public may be read by any token")
	_, _, err = reader.Issues.CreateComment(ctx, "acme", "widget", 1, &github.IssueComment{Body: new("hi")})
	refused(t, err, 403, "Resource not accessible by integration")

	_, _, err = s.asApp().Apps.CreateInstallationToken(ctx, s.inst.ID, &github.InstallationTokenOptions{
		Permissions: &github.InstallationPermissions{Contents: new("write")}})
	refused(t, err, 422, "permissions requested are not granted")
	_, _, err = s.asApp().Apps.CreateInstallationToken(ctx, s.inst.ID, &github.InstallationTokenOptions{Repositories: []string{"widget", "nothing"}})
	refused(t, err, 422, "at least one repository that does not exist")
	_, _, err = as("ghs_unknown").Repositories.Get(ctx, "acme", "widget")
	refused(t, err, 401, "Bad credentials")
}

func TestTokensEnd(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	get := func(tok string) int { return s.call("GET", "/repos/acme/vault", tok, "").status }
	tok := s.token(nil)
	require.Equal(t, 200, get(tok))
	s.clock.Add(59 * time.Minute)
	require.Equal(t, 200, get(tok))
	s.clock.Add(time.Minute)
	require.Equal(t, 401, get(tok), "after an hour")
	s.clock.Add(-time.Hour)

	tok = s.token(nil)
	require.Equal(t, 204, s.call("DELETE", "/installation/token", tok, "").status)
	require.Equal(t, 401, get(tok), "revoked")

	tok = s.token(nil)
	require.NoError(t, s.RemoveRepositories(s.inst.ID, "vault"))
	require.Equal(t, 404, get(tok), "the repository was taken out")
	require.NoError(t, s.AddRepositories(s.inst.ID, "vault"))
	require.Equal(t, 200, get(tok))

	require.NoError(t, s.SuspendInstallation(s.inst.ID))
	require.Equal(t, 403, get(tok))
	_, _, err := s.asApp().Apps.CreateInstallationToken(t.Context(), s.inst.ID, nil)
	refused(t, err, 403, "suspended")
	require.NoError(t, s.UnsuspendInstallation(s.inst.ID))
	require.Equal(t, 200, get(tok))

	require.NoError(t, s.RemoveInstallation(s.inst.ID))
	require.Equal(t, 401, get(tok))
	_, _, err = s.asApp().Apps.GetInstallation(t.Context(), s.inst.ID)
	refused(t, err, 404, "")
}

func TestWhoSeesWhat(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	_, err := s.CreateRepo("acme", "inner", githubsim.RepoOptions{Visibility: githubsim.Internal})
	require.NoError(t, err)
	_, err = s.CreateUser("mia")
	require.NoError(t, err)
	require.NoError(t, s.AddMember("acme", "mia", false))
	for _, tc := range []struct {
		user, repo string
		status     int
	}{
		{"", "widget", 200}, {"", "vault", 404}, {"", "nothing", 404}, {"eve", "widget", 200}, {"eve", "vault", 404}, {"bob", "vault", 200},
		{"ann", "vault", 200}, {"mia", "inner", 200}, {"eve", "inner", 404}, {"mia", "vault", 200},
	} {
		token := ""
		if tc.user != "" {
			token, err = s.CreateUserToken(tc.user)
			require.NoError(t, err)
		}
		require.Equal(t, tc.status, s.call("GET", "/repos/acme/"+tc.repo, token, "").status, "%+v", tc)
	}
}

func TestPermissionOfACollaborator(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	for login, role := range map[string][2]string{"tim": {"triage", ""}, "max": {"maintain", ""}, "cus": {"write", "deployer"}} {
		_, err := s.CreateUser(login)
		require.NoError(t, err)
		require.NoError(t, s.SetPermission("acme/widget", login, role[0], role[1]))
	}
	c := s.asInstallation()
	for _, tc := range []struct{ repo, user, permission, role, most string }{
		{"widget", "ann", "write", "write", "push"}, {"widget", "eve", "read", "read", "pull"}, {"vault", "ann", "admin", "admin", "admin"},
		{"vault", "bob", "read", "read", "pull"}, {"vault", "eve", "none", "none", ""}, {"widget", "tim", "read", "triage", "triage"},
		{"widget", "max", "write", "maintain", "maintain"}, {"widget", "cus", "write", "deployer", "push"},
	} {
		got, _, err := c.Repositories.GetPermissionLevel(t.Context(), "acme", tc.repo, tc.user)
		require.NoError(t, err)
		require.Equal(t, tc.permission, got.GetPermission(), "%+v", tc)
		require.Equal(t, tc.role, got.GetRoleName(), "%+v", tc)
		require.NotZero(t, got.GetUser().GetID())
		order := []string{"pull", "triage", "push", "maintain", "admin"}
		has := tc.most != ""
		for _, p := range order {
			require.Equal(t, has, got.GetUser().GetPermissions()[p], "%+v %s", tc, p)
			if p == tc.most {
				has = false
			}
		}
	}
	_, _, err := c.Repositories.GetPermissionLevel(t.Context(), "acme", "widget", "nobody")
	refused(t, err, 404, "")
	_, _, err = s.asUser("eve").Repositories.GetPermissionLevel(t.Context(), "acme", "widget", "ann")
	refused(t, err, 403, "push access")
}

func TestLifeOfAServer(t *testing.T) {
	t.Parallel()
	s := githubsim.New(githubsim.Options{})
	require.ErrorContains(t, s.Start(context.Background(), "0.0.0.0:0"), "not a loopback address")
	require.ErrorContains(t, s.Start(context.Background(), "nonsense"), "githubsim: listen")
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, s.Start(ctx, "127.0.0.1:0"))
	require.Error(t, s.Start(ctx, "127.0.0.1:0"))
	res, err := http.Get(s.URL()) //nolint:noctx // a test
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	cancel()
	s.Close()
	s.Close()
	_, err = http.Get(s.URL()) //nolint:noctx,bodyclose // it fails
	require.Error(t, err)
}
