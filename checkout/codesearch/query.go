package codesearch

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Query is what to look for.
type Query struct {
	Question   string   // a sentence, identifiers, a path, an error message, a stack trace, or a mix of them
	Also       []string // guesses at identifiers
	PathPrefix string   // only files at or below it; "" for all
	Limit      int      // how many candidates at most; 0: 10, never more than 100
}

// asked is a question taken apart.
type asked struct {
	terms    []weighted
	order    sequence          // its words as they follow each other
	idents   []string          // as written: CamelCase, snake_case, a.b, a::b, name()
	phrases  []string          // quoted text
	messages []pasted          // lines that a program printed as it went wrong
	filled   []string          // quoted text of error messages: mostly values of the asker's own
	options  []string          // words with hyphens, as options and settings are called
	paths    []string          // things that look like paths, lower case
	folders  []string          // folders of the tree whose name stands in it, lower case
	places   []place           // lines of files, as stack traces have them, the innermost frame first
	alone    bool              // the question is a single identifier
	said     int               // how many words of it say something
	wordy    float64           // 0: keywords … 1: whole sentences
	tests    bool              // it asks about tests
	docs     bool              // it asks about documentation or examples
	written  bool              // it asks where something is documented
	near     map[string]string // its words that the tree does not have, and the stem of one that it has and which may be meant
	readme   bool              // it speaks of the README
}

// maxPlaces is how many frames of a stack trace are looked at.
const maxPlaces = 20

// place is a line that a stack trace or a compiler names.
type place struct {
	path string
	line int
	name string // the function that the frame says this line is in; "" where it says none
}

type weighted struct {
	id     uint32
	weight float64
	word   string     // as the question has it; "" for added terms
	added  bool       // not in the question: a guess, feedback
	alt    []weighted // what may stand for it: of a word and its alternatives, only the best counts
}

// fullSentence is the share of small words in a question from which on it counts as written in whole sentences.
const fullSentence = .5

// noTerm is a term without postings.
const noTerm = 1<<32 - 1

const (
	maxQuestion = 20_000 // bytes of a question that are looked at
	maxTerms    = 64     // question words that count
	maxOptions  = 4      // options that are looked for
)

var (
	quotedText  = regexp.MustCompile("\"([^\"\n]{3,200})\"|`([^`\n]{2,200})`|“([^”\n]{3,200})”|'([^'\n]*[ _.:/(][^'\n]*)'")
	identText   = regexp.MustCompile(`[A-Za-z_$][A-Za-z0-9_$]*(?:(?:::|\.|->|#)[A-Za-z_$][A-Za-z0-9_$]*)*[!?]?(?:\(\))?`)
	pathText    = regexp.MustCompile(`[\w@.+-]*(?:/[\w@.+-]+)+/?|[\w+-]+\.[A-Za-z]{1,5}\b`)
	testText    = regexp.MustCompile(`(?i)\b(?:which|what|any|unit|integration|regression) (?:unit |integration )?tests?\b|\btests? (?:cases? )?(?:that |which )?(?:cover|check|for|of|verif|exercis|assert)|\btested\b|\btest coverage\b|\bcovered by\b`)
	docsText    = regexp.MustCompile(`(?i)\bdocumented\b|\b(?:documentation|docs) (?:for|of|on|about|that|which|says?|pages?)\b|\bin the (?:docs|documentation|readme)\b`)
	readmeText  = regexp.MustCompile(`\bREADME\b|(?i)\b(?:the|its|their|a|root|project|repository)(?:'s)? (?:main )?readme\b`)
	errorText   = regexp.MustCompile(`(?m)(?:\b[A-Za-z_.]*(?:Error|Exception|Warning|Failure)|\b(?i:panic|fatal|error|exception|failed|failure)(?:\[\w+\])?)\s*:\s*(.+)$`)
	errorLine   = regexp.MustCompile(`(?m)^\s*(?:\w+(?:\.|::|\\))+[A-Z]\w+: .+$`) // an exception whose name does not say that it is one
	troubleText = regexp.MustCompile(`(?i)\b(?:fail(?:s|ed|ure)?|errors?|exception|panic|fatal|cannot|can't|could not|couldn't|unable|invalid|illegal|unexpected|undefined|denied|refused|rejected|timed out|missing|unknown|not found|no such|non-existent|(?:does not|doesn't) exist|already exists|not allowed|(?:un|not )supported|did you mean)\b`)
	placeText   = regexp.MustCompile(`([\w@.+/-]+\.[A-Za-z]{1,5})(?::|", line |\(|#L)(\d{1,7})\b`)
	optionText  = regexp.MustCompile(`(?:^|[\s("'` + "`" + `])(?:--)?([a-z][a-z0-9]*(?:-[a-z0-9]+)+)(?:$|[\s)"'` + "`" + `,;:?!.=])`)
	wordText    = regexp.MustCompile(`[\pL\pN_]+`)
)

