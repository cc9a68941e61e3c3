// Package tooltest checks what every tool must say of itself.
package tooltest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool"
)

var update = flag.Bool("update", false, "write the snapshots of the tools' schemas anew")

var (
	nameForm  = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	boundForm = regexp.MustCompile(`at most [0-9]+|[0-9]+ to [0-9]+|from 1|^The number of the issue`)
)

// Snapshots compares each tool's name, description, effect and schema with testdata/<name>.json in the test's folder, so that a
// change of what models are told is seen in review. It also holds the tools to the house's rules: a stated effect, a described
// parameter, the default of each optional one, the bounds of each number and list. With -update it writes the files.
func Snapshots(t *testing.T, tools []tool.Tool) {
	t.Helper()
	known := map[string]bool{}
	for _, tl := range tools {
		spec := tl.Spec()
		known[spec.Name+".json"] = true
		t.Run(spec.Name, func(t *testing.T) {
			check(t, spec)
			verb, _ := tl.Trace(json.RawMessage(`{"`))
			require.NotEmpty(t, verb, "a verb for the trace, whatever the arguments")
			got, err := json.MarshalIndent(spec, "", "  ")
			require.NoError(t, err)
			got = append(got, '\n')
			file := filepath.Join("testdata", spec.Name+".json")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, got, 0o644))
				return
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "go test -update writes it")
			require.Equal(t, string(want), string(got), "what models are told has changed; go test -update")
		})
	}
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	for _, f := range files {
		require.True(t, known[filepath.Base(f)], "%s is of no tool", f)
	}
}

func check(t *testing.T, spec tool.Spec) {
	t.Helper()
	require.Regexp(t, nameForm, spec.Name)
	require.Contains(t, []tool.Effect{tool.Read, tool.Write, tool.Finish}, spec.Effect)
	require.NotEmpty(t, spec.Description)
	require.LessOrEqual(t, len(spec.Description), 700)
	require.True(t, strings.HasSuffix(spec.Description, "."), "sentences")
	var schema struct {
		Type       string `json:"type"`
		Required   []string
		Properties map[string]struct {
			Type        any
			Description string
			Minimum     *float64
			MaxItems    *int
		}
		AdditionalProperties any
	}
	require.NoError(t, json.Unmarshal(spec.Schema, &schema))
	require.Equal(t, "object", schema.Type)
	for name, p := range schema.Properties {
		require.Regexp(t, nameForm, name)
		require.NotEmpty(t, p.Description, name)
		require.IsType(t, "", p.Type, "%s: one type, which every provider takes", name)
		switch p.Type {
		case "integer":
			require.NotNil(t, p.Minimum, "%s has no least value", name)
			require.Regexp(t, boundForm, p.Description, "%s: how large, or what it counts from", name)
		case "array":
			require.NotNil(t, p.MaxItems, "%s has no limit", name)
			require.Contains(t, p.Description, fmt.Sprintf("at most %d", *p.MaxItems), name)
		}
		if !slices.Contains(schema.Required, name) {
			require.Contains(t, p.Description, "Default", "%s is optional", name)
		}
	}
}
