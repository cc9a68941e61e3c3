package codesearch

import (
	"regexp"
	"strings"
)

// hyphenated are words that are rarely anything but a name: of a package, and then of its folder.
var hyphenated = regexp.MustCompile(`[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+`)

// maxFolderDepth is how deep a package's folder lies at most: packages/react-dom, modules/client/client-core.
const maxFolderDepth = 3

// folders takes the hyphenated words out of a question that are the names of folders of the tree: "in tokio-util" says where
// to look and not what for. It returns the folders and what is left of the question. Parts of paths and of longer words stay.
func (ix *Index) folders(text string) ([]string, string) {
	type place struct {
		word     string
		from, to int
	}
	var asked []place
	words := map[string]bool{}
	for _, at := range hyphenated.FindAllStringIndex(text, 20) {
		before, after := text[:at[0]], strings.TrimRight(text[at[1]:], ".")
		if (before == "" || strings.ContainsAny(before[len(before)-1:], " \t\n(")) && (after == "" || strings.ContainsAny(after[:1], " \t\n),;:?!'") || strings.HasPrefix(after, ". ")) {
			word := strings.ToLower(text[at[0]:at[1]])
			asked, words[word] = append(asked, place{word, at[0], at[1]}), true
		}
	}
	if len(words) == 0 {
		return nil, text
	}
	known, named := map[string]bool{}, map[string]bool{}
	var prefixes []string
	for i := range ix.files {
		path := strings.ToLower(ix.files[i].path)
		from := 0
		for range maxFolderDepth {
			n := strings.IndexByte(path[from:], '/')
			if n < 0 {
				break
			}
			if name := path[from : from+n]; words[name] && !known[path[:from+n]] {
				known[path[:from+n]], named[name] = true, true
				prefixes = append(prefixes, path[:from+n])
			}
			from += n + 1
		}
	}
	var rest strings.Builder
	end := 0
	for _, p := range asked {
		if named[p.word] {
			rest.WriteString(text[end:p.from])
			end = p.to
		}
	}
	return prefixes, rest.String() + text[end:]
}

// aside reports for each file whether it lies outside all folders that the question names; nil where it names none, or those
// hold all there is.
func (ix *Index) aside(folders []string) []bool {
	if len(folders) == 0 {
		return nil
	}
	out, some := make([]bool, len(ix.files)), false
	for i := range ix.files {
		p := strings.ToLower(ix.files[i].path)
		out[i] = true
		for _, f := range folders {
			if below(p, f) {
				out[i] = false
				break
			}
		}
		some = some || out[i]
	}
	if !some {
		return nil
	}
	return out
}
