package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

func dispatchPayload(t testing.TB, clientPayload string, edits ...func(map[string]any)) string {
	t.Helper()
	return eventPayload(t, "librarian", append([]func(map[string]any){set(json.RawMessage(clientPayload), "client_payload")}, edits...)...)
}

const testRun = "0b9d8f2e-7a53-4a33-8f0e-0d8a1d2b3c4d"

var testSHA = strings.Repeat("c0ffee00", 5)

func TestL4_DispatchAsks(t *testing.T) {
	t.Parallel()
	commit := librarian.Place{Kind: librarian.PlaceCommit}
	for _, tt := range []struct {
		name, payload string
		want          librarian.Request
	}{
		{"L7 without a target", `{"librarian":{"query":"why?"}}`, librarian.Request{Question: "why?", Place: commit}},
		{"all there is", `{"librarian":{"query":"why?","repos":["acme/api","a/b.c"],"owners":["acme"],"continue_from":"` + strings.ToUpper(testRun) + `","issue_number":12,"model":"openai/gpt-5"}}`,
			librarian.Request{
				Question: "why?", Repos: []string{"acme/api", "a/b.c"}, Owners: []string{"acme"}, Continue: testRun, Model: "openai/gpt-5",
				Place: librarian.Place{Kind: librarian.PlaceIssue, Number: 12},
			}},
		{"a pull request", `{"librarian":{"query":"why?","pull_number":3}}`, librarian.Request{Question: "why?", Place: librarian.Place{Kind: librarian.PlacePull, Number: 3}}},
		{"a number that an expression made a string", `{"librarian":{"query":"why?","pull_number":"3"}}`,
			librarian.Request{Question: "why?", Place: librarian.Place{Kind: librarian.PlacePull, Number: 3}}},
		{"a commit", `{"librarian":{"query":"why?","sha":"` + strings.ToUpper(testSHA) + `"}}`,
			librarian.Request{Question: "why?", Place: librarian.Place{Kind: librarian.PlaceCommit, SHA: testSHA}}},
		{"keys nobody knows, and nulls", `{"x":[],"librarian":{"query":"why?","x":1,"repos":null,"owners":[],"continue_from":null,"issue_number":null,"sha":null,"model":null}}`,
			librarian.Request{Question: "why?", Owners: []string{}, Place: commit}},
		{"hidden text, and a mention of us", `{"librarian":{"query":" why,\u0000 @librarian?<!-- x -->\n"}}`, librarian.Request{Question: "why,  librarian?", Place: commit}},
		{"what would be a command in a comment is a question", `{"librarian":{"query":"stop"}}`, librarian.Request{Question: "stop", Place: commit}},
		{"as long as may be", `{"librarian":{"query":"` + strings.Repeat("ü", librarian.MaxQuestion) + `"}}`,
			librarian.Request{Question: strings.Repeat("ü", librarian.MaxQuestion), Place: commit}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := ask(t, "repository_dispatch", dispatchPayload(t, tt.payload))
			require.NotNil(t, r)
			require.Positive(t, r.Place.TriggerID)
			want := tt.want
			want.Kind, want.Principal, want.AskedAt = librarian.KindQuestion, librarian.Principal{ID: 7, Login: "mona"}, r.AskedAt
			want.Place = place(want.Place)
			want.Place.Trigger, want.Place.TriggerID = librarian.TriggerDispatch, r.Place.TriggerID
			require.Empty(t, cmp.Diff(want, *r))
		})
	}
	require.Nil(t, ask(t, "repository_dispatch", eventPayload(t, "deploy", set("librarian", "client_payload", "x"))), "another type")
}