// parse takes a question apart.
func (ix *Index) parse(q Query, w *Weights) asked {
	text := q.Question
	if len(text) > maxQuestion {
		text = text[:maxQuestion]
	}
	var a asked
	trimmed := strings.TrimSpace(text)
	a.alone = trimmed != "" && !strings.ContainsAny(trimmed, " \t\n")
	if !a.alone {
		a.folders, text = ix.folders(text)
	}
	errors := append(errorText.FindAllStringIndex(text, 8), errorLine.FindAllStringIndex(text, 8)...)
	for _, m := range quotedText.FindAllStringSubmatchIndex(text, 8) {
		p := strings.TrimSpace(strings.Trim(text[m[0]:m[1]], "\"`“”'"))
		switch {
		case len(p) < 3:
		case slices.ContainsFunc(errors, func(e []int) bool { return e[0] < m[0] && m[1] <= e[1] }) || isFilled(text, m[0], m[1]):
			a.filled = append(a.filled, p)
		default:
			a.phrases = append(a.phrases, p)
		}
	}
	a.tests, a.written, a.readme = testText.MatchString(text), docsText.MatchString(text), readmeText.MatchString(text)
	for _, m := range placeText.FindAllStringSubmatchIndex(text, 200) {
		if n, err := strconv.Atoi(text[m[4]:m[5]]); err == nil && n > 0 {
			a.places = append(a.places, place{strings.Trim(text[m[2]:m[3]], "/"), n, frameName(text, m[0], m[1])})
		}
	}
	if strings.Contains(text, "most recent call last") {
		slices.Reverse(a.places)
	}
	a.places = a.places[:min(len(a.places), maxPlaces)]
	for _, m := range optionText.FindAllStringSubmatch(text, maxOptions) {
		a.options = append(a.options, m[1])
	}
	a.messages = pastedMessages(text)
	for _, m := range pathText.FindAllString(text, 20) {
		if strings.Contains(m, "/") || knownExtension(m) {
			a.paths = append(a.paths, strings.ToLower(strings.Trim(m, "/")))
		}
	}
	for _, m := range identText.FindAllString(text, 200) {
		id := strings.TrimSuffix(m, "()")
		if a.alone || m != id || looksLikeCode(id) {
			a.idents = append(a.idents, id)
		}
	}
	for _, m := range q.Also {
		if m = strings.TrimSpace(m); m != "" {
			a.idents = append(a.idents, m)
		}
	}
	seen := map[uint32]int{}
	weightOf := func(p string) float64 {
		if weakWords[p] && !a.alone {
			return w.Weak
		}
		return 1
	}
	add := func(stem, word string, weight float64, added bool) {
		id, ok := ix.dict.lookup(stem)
		if !ok {
			return
		}
		if i, dup := seen[id]; dup {
			a.terms[i].weight = max(a.terms[i].weight, weight)
			return
		}
		if len(a.terms) >= maxTerms*4 {
			return
		}
		seen[id] = len(a.terms)
		a.terms = append(a.terms, weighted{id: id, weight: weight, word: word, added: added})
	}
	var words []string
	all := 0
	for _, m := range wordText.FindAllString(text, 400) {
		for _, p := range splitWord(m) {
			all++
			if !stopWord(p) || looksLikeCode(m) || a.alone {
				words = append(words, p)
			}
		}
		switch strings.ToLower(m) {
		case "documentation", "docs", "documented", "readme", "example", "examples", "tutorial", "changelog":
			a.docs = true
		}
	}
	if len(words) > maxTerms {
		words = words[:maxTerms]
	}
	a.said = len(words)
	for _, p := range words {
		add(stem(p), p, weightOf(p), false)
	}
	for _, m := range q.Also {
		for _, part := range wordText.FindAllString(m, 20) {
			for _, p := range splitWord(part) {
				add(stem(p), p, w.Also, true)
			}
		}
	}
	if !a.alone {
		a.order = ix.sequenceOf(words)
		ix.addParts(&a, words, seen, w)
	}
	// Who writes in whole sentences uses everyday words; who writes keywords knows the code's.
	chatter := 1 - float64(len(words))/float64(max(all, 1))
	a.wordy = min(1, chatter/fullSentence)
	if w.Compound > 0 {
		ix.addCompounds(&a, words, seen, w)
	}
	if w.Synonym > 0 && !a.alone {
		ix.addSynonyms(&a, words, seen, w)
		ix.addPhrases(&a, text, seen, w)
	}
	if w.Misspelt > 0 {
		ix.addMisspelt(&a, words, seen, w)
	}
	return a
}

