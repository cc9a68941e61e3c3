package handlers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLookUpsOfCode(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"@librarian grep acme/app `func main`":            "/grep acme/app `func main`",
		"@librarian read `acme/app/a b/c#d.go#L3`":        "/read `acme/app/a b/c#d.go#L3`",
		"@librarian read `acme/app/a.go` first":           "read `acme/app/a.go` first",
		"@librarian search_code `errors.Is(err, target)`": "/search_code `errors.Is(err, target)`",
	} {
		m, ok := Parse(body, testNames)
		require.Equal(t, want, shown(m, ok), "%q", body)
	}
}