// L4: what cannot be understood is told where the answer would have gone, in words that quote nothing of it.
func TestL4_DispatchFaults(t *testing.T) {
	t.Parallel()
	issue, pull, commit := librarian.PlaceIssue, librarian.PlacePull, librarian.PlaceCommit
	list := func(n int) string { return `["` + strings.Repeat(`a/b","`, n-1) + `a/b"]` }
	for _, tt := range []struct {
		name, payload string
		at            librarian.PlaceKind
		number        int
		says          string
	}{
		{"no payload", `null`, commit, 0, "`client_payload` is not an object with the key librarian"},
		{"an empty payload", `{}`, commit, 0, "`client_payload.librarian` is missing"},
		{"a payload of a wrong type", `"SECRET"`, commit, 0, "`client_payload` is not an object"},
		{"null", `{"librarian":null}`, commit, 0, "`client_payload.librarian` is missing"},
		{"of a wrong type", `{"librarian":"SECRET"}`, commit, 0, "`client_payload.librarian` is not an object"},
		{"a list", `{"librarian":["SECRET"]}`, commit, 0, "`client_payload.librarian` is not an object"},
		{"no query", `{"librarian":{"issue_number":12}}`, issue, 12, "`query` is missing"},
		{"query null", `{"librarian":{"query":null,"issue_number":12}}`, issue, 12, "`query` is missing"},
		{"query empty", `{"librarian":{"query":" \u200b\n","issue_number":12}}`, issue, 12, "`query` is empty"},
		{"query all hidden", `{"librarian":{"query":"<!-- SECRET -->"}}`, commit, 0, "`query` is empty"},
		{"query of a wrong type", `{"librarian":{"query":{"SECRET":1},"pull_number":3}}`, pull, 3, "`query` is not a string"},
		{"query too long", `{"librarian":{"query":"` + strings.Repeat("ü", librarian.MaxQuestion+1) + `","pull_number":3}}`, pull, 3, "`query` has 16001 characters; 16000 are allowed"},
		{"repos a string", `{"librarian":{"query":"q","repos":"SECRET/x"}}`, commit, 0, "`repos` is not a list of strings"},
		{"repos of numbers", `{"librarian":{"query":"q","repos":[1]}}`, commit, 0, "`repos` is not a list of strings"},
		{"too many repos", `{"librarian":{"query":"q","repos":` + list(21) + `}}`, commit, 0, "`repos` has 21 entries; 20 are allowed"},
		{"repos that are none", `{"librarian":{"query":"q","repos":["a/b","../SECRET"]}}`, commit, 0, "`repos` has an entry that is not owner/name"},
		{"owners that are none", `{"librarian":{"query":"q","owners":["a/b"]}}`, commit, 0, "`owners` has an entry that is not an account's name"},
		{"continue_from", `{"librarian":{"query":"q","continue_from":"SECRET"}}`, commit, 0, "`continue_from` is not a run's id"},
		{"continue_from of a wrong type", `{"librarian":{"query":"q","continue_from":7}}`, commit, 0, "`continue_from` is not a string"},
		{"an issue's number below 1", `{"librarian":{"query":"q","issue_number":0}}`, commit, 0, "`issue_number` is not a number above 0"},
		{"an issue's number, fractional", `{"librarian":{"query":"q","issue_number":1.5}}`, commit, 0, "`issue_number` is not a number above 0"},
		{"an issue's number, huge", `{"librarian":{"query":"q","issue_number":99999999999999999999}}`, commit, 0, "`issue_number` is not a number above 0"},
		{"an issue's number of a wrong type", `{"librarian":{"query":"q","issue_number":[12]}}`, commit, 0, "`issue_number` is not a number above 0"},
		{"a short sha", `{"librarian":{"query":"q","sha":"c0ffee"}}`, commit, 0, "`sha` is not a full commit id"},
		{"a sha that is a ref", `{"librarian":{"query":"q","sha":"` + strings.Repeat("main", 10) + `"}}`, commit, 0, "`sha` is not a full commit id"},
		{"two targets", `{"librarian":{"query":"q","issue_number":12,"sha":"` + testSHA + `"}}`, issue, 12, "name only one of issue_number, pull_number and sha"},
		{"a model of a wrong form", `{"librarian":{"query":"q","model":"a b"}}`, commit, 0, "`model` is not a model's name"},
		{"several", `{"librarian":{"repos":1,"owners":1,"pull_number":3}}`, pull, 3, "`query` is missing; `repos` is not a list of strings; `owners` is not a list of strings."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := ask(t, "repository_dispatch", dispatchPayload(t, tt.payload))
			require.NotNil(t, r)
			require.Equal(t, librarian.KindCommand, r.Kind)
			require.Equal(t, librarian.CommandFault, r.Command)
			require.Contains(t, r.Question, tt.says)
			require.NotContains(t, r.Question, "SECRET")
			require.NotContains(t, r.Question, "\n", "a notice is one line")
			require.Equal(t, tt.at, r.Place.Kind)
			require.Equal(t, tt.number, r.Place.Number)
			require.EqualValues(t, 7, r.Principal.ID)
			require.Empty(t, r.Repos)
		})
	}
}

func TestL7_DispatchByBot(t *testing.T) {
	t.Parallel()
	bot := func(id int64) func(map[string]any) {
		return set(map[string]any{"id": id, "login": "github-actions[bot]", "type": "Bot"}, "sender")
	}
	r := ask(t, "repository_dispatch", dispatchPayload(t, `{"librarian":{"query":"why?"}}`, bot(55)))
	require.NotNil(t, r)
	require.True(t, r.Principal.Bot, "it is listed, and marked as what it is")

	var log bytes.Buffer
	require.Nil(t, ask(t, "repository_dispatch", dispatchPayload(t, `{"librarian":{"query":"why?"}}`, bot(66)),
		func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }))
	require.Contains(t, log.String(), "bot=66", "the operator finds which id to list")
	require.Nil(t, ask(t, "repository_dispatch", dispatchPayload(t, `{"librarian":{}}`, bot(66))), "nor is it told of faults")
	require.Nil(t, ask(t, "repository_dispatch", dispatchPayload(t, `{"librarian":{"query":"why?"}}`, bot(testBot))))
}

// O1: a dispatch has no comment to be known by; its delivery's id stands in.
func TestO1_DispatchKey(t *testing.T) {
	t.Parallel()
	q := new(queue)
	s := serve(t, testOptions(q))
	for i, id := range []string{"a", "a", "b"} {
		status, text := deliver(t, s, "repository_dispatch", dispatchPayload(t, `{"librarian":{"query":"why?"}}`), func(r *http.Request) { r.Header.Set("X-GitHub-Delivery", id) })
		require.Equal(t, http.StatusOK, status, fmt.Sprint(i, text))
	}
	require.Len(t, q.requests, 3)
	require.Equal(t, q.requests[0].Key(), q.requests[1].Key())
	require.NotEqual(t, q.requests[0].Key(), q.requests[2].Key())
}
