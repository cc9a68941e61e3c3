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
// to look and not what for. It returns the folders and what is left of the question.
func (ix *Index) folders(text string) ([]string, string) {
	words := map[string]bool{}
	for _, m := range hyphenated.FindAllString(text, 20) {
		words[strings.ToLower(m)] = true
	}
	if len(words) == 0 {
		return nil, text
	}
	found, known := map[string]bool{}, map[string]bool{}
	var prefixes []string
	for i := range ix.files {
		rest := strings.ToLower(ix.files[i].path)
		from := 0
		for range maxFolderDepth {
			n := strings.IndexByte(rest[from:], '/')
			if n < 0 {
				break
			}
			if name := rest[from : from+n]; words[name] && !known[rest[:from+n]] {
				known[rest[:from+n]], found[name] = true, true
				prefixes = append(prefixes, rest[:from+n])
			}
			from += n + 1
		}
	}
	if len(prefixes) == 0 {
		return nil, text
	}
	return prefixes, hyphenated.ReplaceAllStringFunc(text, func(m string) string {
		if found[strings.ToLower(m)] {
			return " "
		}
		return m
	})
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
