package app

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/report"
)

func TestAPIReads(t *testing.T) {
	t.Parallel()
	ctx, a := t.Context(), newAPIReads()
	one := librarian.Repo{ID: librarian.GitHubRepo("forge.example", 1), Owner: "acme", Name: "one"}
	first, second := strings.Repeat("a", 40), strings.Repeat("b", 40)
	a.keep(one, first, "src/a.go", "file", []byte("one\r\ntwo\n"))
	a.keep(one, first, "src/a.go", "file", []byte("one\r\ntwo\n")) // read again
	a.keep(one, second, "src/a.go", "file", []byte("three\n"))
	a.keep(one, first, "link", "symlink", nil)
	a.keep(one, first, "image", "binary", []byte("\x00"))
	a.keep(one, first, "big.bin", "file", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"))

	require.Equal(t, []report.Source{{Key: "acme/one", Repo: one, SHA: first}, {Key: "acme/one@bbbbbbbbbbbb", Repo: one, SHA: second}}, a.all())
	for key, want := range map[string]string{"Acme/One": first, "acme/one@aaaaaaa": first, "acme/one@bbbbbbbbbbbb": second, "acme/one@" + second: second} {
		got, ok := a.source(key)
		require.True(t, ok, key)
		require.Equal(t, want, got.SHA)
	}
	for _, key := range []string{"acme/two", "acme/one@ccccccc", "acme/one@a"} {
		_, ok := a.source(key)
		require.False(t, ok, key)
	}
	for path, want := range map[string]report.FileInfo{"src/a.go": {Kind: report.KindText, Lines: 2}, "link": {Kind: report.KindSymlink}, "image": {Kind: report.KindBinary},
		"big.bin": {Kind: report.KindLFS, Lines: 3}} {
		got, err := a.Stat(ctx, one.ID, first, path)
		require.NoError(t, err)
		require.Equal(t, want, got, path)
	}
	_, err := a.Stat(ctx, one.ID, second, "link")
	require.ErrorIs(t, err, fs.ErrNotExist)
	lines, err := a.Lines(ctx, one.ID, first, "src/a.go", 2, 9)
	require.NoError(t, err)
	require.Equal(t, []string{"two"}, lines)
	require.Equal(t, []string{"src/a.go"}, a.Nearest(ctx, one.ID, first, "lib/A.go"))

	a.keep(one, first, "huge", "file", bytes.Repeat([]byte("x\n"), maxKept/2))
	got, err := a.Stat(ctx, one.ID, first, "huge")
	require.NoError(t, err)
	require.Zero(t, got.Lines, "what was not kept has no lines to cite")
}
