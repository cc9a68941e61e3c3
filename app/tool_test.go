package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
)

func TestToolByHand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code := filepath.Join(dir, "pantry.git")
	checkouttest.Build(t, code, "-- @commit c --\n-- a.txt --\none\ntwo \x1b[31mred\u202e\n-- src/b.go --\npackage b\n")
	call := func(json bool, name string, args ...string) (bool, string, error) {
		var out bytes.Buffer
		ok, err := Tool(t.Context(), ToolOptions{Name: name, Args: args, JSON: json, Out: &out,
			TerminalOptions: TerminalOptions{Repos: []string{code}, Config: Default(), CacheDir: filepath.Join(dir, "cache"), Log: slog.New(slog.DiscardHandler), Now: time.Now}})
		return ok, out.String(), err
	}
	ok, out, err := call(false, "read", "path=a.txt", "offset=2")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "two \uFFFD[31mred\uFFFD\n", out, "what a file holds does not speak to the terminal")
	ok, out, err = call(false, "grep", `{"pattern":"^package","glob":"*.go"}`)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "src/b.go:1: package b\n", out)
	ok, out, err = call(true, "read", "path=src/b.go")
	require.NoError(t, err)
	require.True(t, ok)
	require.Contains(t, out, `"text": "package b"`)
	require.Contains(t, out, `"path": "src/b.go",`)

	ok, out, err = call(false, "read", "path=nope")
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, out, "nope not found at ")
	ok, out, err = call(false, "")
	require.NoError(t, err)
	require.True(t, ok)
	require.Contains(t, out, "checkout_repo        Gives you a read-only working tree of a repository at one commit.\n")
	// What was just committed is what is read.
	require.NoError(t, os.RemoveAll(code))
	checkouttest.Build(t, code, "-- @commit c --\n-- a.txt --\nanother\n")
	ok, out, err = call(false, "read", "path=a.txt")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "another\n", out)
	ok, out, err = call(false, "git_log")
	require.NoError(t, err)
	require.True(t, ok, out)
	for _, bad := range [][]string{{"nope"}, {"read", "pth=a"}, {"read", "path"}} {
		_, _, err = call(false, bad[0], bad[1:]...)
		var usage *UsageError
		require.ErrorAs(t, err, &usage)
	}
}
