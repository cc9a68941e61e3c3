package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// T9's kin: settings that the App cannot see do not narrow, which whoever asks for help is told. Whether they exist is not.
func TestT9_OrganisationSettingsOutOfSightAreSaid(t *testing.T) {
	t.Parallel()
	const out = "acme/.github exists and is private, they have no effect until I am installed on it too"
	narrow := map[string]string{"librarian.yml": "limits:\n  steps: 10\n"}
	f := newFlow(t, nil, nil)
	help := func() string { return f.command("acme/pantry", simUser, "@librarian help") }
	require.NotContains(t, help(), out, "the App is on all repositories, so that one would be seen")

	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	inst := f.sim.Deliveries()[len(f.sim.Deliveries())-1].Installation
	require.NoError(t, f.sim.RemoveRepositories(inst, "acme/cellar")) // from now on chosen ones
	missing := help()
	require.Contains(t, missing, out)

	f.addRepo(".github", narrow, nil)
	require.NoError(t, f.sim.SetVisibility("acme/.github", "private"))
	f.stop()
	f.serve() // nothing is remembered
	hidden := help()
	require.Contains(t, hidden, out)
	require.Contains(t, hidden, "40 steps")

	require.NoError(t, f.sim.AddRepositories(inst, "acme/.github"))
	f.stop()
	f.serve()
	seen := help()
	require.NotContains(t, seen, out)
	require.Contains(t, seen, "10 steps")
}
