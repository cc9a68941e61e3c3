package model

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// worthwhile is the share of the best score below which a place is not worth reading beside it; rival is the share of the
// best repository's confidence below which another repository has no say.
const (
	worthwhile = 0.5
	rival      = 0.7
)

// line is where what was found begins.
func (w scoutCandidate) line() int {
	if w.Line >= w.Start && w.Line <= w.End {
		return w.Line
	}
	return w.Start
}

func (c *conversation) has(w scoutCandidate) bool {
	return slices.ContainsFunc(c.read, func(r scoutCandidate) bool { return r.repo == w.repo && r.Path == w.Path && r.Start == w.Start })
}

// wanted are the places worth reading, best first: what the question links to, then of one repository its top, of several the top of each
// in turn.
func (c *conversation) wanted() []scoutCandidate {
	var sides [][]scoutCandidate
	best := c.confidence()
	for _, f := range c.found {
		if f.Confidence >= rival*best || c.named(f.Repo) && f.Fit != "poor" {
			sides = append(sides, f.worth())
		}
	}
	out := c.linked()
	for rank := range scoutReads {
		for _, places := range sides {
			if rank < len(places) && len(out) < scoutReads*min(len(sides), 2) {
				out = append(out, places[rank])
			}
		}
	}
	return out
}

// named reports whether the asker put the question to a repository by name: in it, or on the terminal.
func (c *conversation) named(repo string) bool {
	repo, _, _ = strings.Cut(repo, "@")
	return len(c.found) > 1 && (c.brief.Place == "" || strings.Contains(strings.ToLower(c.brief.Question), strings.ToLower(repo[strings.LastIndexByte(repo, '/')+1:])))
}

// raisedFirst puts the place that holds an error's message before the type that the error is of: who pastes one looks for what raises it.
func (f scoutFound) raisedFirst() {
	holds := func(w scoutCandidate) bool {
		return slices.ContainsFunc(w.Why, func(why string) bool {
			text, ok := strings.CutPrefix(why, "contains “")
			return ok && len(strings.Fields(text)) >= messageWords
		})
	}
	if len(f.Candidates) == 0 || !slices.Contains(typeKinds, f.Candidates[0].Kind) || holds(f.Candidates[0]) {
		return
	}
	i := slices.IndexFunc(f.Candidates, func(w scoutCandidate) bool { return w.Score >= nearly*f.Candidates[0].Score && holds(w) })
	if i > 0 {
		w := f.Candidates[i]
		copy(f.Candidates[1:], f.Candidates[:i])
		f.Candidates[0] = w
	}
}

// messageWords are enough of a message that a place which has them in a row is no chance; typeKinds declare what errors are of.
const messageWords = 3

var typeKinds = []string{"class", "type", "struct", "enum", "object", "module", "interface"}

// worth are a repository's places that are worth reading, each part of a file once. In doubt, those of other parts that fit about as well
// come before what is second of the first one's.
func (f scoutFound) worth() []scoutCandidate {
	var out []scoutCandidate
	add := func(w scoutCandidate) {
		if strings.ContainsRune(w.Path, utf8.RuneError) || w.Start < 1 || w.End < w.Start { // a name that JSON cannot carry, so that no call can say it
			return
		}
		w.repo = f.Repo
		if len(out) < scoutReads && w.Score >= worthwhile*f.Candidates[0].Score && !slices.ContainsFunc(out, func(o scoutCandidate) bool {
			return o.Path == w.Path && (o.Start <= w.End && w.Start <= o.End || w.Symbol != "" && o.Symbol == w.Symbol)
		}) {
			out = append(out, w)
		}
	}
	for i, w := range f.Candidates {
		if f.Fit == "doubtful" && i > 0 && len(out) > 0 && w.Score >= nearly*out[0].Score && len(out) < 1+scoutElsewhere &&
			!slices.ContainsFunc(out, func(o scoutCandidate) bool { return o.part() == w.part() }) || len(out) == 0 {
			add(w)
		}
	}
	for _, w := range f.Candidates {
		add(w)
	}
	return out
}

// part is the part of the repository that a place is in: its folder's first two names.
func (w scoutCandidate) part() string {
	names := strings.Split(w.Path, "/")
	return strings.Join(names[:min(len(names)-1, 2)], "/")
}

// fit is how well the best repository's places fit the question: good, doubtful or poor.
func (c *conversation) fit() string {
	best := scoutFound{Fit: "poor"}
	for _, f := range c.found {
		if f.Confidence >= best.Confidence && f.Fit != "" {
			best = f
		}
	}
	return best.Fit
}

func (c *conversation) confidence() float64 {
	best := 0.0
	for _, f := range c.found {
		best = max(best, f.Confidence)
	}
	return best
}
