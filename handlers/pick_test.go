package handlers

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// pickTable are payloads in unusual spellings; picked says whether they can be read without a full decoding.
var pickTable = []struct {
	name, in string
	picked   bool
}{
	{"empty", `{}`, true},
	{"blank space", " {\n\"action\" :\t\"created\" , \"x\" : [ 1 , {\"action\": 2} ] }\n ", true},
	{"nested", `{"comment":{"id":7,"x":{"id":8},"user":{"id":9,"url":"{/id}","login":"mo\"na"}},"sender":null}`, true},
	{"quotes and backslashes", `{"x":"a\\","y":"\\\" } ] , ","action":"a\\\"b"}`, true},
	{"twice", `{"issue":{"id":1,"number":2},"issue":{"number":3},"issue":{"title":"t"}}`, true},
	{"null first", `{"issue":null,"issue":{"number":3}}`, true},
	{"read whole", `{"issue":{"pull_request":{"url":"u"},"labels":[{"id":1,"name":"a"},{"name":"b"}],"created_at":"2026-11-30T12:00:00Z"}}`, true},
	{"another case", `{"Action":"created"}`, false},
	{"another case below", `{"repository":{"ID":3}}`, false},
	{"an escape in a key", `{"\u0061ction":"created"}`, false},
	{"a letter that folds", `{"i\u017f\u017fue":{"id":3}}`, false},
	{"of another type", `{"issue":[1,2],"x":1}`, false},
	{"a number for a text", `{"action":1}`, false},
	{"behind the end", `{} {}`, false},
	{"not closed", `{"action":"created"`, false},
	{"no colon", `{"action" "created"}`, false},
	{"no value", `{"action":,"x":1}`, false},
	{"no value at the end", `{"x":}`, false},
	{"a comma at the end", `{"action":"a",}`, false},
	{"not an object", `[{"action":"a"}]`, false},
	{"nothing", ``, false},
}

// What is picked is what encoding/json would have read; what cannot be picked is left to it, with its errors.
func TestPick(t *testing.T) {
	t.Parallel()
	for _, row := range pickTable {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			picked, ok := pick([]byte(row.in), envelopeKeys)
			require.Equal(t, row.picked, ok && json.Unmarshal(picked, new(envelope)) == nil, "%s", picked)
			checkPick(t, []byte(row.in))
		})
	}
	payload := []byte(`{"zen":"{\"","issue":{"id":3,"url":"https://x","number":4,"user":{"id":5,"type":"User","url":"u"}}}`)
	picked, ok := pick(payload, envelopeKeys)
	require.True(t, ok)
	require.Equal(t, `{"issue":{"id":3,"number":4,"user":{"id":5,"type":"User"}}}`, string(picked), "nothing else is looked at")
}

// What no envelope is read of is left as it is.
func TestEssence(t *testing.T) {
	t.Parallel()
	payload := `{"action":"a","issue":{"id":3,"url":"u"},"client_payload":{"x":1}}`
	require.Equal(t, `{"action":"a","issue":{"id":3}}`, string(essence("issues", []byte(payload))))
	require.Equal(t, payload, string(essence("repository_dispatch", []byte(payload))))
	require.Equal(t, `{"Action":"a"}`, string(essence("issues", []byte(`{"Action":"a"}`))))
}

func checkPick(t *testing.T, payload []byte) {
	var want, got envelope
	err := json.Unmarshal(payload, &want)
	if gotErr := decode(essence("issues", payload), &got); gotErr != nil {
		require.Error(t, err, "%s", payload)
		return
	}
	if err != nil { // in what was stepped over
		require.False(t, json.Valid(payload), "%s: %v", payload, err)
		return
	}
	require.True(t, reflect.DeepEqual(want, got), "%s", payload)
}

func FuzzPick(f *testing.F) {
	for _, row := range pickTable {
		f.Add([]byte(row.in))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { checkPick(t, payload) })
}
