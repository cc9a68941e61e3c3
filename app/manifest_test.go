package app

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/librarian-app/librarian/librarian/githubsim"
)

// The manifest says what is asked for: it is what the simulated GitHub gives the App in every test, and every test of the
// whole App passes with it; and it never asks to write contents.
func TestManifestAsksForTheLeast(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../deploy/app-manifest.yml")
	require.NoError(t, err)
	var m struct {
		Permissions map[string]string `yaml:"default_permissions"`
		Events      []string          `yaml:"default_events"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &m))
	require.Equal(t, githubsim.DefaultPermissions(), m.Permissions)
	require.Equal(t, "read", m.Permissions["contents"])
	want := githubsim.DefaultEvents()
	slices.Sort(want)
	slices.Sort(m.Events)
	require.Equal(t, want, m.Events)
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "deploy/app-manifest.yml")
}
