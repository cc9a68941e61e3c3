package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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

// Table is a Markdown table of tools: name, parameters in the order of the schema (with "?" where they can be left out), and the
// first sentence of the description.
func Table(specs []Spec) string {
	var b strings.Builder
	b.WriteString("| tool | parameters | what it does |\n|---|---|---|\n")
	for _, s := range specs {
		what, _, _ := strings.Cut(s.Description, ". ")
		fmt.Fprintf(&b, "| `%s` | %s | %s. |\n", s.Name, "`"+strings.Join(s.Parameters(), "`, `")+"`", strings.ReplaceAll(strings.TrimSuffix(what, "."), "|", `\|`))
	}
	return b.String()
}

// Parameters are the names of a tool's parameters in their order, with "?" behind those that can be left out.
func (s Spec) Parameters() []string {
	var schema struct {
		Required   []string        `json:"required"`
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(s.Schema, &schema) != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(schema.Properties))
	if _, err := d.Token(); err != nil { // the opening brace
		return nil
	}
	var out []string
	for d.More() {
		name, err := d.Token()
		var skipped json.RawMessage
		if err != nil || d.Decode(&skipped) != nil {
			return out
		}
		p := fmt.Sprint(name)
		if !slices.Contains(schema.Required, p) {
			p += "?"
		}
		out = append(out, p)
	}
	return out
}
