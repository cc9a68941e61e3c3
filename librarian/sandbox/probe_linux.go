//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Probe tries the walls once, with canaries: a file that may be read and one that may not, writing outside scratch, a socket of each
// kind, a namespace, another process. An error says what does not hold; then the sandbox must not be used.
func (s *Sandbox) Probe(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "librarian-probe-")
	if err != nil {
		return fmt.Errorf("sandbox: probe: %w", err)
	}
	defer func() { _ = removeAll(dir) }()
	open, closed := filepath.Join(dir, "open"), filepath.Join(dir, "closed")
	for _, d := range []string{open, closed} {
		if err := os.Mkdir(d, 0o755); err != nil { //nolint:gosec // the walls must hold without the mode's help
			return fmt.Errorf("sandbox: probe: %w", err)
		}
		if err := os.WriteFile(filepath.Join(d, "canary"), []byte("canary"), 0o666); err != nil { //nolint:gosec // as above
			return fmt.Errorf("sandbox: probe: %w", err)
		}
	}
	// Each line prints what must hold; only builtins and cat are used.
	script := fmt.Sprintf(`
[ "$(cat %[1]s/canary)" = canary ] && echo reads
cat %[2]s/canary >/dev/null 2>&1 || echo reads-no-other
(echo x >>%[2]s/canary) 2>/dev/null || echo writes-no-other
(echo x >>%[1]s/canary) 2>/dev/null || echo tree-is-read-only
echo x >"$TMPDIR/x" && [ "$(cat "$TMPDIR/x")" = x ] && echo scratch
(exec 3<>/dev/tcp/127.0.0.1/9) 2>&1 | { read -r l; case $l in *"not permitted"*) echo no-network;; esac; }
cat /proc/1/environ >/dev/null 2>&1 || echo no-proc
cat /etc/shadow >/dev/null 2>&1 || echo no-shadow
kill -0 %[3]d 2>/dev/null || echo no-signals
`, open, closed, os.Getpid())
	o, err := s.Run(ctx, Command{Line: script, Dir: open, Read: []string{open}, Timeout: 10 * time.Second})
	if err != nil {
		return err
	}
	want := []string{"reads", "reads-no-other", "writes-no-other", "tree-is-read-only", "scratch", "no-network", "no-proc", "no-shadow", "no-signals"}
	got := map[string]bool{}
	for l := range strings.SplitSeq(o.Text, "\n") {
		got[l] = true
	}
	var missing []string
	for _, w := range want {
		if !got[w] {
			missing = append(missing, w)
		}
	}
	if len(missing) > 0 {
		return errors.New("sandbox: probe: the walls do not hold: " + strings.Join(missing, ", "))
	}
	return nil
}
