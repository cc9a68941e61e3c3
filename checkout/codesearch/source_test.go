package codesearch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/syntax"
)

func TestWhatPathsAreFor(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]pathKind{
		"test.c": kindTest, "tests.py": kindTest, "shop/tests.py": kindTest, "src/pool/tests.rs": kindTest, "src/commands/test.ts": kindSource,
		"src/Jar.UnitTests/Lid.cs": kindTest, "JarTests/Lid.swift": kindTest, "src/jvmIntegrationTest/Lid.kt": kindTest, "src/latest/lid.go": kindSource,
		"src/contest/lid.go": kindSource, "jar/lid_test.go": kindTest, "src/Attest/Lid.cs": kindSource, "src/greatests/lid.c": kindSource,
	} {
		require.Equal(t, want, kindOf(path, syntax.Language(path, nil), nil), path)
	}
}
