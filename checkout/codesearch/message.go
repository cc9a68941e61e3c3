package codesearch

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// A message is a line that a program printed. Parts of it stand in the code as one or more string literals; the rest, values such as
// names, numbers and paths, was filled in. Which parts are which nobody says, so the longest of it that code has in a row is looked for:
// whatever stands between two such runs, there a verb such as %s, {}, ${…}, #{…}, here a value, matches anything.

const (
	maxPasted    = 4        // messages of a question that are looked for
	maxPastedLen = 40       // words of one that count
	messageReads = 300      // chunks that are read for one
	messageBytes = 32 << 10 // of a chunk, that are looked at
	messageShown = 6        // chunks that are boosted for one
	messageGap   = 60       // bytes between two runs of one literal
	messageClose = .6       // the share of the best chunk's run from which on another one is boosted too
	quotedVerb   = 2        // words that a value in quotes counts for where the code has a verb in its place; one without quotes counts 1
	goesOther    = .7       // × a run behind which the code has another word, and the message no value
	behindGap    = .7       // × what follows something filled in, which may be another message's
	wrappedParts = 3        // more parts between colons than these are errors wrapped in others …
	innermost    = 2.5      // … and × this each counts more than what is around it
	unquoted     = .25      // × what stands in no literal, but in a comment or a document
	testMessage  = .3       // × what a test has of it: it has the values filled in, and so more in a row than what raises it
	wellPlaced   = .2       // what the rest of the question adds, among chunks with the same text

	// A run is a message's when it has so many words and bytes …
	runWords, runBytes = 2, 9
	// … and, if nothing but its words of trouble says that the line was printed, so many; if nothing does, so many.
	bareWords  = 4
	plainWords = 5
	// So many are enough to be sure of the place, or a third of the message.
	sureWords = 3
)

// pasted is one message of a question.
type pasted struct {
	words []string // lower case, as they stand between spaces
	least int      // words of a run: more where the line may be a sentence of the asker's own
}

var (
	askingText  = regexp.MustCompile(`(?i)\?\s*$|^\W*(?:how|where|why|what|which|who|when|does|is|are|can|find|show|explain|i|we)\b`)
	suggestText = regexp.MustCompile(`(?i)\bdid you mean\b.*\?\s*$`)
	errorCode   = regexp.MustCompile(`^(?:\(error\) |-[A-Z]{2,} )\S+ \S`) // as Redis answers, and its client shows it
	frameText   = regexp.MustCompile(`^\s*(?:at |File "|#\d+ |goroutine \d|note: |Stack trace|Traceback|\d+: 0x)`)
	escapedText = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`, `\'`, `'`, "\\`", "`", `\\`, `\`)
)

// pastedMessages are the lines of a question that a program printed as it went wrong.
func pastedMessages(text string) []pasted {
	var out []pasted
	after := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "`"))
		follows := after
		after = strings.HasSuffix(line, ":") && placeText.MatchString(line) // Rust's panics: the place, then the message
		if len(out) == maxPasted || frameText.MatchString(line) || after {
			continue
		}
		marked := errorText.MatchString(line) || errorLine.MatchString(line) || strings.Contains(line, ": ") && troubleText.MatchString(line) || errorCode.MatchString(line) || follows
		if !marked && asks(line) || marked && strings.HasSuffix(line, "?") && !suggestText.MatchString(line) {
			continue
		}
		least := plainWords
		switch {
		case marked:
			least = runWords
		case troubleText.MatchString(line):
			least = bareWords
		}
		words := strings.Fields(strings.ToLower(line))
		given := 0 // a value in quotes counts twice, as where it is filled in
		if valueText.MatchString(line) {
			given = quotedVerb - 1
		}
		if len(words)+given >= least {
			out = append(out, pasted{words[:min(len(words), maxPastedLen)], least})
		}
	}
	return out
}

// asks reports whether a line is the asker's own question: not where it is the program that asks whether something else was meant.
func asks(line string) bool {
	return askingText.MatchString(line) && !suggestText.MatchString(line)
}

// run is what of a message stands in a chunk.
type run struct {
	words, bytes int     // of the literal, gaps not counted
	size         float64 // its bytes, less for what follows a gap
	text         string  // its longest part
	literal      bool    // a quote opens it, as far as its lines tell
}

