package checkout

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTreeFiles: whatever the order of the files, each is opened, and nothing that a link leads to.
func TestTreeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var entries []Entry
	for _, p := range []string{"a", "d/a", "d/b", "d/c", "d/e/a", "d/e/b", "d/f", "z", "d/a", "d/e/a", "d/e/b"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, p), []byte(p), 0o600))
		entries = append(entries, Entry{Path: p, Kind: File, Size: int64(len(p))})
	}
	s := scanner{treeFiles: treeFiles{dir: dir}}
	defer s.close()
	for range 2 {
		for i := range entries {
			b, err := s.read(&entries[i])
			require.NoError(t, err)
			require.Equal(t, entries[i].Path, string(b))
		}
	}
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "d/link")))
	for _, p := range []string{"link", "d/link", "d/none", "none/a", "none/b", "none/c", "d/none"} {
		_, err := s.read(&Entry{Path: p, Size: 1})
		require.Error(t, err, p)
	}
	b, err := s.read(&entries[1])
	require.NoError(t, err)
	require.Equal(t, "d/a", string(b))

	s.close()
	s.close()
	require.Zero(t, s.root)
	require.Zero(t, s.folder)
	gone := treeFiles{dir: filepath.Join(dir, "gone")}
	defer gone.close()
	_, err = gone.open(&entries[0])
	require.ErrorIs(t, err, os.ErrNotExist)
}
