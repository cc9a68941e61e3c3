package app

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/settings"
)

// ModelsConfig is which models answer, and how they are reached.
type ModelsConfig struct {
	Default   string                    `yaml:"default"`
	Thinking  string                    `yaml:"thinking"`
	Allowed   []string                  `yaml:"allowed"`
	Private   []string                  `yaml:"private"`
	Providers map[string]ProviderConfig `yaml:"providers"`
	Prices    model.Prices              `yaml:"prices"`
}

// ProviderConfig is how one provider is reached. "anthropic", "bedrock", "vertex" and "openai" need none; under any other
// name it is an endpoint that is compatible with OpenAI's chat completions.
type ProviderConfig struct {
	BaseURL     string        `yaml:"base_url"`
	KeyEnv      string        `yaml:"key_env"`
	KeyFile     string        `yaml:"key_file"`
	CAFile      string        `yaml:"ca_file"`
	MaxOutput   int           `yaml:"max_output"`   // tokens of one reply; 0: the adapter's default
	MaxThinking string        `yaml:"max_thinking"` // the most that the provider's models may think; empty: what is known of them
	FirstByte   time.Duration `yaml:"first_byte"`   // how long a reply may take to begin; 0: the adapter's default
	Stall       time.Duration `yaml:"stall"`        // how long a stream may be silent; 0: the adapter's default
	NoStream    bool          `yaml:"no_stream"`
}

func (p ProviderConfig) check(name string) error {
	key := "models.providers." + name
	_, ofCloud := cloudSecrets[name]
	switch {
	case p.BaseURL == "" && !knownProvider(name):
		return fmt.Errorf("%s: base_url is missing", key)
	case ofCloud && (p.KeyEnv != "" || p.KeyFile != ""):
		return fmt.Errorf("%s: its credentials come as the cloud's own programs find them, not by key_env or key_file", key)
	case p.MaxThinking != "" && !validLevel(p.MaxThinking):
		return fmt.Errorf("%s.max_thinking: %q is not a level; use off, minimal, low, medium, high, xhigh or max", key, p.MaxThinking)
	case p.FirstByte < 0:
		return fmt.Errorf("%s.first_byte: out of range", key)
	case p.Stall < 0:
		return fmt.Errorf("%s.stall: out of range", key)
	case p.MaxOutput < 0:
		return fmt.Errorf("%s.max_output: out of range", key)
	}
	return nil
}

// keyEnv is where the keys of the providers that are known by name are looked for.
var keyEnv = map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}

// cloudSecrets are the providers whose credentials their own SDKs find, with the variables of the environment that hold a
// secret then.
var cloudSecrets = map[string][]string{
	"bedrock": {"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"},
	"vertex":  nil,
}

// knownProvider reports whether a provider needs no base URL.
func knownProvider(name string) bool {
	_, ofCloud := cloudSecrets[name]
	return ofCloud || keyEnv[name] != ""
}

