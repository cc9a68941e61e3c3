package checkout_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// testGit is the git program that stores use in tests; "" is the one on PATH.
// So all tests can be run with another version of it.
func testGit() string { return os.Getenv("LIBRARIAN_TEST_GIT") }

// childEnv makes the test binary a second process on a store, see child.
const childEnv = "LIBRARIAN_CHECKOUT_CHILD"

// childJob is what a child process is told to do.
type childJob struct {
	Dir, Host string
	Hosts     []string // further ones, by https
	CAFile    string
	Repos     []checkout.Repo
	Refs      []string // each of each repository
	Maintain  bool     // after each round
	Loop      time.Duration
	Ahead     bool // fetch histories, in the background and for each commit
	Memory    bool // print the peak of this process's memory at the end
	Budget    checkout.Budget
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := child(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child acquires what it is told, verifies and releases it, again and again
// until the time is over.
func child(text string) error {
	var job childJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		return err
	}
	opt := checkout.Options{Dir: job.Dir, Git: testGit(), Hosts: job.Hosts, PrivateHosts: []string{job.Host}, CAFile: job.CAFile, Budget: job.Budget}
	if job.Ahead {
		opt.Ahead = time.Millisecond
	}
	s, err := checkout.New(opt)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := s.Start(ctx); err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintln(os.Stdout, "started")
	for end := time.Now().Add(job.Loop); ; {
		for _, repo := range job.Repos {
			for _, ref := range job.Refs {
				c, err := s.Acquire(ctx, checkout.Request{Repo: repo, Ref: ref})
				if err != nil {
					return err
				}
				err = c.Verify(ctx)
				if job.Ahead && err == nil {
					err = c.Deepen(ctx, c.SHA(), 3)
				}
				fmt.Fprintln(os.Stdout, c.SHA(), c.How())
				c.Release()
				if err != nil {
					return err
				}
			}
		}
		if job.Maintain {
			if err := s.Maintain(ctx); err != nil {
				return err
			}
		}
		if time.Now().After(end) {
			if job.Memory {
				return printPeak()
			}
			return nil
		}
	}
}

// printPeak prints the most memory that this process ever had, in bytes.
func printPeak() error {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for l := range strings.Lines(string(b)) {
		var kb int64
		if _, err := fmt.Sscanf(l, "VmHWM: %d kB", &kb); err == nil {
			fmt.Fprintln(os.Stdout, "peak", kb<<10)
		}
	}
	return nil
}

// startChild starts a child process; its output comes from the reader.
func startChild(t testing.TB, job childJob) (*exec.Cmd, io.Reader) {
	t.Helper()
	b, err := json.Marshal(job)
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+string(b))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, out
}

func newServer(t testing.TB) *checkouttest.Server { return checkouttest.NewServer(t) }

// long reports whether the long modes are asked for.
func long() bool { return os.Getenv("LIBRARIAN_LONG") != "" }

// grepDisk fails if a file below dir, its name included, holds text.
func grepDisk(t testing.TB, dir, text string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		require.NotContains(t, p, text)
		if d.Type().IsRegular() {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			require.False(t, strings.Contains(string(b), text), "%s holds %s", p, text)
		}
		return nil
	}))
}

// onlyWhole fails if anything half-made lies about.
func onlyWhole(t testing.TB, dir string) {
	t.Helper()
	require.Empty(t, leftovers(t, dir))
}

// leftovers lists what is half-made.
func leftovers(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"tmp/*", "stores/*/*/repo.git/*.lock", "stores/*/*/repo.git/objects/pack/tmp_*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		out = append(out, found...)
	}
	return out
}

// asEither reports whether err is one of two kinds of error.
func asEither[A, B error](err error, a *A, b *B) bool { return errors.As(err, a) || errors.As(err, b) }

// repeatID is the id of a blob that is data n times over.
func repeatID(data []byte, n int) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data)*n)
	for range n {
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
