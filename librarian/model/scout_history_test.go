package model

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScout_KnowsAQuestionAboutThePast(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"who wrote the parking?":                               "the parking?",
		"when was the parking lot introduced and by whom?":     "was the parking lot and ?",
		"who last changed the parking?":                        "the parking?",
		"which commit added the parking meter?":                "the parking meter?",
		"why was the meter's tariff changed?":                  "was the meter's tariff ?",
		"when did coins get introduced?":                       "did coins ?",
		"When is a car added to the lot?":                      "", // what the code does when
		"who calls park?":                                      "",
		"why does the lot grow?":                               "",
		"where is it decided who may add a car?":               "",
		"what happens when the gate writes the last car first": "",
	} {
		require.Equal(t, want != "", aboutHistory.MatchString(question), question)
		if want != "" {
			require.Equal(t, want, subject(question))
		} else {
			require.Equal(t, question, subject(question))
		}
	}
}

// A question about the past is one turn more: who wrote the lines, which commits name the place, which touched its file.
func TestScout_TellsOfThePast(t *testing.T) {
	t.Parallel()
	at := func(sha, author, date, subject string, lines int) scoutCommit {
		return scoutCommit{SHA: sha + "00000000000000", Author: author, Date: date, Subject: subject, Lines: lines}
	}
	tell := func(question string, p past) string {
		c := &conversation{brief: brief{Question: question, Repos: []string{"acme/app"}}, opened: []scoutCheckout{{Repo: "acme/app"}}, tools: map[string]bool{"git_log": true, "git_blame": true},
			asked: map[string]int{"checkout_repo": 1, "find_code": 1, "read": 1}, read: []scoutCandidate{{repo: "acme/app", Path: "a.go", Start: 1, End: 9, from: 1, to: 9, Symbol: "park", Kind: "function"}}}
		c.found = []scoutFound{{Repo: "acme/app", Confidence: .9, Fit: "good"}}
		uses := c.next()
		var tools []string
		for _, u := range uses {
			tools = append(tools, u.tool)
		}
		require.Equal(t, "git_blame", tools[0], question)
		require.Equal(t, "git_log", tools[len(tools)-1], question)
		c.past, c.asked["git_blame"], c.asked["git_log"] = p, 1, 1
		require.Equal(t, "provide_results", c.next()[0].tool)
		return c.summary()
	}
	lines := []scoutCommit{at("cc", "Cy", "2024-03-01", "Format it", 2), at("bb", "Bo", "2022-02-01", "Park by `size`", 4), at("aa", "Al", "2021-01-01", "Move it", 3)}
	named := scoutCommits{Commits: []scoutCommit{at("aa", "Al", "2021-01-01", "Move it", 0)}}
	file := scoutCommits{Commits: []scoutCommit{at("cc", "Cy", "2024-03-01", "Format it", 0), at("dd", "Di", "2020-05-05", "Raise the tariff of the meter", 0)}}
	whole := past{blame: scoutBlame{Shares: lines}, named: named, file: file}
	const place = "The place is the function `park` in `a.go:1`. "
	require.Equal(t, place+"Of its 9 lines as they are now, 4 are by Bo, 3 by Al, 2 by Cy; the oldest of them came with `aa0000000000` by Al on 2021-01-01 (`Move it`).",
		tell("who wrote the parking?", whole))
	require.Equal(t, place+"Of its lines as they are now, the last were changed in `cc0000000000` by Cy on 2024-03-01 (`Format it`).", tell("who changed the parking last?", whole))
	require.Equal(t, place+"The earliest commit found of it is `aa0000000000` by Al on 2021-01-01 (`Move it`).", tell("when was the parking added?", whole))
	require.Equal(t, place+"The earliest commit found of it is `dd0000000000` by Di on 2020-05-05 (`Raise the tariff of the meter`).", tell("when was the meter's tariff introduced?", whole))
	require.Equal(t, place+"Of the commits of its file `dd0000000000` by Di on 2020-05-05 (`Raise the tariff of the meter`) speak most of this; their messages may say why.",
		tell("why was the tariff of the meter changed?", whole))
	require.Equal(t, place+"Its file was last changed in `cc0000000000` by Cy on 2024-03-01 (`Format it`).", tell("who changed the parking last?", past{file: file}), "without a blame")
	require.Equal(t, place+"The earliest commit found of it is `aa0000000000` by Al on 2021-01-01 (`Move it`). There is older history, which was not looked at.",
		tell("when was the parking added?", past{named: scoutCommits{Commits: named.Commits, Stopped: true}}))
}

// The two logs of one turn are told apart by what was asked, and the lists are by date whatever the order git gave them in.
func TestScout_ReadsThePast(t *testing.T) {
	t.Parallel()
	c, err := readConversation(Call{Messages: []Message{
		{Role: User, Parts: []Part{{Kind: Text, Text: "?", Data: json.RawMessage(`{"question":"who wrote park?"}`)}}},
		{Role: Assistant, Parts: []Part{
			{Kind: ToolCall, CallID: "1", Tool: "git_blame", Args: json.RawMessage(`{}`)},
			{Kind: ToolCall, CallID: "2", Tool: "git_log", Args: json.RawMessage(`{"added":"park"}`)},
			{Kind: ToolCall, CallID: "3", Tool: "git_log", Args: json.RawMessage(`{}`)},
		}},
		{Role: User, Parts: []Part{
			{Kind: ToolResult, CallID: "1", Tool: "git_blame", Data: json.RawMessage(`{"shares":[{"sha":"a","date":"2020-01-01","lines":1},{"sha":"b","date":"2021-01-01","lines":2}]}`)},
			{Kind: ToolResult, CallID: "3", Tool: "git_log", Data: json.RawMessage(`{"commits":[{"sha":"f"}]}`)},
			{Kind: ToolResult, CallID: "2", Tool: "git_log", Data: json.RawMessage(`{"commits":[{"sha":"n"}],"stopped":true}`)},
		}},
	}})
	require.NoError(t, err)
	require.Equal(t, "b", c.past.blame.Shares[0].SHA)
	require.Equal(t, "n", c.past.named.Commits[0].SHA)
	require.True(t, c.past.named.Stopped)
	require.Equal(t, "f", c.past.file.Commits[0].SHA)
}
