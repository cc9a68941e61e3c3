package settings

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write deploy/librarian.schema.json anew")

func TestSchemaFile(t *testing.T) {
	t.Parallel()
	const path = "../../deploy/librarian.schema.json"
	if *update {
		require.NoError(t, os.WriteFile(path, Schema(), 0o600))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(Schema(), got), "run: go test ./librarian/settings -update")
}

// TestSchemaAgrees holds the schema against the parser: what one refuses the other does.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	var schema jsonschema.Schema
	require.NoError(t, json.Unmarshal(Schema(), &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)
	for text, ok := range map[string]bool{
		"enabled: false\ninclude: [acme/*]\nexclude: ['acme/b-?']": true,
		"ask: {private: write, public: none, bots: [1]}":           true,
		"share: [{from: acme/a, into: acme/*}]":                    true,
		"limits: {steps: 3, time: 1m30s, cost: 0.5}":               true,
		"triggers: {label: false, events: true}":                   true,
		"scope: {repos: [acme/x], owners: [acme]}":                 true,
		"notify: edit":              true,
		"notify: loud":              false,
		"enabled: 1":                false,
		"include: acme/x":           false,
		"include: [acme]":           false,
		"unknown: 1":                false,
		"ask: {who: write}":         false,
		"limits: {steps: 2}":        false,
		"limits: {steps: 2.5}":      false,
		"limits: {time: soon}":      false,
		"limits: {cost: 0}":         false,
		"scope: {repos: [-x/y]}":    false,
		"triggers: {questions: []}": false,
		"tools: {disabled: ['']}":   false,
	} {
		var value any
		require.NoError(t, yaml.Unmarshal([]byte(text), &value))
		require.Equal(t, ok, resolved.Validate(value) == nil, "schema: %s", text)
		f := &faults{lines: map[string]int{}}
		_, whole := parse([]byte(text), f)
		require.Equal(t, ok, whole && len(f.all) == 0, "parser: %s: %v", text, f.all)
	}
}
