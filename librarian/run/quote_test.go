package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

// A comment in a body is hidden from the thread's readers; in its code, in a title and in a diff it is seen.
func TestQuoteTakesOutWhatIsNotSeen(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a  b", quote("a <!-- x\r\n--> b\u200b", 100))
	require.Equal(t, "why `<!-- x -->`?", quote("why `<!-- x -->`? <!-- hidden", 100))
	hunk := "@@ -1,3 +1,3 @@\n <!-- header\n-old\n+new"
	require.Equal(t, hunk, reviewFor(librarian.Place{Path: "a.html", Hunk: hunk}).Hunk)
	require.Equal(t, "<!-- is\n[cut after 7 characters]", plain("<!-- is shown", 7))
}