// isFilled reports whether what is quoted is a value in a message that a program printed: unknown directive "foo" in x.conf.
func isFilled(text string, from, to int) bool {
	start := strings.LastIndexByte(text[:from], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[to:], '\n'); n >= 0 {
		end = to + n
	}
	if strings.ContainsAny(text[from:to], " \t") {
		return false
	}
	rest := text[start:from] + text[to:end]
	return troubleText.MatchString(rest) && !asks(text[start:end]) && len(strings.Fields(rest)) >= runWords
}

// addCompounds lets a tree's compound stand for two neighbouring words of the question: "thread pool" for threadpool.
func (ix *Index) addCompounds(a *asked, words []string, seen map[uint32]int, w *Weights) {
	for i := 0; i+1 < len(words); i++ {
		id, ok := ix.dict.lookup(stem(words[i] + words[i+1]))
		if !ok {
			continue
		}
		for _, p := range words[i : i+2] {
			if own, ok := ix.dict.lookup(stem(p)); ok {
				if t, ok := seen[own]; ok && own != id {
					a.terms[t].alt = append(a.terms[t].alt, weighted{id: id, weight: w.Compound, added: true})
				}
			}
		}
	}
}

// addSynonyms hangs its synonyms on each question word. A word that stands nowhere in the tree is stood for by them alone.
func (ix *Index) addSynonyms(a *asked, words []string, seen map[uint32]int, w *Weights) {
	weight := w.Synonym * (w.Terse + (1-w.Terse)*a.wordy)
	done := map[string]bool{}
	for _, p := range words {
		st := stem(p)
		if done[st] {
			continue
		}
		done[st] = true
		var alt []weighted
		for _, s := range synonymsOf(st) {
			if id, ok := ix.dict.lookup(s.stem); ok {
				if _, asked := seen[id]; !asked {
					alt = append(alt, weighted{id: id, weight: s.weight(weight, w), added: true})
				}
			}
		}
		if len(alt) == 0 {
			continue
		}
		if id, ok := ix.dict.lookup(st); ok {
			if i, ok := seen[id]; ok {
				a.terms[i].alt = append(a.terms[i].alt, alt...)
				continue
			}
		}
		for i := range alt {
			alt[i].weight *= w.SynonymAlone / weight
		}
		weight := 1.0
		if weakWords[p] {
			weight = w.Weak
		}
		a.terms = append(a.terms, weighted{id: noTerm, weight: weight, added: true, alt: alt})
	}
}

// weight is the synonym's own, given that of one the table names.
func (s synonym) weight(full float64, w *Weights) float64 {
	if s.reverse {
		return full * w.SynonymReverse
	}
	return full
}

// addPhrases adds what stands for two or more words together: "throw away" for discard. Two words may have others between
// them ("throw the old ones away").
func (ix *Index) addPhrases(a *asked, text string, seen map[uint32]int, w *Weights) {
	var stems []string
	for _, m := range wordText.FindAllString(strings.ToLower(text), 400) {
		stems = append(stems, phraseStem(m))
	}
	done := map[string]bool{}
	try := func(phrase string) {
		if done[phrase] {
			return
		}
		var alt []weighted
		for _, s := range synonymsOf(phrase) {
			if id, ok := ix.dict.lookup(s.stem); ok {
				if _, asked := seen[id]; !asked {
					alt = append(alt, weighted{id: id, weight: w.SynonymAlone, added: true})
				}
			}
		}
		if len(alt) > 0 {
			done[phrase] = true
			a.terms = append(a.terms, weighted{id: noTerm, weight: w.PhraseWord, added: true, alt: alt})
		}
	}
	for i := range stems {
		for n := 2; n <= longestPhrase && i+n <= len(stems); n++ {
			try(strings.Join(stems[i:i+n], " "))
		}
		for _, gap := range []int{2, 3} {
			if i+gap < len(stems) {
				try(stems[i] + " " + stems[i+gap])
			}
		}
	}
}

