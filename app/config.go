package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/librarian-app/librarian/handlers"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/settings"
	"github.com/librarian-app/librarian/librarian/tool"
	"github.com/librarian-app/librarian/librarian/tool/ghtool"
)

// Config is config.yml. Every key has its default in Default and stands, with its reason, in the config.yml at the top of
// the repository; a test holds the two together. It holds no secret: those come by environment or file (see Secrets).
type Config struct {
	Server    ServerConfig    `yaml:"server"`
	Database  DatabaseConfig  `yaml:"database"`
	GitHub    GitHubConfig    `yaml:"github"`
	Ask       AskConfig       `yaml:"ask"`
	Models    ModelsConfig    `yaml:"models"`
	Limits    LimitsConfig    `yaml:"limits"`
	Tools     ToolsConfig     `yaml:"tools"`
	Private   PrivateConfig   `yaml:"private"`
	Triggers  TriggersConfig  `yaml:"triggers"`
	Notify    string          `yaml:"notify"`
	Checkout  CheckoutConfig  `yaml:"checkout"`
	Queue     QueueConfig     `yaml:"queue"`
	Retention RetentionConfig `yaml:"retention"`
}

// ServerConfig is where serve listens and keeps its data.
type ServerConfig struct {
	Listen string `yaml:"listen"`
	Data   string `yaml:"data"`
	// Metrics is where Prometheus may scrape; empty: nowhere.
	Metrics string `yaml:"metrics"`
}

// DatabaseConfig is where runs are kept.
type DatabaseConfig struct {
	// URLFile names a file with the URL of a PostgreSQL database; empty: see [DatabaseURL].
	URLFile string `yaml:"url_file"`
}

// GitHubConfig is which GitHub, and which App there.
type GitHubConfig struct {
	APIURL            string `yaml:"api_url"`
	WebURL            string `yaml:"web_url"`
	AppID             int64  `yaml:"app_id"`
	PrivateKeyFile    string `yaml:"private_key_file"`
	WebhookSecretFile string `yaml:"webhook_secret_file"`
	CAFile            string `yaml:"ca_file"`
	Alias             string `yaml:"alias"`
}

// AskConfig is who may ask.
type AskConfig struct {
	Private string  `yaml:"private"`
	Public  string  `yaml:"public"`
	Bots    []int64 `yaml:"bots"`
}

// LimitsConfig bounds a run.
type LimitsConfig struct {
	Steps       int           `yaml:"steps"`
	Time        time.Duration `yaml:"time"`
	InputTokens int64         `yaml:"input_tokens"`
	Cost        float64       `yaml:"cost"`
	UserRuns    int           `yaml:"user_runs"`
	RepoRuns    int           `yaml:"repository_runs"`
	MonthlyCost float64       `yaml:"monthly_cost"`
	Progress    time.Duration `yaml:"progress_after"`
}

// ToolsConfig is which tools a run has.
type ToolsConfig struct {
	Disabled []string `yaml:"disabled"`
	GrepApp  string   `yaml:"grep_app"`
}

// PrivateConfig is what holds for runs that may know something private.
type PrivateConfig struct {
	Egress []string `yaml:"egress"`
}

// TriggersConfig is which ways to ask are open beside a mention.
type TriggersConfig struct {
	Label    string           `yaml:"label"`
	Dispatch bool             `yaml:"dispatch"`
	Events   []QuestionConfig `yaml:"events"`
}

// rules are the configured questions, for handlers.
func (t TriggersConfig) rules() []handlers.EventRule {
	var out []handlers.EventRule
	for _, q := range t.Events {
		out = append(out, handlers.EventRule(q))
	}
	return out
}

// QuestionConfig is a question that is asked when something happens.
type QuestionConfig struct {
	On       string `yaml:"on"`
	Label    string `yaml:"label"`
	Question string `yaml:"question"`
}

// CheckoutConfig is where code may come from and how much of it is kept.
type CheckoutConfig struct {
	Hosts    []string      `yaml:"hosts"`
	Debounce time.Duration `yaml:"debounce"`
	History  time.Duration `yaml:"history_after"`
	DiskGB   int           `yaml:"disk_gb"`
}

// QueueConfig is how many runs are worked at once.
type QueueConfig struct {
	Research int           `yaml:"research"`
	Grace    time.Duration `yaml:"grace"`
}

// RetentionConfig is how long runs are kept.
type RetentionConfig struct {
	Messages time.Duration `yaml:"messages"`
	Audit    time.Duration `yaml:"audit"`
}

