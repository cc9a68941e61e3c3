package model

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ScoutName is the model that is there without a key.
const ScoutName = "builtin/scout"

// Bounds of a scout's run.
const (
	scoutRepos      = 4   // repositories opened, in the order they are named
	scoutCandidates = 10  // asked of find_code per repository
	scoutReads      = 4   // places read and cited
	scoutWindow     = 120 // lines read of one place
)

// Below doubtful, a ranking's confidence in its own first places is too low to call them an answer; below half of the
// best score, a place is not worth reading beside it.
const (
	doubtful   = 0.35
	worthwhile = 0.5
)

// Scout is builtin/scout: no language model, a ranked code search that takes its turns as one does. It looks at the
// conversation, calls checkout_repo, find_code and read, reads their results by their Data, and ends with
// provide_results. Its answer is made of names, signatures and doc comments that were read, and says what it is.
type Scout struct{}

// Name implements Model.
func (Scout) Name() string { return ScoutName }

// Generate implements Model. It never fails but for a conversation that was not begun by agent.Prompt.
func (Scout) Generate(ctx context.Context, call Call) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	c, err := readConversation(call)
	if err != nil {
		return Reply{}, err
	}
	uses := c.next()
	parts := make([]Part, len(uses))
	for i, u := range uses {
		args, err := json.Marshal(u.args)
		if err != nil {
			return Reply{}, fmt.Errorf("model: scout: %w", err)
		}
		parts[i] = Part{Kind: ToolCall, CallID: fmt.Sprintf("scout-%d-%d", len(call.Messages), i), Tool: u.tool, Args: args}
	}
	return Reply{Message: Message{V: Version, Role: Assistant, Parts: parts, Provider: "builtin"}, Stop: StopTools}, nil
}

type use struct {
	tool string
	args map[string]any
}

// brief is the part of agent.Briefing that scout needs; the shapes below are those of codetool's Data. A test in app holds
// them together.
type brief struct {
	Question string   `json:"question"`
	Place    string   `json:"place"`
	Repos    []string `json:"repos"`
}

type scoutCheckout struct {
	Repo string `json:"repo"`
	Name string `json:"name"`
}

type scoutFound struct {
	Repo       string           `json:"repo"`
	Candidates []scoutCandidate `json:"candidates"`
	Confidence float64          `json:"confidence"`
}

type scoutCandidate struct {
	Path   string  `json:"path"`
	Start  int     `json:"start"`
	End    int     `json:"end"`
	Symbol string  `json:"symbol"`
	Kind   string  `json:"kind"`
	Score  float64 `json:"score"`

	repo string
	text string // of a place that was read
	from int    // the first line read
	to   int    // the last one
}

type scoutRead struct {
	Repo  string `json:"repo"`
	Path  string `json:"path"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// conversation is what scout knows by now.
type conversation struct {
	brief    brief
	opened   []scoutCheckout
	failures []string // of checkouts, in words
	found    []scoutFound
	read     []scoutCandidate
	asked    map[string]bool // tools called so far
}

func readConversation(call Call) (*conversation, error) {
	c := &conversation{asked: map[string]bool{}}
	begin := -1
	for i, m := range call.Messages { // the newest briefing is the question; a continued run holds older ones, without Data
		for _, p := range m.Parts {
			if m.Role == User && p.Kind == Text && len(p.Data) > 0 {
				begin = i
				if err := json.Unmarshal(p.Data, &c.brief); err != nil {
					return nil, fmt.Errorf("model: scout: briefing: %w", err)
				}
			}
		}
	}
	if begin < 0 {
		return nil, fmt.Errorf("model: scout: the conversation holds no briefing")
	}
	for _, m := range call.Messages[begin:] {
		for _, p := range m.Parts {
			switch p.Kind {
			case ToolCall:
				c.asked[p.Tool] = true
			case ToolResult:
				c.take(p)
			}
		}
	}
	return c, nil
}

func (c *conversation) take(p Part) {
	switch p.Tool {
	case "checkout_repo":
		var d scoutCheckout
		if p.IsError || json.Unmarshal(p.Data, &d) != nil {
			first, _, _ := strings.Cut(p.Text, "\n")
			c.failures = append(c.failures, first)
			return
		}
		if !slices.ContainsFunc(c.opened, func(o scoutCheckout) bool { return o.Repo == d.Repo }) {
			c.opened = append(c.opened, d)
		}
	case "find_code":
		var d scoutFound
		if !p.IsError && json.Unmarshal(p.Data, &d) == nil {
			c.found = append(c.found, d)
		}
	case "read":
		var d scoutRead
		if p.IsError || json.Unmarshal(p.Data, &d) != nil || d.Start == 0 {
			return
		}
		for _, w := range c.wanted() {
			if w.repo == d.Repo && w.Path == d.Path && d.Start >= w.Start && d.Start <= w.End {
				w.text, w.from, w.to = p.Text, d.Start, min(d.End, w.End)
				c.read = append(c.read, w)
				return
			}
		}
	}
}

// next decides scout's turn.
func (c *conversation) next() []use {
	switch {
	case !c.asked["checkout_repo"] && len(c.scope()) > 0:
		var uses []use
		for _, r := range c.scope() {
			uses = append(uses, use{"checkout_repo", map[string]any{"repo": r}})
		}
		return uses
	case !c.asked["find_code"] && len(c.opened) > 0:
		var uses []use
		for _, o := range c.opened {
			uses = append(uses, use{"find_code", map[string]any{"repo": o.Repo, "question": c.brief.Question, "limit": scoutCandidates}})
		}
		return uses
	case !c.asked["read"] && len(c.wanted()) > 0:
		var uses []use
		for _, w := range c.wanted() {
			uses = append(uses, use{"read", map[string]any{"repo": w.repo, "path": w.Path, "offset": w.Start, "limit": min(w.End-w.Start+1, scoutWindow)}})
		}
		return uses
	}
	return []use{{"provide_results", c.answer()}}
}

func (c *conversation) scope() []string {
	repos := slices.Clone(c.brief.Repos)
	if len(repos) == 0 && c.brief.Place != "" {
		repos = []string{c.brief.Place}
	}
	return repos[:min(len(repos), scoutRepos)]
}

// wanted are the places worth reading, best first: of one repository its top, of several the top of each in turn.
func (c *conversation) wanted() []scoutCandidate {
	var out []scoutCandidate
	for rank := range scoutCandidates {
		for _, f := range c.found {
			if rank >= len(f.Candidates) || len(out) == scoutReads*max(1, min(len(c.found), 2)) {
				continue
			}
			w := f.Candidates[rank]
			if w.Start < 1 || w.End < w.Start || w.Score < worthwhile*f.Candidates[0].Score || rank >= scoutReads {
				continue
			}
			w.repo = f.Repo
			if !slices.ContainsFunc(out, func(o scoutCandidate) bool {
				return o.repo == w.repo && o.Path == w.Path && o.Start <= w.End && w.Start <= o.End
			}) {
				out = append(out, w)
			}
		}
	}
	return out
}

func (c *conversation) confidence() float64 {
	best := 0.0
	for _, f := range c.found {
		best = max(best, f.Confidence)
	}
	return best
}
