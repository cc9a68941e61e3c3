package checkout_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// TestMemory acquires a large repository in a process of its own and looks at
// the most memory that process ever had: 500 MB in the long mode, else 60.
func TestMemory(t *testing.T) {
	t.Parallel()
	sizes := map[int]int{20 << 20: 1, 2 << 20: 10, 100 << 10: 200} // 60 MB
	if long() {
		sizes = map[int]int{100 << 20: 2, 10 << 20: 20, 100 << 10: 1000} // 500 MB
	}
	srv := newServer(t)
	checkouttest.InitBare(t, srv.Dir("acme/large"))
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(writeLarge(pw, sizes)) }()
	cmd := exec.CommandContext(t.Context(), "git", "-c", "core.compression=0", "fast-import", "--quiet", "--date-format=raw", "--big-file-threshold=1m")
	cmd.Dir, cmd.Env, cmd.Stdin = srv.Dir("acme/large"), checkouttest.Env(), pr
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	child, text := startChild(t, childJob{Dir: t.TempDir(), Host: srv.Host(), Repos: []checkout.Repo{repo(srv, "acme/large")}, Refs: []string{""}, Memory: true})
	all, err := io.ReadAll(text)
	require.NoError(t, err)
	require.NoError(t, child.Wait())
	var peak int64
	for l := range strings.Lines(string(all)) {
		_, _ = fmt.Sscanf(l, "peak %d", &peak)
	}
	t.Logf("peak %d MB", peak>>20)
	require.Positive(t, peak)
	require.Less(t, peak, int64(200<<20))
}

// writeLarge writes a fast-import stream of incompressible files.
func writeLarge(w io.Writer, sizes map[int]int) error {
	bw := bufio.NewWriterSize(w, 1<<20)
	rng := rand.NewChaCha8([32]byte{1})
	fmt.Fprint(bw, "commit refs/heads/main\ncommitter Ann <ann@example.com> 1700000000 +0000\ndata 1\nx\n")
	for size, n := range sizes {
		for i := range n {
			fmt.Fprintf(bw, "M 100644 inline f%d/%d\ndata %d\n", size, i, size)
			if _, err := io.CopyN(bw, rng, int64(size)); err != nil {
				return err
			}
			fmt.Fprint(bw, "\n")
		}
	}
	return bw.Flush()
}
