package app

import (
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestConfigFileListsEveryKey holds config.yml at the top to the structs: each key is there, with its default and a
// comment above it.
func TestConfigFileListsEveryKey(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../config.yml")
	require.NoError(t, err)
	got, err := Parse(raw)
	require.NoError(t, err)
	require.Equal(t, Default(), got, "config.yml states the defaults")

	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(raw, &doc))
	stated := map[string]string{} // key → comment
	var walk func(prefix string, n *yaml.Node)
	walk = func(prefix string, n *yaml.Node) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := prefix + n.Content[i].Value
			if v := n.Content[i+1]; v.Kind == yaml.MappingNode && len(v.Content) > 0 {
				walk(key+".", n.Content[i+1])
				continue
			}
			stated[key] = n.Content[i].HeadComment
		}
	}
	walk("", doc.Content[0])
	for _, key := range keysOf("", reflect.TypeFor[Config]()) {
		comment, ok := stated[key]
		require.True(t, ok, "%s is missing in config.yml", key)
		require.NotEmpty(t, comment, "%s has no reason above it", key)
		require.NotContains(t, comment, "\n", "%s: one line of why", key)
		delete(stated, key)
	}
	require.Empty(t, stated)
}

func keysOf(prefix string, t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		key := prefix + f.Tag.Get("yaml")
		if f.Type.Kind() == reflect.Struct {
			out = append(out, keysOf(key+".", f.Type)...)
			continue
		}
		out = append(out, key)
	}
	return out
}

func TestConfigRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ in, want string }{
		"unknown key":         {"github:\n  app_idd: 3\n", `line 2: unknown key "app_idd"`},
		"unknown section":     {"gitlab: {}\n", `unknown key "gitlab"`},
		"wrong type":          {"limits:\n  steps: many\n", "line 2"},
		"not yaml":            {"a: [", "line 1"},
		"two documents":       {"server: {}\n---\nserver: {}\n", "more than one"},
		"bad level":           {"ask:\n  public: everybody\n", "ask.public"},
		"bad thinking":        {"models:\n  thinking: hard\n", "models.thinking"},
		"too few steps":       {"limits:\n  steps: 1\n", "limits.steps"},
		"plain http":          {"github:\n  api_url: http://ghe.example.com/api/v3/\n", "must be https"},
		"a password in a url": {"github:\n  api_url: https://me:secret@ghe.example.com/\n", "not a URL"},
		"listen without port": {"server:\n  listen: localhost\n", "server.listen"},
		"no such tool":        {"tools:\n  disabled: [bahs]\n", `tools.disabled: there is no tool "bahs"`}, // else bash stays on
		"the last tool":       {"tools:\n  disabled: [provide_results]\n", "cannot be dropped"},
		"no name":             {"github:\n  alias: the librarian\n", "cannot be mentioned"},
		"no bot":              {"ask:\n  bots: [-1]\n", "ask.bots: -1"},
		"no cost":             {"limits:\n  cost: .nan\n", "limits.cost: out of range; it must be above 0"},
		"no monthly cost":     {"limits:\n  monthly_cost: .nan\n", "limits.monthly_cost"},
		"words for people":    {"limits:\n  time: 5\n", "line 2: `5` is not a duration; write 90s, 10m or 2h"},
		"no number":           {"github:\n  app_id: abc\n", "line 2: `abc` is not a whole number"},
		"no list":             {"tools:\n  disabled: bash\n", "line 2: `bash` is not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(row.in))
			require.ErrorContains(t, err, row.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	c, err := Parse(nil)
	require.NoError(t, err)
	require.Equal(t, Default(), c)
}

func TestSecretsComeByFileOrEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		p := dir + "/" + name
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	env := map[string]string{EnvWebhookSecret: "0123456789-from-env", EnvPrivateKey: "key-env"}
	getenv := func(k string) string { return env[k] }
	c := Default()
	s, err := LoadSecrets(c, getenv, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Equal(t, "0123456789-from-env", string(s.WebhookSecret))
	c.GitHub.WebhookSecretFile = file("secret", "0123456789-from-file\n")
	s, err = LoadSecrets(c, getenv, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Equal(t, "0123456789-from-file", string(s.WebhookSecret))

	for name, row := range map[string]struct {
		file string
		want string
	}{
		"L6 no secret":   {"", EnvWebhookSecret},
		"L6 empty file":  {file("empty", " \n"), "is empty"},
		"L6 guessable":   {file("short", "fifteen letters\n"), "`openssl rand -hex 32`"},
		"no such file":   {dir + "/none", "cannot be read"},
		"is a directory": {dir, "cannot be read"},
	} {
		c.GitHub.WebhookSecretFile = row.file
		_, err := LoadSecrets(c, func(k string) string {
			if k == EnvPrivateKey {
				return "k"
			}
			return ""
		}, slog.New(slog.DiscardHandler))
		var usage *UsageError
		require.ErrorAs(t, err, &usage, name)
		require.ErrorContains(t, err, row.want, name)
	}
	require.NotContains(t, strings.Join([]string{s.String(), s.GoString()}, ""), "from-file")
}
