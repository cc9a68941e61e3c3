package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a person mistypes is one line and exit code 2.
func TestMistakesAreOneLineAndExitCode2(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("GITHUB_TOKEN", "x") // gh is not asked
	t.Setenv("ANTHROPIC_API_KEY", "")
	const unknown = "00000000-0000-4000-8000-000000000000"
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"no runs yet":       {[]string{"runs"}, "there are no runs in " + filepath.Join(dir, "no runs yet", "librarian")},
		"no such data":      {[]string{"runs", "show", "--data", filepath.Join(dir, "none"), unknown}, "there are no runs in"},
		"no limit":          {[]string{"runs", "--limit", "0"}, "--limit must be at least 1"},
		"unknown command":   {[]string{"nonsense"}, "librarian --help lists commands and flags"},
		"a dash":            {[]string{"ask", "-ERR it failed"}, "goes behind --"},
		"no question":       {[]string{"ask", "--repo", "."}, "there is no question"},
		"unknown run":       {[]string{"ask", "--continue", unknown, "why?"}, "Run not found: " + unknown + ". It may have been deleted; start a new run."},
		"unknown model":     {[]string{"ask", "--model", "nowhere/x", "--owner", "acme", "why?"}, "name its base_url in models.providers.nowhere"},
		"not a model":       {[]string{"ask", "--model", "gpt", "--owner", "acme", "why?"}, `"gpt" is not a model; write provider/model-id`},
		"no key":            {[]string{"ask", "--model", "anthropic/x", "--owner", "acme", "why?"}, "set ANTHROPIC_API_KEY"},
		"no configuration":  {[]string{"serve", "--config", filepath.Join(dir, "none.yml")}, "there is no configuration file"},
		"not a directory":   {[]string{"ask", "--repo", "./none", "why?"}, "./none is not a directory"},
		"too few arguments": {[]string{"runs", "show"}, "expected"},
	} {
		t.Setenv("XDG_STATE_HOME", filepath.Join(dir, name))
		var out, errs bytes.Buffer
		require.Equal(t, 2, run(t.Context(), row.args, &out, &errs), name)
		require.Regexp(t, `^librarian: [^\n]+\n$`, errs.String(), name)
		require.Contains(t, errs.String(), row.want, name)
		require.NotContains(t, errs.String(), "\n\n")
	}
}

func TestAnAnswerThatStandsOnNothingIsExitCode1(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("GITHUB_TOKEN", "x") // gh is not asked
	repo := filepath.Join(dir, "empty")
	require.NoError(t, exec.Command("git", "init", "-q", repo).Run())
	var out, errs bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"ask", "--repo", repo, "where does it begin?"}, &out, &errs))
	require.Contains(t, out.String(), "it has no commits yet")
	require.Contains(t, errs.String(), "librarian: nothing could be looked at")
}

func TestADrawnOnTerminalIsAskedFor(t *testing.T) {
	t.Parallel()
	require.Nil(t, columns(&bytes.Buffer{}, func(string) string { return "xterm" }), "a buffer is no terminal")
}
