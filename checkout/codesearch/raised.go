package codesearch

import (
	"bytes"
	"regexp"
	"strings"
)

// Many programs keep their messages apart from the code that fails: ErrFull = errors.New("queue is full"), FULL = 'queue is full',
// #[error("queue is full")] Full. Whoever asks where such a message comes from wants the place that uses the name.

var (
	definedText = []*regexp.Regexp{
		regexp.MustCompile(`#\s*define\s+([A-Za-z_]\w*)`),
		regexp.MustCompile(`([A-Za-z_]\w*)\s*(?::[^="'` + "`" + `]*)?:?=(?:[^=]|$)`),
		regexp.MustCompile(`^\s*["']?([A-Za-z_]\w*)["']?\s*(?::|=>)`),
		regexp.MustCompile(`^\s*([A-Z][A-Z0-9_]+)\s*\(`), // a constant of a Java enum
	}
	fieldText     = []*regexp.Regexp{regexp.MustCompile(`^\s*[A-Za-z_]\w*(?:\.|->)([A-Za-z_]\w*)\s*=(?:[^=]|$)`)}
	attributeText = regexp.MustCompile(`^\s*(?:#\[|@)`)
	variantText   = regexp.MustCompile(`^\s*([A-Za-z_]\w*)`)
)

const (
	shortestName = 4   // bytes of a name that is looked for; shorter ones stand for too much
	raisersRead  = 60  // chunks that are read for one
	raisersShown = 4   // chunks that are boosted for one
	raisersShare = 1.3 // × what the message's own chunk gets: who asks wants to know what raises it
)

// anyName are names that texts have everywhere: whoever uses one need not mean this text.
var anyName = map[string]bool{"message": true, "messages": true, "error": true, "errors": true, "text": true, "title": true, "description": true, "reason": true, "label": true,
	"name": true, "value": true, "format": true, "default": true, "result": true, "detail": true, "details": true, "hint": true, "help": true, "summary": true, "string": true}

// boostRaisers boosts the code that uses the name by which a chunk holds a literal; a function holds one where it puts it into a field
// (shared.full = text("queue is full")). It does nothing where no name can be made out.
func (r *ranking) boostRaisers(c uint32, literal string, x float64) {
	names := definedText
	if chunkKinds[r.ix.chunks[c].kind] == "function" {
		names = fieldText
	}
	name := nameOfLiteral(r.linesOf(c), literal, names)
	if len(name) < shortestName || anyName[strings.ToLower(name)] {
		return
	}
	var holders []uint32
	for _, p := range splitWord(name) {
		st := stem(p)
		if st == "" || codeNoise[st] {
			continue
		}
		id, ok := r.ix.dict.lookup(st)
		if !ok {
			continue // a single letter
		}
		if chunks, _ := r.ix.postings(id); holders == nil || len(chunks) < len(holders) {
			holders = chunks
		}
	}
	cands := make([]hit, 0, len(holders))
	for _, o := range holders {
		if o != c {
			cands = append(cands, hit{o, r.total(o)})
		}
	}
	shown := 0
	for _, h := range topHits(cands, raisersRead) {
		ch := &r.ix.chunks[h.chunk]
		if chunkKinds[ch.kind] != "function" || !hasWord(r.linesOf(h.chunk), name) {
			continue
		}
		share := raisersShare
		if r.ix.files[ch.file].kind != kindSource {
			share *= r.w.DefinesAside
		}
		r.boost(h.chunk, x*share, "uses "+name+", which is “"+literal+"”")
		if r.literal[c] {
			r.literal[h.chunk] = true // as good as having it
		}
		if shown++; shown == raisersShown {
			return
		}
	}
}

// nameOfLiteral is what the line with a literal calls it, by one of some forms; "" where it does not say.
func nameOfLiteral(lines []byte, literal string, forms []*regexp.Regexp) string {
	all := strings.Split(string(lines), "\n")
	words := strings.Fields(strings.ToLower(literal))
	if len(words) > 3 {
		words = words[:3] // the rest may stand on the next line
	}
	start := strings.Join(words, " ")
	for i, line := range all {
		at := strings.Index(strings.ToLower(line), start)
		if at < 0 || isComment([]byte(line)) {
			continue
		}
		if attributeText.MatchString(line) && i+1 < len(all) {
			if m := variantText.FindStringSubmatch(all[i+1]); m != nil {
				return m[1]
			}
		}
		// The literal may stand alone on its line, below its name.
		for _, before := range []string{line[:min(at, len(line))], previous(all, i)} {
			for _, re := range forms {
				if m := re.FindStringSubmatch(before); m != nil {
					return m[1]
				}
			}
		}
		return ""
	}
	return ""
}

func previous(lines []string, i int) string {
	if i == 0 {
		return ""
	}
	return lines[i-1]
}

// hasWord reports whether a name stands in a text, and not as a part of another one.
func hasWord(text []byte, name string) bool {
	for from := 0; ; {
		p := bytes.Index(text[from:], []byte(name))
		if p < 0 {
			return false
		}
		p += from
		end := p + len(name)
		if (p == 0 || !wordByte[text[p-1]]) && (end == len(text) || !wordByte[text[end]]) {
			return true
		}
		from = p + 1
	}
}
