package tool

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// JSON makes a result's Data. It panics where v cannot be encoded, which is a mistake in the program.
func JSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("tool: encode %T: %v", v, err))
	}
	return b
}

// Clip shortens s to n characters and marks the cut with "…".
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut, total := ClipRunes(s, n)
	if total > n {
		return cut + "…"
	}
	return s
}

// OneLine keeps text from outside on one line: every control character, and what other programs take for a line's end,
// becomes a space; tabs stay.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, s)
}

// Count writes a number with its noun: "no matches", "1 match", "2 matches".
func Count(n int, one, many string) string {
	switch n {
	case 0:
		return "no " + many
	case 1:
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Limit reads a limit parameter: otherwise where none was asked for, and most where more was. The refusal, for the model, is not empty
// for one below 1.
func Limit(asked *int, otherwise, most int) (limit int, refusal string) {
	switch {
	case asked == nil:
		return otherwise, ""
	case *asked < 1:
		return 0, errLimit
	}
	return min(*asked, most), ""
}