var modelName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}/\S{1,200}$`)

// all lists every model that the configuration names, the default first.
func (c ModelsConfig) all() []string {
	out := []string{c.Default}
	for _, m := range append(slices.Clone(c.Allowed), c.Private...) {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// settings are the models as settings see them: a layer may only leave some out.
func (c ModelsConfig) settings() settings.Models {
	s := settings.Models{Default: c.Default, Allowed: append([]string{c.Default}, c.Allowed...)}
	if len(c.Private) > 0 {
		s.Private = c.Private
	}
	return s
}

func (c ModelsConfig) check() error {
	for _, m := range c.all() {
		if !modelName.MatchString(m) {
			return fmt.Errorf("models: %q is not a model; write provider/model-id", m)
		}
	}
	if !validLevel(c.Thinking) {
		return fmt.Errorf("models.thinking: %q is not a level; use off, minimal, low, medium, high, xhigh or max", c.Thinking)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		if err := c.Providers[name].check(name); err != nil {
			return err
		}
	}
	return nil
}

// modelShop makes models by name.
type modelShop struct {
	cfg  ModelsConfig
	keys map[string]string // by provider, and a cloud's secrets by their variable's name
	log  *slog.Logger

	mu   sync.Mutex
	made map[string]model.Model
}

// newModelShop reads the providers' keys and sees that every configured model can be made, so that a mistake shows at the
// start and is named. It connects to nothing.
func newModelShop(c ModelsConfig, getenv func(string) string, log *slog.Logger) (*modelShop, error) {
	s := &modelShop{cfg: c, keys: map[string]string{}, log: log, made: map[string]model.Model{}}
	for _, name := range c.all() {
		if _, err := s.get(name, getenv); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Model implements run.Models.
func (s *modelShop) Model(name string) (model.Model, model.Level, error) {
	s.mu.Lock()
	m, ok := s.made[name]
	s.mu.Unlock()
	if !ok {
		return nil, "", &librarian.UserError{Message: "The model " + name + " is not available here."}
	}
	if name == model.ScoutName {
		return m, model.Off, nil
	}
	return m, model.Level(s.cfg.Thinking), nil
}

// secrets are the providers' keys.
func (s *modelShop) secrets() []string { return slices.Collect(maps.Values(s.keys)) }

func (s *modelShop) get(name string, getenv func(string) string) (model.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.made[name]; ok {
		return m, nil
	}
	if name == model.ScoutName {
		s.made[name] = model.Scout{}
		return model.Scout{}, nil
	}
	provider, id, _ := strings.Cut(name, "/")
	p, configured := s.cfg.Providers[provider]
	if !configured && !knownProvider(provider) {
		hint := "name its base_url in models.providers." + provider
		if provider == "builtin" {
			hint = "the only builtin one is " + model.ScoutName
		}
		return nil, &UsageError{Message: "the model " + name + " cannot be used: its provider is not known", Hint: hint}
	}
	key, err := s.key(provider, p, getenv)
	if err != nil {
		return nil, err
	}
	client, err := model.HTTPClient(p.CAFile)
	if err != nil {
		return nil, &UsageError{Message: "models.providers." + provider + ": " + err.Error(), Hint: "name a PEM file", Err: err}
	}
	m, err := model.New(model.Options{
		Provider: provider, Model: id, Key: key, BaseURL: p.BaseURL, HTTP: client, Prices: s.cfg.Prices, NoStream: p.NoStream,
		MaxOutput: p.MaxOutput, MaxThinking: model.Level(p.MaxThinking), FirstByte: p.FirstByte, Stall: p.Stall,
		Log: s.log.With("part", "model"),
	})
	if err != nil {
		return nil, &UsageError{Message: "the model " + name + " cannot be used: " + err.Error(), Hint: "check models in the configuration", Err: err}
	}
	s.made[name] = m
	return m, nil
}

// key finds a provider's key: in its file, else in the environment. A provider of one's own may need none; a cloud's SDK
// finds its own, and only what must never be shown is remembered here.
func (s *modelShop) key(provider string, p ProviderConfig, getenv func(string) string) (string, error) {
	if k, ok := s.keys[provider]; ok {
		return k, nil
	}
	for _, env := range cloudSecrets[provider] {
		if v := strings.TrimSpace(getenv(env)); v != "" {
			s.keys[env] = v
		}
	}
	env := p.KeyEnv
	if env == "" {
		env = keyEnv[provider]
	}
	key := ""
	switch {
	case p.KeyFile != "":
		f, err := os.Open(p.KeyFile)
		if err != nil {
			return "", &UsageError{Message: "the key of " + provider + " cannot be read from " + p.KeyFile, Hint: "check models.providers." + provider + ".key_file", Err: err}
		}
		defer func() { _ = f.Close() }()
		raw, err := io.ReadAll(io.LimitReader(f, maxSecret))
		if key = string(bytes.TrimSpace(raw)); err != nil || key == "" {
			return "", &UsageError{Message: "the key of " + provider + " in " + p.KeyFile + " is empty or cannot be read", Hint: "check models.providers." + provider + ".key_file", Err: err}
		}
	case env != "":
		if key = strings.TrimSpace(getenv(env)); key == "" {
			return "", &UsageError{Message: "the key of the provider " + provider + " is missing", Hint: "set " + env + ", or name a file in models.providers." + provider + ".key_file"}
		}
	}
	if key != "" {
		s.keys[provider] = key
	}
	return key, nil
}