// boostMessage boosts the chunks that have most of a message in a row.
func (r *ranking) boostMessage(m pasted) {
	if r.ix.source == nil {
		return
	}
	var found []hit
	runs := map[uint32]run{}
	best := 0.0
	for _, h := range r.messageChunks(m) {
		ch := &r.ix.chunks[h.chunk]
		lines := r.linesOf(h.chunk)
		got := m.runIn(lines[:min(len(lines), messageBytes)])
		if got.words < m.least || got.bytes < runBytes {
			continue
		}
		got.literal = got.literal && r.codes(ch.file)
		size := got.size * r.kind[ch.class]
		if !r.asked.tests && r.tests(h.chunk) {
			size *= testMessage
		}
		if !got.literal {
			if m.least > runWords {
				continue
			}
			size *= unquoted
		}
		if mean := r.meaning(h); mean > 0 {
			size *= 1 + wellPlaced*min(1, mean)
		}
		runs[h.chunk] = got
		found = append(found, hit{h.chunk, size})
		best = max(best, size)
	}
	for _, h := range topHits(found, messageShown) {
		if h.score < messageClose*best {
			break
		}
		got := runs[h.chunk]
		// The more words in a row, the less it can be chance.
		share := h.score / best
		x := r.w.Phrase * share * share * min(2.4, .6+.3*float64(got.words))
		if !got.literal {
			x /= 2
		}
		r.boost(h.chunk, x, fmt.Sprintf("contains “%s”", got.text))
		if got.literal && (got.words >= sureWords || 3*got.bytes >= len(strings.Join(m.words, " "))) {
			r.literal[h.chunk] = true
		}
		if got.literal {
			r.boostRaisers(h.chunk, got.text, x)
		}
	}
}

// tests reports whether a chunk is of a test.
func (r *ranking) tests(c uint32) bool {
	ch := &r.ix.chunks[c]
	_, _, test, _ := ch.class.parts()
	return test || r.ix.files[ch.file].kind == kindTest
}

// codes reports whether a file is of a language that has literals.
func (r *ranking) codes(file uint32) bool {
	f := &r.ix.files[file]
	return f.language != "" && f.kind != kindDocs
}

// messageChunks are the chunks that have most of a message's words, by what those weigh.
func (r *ranking) messageChunks(m pasted) []hit {
	sums := map[uint32]float64{}
	seen := map[uint32]bool{}
	for _, w := range wordText.FindAllString(strings.Join(m.words, " "), 60) {
		for _, p := range splitWord(w) {
			id, ok := r.ix.dict.lookup(stem(p))
			if !ok || seen[id] {
				continue
			}
			seen[id] = true
			chunks, _ := r.ix.postings(id)
			idf := r.ix.idf(len(chunks))
			for _, c := range chunks {
				sums[c] += idf
			}
		}
	}
	hits := make([]hit, 0, len(sums))
	for c, s := range sums {
		// A long chunk has a word of everything.
		hits = append(hits, hit{c, s / math.Sqrt(1+float64(r.ix.chunks[c].length)/2000)})
	}
	return topHits(hits, messageReads)
}

// runIn finds the most of a message that a text has in a row.
func (m pasted) runIn(b []byte) run {
	if !m.near(bytes.ToLower(b)) {
		return run{}
	}
	text := flatten(b)
	var best run
	part, ends := 0, m.parts()
	for i := range m.words {
		if i > 0 && ends[part] == i {
			part++
		}
		got := m.runFrom(text, i)
		if whole := strings.Join(m.words[i:ends[part]], " "); len(ends) > wrappedParts && (got.words >= sureWords || 2*got.bytes >= len(whole)) {
			got.size *= math.Pow(innermost, float64(part))
		}
		if got.size > best.size {
			best = got
		}
	}
	return best
}

// near reports whether a text has two neighbouring words of the message side by side, as nearly every chunk has not: the rest costs far more.
func (m pasted) near(text []byte) bool {
	for i := range m.words[1:] {
		pair := strings.TrimLeft(m.words[i], "\"'`([{<“") + " " + strings.TrimRight(m.words[i+1], `.,;:!'")`)
		if bytes.Contains(text, []byte(pair)) {
			return true
		}
	}
	return false
}

