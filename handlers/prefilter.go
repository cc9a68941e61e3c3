package handlers

import (
	"bytes"
	"strings"
)

// mentionEvents are those that concern us only if they mention us, or by a word of wakingWords.
var mentionEvents = map[string]bool{
	"issue_comment": true, "issues": true, "pull_request": true, "pull_request_review": true, "pull_request_review_comment": true,
	"discussion": true, "discussion_comment": true,
}

// wakingWords are, for each event, the JSON strings without one of which a delivery that mentions nobody does not concern us:
// the action, or the type of a dispatch. GitHub spells letters as themselves.
func wakingWords(o Options) map[string][][]byte {
	words := map[string][][]byte{"repository_dispatch": {[]byte(`"` + dispatchType + `"`)}}
	add := func(event, action string) { words[event] = append(words[event], []byte(`"`+action+`"`)) }
	if o.Label != "" {
		add("issues", "labeled")
		add("pull_request", "labeled")
	}
	for _, r := range o.Events {
		event, action, _ := strings.Cut(r.On, ".")
		add(event, action)
	}
	return words
}

// concerns is a cheap look at a delivery: false only if its handler would do nothing.
func (h *Webhook) concerns(event string, body []byte) bool {
	for _, w := range h.words[event] {
		if bytes.Contains(body, w) {
			return true
		}
	}
	if mentionEvents[event] {
		return MayMention(body, h.options.Names)
	}
	return h.words[event] == nil
}

// MayMention is a cheap look at a text, or at the JSON that holds it, before it is parsed: false only if [Parse] would find
// no mention of names (lower case). A mention needs the name's letters, or an entity or JSON escape that stands for one,
// behind an '@', or what stands for that. So text with '&' (an entity) or "\u" (a JSON escape) close to an '@' passes
// undecoded, and so does any '@' that the first letter of a name follows.
func MayMention(b []byte, names []string) bool {
	if mentionAfter(b, names) {
		return true
	}
	// An '@' that is itself spelt as an entity (&#64; &#x40; &commat;) or as a JSON escape (\u0040).
	return spelt(b, '&') || spelt(b, '\\')
}

func spelt(b []byte, mark byte) bool {
	for {
		i := bytes.IndexByte(b, mark)
		if i < 0 {
			return false
		}
		if b = b[i:]; spellsAt(b) {
			return true
		}
		b = b[1:]
	}
}

// mentionAfter reports whether, behind some '@', one of names could begin.
func mentionAfter(b []byte, names []string) bool {
	for {
		i := bytes.IndexByte(b, '@')
		if i < 0 {
			return false
		}
		b = b[i+1:]
		for _, n := range names {
			if couldBegin(b, n) {
				return true
			}
		}
	}
}

// couldBegin reports whether b begins with name, where an entity or an escape may stand for any letter.
func couldBegin(b []byte, name string) bool {
	for i := range len(name) {
		if i >= len(b) {
			return false
		}
		c := b[i]
		if c == '&' || c == '\\' {
			return true
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

// spellsAt reports whether b, which begins with '&' or a backslash, may stand for an '@'. \u0026 is an '&'.
func spellsAt(b []byte) bool {
	if b[0] == '\\' {
		if hasFold(b, `\u0040`) {
			return true
		}
		if !hasFold(b, `\u0026`) {
			return false
		}
		b = b[5:]
	}
	return couldBegin(b[1:], "#") || couldBegin(b[1:], "commat")
}

func hasFold(b []byte, s string) bool {
	return len(b) >= len(s) && bytes.EqualFold(b[:len(s)], []byte(s))
}
