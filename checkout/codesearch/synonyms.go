package codesearch

import (
	"strings"
	"sync"
)

// synonymGroups are words that programmers use for each other, one group a line. The first step of bridging a question's words to
// a program's; deliberately about programming at large, not about any project.
const synonymGroups = `
error exception failure fault panic
remove delete drop erase discard purge
begin start launch boot init
stop halt shutdown terminate kill abort
retry attempt backoff
cache memoize store
config setting option preference
`

// synonymTable maps a stem to the stems of its group.
var synonymTable = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(synonymGroups) {
		var stems []string
		for _, w := range strings.Fields(line) {
			stems = append(stems, stem(w))
		}
		for i, s := range stems {
			for j, o := range stems {
				if i != j && s != o {
					m[s] = append(m[s], o)
				}
			}
		}
	}
	return m
})

func synonymsOf(stem string) []string { return synonymTable()[stem] }
