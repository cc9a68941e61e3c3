package model

import (
	"slices"
	"strings"
)

// clamp is the level nearest to want, and not above most, of those that are possible. possible is in order, least first.
func clamp(want, most Level, possible []Level) Level {
	all := Levels()
	rank := func(l Level) int { return slices.Index(all, l) }
	limit := rank(want)
	if m := rank(most); m >= 0 && m < limit {
		limit = m
	}
	out := possible[0]
	for _, l := range possible {
		if rank(l) <= limit {
			out = l
		}
	}
	return out
}

// claudeMode is how a Claude model is told how much to think.
type claudeMode int

const (
	claudeBudget      claudeMode = iota // thinking.enabled with a budget of tokens; nothing said: it does not think
	claudeOptional                      // thinking.adaptive with an effort; nothing said: it does not think
	claudeDisabled                      // adaptive by default, until thinking.disabled is said
	claudeBetween                       // adaptive by default; thinking.between_tools is the least
	claudeAlways                        // always adaptive
	claudeThoughtless                   // cannot think
)

// claude says what a model can do, by the tables of Anthropic's pages on thinking and effort (November 2026). A model
// that is not known is taken for a new one, which decides by itself how much to think.
func claude(id string) (mode claudeMode, levels []Level) {
	id = strings.ReplaceAll(id, "@", "-") // Vertex writes a model's date behind an @
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(id, p) })
	}
	budgets := []Level{Off, Minimal, Low, Medium, High, XHigh}
	switch {
	case has("claude-2", "claude-instant", "claude-3-5", "claude-3-opus", "claude-3-sonnet", "claude-3-haiku"):
		return claudeThoughtless, []Level{Off}
	case has("claude-3-7", "opus-4-0", "opus-4-1", "opus-4-5", "opus-4-2025", "sonnet-4-0", "sonnet-4-5", "sonnet-4-2025", "haiku-4-5"):
		return claudeBudget, budgets
	case has("opus-4-6", "sonnet-4-6"):
		return claudeOptional, []Level{Off, Low, Medium, High, Max}
	case has("opus-4-7", "opus-4-8"):
		return claudeOptional, []Level{Off, Low, Medium, High, XHigh, Max}
	case has("sonnet-5-5"):
		return claudeBetween, []Level{Off, Low, Medium, High, XHigh, Max}
	case has("opus-5-5", "fable-", "mythos-"):
		return claudeAlways, []Level{Low, Medium, High, XHigh, Max}
	case has("opus-5", "sonnet-5", "haiku-5"):
		return claudeDisabled, []Level{Off, Low, Medium, High, XHigh, Max}
	}
	return claudeAlways, []Level{Low, Medium, High, XHigh, Max}
}

// claudeBudgets are the tokens that a level may think for, where a budget is asked for.
var claudeBudgets = map[Level]int64{Minimal: 1024, Low: 2048, Medium: 8192, High: 16384, XHigh: 24576}
