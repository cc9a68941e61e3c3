package codesearch

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The same place says less of itself where more could have fitted by chance: in a larger tree, or in a file that has something of
// everything; and more where the question's words stand beside each other.
func TestConfidenceCountsWhatChanceWouldFind(t *testing.T) {
	t.Parallel()
	s := Signals{Fit: .45, Path: .1, File: .8, Words: 4, Tree: 1000, Length: 1000}
	of := func(change func(*Signals)) float64 {
		c := s
		change(&c)
		return c.confidence()
	}
	now := s.confidence()
	require.Less(t, of(func(s *Signals) { s.Tree = 50_000 }), now)
	require.Less(t, of(func(s *Signals) { s.Length = 20_000 }), now)
	require.Greater(t, of(func(s *Signals) { s.Pairs = .5 }), now)
	sure := Signals{Fit: 1, Path: .5, File: 1, Words: 2, Tree: 1000, Length: 1000}
	require.GreaterOrEqual(t, sure.confidence(), ConfidenceSure)
	sure.Spoken = true
	require.Less(t, sure.confidence(), ConfidenceSure, "two words of a sentence stand together in many places")
	sure.Named = true
	require.GreaterOrEqual(t, sure.confidence(), ConfidenceSure, "the place is called so")
	sure.Named, sure.Exact = false, true
	require.GreaterOrEqual(t, sure.confidence(), ConfidenceSure)
	lost := Signals{Fit: .8, Path: .2, File: 1, Words: 9, Tree: 10, Length: 100, Missing: .5}
	require.GreaterOrEqual(t, lost.confidence(), ConfidenceEnough)
	lost.Missing = .7
	require.Less(t, lost.confidence(), ConfidenceEnough, "most of the question stands nowhere")
	lost.Exact = true
	require.GreaterOrEqual(t, lost.confidence(), ConfidenceEnough)
	require.InDelta(t, of(func(s *Signals) { s.Tree = 10 }), of(func(s *Signals) { s.Tree = 20 }), 0, "a small tree is one as the fit saw")
}

func TestSignalsOfTheFirstPlace(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a/gate.go": "package a\n\n// Shut closes the rusty gate at night.\nfunc Shut() {\n\tbolt()\n}\n"}
	for i := range 20 {
		files[fmt.Sprintf("b/f%d.go", i)] = "package b\n\n// Paint paints.\nfunc Paint() {\n\tbrush()\n}\n"
	}
	ix, err := Build(t.Context(), tree(files), Options{})
	require.NoError(t, err)
	res, err := ix.Search(t.Context(), Query{Question: "who closes the rusty gate?"})
	require.NoError(t, err)
	require.Equal(t, len(ix.chunks), res.Signals.Tree)
	require.Positive(t, res.Signals.Length)
	require.False(t, res.Signals.Named)
	require.InDelta(t, 1, res.Signals.Pairs, .01)
	res, err = ix.Search(t.Context(), Query{Question: "what closes bolts, and the gate?"})
	require.NoError(t, err)
	require.Less(t, res.Signals.Pairs, 1.0)
	for question, named := range map[string]bool{"how is the gate shut?": true, "how is the gate bolted?": false} {
		res, err = ix.Search(t.Context(), Query{Question: question})
		require.NoError(t, err)
		require.Equal(t, "a/gate.go", res.Candidates[0].Path)
		require.Equal(t, named, res.Signals.Named, question)
		require.True(t, res.Signals.Spoken)
	}
}
