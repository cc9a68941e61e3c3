package model

import (
	"regexp"
	"strings"
)

// "Who calls parseHead?" is a search for the name in one repository; a ranking by words answers with what is called, and not with who calls it.

const usedName = "[`'\"]?([A-Za-z_$][\\w$]*(?:(?:::|\\.|->|#)[A-Za-z_$][\\w$]*)*(?:\\(\\))?)[`'\"]?"

var usedTexts = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^\W*(?:who|what|which (?:code|functions?|methods?|places?|files?|tests?|parts?|ones?))\s+(?:all\s+|else\s+)?(?:calls?|uses?|invokes?|references?)\s+(?:the\s+)?(?:function|method|class|type|constant|macro)?\s*` + usedName + `(?:\s+(?:function|method|class|type|constant|macro))?(?:\s+in\s+\S+)?\s*[?.!]*\s*$`),
	regexp.MustCompile(`(?i)^\W*(?:(?:find|show|list|what are|which are|who are|where are)\s+)?(?:me\s+)?(?:all\s+)?(?:the\s+)?(?:callers|calls|uses|usages|references)\s+(?:of|to)\s+(?:the\s+)?(?:function|method|class|type|constant|macro)?\s*` + usedName + `(?:\s+in\s+\S+)?\s*[?.!]*\s*$`),
	regexp.MustCompile(`(?i)^\W*(?:from\s+)?where(?:\s+all)?\s+is\s+(?:the\s+)?(?:function|method|class|type|constant|macro)?\s*` + usedName + `\s+(?:called|used|invoked|referenced)(?:\s+from)?(?:\s+in\s+\S+)?\s*[?.!]*\s*$`),
}

// namedUse is the name whose uses the question asks for; empty where it asks for something else, or for a word that need not be a name.
func (c *conversation) namedUse() string {
	question := strings.TrimSpace(c.brief.Question)
	for _, re := range usedTexts {
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
	return c.namedUse() != "" && c.asked["grep"] > 0 && len(c.uses) == 0
}
