package model

import (
	"regexp"
	"slices"
	"strings"
)

// "Who calls parseHead?" is a search for the name in one repository; a ranking by words answers with what is called, and not with who calls it.

const usedName = "[`'\"]?([A-Za-z_$][\\w$]*(?:(?:::|\\.|->|#)[A-Za-z_$][\\w$]*)*(?:\\(\\))?)[`'\"]?"

var usedTexts = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^\W*(?:who|what|which (?:code|functions?|methods?|places?|files?|tests?|parts?|ones?))\s+(?:all\s+|else\s+)?(?:calls?|uses?|invokes?|references?)\s+(?:the\s+)?(?:function|method|class|type|constant|macro)?\s*` + usedName + `(?:\s+(?:function|method|class|type|constant|macro))?(?:\s+in\s+\S+)?\s*[?.!]*\s*$`),
	regexp.MustCompile(`(?i)^\W*(?:(?:find|show|list|what are|which are|who are|where are)\s+)?(?:me\s+)?(?:all\s+)?(?:the\s+)?(?:callers|calls|uses|usages|references)\s+(?:of|to)\s+(?:the\s+)?(?:function|method|class|type|constant|macro)?\s*` + usedName + `(?:\s+in\s+\S+)?\s*[?.!]*\s*$`),
	regexp.MustCompile(`(?i)^\W*(?:from\s+)?where(?:\s+all)?\s+is\s+(?:the\s+)?(?:function|method|class|type|constant|macro)?\s*` + usedName + `\s+(?:called|used|invoked|referenced)(?:\s+from)?(?:\s+in\s+\S+)?\s*[?.!]*\s*$`),
}

const typeWord = `(?:class|type|interface|trait|protocol|abstract class|base class|module)`

// heirTexts ask which types there are of an interface, or below a class.
var heirTexts = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^\W*(?:who|what|which (?:code|classes|types|structs|modules|files|ones))\s+(?:all\s+|else\s+)?(?:implements?|extends?|subclass(?:es)?|inherits?(?:\s+from)?|derives?\s+from|conforms?\s+to|adopts?)\s+(?:the\s+)?` + typeWord + `?\s*` + usedName + `(?:\s+` + typeWord + `)?(?:\s+in\s+\S+)?\s*[?.!]*\s*$`),
	regexp.MustCompile(`(?i)^\W*(?:(?:find|show|list|what are|which are|where are)\s+)?(?:me\s+)?(?:all\s+)?(?:the\s+)?(?:implementations|implementers|implementors|subclasses|subtypes|heirs)\s+of\s+(?:the\s+)?` + typeWord + `?\s*` + usedName + `(?:\s+` + typeWord + `)?(?:\s+in\s+\S+)?\s*[?.!]*\s*$`),
	regexp.MustCompile(`(?i)^\W*where(?:\s+all)?\s+is\s+(?:the\s+)?` + typeWord + `?\s*` + usedName + `\s+(?:implemented|extended|subclassed)\s+by\s+\w+\s*[?.!]*\s*$`),
}

// inheritText is what stands before a type's name in a line that says what is derived from it. Go has no such line.
const inheritText = `(?:\b(?:class|struct|interface|enum|record|object|trait|protocol|actor|extension)\b.*(?:\bextends\b|\bimplements\b|\bwith\b|[:<(,]).*|` + // of most languages
	`^\s*(?:extends|implements|with|[:,])\s.*|` + // the next line of such a one
	`\bimpl\b.*|\binstance\s+|@behaviour\s+.*|\bdefimpl\s+.*|^\s*(?:include|extend|prepend)\s+.*)`

const declaringWord = `(?:class|interface|trait|protocol|struct|type|module|record|defprotocol|object)`

var typeLine = regexp.MustCompile(`\b` + declaringWord + `\b`)

// heirs reports whether the question is which types derive from what it names.
func (c *conversation) heirs() bool {
	question := strings.TrimSpace(c.brief.Question)
	return slices.ContainsFunc(heirTexts, func(re *regexp.Regexp) bool { return re.MatchString(question) })
}

// inheritPattern finds lines that say what is derived from a name: behind what inheritText knows, or alone on a line of such a list.
func inheritPattern(name string) string {
	return inheritText + wholeWord(name) + `|^\s*` + wholeWord(name) + `(?:<[^()=;]*>)?\s*,?\s*\{?\s*$`
}

// inherits reports whether the line declares something that derives from its name.
func (u usage) inherits() bool {
	re, err := regexp.Compile(inheritPattern(u.name))
	return err == nil && re.MatchString(u.text) && !u.declares()
}

// namedUse is the name whose uses the question asks for; empty where it asks for something else, or for a word that need not be a name.
func (c *conversation) namedUse() string {
	question := strings.TrimSpace(c.brief.Question)
	for _, re := range slices.Concat(usedTexts, heirTexts) {
		m := re.FindStringSubmatch(question)
		if m == nil {
			continue
		}
		name := strings.TrimSuffix(m[1], "()")
		if name == m[1] && !spelled(name) && !strings.ContainsAny(question, "`'\"") {
			return ""
		}
		return name[strings.LastIndexAny(name, ".:>#")+1:]
	}
	return ""
}

// spelled reports whether a word is spelt as only names are: parseHead, parse_head, a.b, x2.
func spelled(name string) bool {
	return strings.ContainsAny(name, "_$.:>#0123456789") || strings.ToLower(name[1:]) != name[1:]
}

// used is the repository in which a named thing's uses are looked for: the only one that is open.
func (c *conversation) used() (repo string, ok bool) {
	if len(c.opened) != 1 || c.namedUse() == "" {
		return "", false
	}
	return c.opened[0].Repo, true
}

// noUses reports whether a named thing was looked for and stands nowhere, so that the question may be of something else after all.
func (c *conversation) noUses() bool {
	return c.namedUse() != "" && c.asked["grep"] > 0 && !slices.ContainsFunc(c.uses, func(u usage) bool { return !c.heirs() || !u.declares() })
}
