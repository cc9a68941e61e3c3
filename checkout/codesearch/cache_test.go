package codesearch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// countingSource counts what is read, and can hold reading up.
type countingSource struct {
	TreeSource
	hashes map[string]string
	reads  atomic.Int64
	gate   chan struct{} // nil: open
	fail   error
}

func (s *countingSource) Files(ctx context.Context) ([]File, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	files, err := s.TreeSource.Files(ctx)
	for i := range files {
		files[i].Hash = s.hashes[files[i].Path]
	}
	return files, err
}

func (s *countingSource) Read(ctx context.Context, f File, limit int64) ([]byte, error) {
	s.reads.Add(1)
	if s.gate != nil {
		<-s.gate
	}
	return s.TreeSource.Read(ctx, f, limit)
}

func counting(files map[string]string) *countingSource {
	s := &countingSource{TreeSource: tree(files), hashes: map[string]string{}}
	for p, text := range files {
		s.hashes[p] = blobHash([]byte(text))
	}
	return s
}

var (
	commitA = strings.Repeat("a", 40)
	commitB = strings.Repeat("b", 40)
)

func search(t *testing.T, ix *Index, question string) []Candidate {
	t.Helper()
	res, err := ix.Search(t.Context(), Query{Question: question})
	require.NoError(t, err)
	return res.Candidates
}

func TestCacheBuildsOnceForAllWhoAsk(t *testing.T) {
	t.Parallel()
	c := NewCache(t.TempDir(), CacheOptions{})
	src := counting(map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n"})
	src.gate = make(chan struct{})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			ix, err := c.Get(t.Context(), Key{"store", commitA}, src)
			if err != nil || len(ix.files) != 1 {
				t.Error(err)
			}
		})
	}
	close(src.gate)
	wg.Wait()
	require.EqualValues(t, 1, src.reads.Load())
}

func TestCacheReadsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n", "b.go": "package a\n\nfunc Beta() {}\n", "c.go": "package a\n\nfunc Gamma() {}\n"}
	dir := t.TempDir()
	_, err := NewCache(dir, CacheOptions{}).Get(t.Context(), Key{"store", commitA}, counting(files))
	require.NoError(t, err)

	files["b.go"] = "package a\n\nfunc Delta() {}\n"
	files["moved/c.go"] = files["c.go"]
	delete(files, "c.go")
	src := counting(files)
	// Another process: nothing in memory, the neighbour on disk.
	ix, err := NewCache(dir, CacheOptions{}).Get(t.Context(), Key{"store", commitB}, src)
	require.NoError(t, err)
	require.EqualValues(t, 1, src.reads.Load(), "b.go alone has changed")
	require.Equal(t, "b.go", search(t, ix, "Delta")[0].Path)
	require.Equal(t, "moved/c.go", search(t, ix, "Gamma")[0].Path)
	require.Empty(t, search(t, ix, "Beta"))

	whole, err := Build(t.Context(), counting(files), Options{})
	require.NoError(t, err)
	for _, q := range []string{"Alpha", "Delta", "where is gamma", "package a"} {
		require.Equal(t, search(t, whole, q), search(t, ix, q), q)
	}
}

func TestCacheKeepsStoresApart(t *testing.T) {
	t.Parallel()
	c := NewCache(t.TempDir(), CacheOptions{})
	_, err := c.Get(t.Context(), Key{"private", commitA}, counting(map[string]string{"a.go": "package a\n\nfunc Secret() {}\n"}))
	require.NoError(t, err)
	ix, err := c.Get(t.Context(), Key{"public", commitA}, counting(map[string]string{"a.go": "package a\n\nfunc Open() {}\n"}))
	require.NoError(t, err)
	require.Empty(t, search(t, ix, "Secret"))
	require.NotContains(t, ix.dict.terms, "secret")

	require.NoError(t, c.Forget("private"))
	left, err := filepath.Glob(filepath.Join(c.dir, "*", "*.idx"))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestCacheHealsADamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := counting(smallTree)
	key := Key{"store", commitA}
	_, err := NewCache(dir, CacheOptions{}).Get(t.Context(), key, src)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.idx"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for name, damage := range map[string][]byte{"cut": whole[:len(whole)/2], "empty": nil, "other": []byte("librarian-codesearch-0\nxx"), "flipped": flip(whole, len(whole)-12)} {
		require.NoError(t, os.WriteFile(files[0], damage, 0o600), name)
		_, err := Open(files[0], nil)
		require.Error(t, err, name)
		ix, err := NewCache(dir, CacheOptions{}).Get(t.Context(), key, src)
		require.NoError(t, err, name)
		require.NotEmpty(t, search(t, ix, "Interval"), name)
	}
}

func flip(b []byte, at int) []byte {
	c := append([]byte(nil), b...)
	c[at] ^= 0xff
	return c
}

func TestCacheEvictsTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := NewCache(dir, CacheOptions{MaxBytes: 1, MaxOpen: 1})
	for _, commit := range []string{commitA, commitB} {
		_, err := c.Get(t.Context(), Key{"store", commit}, counting(smallTree))
		require.NoError(t, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.idx"))
	require.NoError(t, err)
	require.Len(t, files, 1, "the one just written stays, however large")
	require.Contains(t, files[0], commitB)
	require.Len(t, c.open, 1)
}

func TestCacheLeavesWithItsCallersContext(t *testing.T) {
	t.Parallel()
	c := NewCache(t.TempDir(), CacheOptions{})
	src := counting(smallTree)
	src.gate = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Get(ctx, Key{"store", commitA}, src)
	require.ErrorIs(t, err, context.Canceled)
	close(src.gate) // the building went on for others
	_, err = c.Get(t.Context(), Key{"store", commitA}, src)
	require.NoError(t, err)
}

func TestCacheRefusesWhatIsNoCommit(t *testing.T) {
	t.Parallel()
	c := NewCache(t.TempDir(), CacheOptions{})
	for _, commit := range []string{"", "main", "../../x", strings.Repeat("A", 40)} {
		_, err := c.Get(t.Context(), Key{"store", commit}, counting(smallTree))
		require.ErrorContains(t, err, "no full commit id", commit)
	}
	want := errors.New("no list")
	_, err := c.Get(t.Context(), Key{"store", commitA}, &countingSource{fail: want})
	require.ErrorIs(t, err, want)
	_, err = c.Get(t.Context(), Key{"store", commitA}, counting(smallTree))
	require.NoError(t, err, "a failure is not remembered")
}
