package checkout_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
)

func TestReadBareRefusesWhatIsNoCommit(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"", "HEAD", "--help", "main"} {
		_, err := checkout.ReadBare(t.Context(), "git", t.TempDir(), commit, 1<<20)
		require.ErrorContains(t, err, "not a full commit sha", commit)
	}
}
