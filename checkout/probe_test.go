package checkout_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
)

// TestProbe: a git that is too old, one that fetches behind our back, none at
// all and one that is broken are refused at the start, in a sentence.
func TestProbe(t *testing.T) {
	t.Parallel()
	real, err := exec.LookPath("git")
	require.NoError(t, err)
	for name, script := range map[string]string{
		"too old":            "echo git version 2.30.2",
		"fetches objects in": "unset GIT_NO_LAZY_FETCH; exec " + real + ` "$@"`,
		"says its version":   "echo hello",
		"exit 3":             "exit 3",
	} {
		path := filepath.Join(t.TempDir(), "git")
		require.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf("#!/bin/sh\n%s\n", script)), 0o700))
		s, err := checkout.New(checkout.Options{Dir: t.TempDir(), Git: path})
		require.NoError(t, err)
		err = s.Start(t.Context())
		require.ErrorContains(t, err, name)
		require.NoError(t, s.Close())
		require.NoError(t, s.Close())
	}
	s, err := checkout.New(checkout.Options{Dir: t.TempDir(), Git: "/nonexistent/git"})
	require.NoError(t, err)
	require.Error(t, s.Start(t.Context()))
	_, err = checkout.New(checkout.Options{Dir: "relative"})
	require.Error(t, err)
}