// Default is the configuration without a file.
func Default() Config {
	return Config{
		Server: ServerConfig{Listen: "127.0.0.1:8080", Data: "data"},
		Ask:    AskConfig{Private: "read", Public: "triage", Bots: []int64{}},
		Models: ModelsConfig{
			Default: model.ScoutName, Thinking: string(model.Medium), Allowed: []string{}, Private: []string{},
			Providers: map[string]ProviderConfig{}, Prices: model.Prices{},
		},
		Limits:    LimitsConfig{Steps: 40, Time: 10 * time.Minute, InputTokens: 400_000, Cost: 1, UserRuns: 20, RepoRuns: 200, MonthlyCost: 300, Progress: 30 * time.Second},
		Tools:     ToolsConfig{Disabled: []string{}, GrepApp: ghtool.GrepAppURL},
		Private:   PrivateConfig{Egress: []string{}},
		Triggers:  TriggersConfig{Label: "librarian", Dispatch: true, Events: []QuestionConfig{}},
		Notify:    string(settings.NotifyComment),
		Checkout:  CheckoutConfig{Hosts: []string{}, Debounce: 15 * time.Minute, History: 2 * time.Second, DiskGB: 40},
		Queue:     QueueConfig{Research: 4, Grace: 5 * time.Second},
		Retention: RetentionConfig{Messages: 30 * 24 * time.Hour, Audit: 365 * 24 * time.Hour},
	}
}

// maxConfig bounds the size of a configuration file, in bytes.
const maxConfig = 1 << 20

// Load reads a configuration file over the defaults, strictly: an unknown key is an error that names it.
func Load(path string) (Config, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return Config{}, &UsageError{Message: "there is no configuration file " + path, Hint: "copy config.yml from the repository, or name another with --config"}
		}
		return Config{}, &UsageError{Message: "the configuration file " + path + " cannot be read", Hint: "check its permissions", Err: err}
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil || len(raw) > maxConfig {
		return Config{}, &UsageError{Message: "the configuration file " + path + " cannot be read", Hint: "it must be a YAML file of less than 1 MiB", Err: err}
	}
	c, err := Parse(raw)
	if err != nil {
		return Config{}, &UsageError{Message: path + ": " + err.Error(), Hint: "config.yml in the repository lists every key"}
	}
	return c, nil
}

// Parse reads configuration text over the defaults and checks every value.
func Parse(raw []byte) (Config, error) {
	c := Default()
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, readable(err)
	}
	if d.Decode(new(yaml.Node)) == nil {
		return Config{}, errors.New("more than one YAML document")
	}
	return c, c.check()
}

