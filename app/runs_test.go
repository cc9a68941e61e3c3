package app

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/store"
)

func TestRunsBesideARunningServer(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("Ab1", 12)
	m := modeltest.New(
		modeltest.Call(use("checkout_repo", args{"repo": "acme/pantry"})),
		modeltest.Call(use("read", args{"repo": "acme/pantry", "path": "shelf/shelf.go", "limit": 10})),
		results("The top of a heap.", args{"repo": "acme/pantry", "file": "shelf/shelf.go", "lines": "1-3", "note": "the package"}))
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first, "+token+"?\nmore")
	require.Len(t, answers, 1)
	f.eventually("the run is over", func() bool { return strings.Contains(f.log.String(), "run ended") }) // a moment after its mark
	var out bytes.Buffer
	o := RunsOptions{Dir: f.cfg.Server.Data, Out: &out, Now: time.Now}

	require.NoError(t, ListRuns(t.Context(), o, 10))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t, `^WHEN +RUN +STATE +PLACE +ASKER +COST +VOTES +QUESTION$`, lines[0])
	require.Regexp(t, `^\d{4}-\d\d-\d\d \d\d:\d\d  [0-9a-f-]{36}  published  acme/pantry#1  ada +- +- +what spoils first`, lines[1])
	require.NotContains(t, out.String(), token)
	id := strings.Fields(lines[1])[2]

	out.Reset()
	require.NoError(t, ShowRun(t.Context(), o, id))
	for _, want := range []string{"ada asked at acme/pantry#1", "checkout  acme/pantry@main", "The top of a heap.", "shelf/shelf.go:1-3", "test/scripted", id, "Posted: "} {
		require.Contains(t, out.String(), want)
	}
	require.NotContains(t, out.String(), token)

	out.Reset()
	require.NoError(t, TranscriptRun(t.Context(), o, id))
	require.NotContains(t, out.String(), token)
	kinds := map[string]int{}
	for line := range strings.Lines(out.String()) {
		var e struct {
			Seq  int             `json:"seq"`
			Kind string          `json:"kind"`
			Data json.RawMessage `json:"data"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		kinds[e.Kind]++
	}
	require.Equal(t, 7, kinds["message"], "question, 3 turns, 3 answers to them")
	require.Equal(t, 3, kinds["tool_end"])
	require.Equal(t, 1, kinds["outcome"])

	out.Reset()
	require.NoError(t, ForgetRun(t.Context(), o, id))
	require.Contains(t, out.String(), "Its answer was posted and stays until somebody deletes it there: http")
	for _, gone := range []string{id, strings.ToUpper(id), string(librarian.NewRunID()), "latest", ""} {
		for name, f := range map[string]func() error{
			"show": func() error { return ShowRun(t.Context(), o, gone) }, "transcript": func() error { return TranscriptRun(t.Context(), o, gone) },
			"forget": func() error { return ForgetRun(t.Context(), o, gone) },
		} {
			var usage *UsageError
			require.ErrorAs(t, f(), &usage, name)
			require.Regexp(t, `^Run not found: \S*\. It may have been deleted; start a new run\.$`, usage.Error())
		}
	}
}

func TestRunsWhereThereAreNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var usage *UsageError
	require.ErrorAs(t, ListRuns(t.Context(), RunsOptions{Dir: dir, Now: time.Now}, 10), &usage)
	require.NoFileExists(t, dir+"/"+store.File, "looking makes nothing")
}
