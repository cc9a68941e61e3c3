package app

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
)

// askSim puts a question to scout on the terminal, without a repository, beside a GitHub that has some.
func askSim(t *testing.T, question string) string {
	t.Helper()
	dir := t.TempDir()
	sim := githubsim.New(githubsim.Options{})
	require.NoError(t, sim.Start(t.Context(), "127.0.0.1:0"))
	t.Cleanup(sim.Close)
	for _, owner := range []string{"acme", "globex"} {
		_, err := sim.CreateOrg(owner)
		require.NoError(t, err)
	}
	for name, o := range map[string]githubsim.RepoOptions{
		"acme/pantry":   {Stars: 900, Language: "Go", Description: "Stock of a kitchen", Topics: []string{"food"}},
		"globex/pantry": {Stars: 30, Language: "Go", Description: "Homework"},
		"globex/larder": {Stars: 500, Language: "Rust", Description: "Another stock of food"},
	} {
		o.Path = filepath.Join(dir, name+".git")
		noun := "jam"
		if o.Language == "Rust" {
			noun = "ham"
		}
		gitRepo(t, o.Path, map[string]string{
			"README.md":  "# It\n\n[![ci](a.svg)](b)\n\nIt keeps track of " + noun + " and what spoils first.\n",
			"spoil/s.go": "package spoil\n\n// Oldest finds the " + noun + " that spoils first.\nfunc Oldest() {}\n",
		})
		_, err := sim.CreateRepo(filepath.Dir(name), filepath.Base(name), o)
		require.NoError(t, err)
	}
	cfg := Default()
	cfg.Models.Default = "builtin/scout"
	cfg.GitHub = GitHubConfig{APIURL: sim.APIURL(), WebURL: sim.URL()}
	var out bytes.Buffer
	_, err := Ask(t.Context(), AskOptions{
		TerminalOptions: TerminalOptions{Config: cfg, CacheDir: filepath.Join(dir, "cache"), Log: slog.New(slog.DiscardHandler), Now: time.Now},
		Question:        question, StateDir: filepath.Join(dir, "state"), Out: &out, Getenv: func(string) string { return "" },
	})
	require.NoError(t, err, out.String())
	return out.String()
}

func TestAskWithoutARepositoryComparesWhatThereIs(t *testing.T) {
	t.Parallel()
	got := askSim(t, "which libraries for stock are there?")
	require.Contains(t, got, "[`acme/pantry`](http://127.0.0.1:")
	require.Contains(t, got, " fits best: what it says of itself has `stock`; it has 900 stars, the most; its last push was on ")
	require.Contains(t, got, "name it: `@librarian … in acme/pantry`.")
	require.Regexp(t, `(?m)^\| \[.acme/pantry.\]\(http://127\.0\.0\.1:\d+/acme/pantry\) \| 900 \| Go \| \d{4}-\d\d-\d\d \| Stock of a kitchen\. README: It keeps track of jam and what spoils first\. \|$`, got)
	require.Regexp(t, `(?m)^\| \[.globex/larder.\]\(.*\) \| 500 \| Rust \|`, got)
}

func TestAskComparesRepositoriesByBareNames(t *testing.T) {
	t.Parallel()
	got := askSim(t, "compare how pantry and larder find what spoils first")
	require.Regexp(t, "In acme/pantry(, in doubt)?: the function `Oldest` in `spoil/s.go:4`: Oldest finds the jam", got)
	require.Regexp(t, "In globex/larder(, in doubt)?: the function `Oldest` in `spoil/s.go:4`: Oldest finds the ham", got)
	require.Contains(t, got, "`pantry` was taken for [`acme/pantry`](")
	require.NotContains(t, got, "globex/pantry")
}