// readable puts the YAML library's errors into one line.
func readable(err error) error {
	var t *yaml.TypeError
	if errors.As(err, &t) && len(t.Errors) > 0 {
		s := t.Errors[0]
		if line, rest, ok := strings.Cut(s, ": field "); ok {
			if key, _, ok := strings.Cut(rest, " not found"); ok {
				return fmt.Errorf("%s: unknown key %q", line, key)
			}
		}
		if line, rest, ok := strings.Cut(s, ": cannot unmarshal "); ok {
			if value, kind, ok := strings.Cut(rest, " into "); ok {
				_, value, _ = strings.Cut(value, " ")
				return fmt.Errorf("%s: %s is not %s", line, value, kindName(kind))
			}
		}
		return errors.New(s)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
}

// kindName says what a key takes, for people who write YAML and not Go.
func kindName(kind string) string {
	switch {
	case kind == "time.Duration":
		return "a duration; write 90s, 10m or 2h"
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "a text"
	case strings.HasPrefix(kind, "[]"):
		return "a list"
	}
	return "what this key takes"
}

// toolNames are the tools that a run may have; a test holds them to the tools themselves.
func toolNames() []string {
	return []string{
		"bash", "checkout_repo", "find", "find_code", "git_blame", "git_diff", "git_log", "git_show", "grep", "ls", "outline", "provide_results",
		"read", "read_enclosing", "read_github_file", "read_thread", "search_code", "search_github_code", "search_repos",
	}
}

// accountName is what GitHub allows as an App's slug or an account's login, and so what can be mentioned.
var accountName = regexp.MustCompile(`^@?[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?$`)

func (c Config) check() error {
	if _, _, err := net.SplitHostPort(c.Server.Listen); err != nil {
		return fmt.Errorf("server.listen: %q is not host:port", c.Server.Listen)
	}
	if _, _, err := net.SplitHostPort(c.Server.Metrics); err != nil && c.Server.Metrics != "" {
		return fmt.Errorf("server.metrics: %q is not host:port", c.Server.Metrics)
	}
	if c.Server.Data == "" {
		return errors.New("server.data: name a directory")
	}
	for key, v := range map[string]string{"github.web_url": c.GitHub.WebURL, "github.api_url": c.GitHub.APIURL, "tools.grep_app": c.Tools.GrepApp} {
		u, err := url.Parse(v)
		if v == "" {
			continue
		}
		if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("%s: %q is not a URL", key, v)
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) {
			return fmt.Errorf("%s: %q must be https; plain http is for loopback addresses", key, v)
		}
	}
	for key, v := range map[string]string{"ask.private": c.Ask.Private, "ask.public": c.Ask.Public} {
		if _, ok := access.ParseLevel(v); !ok {
			return fmt.Errorf("%s: %q is not a permission; use none, read, triage, write, maintain or admin", key, v)
		}
	}
	if c.GitHub.Alias != "" && !accountName.MatchString(c.GitHub.Alias) {
		return fmt.Errorf("github.alias: %q cannot be mentioned; use letters, digits and hyphens", c.GitHub.Alias)
	}
	for _, name := range c.Tools.Disabled {
		switch {
		case name == tool.ProvideResults:
			return fmt.Errorf("tools.disabled: %s cannot be dropped: a run ends with it", name)
		case !slices.Contains(toolNames(), name):
			return fmt.Errorf("tools.disabled: there is no tool %q", name)
		}
	}
	for _, id := range c.Ask.Bots {
		if id <= 0 {
			return fmt.Errorf("ask.bots: %d is not a user id", id)
		}
	}
	if err := c.Models.check(); err != nil {
		return err
	}
	if c.Notify != string(settings.NotifyComment) && c.Notify != string(settings.NotifyEdit) {
		return fmt.Errorf("notify: %q is neither comment nor edit", c.Notify)
	}
	for i, q := range c.Triggers.Events {
		if !slices.Contains([]string{settings.OnPullOpened, settings.OnPullReady, settings.OnIssueOpened}, q.On) || strings.TrimSpace(q.Question) == "" {
			return fmt.Errorf("triggers.events[%d]: on must be %s, %s or %s, and question must not be empty", i, settings.OnPullOpened, settings.OnPullReady, settings.OnIssueOpened)
		}
	}
	for _, n := range []struct {
		key  string
		ok   bool
		want string
	}{
		{"limits.steps", c.Limits.Steps >= 3 && c.Limits.Steps <= 1000, "from 3 to 1000"},
		{"limits.time", c.Limits.Time >= time.Second, "at least 1s"},
		{"limits.input_tokens", c.Limits.InputTokens >= 1000, "at least 1000"},
		{"limits.cost", c.Limits.Cost > 0, "above 0"},
		{"limits.user_runs", c.Limits.UserRuns >= 0, "at least 0"},
		{"limits.repository_runs", c.Limits.RepoRuns >= 0, "at least 0"},
		{"limits.monthly_cost", c.Limits.MonthlyCost >= 0, "at least 0"},
		{"limits.progress_after", c.Limits.Progress >= time.Second, "at least 1s"},
		{"checkout.debounce", c.Checkout.Debounce >= 0, "at least 0s"},
		{"checkout.history_after", c.Checkout.History >= 0, "at least 0s"},
		{"checkout.disk_gb", c.Checkout.DiskGB >= 1, "at least 1"},
		{"queue.research", c.Queue.Research >= 1 && c.Queue.Research <= 1000, "from 1 to 1000"},
		{"queue.grace", c.Queue.Grace >= 0, "at least 0s"},
		{"retention.messages", c.Retention.Messages >= time.Hour, "at least 1h"},
		{"retention.audit", c.Retention.Audit >= time.Hour, "at least 1h"},
	} {
		if !n.ok { // written so that no NaN passes
			return fmt.Errorf("%s: out of range; it must be %s", n.key, n.want)
		}
	}
	return nil
}

func validLevel(s string) bool {
	for _, l := range model.Levels() {
		if string(l) == s {
			return true
		}
	}
	return false
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// base are the server's own settings, which an organisation's and a repository's files may narrow.
func (c Config) base() settings.Settings {
	s := settings.Default()
	private, _ := access.ParseLevel(c.Ask.Private)
	public, _ := access.ParseLevel(c.Ask.Public)
	s.Ask = access.AskRule{Private: private, Public: public, Bots: c.Ask.Bots}
	s.Egress = c.Private.Egress
	s.Triggers = settings.Triggers{Mention: true, Label: c.Triggers.Label != "", LabelName: c.Triggers.Label, Dispatch: c.Triggers.Dispatch, Events: len(c.Triggers.Events) > 0}
	for _, q := range c.Triggers.Events {
		s.Triggers.Questions = append(s.Triggers.Questions, settings.EventQuestion{On: q.On, Label: q.Label, Question: q.Question})
	}
	s.Models = c.Models.settings()
	s.Tools = settings.Tools{Disabled: c.Tools.Disabled}
	s.Limits = settings.Limits{
		Steps: c.Limits.Steps, Time: c.Limits.Time, InputTokens: c.Limits.InputTokens, Cost: c.Limits.Cost,
		UserRuns: c.Limits.UserRuns, RepositoryRuns: c.Limits.RepoRuns, MonthlyCost: c.Limits.MonthlyCost,
	}
	s.Notify = settings.Notify(c.Notify)
	return s
}
