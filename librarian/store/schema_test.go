package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

func TestOpenStatesAreTheNonFinalOnes(t *testing.T) {
	t.Parallel()
	for _, s := range []librarian.State{librarian.StateQueued, librarian.StateRunning, librarian.StateVerified, librarian.StatePublished,
		librarian.StateFailed, librarian.StateCancelled, librarian.StateDeclined, librarian.StateInterrupted} {
		require.Equal(t, !s.Final(), strings.Contains(openStates, "'"+string(s)+"'"), string(s))
	}
}

func TestRebind(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a = ? AND b IN (?, ?)", sqlite.rebind("a = ? AND b IN ("+placeholders(2)+")"))
	require.Equal(t, "a = $1 AND b IN ($2, $3)", postgres.rebind("a = ? AND b IN ("+placeholders(2)+")"))
	require.Equal(t, "none", postgres.rebind("none"))
}
