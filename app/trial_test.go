package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/store"
)

func TestWhetherQuestionsCanBeKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs, err := store.Open(t.Context(), store.Options{Dir: dir})
	require.NoError(t, err)
	s := &Server{cfg: Config{Server: ServerConfig{Data: dir}}}
	require.NoError(t, s.canKeep(t.Context(), runs))
	require.NoFileExists(t, filepath.Join(dir, "trial"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "trial"), 0o700)) // there is no room for it
	require.Error(t, s.canKeep(t.Context(), runs))
	require.NoError(t, s.canKeep(t.Context(), runs), "not for ever")
	require.NoError(t, runs.Close())
	require.Error(t, s.canKeep(t.Context(), runs), "the database takes nothing")
}
