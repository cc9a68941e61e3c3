package codetool_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The smallest test around a line is shown, and a file of tests is outlined by them.
func TestOutlineOfTests(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- a.test.ts --\nimport x\n\ndescribe('queue', () => {\n  it('waits', async () => {\n    await x()\n  })\n})\n-- b.bats --\n@test \"waits\" {\n  x\n}\n")
	require.Regexp(t, `^a\.test\.ts \(typescript, [a-z-]+\): 2 declarations\n\n3-7  test queue\n  4-6  test waits$`, b.ok(t, "outline", `{"path":"a.test.ts"}`).Text)
	got := b.ok(t, "read_enclosing", `{"path":"a.test.ts","line":5}`)
	require.Regexp(t, `^a\.test\.ts:4-6: test waits \(found by [a-z-]+\)\n\n  it\('waits', async \(\) => \{\n    await x\(\)\n  \}\)$`, got.Text)
	require.Equal(t, []string{"a.test.ts:4-6"}, b.shown(t, got, b.sha("c")))
	require.Contains(t, b.ok(t, "read_enclosing", `{"path":"b.bats","line":2}`).Text, "b.bats:1-3: test waits (found by heuristic)")
}
