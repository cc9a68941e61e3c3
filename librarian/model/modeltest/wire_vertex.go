package modeltest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// What Vertex's server is asked with.
const (
	GoogleProject  = "acme-project"
	GoogleLocation = "europe-test1"
	googleToken    = "ya29.test-token-0123456789"
)

// NewVertex starts a server that speaks Vertex's rawPredict and streamRawPredict
// (https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude) with Claude behind it.
func NewVertex(t testing.TB, answers ...Answer) *Wire { return newWire(t, vertexWire{}, answers) }

type vertexWire struct{ anthropicWire }

var vertexPath = regexp.MustCompile(`^/v1/projects/` + GoogleProject + `/locations/` + GoogleLocation + `/publishers/anthropic/models/([^/:]+):(rawPredict|streamRawPredict)$`)

func (vertexWire) check(w *Wire, r *http.Request, body []byte) (any, int, string) {
	m := vertexPath.FindStringSubmatch(r.RequestURI)
	if r.Method != http.MethodPost || m == nil {
		return w.violation("%s %s", r.Method, r.RequestURI)
	}
	if got := r.Header.Values("Authorization"); len(got) != 1 || got[0] != "Bearer "+googleToken {
		return w.violation("Authorization: %q", got)
	}
	id, err := url.PathUnescape(m[1])
	if err != nil {
		return w.violation("%s", r.RequestURI)
	}
	return checkCloud(w, r, body, id, "model")
}

func (vertexWire) fail(rw http.ResponseWriter, status int, kind, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode([]any{map[string]any{"error": map[string]any{"code": status, "message": message, "status": strings.ToUpper(kind)}}})
}

// GoogleTokens answers requests for tokens by a service account's key as Google's token server does
// (https://developers.google.com/identity/protocols/oauth2/service-account). Below /refuse
// no account is known.
func GoogleTokens(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "application/json")
	assertion := strings.Split(r.PostFormValue("assertion"), ".")
	if r.PostFormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(assertion) != 3 || r.URL.Path == "/refuse" {
		rw.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(rw).Encode(map[string]any{"error": "invalid_grant", "error_description": "Invalid grant: account not found"})
		return
	}
	_ = json.NewEncoder(rw).Encode(map[string]any{"access_token": googleToken, "expires_in": 3600, "token_type": "Bearer"})
}

// GoogleAccount makes the file of a service account, with a new key, whose tokens come from a URL.
func GoogleAccount(tokenURL string) ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return encode(map[string]any{"type": "service_account", "project_id": GoogleProject, "private_key_id": "k1",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": "librarian@" + GoogleProject + ".example", "token_uri": tokenURL}), nil
}
