package tool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool"
)

func TestWithoutComments(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                              "",
		"plain":                         "plain",
		"a <!-- x --> b":                "a  b",
		"a <!-- x\n\n`y` --> b":         "a  b",
		"a <!-- never closed `x`":       "a ",
		"why is `<!-- v-if -->` in?":    "why is `<!-- v-if -->` in?",
		"`` <!-- ` --> `` <!-- x -->.":  "`` <!-- ` --> `` .",
		"`<!--` opens and `-->` closes": "`<!--` opens and `-->` closes",
		"```html\n<!-- shown -->\n```\n<!-- not -->":    "```html\n<!-- shown -->\n```\n",
		"> ~~~\n> <!-- shown\n> ~~~\n\nrest":            "> ~~~\n> <!-- shown\n> ~~~\n\nrest",
		"- a\n\n      <!-- shown -->\n":                 "- a\n\n      <!-- shown -->\n",
		"    <!-- shown -->":                            "    <!-- shown -->",
		"## `<!-- shown -->`":                           "## `<!-- shown -->`",
		"<!-- `x` --> `<!-- in doubt -->`":              " ``",
		"<!--\n```\n--> a <!--\n```\n-->":               " a ",
		"<div>\n```\n<!-- x -->\n```\n</div>":           "<div>\n```\n\n```\n</div>",
		"<b title='`'> <!-- x --> <b title='`'>":        "<b title='`'>  <b title='`'>",
		"\\`<!-- x -->`":                                "\\``",
		"`a\nb` <!-- x --> `c`":                         "`a\nb`  `c`",
		"a ` b\n\n<!-- x --> `":                         "a ` b\n\n `",
		strings.Repeat("> ", 101) + "a\n\n`<!-- x -->`": strings.Repeat("> ", 101) + "a\n\n``",
		strings.Repeat("> ", 90) + "a\n\n`<!-- x -->`":  strings.Repeat("> ", 90) + "a\n\n`<!-- x -->`",
		strings.Repeat("a", 17<<10) + "`<!-- x -->`":    strings.Repeat("a", 17<<10) + "``",
	} {
		require.Equal(t, want, tool.WithoutComments(in), "%.200q", in)
	}
}

// Four times the text may take four times as long, and some more: what is quadratic takes sixteen times as long.
func TestWithoutCommentsIsLinear(t *testing.T) {
	took := func(s string, n int) time.Duration {
		text := "<!-- -->\n\n" + strings.Repeat(s, n/len(s))
		best := time.Hour
		for range 3 {
			began := time.Now()
			tool.WithoutComments(text)
			best = min(best, time.Since(began))
		}
		return best
	}
	for _, s := range []string{">", "- ", "`", "``` \n", "<!-- ` ", "`<!--", "> - ", "<a\n", "[a]:\n", "1. ", "\t", "<!--`\n", "|-", "<?\n"} {
		small, large := took(s, 4<<10-20), took(s, 16<<10-20)
		require.LessOrEqual(t, large, 8*small+20*time.Millisecond, "%q: %s, of a quarter %s", s, large, small)
	}
}
