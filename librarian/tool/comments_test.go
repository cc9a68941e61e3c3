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

func TestWithoutCommentsIsQuick(t *testing.T) {
	t.Parallel()
	for _, s := range []string{">", "- ", "`", "``` \n", "<!-- ` ", "`<!--", "> - ", "<a\n", "[a]:\n", "1. ", "\t", "<!--`\n", "|-", "<?\n"} {
		began := time.Now()
		tool.WithoutComments("<!-- -->\n\n" + strings.Repeat(s, (16<<10-20)/len(s)))
		if took := time.Since(began); took > 10*time.Second { // under the race detector, beside others
			t.Errorf("%q took %s", s, took)
		}
	}
}
