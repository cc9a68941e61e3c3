package run

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/librarian-app/librarian/librarian/tool"
)

// quote makes a body of others fit for the first context: what no reader of the thread sees is taken out (HTML comments, also
// ones that never close; invisible and direction-changing characters), and what is longer than limit characters is cut.
func quote(markdown string, limit int) string {
	return plain(tool.WithoutComments(strings.ReplaceAll(markdown, "\r\n", "\n")), limit)
}

// plain does the same for what is no Markdown, a title or a piece of a diff: a comment in it is seen.
func plain(text string, limit int) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFE00 && r <= 0xFE0F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n")))
	if r := []rune(text); len(r) > limit {
		return strings.TrimSpace(string(r[:limit])) + fmt.Sprintf("\n[cut after %d characters]", limit)
	}
	return text
}
