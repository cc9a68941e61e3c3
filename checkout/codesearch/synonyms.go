package codesearch

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// synonymText says, for a word that people ask with, which words programs use for it: one entry a line, `asked: written written …`,
// one way only. It is the bridge from a paraphrased question to code that shares no word with it. The words are those of programming
// at large; none belongs to a project.
//
//go:embed synonyms.txt
var synonymText string

// synonymTable maps a stem to the stems that may stand for it.
var synonymTable = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(synonymText) {
		head, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		h := stem(strings.TrimSpace(head))
		for _, w := range strings.Fields(rest) {
			if s := stem(w); s != "" && s != h && !slices.Contains(m[h], s) {
				m[h] = append(m[h], s)
			}
		}
	}
	return m
})

func synonymsOf(stem string) []string { return synonymTable()[stem] }