// parts are where the parts of a message end that is "outer: inner: innermost", as errors are wrapped: the last one that is known is what
// was raised first.
func (m pasted) parts() []int {
	var ends []int
	for i, w := range m.words {
		if strings.HasSuffix(w, ":") || i == len(m.words)-1 {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// runFrom is the run that begins with a word of the message, and what follows it in the same literal behind what was filled in.
func (m pasted) runFrom(text []byte, i int) run {
	words := slices.Clone(m.words[i:])
	words[0] = strings.TrimLeft(words[0], "\"'`([{<“")
	n, at := longest(text, words)
	if n == 0 || words[0] == "" {
		return run{}
	}
	phrase := strings.Join(words[:n], " ")
	for next, tries := at, 0; tries < 10 && !quotedAt(text, at); tries++ { // it may stand in a comment first
		p := indexWord(text[next+1:], []byte(phrase))
		if p < 0 {
			break
		}
		if next += 1 + p; quotedAt(text, next) {
			at = next
		}
	}
	filled := 0
	if n < len(words) && verbText.Match(text[min(len(text), at+len(phrase)):min(len(text), at+len(phrase)+12)]) {
		filled = 1
		if strings.IndexByte("\"'`", words[n][0]) >= 0 {
			filled = quotedVerb
		}
	}
	if n+filled < runWords {
		return run{}
	}
	out := run{words: n + filled, bytes: len(phrase), size: float64(len(phrase)), text: phrase, literal: quotedAt(text, at)}
	if filled == 0 && n < len(words) && otherText.Match(text[min(len(text), at+len(phrase)):]) {
		out.size *= goesOther
	}
	rest, from := i+n, min(len(text), at+len(phrase))
	for rest < len(m.words) {
		ahead := text[from:min(len(text), from+messageGap)]
		n, at, skip := 0, 0, 0
		for s := 0; s < 6 && rest+s < len(m.words); s++ { // a value has few words
			if k, p := longest(ahead, m.words[rest+s:]); k > n && (k > 1 || len(m.words[rest+s]) > 3) {
				n, at, skip = k, p, s
			}
		}
		if n == 0 {
			break
		}
		phrase := strings.Join(m.words[rest+skip:rest+skip+n], " ")
		out.words += n
		out.bytes += len(phrase)
		out.size += behindGap * float64(len(phrase))
		rest, from = rest+skip+n, min(len(text), from+at+len(phrase))
	}
	return out
}

// longest is how many of the words a text has in a row from the first one on, and where.
func longest(text []byte, words []string) (n, at int) {
	phrase := []byte{}
	from := 0
	for i, w := range words {
		if i > 0 {
			phrase = append(phrase, ' ')
		}
		phrase = append(phrase, w...)
		p := indexWord(text[from:], phrase)
		if p < 0 {
			// What ends a literal has no more of the message's punctuation.
			if bare := bytes.TrimRight(phrase, `.,;:!'")`); i > 0 && len(bare) < len(phrase) {
				if p = indexWord(text[from:], bare); p >= 0 {
					return i + 1, from + p
				}
			}
			return i, at
		}
		from += p
		at, n = from, i+1
	}
	return n, at
}

// indexWord finds a phrase that does not begin in the middle of a word.
func indexWord(text, phrase []byte) int {
	if len(phrase) == 0 {
		return -1 // a bracket or a quote by itself
	}
	for from := 0; ; {
		p := bytes.Index(text[from:], phrase)
		if p < 0 {
			return -1
		}
		p += from
		end := p + len(phrase)
		if (p == 0 || !wordByte[text[p-1]] || !wordByte[phrase[0]]) && (end == len(text) || !wordByte[text[end]] || !wordByte[phrase[len(phrase)-1]]) {
			return p
		}
		from = p + 1
	}
}

var (
	// joined is what stands between the parts of a literal that goes over several lines.
	joined    = regexp.MustCompile(`["'` + "`" + `]\s*(?:[+.\\]|<>|\+\+|\.\.|,)?\s*\n\s*(?:[+.]|<>|\+\+|\.\.)?\s*[rfub]?["'` + "`" + `]|\\\n\s*`)
	valueText = regexp.MustCompile("(?:^|\\s)[\"'`][^\\s]+[\"'`]")
	// verbText is where something is filled in: %s, {}, ${…}, #{…}, \(…).
	verbText      = regexp.MustCompile("^[\\s\"'`(\\[<:=]*(?:%[-+#0-9.*]*[a-z]|\\{|\\$\\{|#\\{|\\\\\\()")
	otherText     = regexp.MustCompile(`^ [a-z]{3}`)
	commentLine   = regexp.MustCompile(`^\s*(?://|#|/\*|\*(?:[\s*/]|$)|--|;|%)`) // *p = is no comment
	directiveText = regexp.MustCompile(`^\s*#\s*(?:\[|define\b)`)
	spaces        = regexp.MustCompile(`[ \t\r]*\n[ \t\r]*|[ \t]{2,}`)
)

// flatten makes one line of a literal that is written on several, undoes escapes and indents, and lowers case.
func flatten(b []byte) []byte {
	b = spaces.ReplaceAllFunc(joined.ReplaceAll(b, nil), func(s []byte) []byte {
		if bytes.IndexByte(s, '\n') >= 0 {
			return []byte("\n")
		}
		return []byte(" ")
	})
	return []byte(escapedText.Replace(string(bytes.ToLower(b))))
}

// isComment reports whether a line begins as comments do; Rust's attributes and C's macros do not, for all their #.
func isComment(line []byte) bool {
	return commentLine.Match(line) && !directiveText.Match(line)
}

// quotedAt reports whether a place is in a literal, as far as its line tells: a quote is open, or it has none and is no comment but
// a line of a longer literal.
func quotedAt(text []byte, at int) bool {
	before := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	quotes := 0
	for i, c := range before {
		switch {
		case c == '\'' && i > 0 && wordByte[before[i-1]] && i+1 < len(before) && wordByte[before[i+1]]: // don't
		case c == '"' || c == '\'' || c == '`':
			quotes++
		}
	}
	if isComment(before) {
		return false
	}
	if quotes > 0 {
		return quotes%2 == 1 || bytes.ContainsAny(before, "%${")
	}
	return !bytes.Contains(before, []byte("//"))
}
