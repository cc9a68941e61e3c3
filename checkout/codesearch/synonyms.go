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

// synonym is a stem that may stand for another.
type synonym struct {
	stem    string
	reverse bool // the table has it the other way round: the program's word stands for what people ask with
}

// synonymTable maps a stem to what may stand for it. Single words are read both ways.
var synonymTable = sync.OnceValue(func() map[string][]synonym {
	m := map[string][]synonym{}
	add := func(from, to string, reverse bool) {
		if from == "" || to == "" || from == to || slices.ContainsFunc(m[from], func(s synonym) bool { return s.stem == to }) {
			return
		}
		m[from] = append(m[from], synonym{to, reverse})
	}
	type pair struct{ from, to string }
	var single []pair
	for line := range strings.Lines(synonymText) {
		head, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		var parts []string
		for w := range strings.FieldsSeq(head) {
			parts = append(parts, phraseStem(w))
		}
		h := strings.Join(parts, " ")
		if len(parts) == 1 {
			h = stem(head)
		}
		for w := range strings.FieldsSeq(rest) {
			add(h, stem(w), false)
			if len(parts) == 1 {
				single = append(single, pair{h, stem(w)})
			}
		}
	}
	for _, p := range single {
		add(p.to, p.from, true)
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
const longestPhrase = 6

func synonymsOf(stem string) []synonym { return synonymTable()[stem] }
