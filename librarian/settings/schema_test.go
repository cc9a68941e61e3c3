package settings

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/librarian-app/librarian/librarian"
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

// TestExample holds the commented example to the parser, and to naming every key there is.
func TestExample(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../deploy/librarian.yml")
	require.NoError(t, err)
	b := Default()
	b.Models = Models{Default: "builtin/scout", Allowed: []string{"builtin/scout"}}
	s, told := Merge(b, librarian.RepoName{Owner: "acme", Name: "web"}, Layer{Source: "example", Raw: raw, Found: true}, Layer{})
	require.Empty(t, told)
	require.True(t, s.Enabled)
	f := &faults{lines: map[string]int{}}
	_, ok := parse(raw, f)
	require.True(t, ok)
	everyKey(t, reflect.TypeFor[File](), "", f.lines)
}

func everyKey(t *testing.T, of reflect.Type, prefix string, seen map[string]int) {
	for f := range of.Fields() {
		key := prefix + f.Tag.Get("yaml")
		require.Contains(t, seen, key)
		switch {
		case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct:
			everyKey(t, f.Type.Elem(), key+".", seen)
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			everyKey(t, f.Type.Elem(), key+"[0].", seen)
		}
	}
}
