package app

import (
	"bytes"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDemoAnswersItsOwnQuestion: a newcomer's first look is an answer that is right, with links that open.
func TestDemoAnswersItsOwnQuestion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, Demo(t.Context(), DemoOptions{Out: &out, Log: slog.New(slog.DiscardHandler), Now: time.Now}))
	file := `perishable|jar|pantry`
	if ownCheckout() != "" {
		file = `handlers/mention\.go`
	}
	require.Regexp(t, `The best match is .*/blob/[0-9a-f]{40}/.*(`+file+`).*#L\d+`, out.String())
	links := regexp.MustCompile(`Of (\d+) links to code in the answer, (\d+) open\.`).FindStringSubmatch(out.String())
	require.NotNil(t, links, out.String())
	require.Equal(t, links[1], links[2])
	require.NotEqual(t, "0", links[1])
}
