package checkout

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
)

// Secret is the value of an Authorization header. It prints as "[redacted]"
// however it is printed; only this package can read it.
type Secret struct {
	header string
	parts  []string // every form that must not be seen: token, pair, base64
}

// Credentials gives the Authorization for one git command, at the moment it is
// needed. A nil Credentials means anonymous. It is called once per git command
// that talks to a host, so it should cache what is costly.
type Credentials func(ctx context.Context) (Secret, error)

// BasicAuth makes the Secret for HTTP basic authentication, the form GitHub
// wants for installation tokens ("x-access-token" and the token).
func BasicAuth(user, password string) Secret {
	pair := user + ":" + password
	b := base64.StdEncoding.EncodeToString([]byte(pair))
	return Secret{header: "Basic " + b, parts: []string{b, strings.TrimRight(b, "="), pair, password,
		base64.StdEncoding.EncodeToString([]byte(password))}}
}

// IsZero reports whether there is no secret, which means anonymous.
func (s Secret) IsZero() bool { return s.header == "" }

const redacted = "[redacted]"

// String prints "[redacted]".
func (s Secret) String() string { return redacted }

// GoString prints "[redacted]".
func (s Secret) GoString() string { return redacted }

// Format prints "[redacted]" for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue logs "[redacted]".
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON writes "[redacted]".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// scrub removes every form of the secret from text.
func (s Secret) scrub(text string) string {
	for _, p := range s.parts {
		if len(p) >= 4 {
			text = strings.ReplaceAll(text, p, redacted)
		}
	}
	return text
}
