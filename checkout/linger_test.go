package checkout_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
)

// TestLingeringChild: git ends well and leaves a child that keeps git's standard error and our locks. The fetch is good, and the
// child does not keep the next one out.
func TestLingeringChild(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath(cmp.Or(testGit(), "git"))
	require.NoError(t, err)
	wrapper := filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.WriteFile(wrapper, fmt.Appendf(nil, "#!/bin/sh\n[ \"$1\" = fetch ] && sleep 600 >/dev/null </dev/null &\nexec %s \"$@\"\n", git), 0o700))
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	s := newStore(t, srv, func(o *checkout.Options) { o.Git = wrapper })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for ref, id := range map[string]string{"main": "second", "topic": "third"} {
		c, err := s.Acquire(ctx, checkout.Request{Repo: repo(srv, "acme/one"), Ref: ref})
		require.NoError(t, err)
		require.Equal(t, ids[id], c.SHA())
		c.Release()
	}
}