// looksLikeCode reports whether a word is spelt as only identifiers are.
func looksLikeCode(s string) bool {
	if strings.Contains(s, "_") && len(s) > 2 || strings.Contains(s, "::") || strings.Contains(s, "->") {
		return true
	}
	if i := strings.IndexAny(s, ".#"); i > 0 {
		return true
	}
	for i := 1; i < len(s); i++ {
		if isUpper(s[i]) && isLower(s[i-1]) {
			return true
		}
		if i >= 2 && isLower(s[i]) && isUpper(s[i-1]) && isUpper(s[i-2]) && i < len(s)-1 {
			return true
		}
	}
	return false
}

func knownExtension(m string) bool {
	i := strings.LastIndexByte(m, '.')
	if i <= 0 {
		return false
	}
	switch strings.ToLower(m[i:]) {
	case ".go", ".py", ".js", ".ts", ".tsx", ".jsx", ".rs", ".java", ".kt", ".rb", ".php", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".scala", ".ex", ".exs", ".lua", ".hs", ".zig", ".sh", ".md", ".rst", ".yml", ".yaml", ".toml", ".json", ".vue", ".dart", ".sql", ".proto", ".cfg", ".ini":
		return true
	}
	return false
}

// stopWord reports whether a lower-case word of a question says nothing about code.
func stopWord(w string) bool { return len(w) < 2 || stopWords[w] }

var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a an the of to in on at by for from with without into onto over under about as is are was were be been being am do does did done doing
		have has had having can could may might must shall should will would i me my we us our you your he she it its they them their this that these those there here
		what which who whom whose when where why how if then than so but and or not no nor only own same too very just also any all each every some such other another more most
		up down out off again once both few s t d ll re ve m isn aren doesn don didn won wouldn cannot via per vs etc
		code function method class file place thing things something anything piece part get gets got getting really happen happens happened work works working worked worked
		like want wants need needs know let lets say says said tell show shows find where's what's use used uses using one two first way ways come comes go goes went put puts take takes
		even still yet though although while because since until during whether either neither whatever between among still ever never always often
		implemented implementation implement implements responsible handled handle handles logic defined located live lives
		exactly actually inside outside within please someone somebody people many much kind sort case cases
		decide decides decided determine determines determined documented`) {
		m[w] = true
	}
	return m
}()

// weakWords are words of everyday English that stand in questions more often than they mean something in code. A tree uses them
// seldom, so their idf is high; they count, but little.
var weakWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`able above accordingly ago ahead allowed almost alone along already although anymore anyway anywhere apart appear appears around ask asks asked away
		back bad based basically become becomes been behind believe believed below beside besides best better beyond big brand bring brings brought call called calls came care cause causes certain clear close
		come common completely correct correctly course current currently day days deal different difference done due ease easily easy eat eats else end ended ends enough entire entirely especially everything exact example
		expect expected far feel few figure fine finish fit fits five follow following follows former found four free frequently full fully further future gave general generally give given gives giving goes good great
		half hand handed hands happening hard hardly help helps hence her high higher him his hold holds hope however idea important instead interested itself job keep keeps kept kind knows large larger last later least leave leaves led
		less life little long longer look looked looking looks lot lots low lower made main mainly make makes making manner mean means meant meantime middle moment moments move moved must near nearly need needed neither never new next nice nobody none normal normally nothing notice now
		occur occurs okay old older once ones open opposite ordinary original other others otherwise out outcome own part particular parts past perhaps place placed places plain point points possible possibly present probably problem proper properly
		put question questions quick quickly quite rather ready real reason reasons recent recently regard related rest result right role room round rule run running runs runtime safe said same saw second seem seems seen send sense set several shape short shorter show shown side simple simply single small smaller
		so some somewhere soon special spite start started starts state step still stop stops straight strange such sure surely system taken taking talk tell tells term terms than thing think third those though thought three through throughout thrown time times today together told too took top toward towards tried tries true try trying turn turned turns twice type typed typical typically
		under understand unless unlike upon useful usual usually vain various view wait waiting want wanted wants well went were whenever wherever whole wide wish within without wonder wonder word words work worked works worried worry worse wrong year years yesterday yet`) {
		m[w] = true
	}
	// These do mean something in code.
	for w := range strings.FieldsSeq(`call calls called close end ended finish free hold holds job keep last move moved next open original point run running second send set start started state step stop system thrown time times top type typed view wait waiting word words result rule runtime half current higher lower future brand`) {
		delete(m, w)
	}
	return m
}()
