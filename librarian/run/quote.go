package run

import (
	"fmt"
	"strings"
	"unicode"
)

// quote makes text of others fit for the first context: what no reader of the thread sees is taken out (HTML comments, also
// ones that never close; invisible and direction-changing characters), and what is longer than limit characters is cut.
func quote(text string, limit int) string {
	var b strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "<!--")
		b.WriteString(before)
		if !found {
			break
		}
		_, rest, found = strings.Cut(after, "-->")
		if !found {
			break
		}
	}
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFE00 && r <= 0xFE0F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
			return -1
		}
		return r
	}, strings.ReplaceAll(b.String(), "\r\n", "\n")))
	if r := []rune(text); len(r) > limit {
		return strings.TrimSpace(string(r[:limit])) + fmt.Sprintf("\n[cut after %d characters]", limit)
	}
	return text
}
