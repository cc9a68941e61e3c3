package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// What read_github_file shows of a file that is too big for GitHub's API comes from a checkout, and can be cited like all else: also
// lines that lie behind the bytes that are held of a file at a time.
func TestABigFileIsReadInACheckoutAndCited(t *testing.T) {
	t.Parallel()
	var big strings.Builder
	last := 0
	for big.Len() < 33<<20 {
		last++
		fmt.Fprintf(&big, "shelf %d = %s;\n", last, strings.Repeat("x", 900))
	}
	cite := func(lines, note string) args {
		return args{"repo": "acme/depot", "file": "stock.txt", "lines": lines, "note": note}
	}
	m := modeltest.New(
		modeltest.Call(use("read_github_file", args{"owner": "acme", "repo": "depot", "path": "stock.txt", "offset": last - 1})),
		results("It is the last shelf.", cite(fmt.Sprint(last), fmt.Sprintf("`shelf %d = %s;` is the last", last, strings.Repeat("x", 900))), cite(fmt.Sprint(last+1), "past the end")),
		results("It is the last shelf.", cite(fmt.Sprint(last), "the last"), cite("1", "never shown")),
		results("It is the last shelf.", cite(fmt.Sprint(last), "the last")))
	f := newFlow(t, m, func(f *flow) { f.addRepo("depot", map[string]string{"stock.txt": big.String()}, nil) })
	_, answers := f.ask("acme/pantry", simUser, "@librarian which shelf of acme/depot is the last?")
	require.Len(t, answers, 1)
	require.NoError(t, m.Done())
	require.Contains(t, answers[0].Body, fmt.Sprintf("stock.txt#L%d)", last))
	require.NotContains(t, answers[0].Body, "could not be verified")
}
