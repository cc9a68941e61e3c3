package githubsim

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// CallerKind says how a request was authenticated.
type CallerKind string

// The ways to call.
const (
	Anonymous         CallerKind = "anonymous"
	AppToken          CallerKind = "app"          // a JWT signed by an App
	InstallationToken CallerKind = "installation" // of an App on an account, perhaps narrowed
	UserToken         CallerKind = "user"         // a personal access token
	Refused           CallerKind = "refused"      // bad credentials
)

// tokenLife is how long an installation token is good for (GitHub: one hour).
const tokenLife = time.Hour

// token is an installation token, or with user set a personal one.
type token struct {
	user        *account
	inst        *installation
	repos       map[int64]bool // nil means all that the installation covers
	permissions map[string]string
	expires     time.Time
}

// caller is who sends a request.
type caller struct {
	kind  CallerKind
	app   *app
	token *token
	user  *account
	key   string // tells callers apart for limits
}

func (c caller) actor() actor {
	if c.kind == InstallationToken {
		return actor{user: c.token.inst.app.bot, app: c.token.inst.app}
	}
	return actor{user: c.user}
}

// authenticate reads the Authorization header: a token or JWT as bearer, "token", or the password of basic authentication.
func (s *Server) authenticate(r *http.Request) (caller, error) {
	secret := ""
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch strings.ToLower(scheme) {
	case "":
		return caller{kind: Anonymous, key: "anonymous"}, nil
	case "bearer", "token":
		secret = strings.TrimSpace(rest)
	case "basic":
		user, password, _ := r.BasicAuth()
		if secret = password; secret == "" || secret == "x-oauth-basic" {
			secret = user
		}
	}
	if strings.Count(secret, ".") == 2 {
		a, err := s.verifyJWT(secret)
		if err != nil {
			return caller{kind: Refused}, err
		}
		return caller{kind: AppToken, app: a, key: "app " + a.Slug}, nil
	}
	t := s.world.tokens[secret]
	switch {
	case t == nil || t.inst != nil && !s.now().Before(t.expires):
		return caller{kind: Refused}, &apiError{status: http.StatusUnauthorized, message: "Bad credentials"}
	case t.inst == nil:
		return caller{kind: UserToken, token: t, user: t.user, key: "user " + t.user.Login}, nil
	case !t.inst.suspended.IsZero():
		return caller{kind: Refused}, &apiError{status: http.StatusForbidden, message: "This installation has been suspended"}
	}
	return caller{kind: InstallationToken, app: t.inst.app, token: t, key: "installation " + strconv.FormatInt(t.inst.id, 10)}, nil
}

// verifyJWT checks an App's JWT as GitHub does: RS256 by the App's key, iat not in the future, exp in the future and at most 10
// minutes ahead, iss the App's id or client id.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (s *Server) verifyJWT(text string) (*app, error) {
	undecodable := &apiError{status: http.StatusUnauthorized, message: "A JSON web token could not be decoded"}
	parts := strings.Split(text, ".")
	var header struct {
		Alg string `json:"alg"`
	}
	var claims struct {
		Iss json.RawMessage `json:"iss"`
		Iat *float64        `json:"iat"`
		Exp *float64        `json:"exp"`
	}
	if !decodePart(parts[0], &header) || !decodePart(parts[1], &claims) || header.Alg != "RS256" {
		return nil, undecodable
	}
	issuer := strings.Trim(string(claims.Iss), `"`)
	var a *app
	for _, x := range s.world.apps {
		if issuer != "" && (issuer == strconv.FormatInt(x.ID, 10) || issuer == x.ClientID) {
			a = x
		}
	}
	if a == nil {
		return nil, &apiError{status: http.StatusNotFound, message: "Integration not found"}
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || rsa.VerifyPKCS1v15(a.key, crypto.SHA256, sum[:], signature) != nil {
		return nil, undecodable
	}
	now := float64(s.now().UnixNano()) / 1e9
	switch {
	case claims.Iat == nil || *claims.Iat > now+s.opts.ClockLeeway.Seconds()+1:
		return nil, &apiError{status: http.StatusUnauthorized, message: "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"}
	case claims.Exp == nil || *claims.Exp <= now:
		return nil, &apiError{status: http.StatusUnauthorized, message: "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"}
	case *claims.Exp > now+601+s.opts.ClockLeeway.Seconds() || *claims.Exp-*claims.Iat > 660:
		return nil, &apiError{status: http.StatusUnauthorized, message: "'Expiration time' claim ('exp') is too far in the future"}
	}
	return a, nil
}

func decodePart(part string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.NewDecoder(bytes.NewReader(raw)).Decode(into) == nil
}

// level orders read below write.
func level(name string) int {
	switch name {
	case "read":
		return 1
	case "write", "admin":
		return 2
	}
	return 0
}

// tokenCovers tells whether an installation token reaches a repository beyond what is public.
func tokenCovers(t *token, r *repo) bool {
	return t.inst != nil && t.inst.covers(r) && (t.repos == nil || t.repos[r.id])
}

// sees tells whether a caller may know that a repository exists.
func (s *Server) sees(c caller, r *repo) bool {
	switch {
	case r == nil || r.deleted:
		return false
	case !r.private():
		return true
	case c.kind == InstallationToken:
		return tokenCovers(c.token, r)
	case c.kind == UserToken:
		return s.permission(r, c.user).permission != "none"
	}
	return false
}

// need is what an endpoint asks of its caller: the App permissions of which any one will do, and read or write.
type need struct {
	any   []string
	write bool
	role  string // the least repository role of a user for it; "" means whoever may read
}

func reads(permissions ...string) need { return need{any: permissions} }

func writes(role string, permissions ...string) need {
	return need{any: permissions, write: true, role: role}
}

// allow says how GitHub would refuse, or nil. The repository is known to be seen.
func (s *Server) allow(c caller, r *repo, n need) error {
	forbidden := &apiError{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	switch c.kind {
	case Anonymous:
		if n.write {
			return &apiError{status: http.StatusUnauthorized, message: "Requires authentication"}
		}
	case AppToken:
		return forbidden
	case InstallationToken:
		if !n.write && !r.private() {
			return nil
		}
		want := 1
		if n.write {
			want = 2
		}
		if tokenCovers(c.token, r) {
			for _, p := range n.any {
				if level(c.token.permissions[p]) >= want {
					return nil
				}
			}
		}
		return forbidden
	case UserToken:
		if n.role != "" && roleRank(s.permission(r, c.user).permission) < roleRank(n.role) {
			return &apiError{status: http.StatusForbidden, message: "Must have " + n.role + " rights to Repository."}
		}
	case Refused:
		return &apiError{status: http.StatusUnauthorized, message: "Bad credentials"}
	}
	return nil
}

func roleRank(name string) int {
	for i, r := range roles {
		if r == name {
			return i
		}
	}
	return -1
}
