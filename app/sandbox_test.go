package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where no command can be confined bash is not offered, and the log says why.
func TestBashIsNotOfferedUnconfined(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Nil(t, openSandbox(t.Context(), file, ToolsConfig{}, logger), "no scratch folder can be made there")
	require.Contains(t, log.String(), "bash is not offered: this system cannot confine a command")
	require.Contains(t, log.String(), "not a directory")

	log = lockedBuffer{}
	require.Nil(t, openSandbox(t.Context(), t.TempDir(), ToolsConfig{Disabled: []string{"bash"}}, logger))
	require.Empty(t, log.String(), "it was not wanted")
}
