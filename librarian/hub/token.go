package hub

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"time"
)

// Token lets somebody read one repository for at most an hour. It cannot be printed: every way to format, log or
// encode it gives a placeholder. The zero Token stands for access without one.
type Token struct {
	secret  func() string // a func, because fmt would print a string even in somebody's unexported field
	expires time.Time
	key     tokenKey
}

func newToken(secret string, expires time.Time, key tokenKey) Token {
	return Token{secret: func() string { return secret }, expires: expires, key: key}
}

const hiddenToken = "[token]"

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t.secret == nil }

// Authorization is the value of the HTTP header that git sends with the token; empty for the zero Token. The user name
// is the one GitHub documents for installation tokens and accepts with a person's.
func (t Token) Authorization() string {
	if t.secret == nil {
		return ""
	}
	return "Basic " + t.basic()
}

func (t Token) basic() string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + t.secret()))
}

// Secrets are the texts that must be redacted wherever they turn up: the token itself and the form it has in the header.
func (t Token) Secrets() []string {
	if t.secret == nil {
		return nil
	}
	return []string{t.secret(), t.basic()}
}

// Expires is when GitHub stops to accept the token; zero where that is not known.
func (t Token) Expires() time.Time { return t.expires }

// String hides the token.
func (Token) String() string { return hiddenToken }

// Format hides the token from every verb of fmt.
func (Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hiddenToken)) }

// LogValue hides the token from slog.
func (Token) LogValue() slog.Value { return slog.StringValue(hiddenToken) }

// MarshalText hides the token from encoders.
func (Token) MarshalText() ([]byte, error) { return []byte(hiddenToken), nil }
