package librarian

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseReadTarget(t *testing.T) {
	t.Parallel()
	repo := RepoName{Owner: "acme", Name: "app"}
	for s, want := range map[string]ReadTarget{
		"acme/app/a.go":               {Repo: repo, Path: "a.go"},
		"acme/app/a/b.go#L3":          {Repo: repo, Path: "a/b.go", Start: 3, End: 3},
		"acme/app/a.go#L3-L9":         {Repo: repo, Path: "a.go", Start: 3, End: 9},
		"acme/app/C#/F#.cs":           {Repo: repo, Path: "C#/F#.cs"},
		"acme/app/C#/F#.cs#L2":        {Repo: repo, Path: "C#/F#.cs", Start: 2, End: 2},
		"acme/app/#Load/a.go":         {Repo: repo, Path: "#Load/a.go"},
		"acme/app/#L1/a.go#L1-L1":     {Repo: repo, Path: "#L1/a.go", Start: 1, End: 1},
		"`acme/app/a.go#L3`":          {Repo: repo, Path: "a.go", Start: 3, End: 3},
		"`acme/app/a b/c d.go#L3-L9`": {Repo: repo, Path: "a b/c d.go", Start: 3, End: 9},
	} {
		got, ok := ParseReadTarget(s)
		require.True(t, ok, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "acme/app", "acme/app/", "acme/app//", "acme/app/a b.go", "`acme/app/a b.go", "`acme/app/a.go` and `b`", "`a b/app/x`", "acme/app/a.go#L0", "acme/app/a.go#Lx", "acme/app/a.go#L9-L3", "acme/app/a.go#L3-9", "a b/app/x", "-/../x"} {
		_, ok := ParseReadTarget(s)
		require.False(t, ok, s)
	}
}

func TestCodeSpan(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "a", "`a b`": "a b", "`` a ` b ``": "a ` b", "`` ` ``": "`", "` a `": "a", "`a": "`a", "a`": "a`", "``": "``", "` `": "` `", "```": "```",
		"`a` or `b`": "`a` or `b`", "`a``": "`a``", "``a`": "``a`", "``a```b``": "a```b", "`a` ": "`a` ",
	} {
		require.Equal(t, want, CodeSpan(in), "%q", in)
	}
}
