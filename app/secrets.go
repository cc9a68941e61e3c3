package app

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
)

// The environment variables that secrets may come in. A file named in the configuration is the other way.
const (
	EnvPrivateKey    = "LIBRARIAN_PRIVATE_KEY"    // the App's key, PEM
	EnvWebhookSecret = "LIBRARIAN_WEBHOOK_SECRET" //nolint:gosec // the name of a variable, not a secret
)

// Secrets are what must never be seen in a log, an error, a comment or the arguments of a process.
type Secrets struct {
	PrivateKey    []byte
	WebhookSecret []byte
	DatabaseURL   []byte     // empty: SQLite
	models        *modelShop // holds the providers' keys
}

// String keeps secrets out of formatted text.
func (Secrets) String() string { return "[secrets]" }

// GoString does the same for %#v.
func (Secrets) GoString() string { return "[secrets]" }

// LoadSecrets reads the secrets that serve needs, from files first, else from the environment. getenv is os.Getenv; log is for the models.
func LoadSecrets(c Config, getenv func(string) string, log *slog.Logger) (Secrets, error) {
	var s Secrets
	var err error
	if s.PrivateKey, err = secret(c.GitHub.PrivateKeyFile, EnvPrivateKey, "the App's private key", "github.private_key_file", getenv); err != nil {
		return Secrets{}, err
	}
	if s.WebhookSecret, err = secret(c.GitHub.WebhookSecretFile, EnvWebhookSecret, "the webhook secret", "github.webhook_secret_file", getenv); err != nil {
		return Secrets{}, err
	}
	if len(s.WebhookSecret) < minWebhookSecret {
		return Secrets{}, &UsageError{
			Message: fmt.Sprintf("the webhook secret has %d characters: it could be guessed, and whoever knows it speaks as GitHub", len(s.WebhookSecret)),
			Hint:    fmt.Sprintf("make one of at least %d with `openssl rand -hex 32`, and set it in the App's settings on GitHub too", minWebhookSecret),
		}
	}
	if s.DatabaseURL, err = DatabaseURL(c, getenv); err != nil {
		return Secrets{}, err
	}
	if s.models, err = newModelShop(c.Models, getenv, log); err != nil {
		return Secrets{}, err
	}
	return s, nil
}

const (
	maxSecret        = 64 << 10
	minWebhookSecret = 16 // characters
)

func secret(file, env, what, key string, getenv func(string) string) ([]byte, error) {
	if file == "" {
		if v := getenv(env); v != "" {
			return []byte(v), nil
		}
		return nil, &UsageError{Message: what + " is missing", Hint: "set " + env + ", or name a file in " + key}
	}
	f, err := os.Open(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, &UsageError{Message: what + " cannot be read from " + file, Hint: "check " + key, Err: err}
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxSecret))
	if err != nil {
		return nil, &UsageError{Message: what + " cannot be read from " + file, Hint: "check " + key, Err: err}
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil, &UsageError{Message: what + " in " + file + " is empty", Hint: "check " + key}
	}
	return raw, nil
}
