package codesearch

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// synonymText says, for a word that people ask with, which words programs use for it: one entry a line, `asked: written written …`,
// one way only. The entry may be a phrase (`throw away`); its words then stand for it together. It is the bridge from a paraphrased question to code that shares no word with it. The words are those of programming
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
		var parts []string
		for _, w := range strings.Fields(head) {
			parts = append(parts, phraseStem(w))
		}
		h := strings.Join(parts, " ")
		if len(parts) == 1 {
			h = stem(head)
		}
		for _, w := range strings.Fields(rest) {
			if s := stem(w); s != "" && s != h && !slices.Contains(m[h], s) {
				m[h] = append(m[h], s)
			}
		}
	}
	return m
})

// phraseStem is stem for the words of phrases, whose small words count.
func phraseStem(w string) string {
	if s := stem(w); s != "" {
		return s
	}
	return w
}

// longestPhrase is how many words an entry has at most.
const longestPhrase = 4

func synonymsOf(stem string) []string { return synonymTable()[stem] }
