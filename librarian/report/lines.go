package report

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const maxPieces = 10 // ranges in one location's lines

var (
	dashes    = strings.NewReplacer("‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "―", "-", "−", "-", "..", "-")
	lineWord  = regexp.MustCompile(`(?i)^(?:lines?|#)\s*`)
	linePiece = regexp.MustCompile(`(?i)^L?(\d{1,9})(?:\s*(?:-|to)\s*L?(\d{1,9}))?$`)
	thousands = regexp.MustCompile(`\d,\d{3}(?:\D|$)`)
)

// parseLines reads the lines of a location as models write them: "80-140", "42", with any dash, with L before the numbers,
// reversed, several ranges with commas. "" is the whole file, and no range. What could be meant in two ways is an error
// that says how to write it.
func parseLines(s string) ([]Range, error) {
	s = strings.TrimSpace(dashes.Replace(s))
	s = strings.TrimSpace(lineWord.ReplaceAllString(s, ""))
	if s == "" {
		return nil, nil
	}
	if thousands.MatchString(s) {
		return nil, fmt.Errorf(`lines %q could be two lines or one number; write "80-140", without thousands separators`, clip(s, 60))
	}
	var out []Range
	for piece := range strings.FieldsFuncSeq(strings.ReplaceAll(s, " and ", ","), func(r rune) bool { return r == ',' || r == ';' }) {
		m := linePiece.FindStringSubmatch(strings.TrimSpace(piece))
		if m == nil {
			return nil, fmt.Errorf(`lines %q is not a range; write "80-140" or "42", or leave it out for the whole file`, clip(s, 60))
		}
		r := Range{Start: number(m[1])}
		r.End = r.Start
		if m[2] != "" {
			r.End = number(m[2])
		}
		if r.End < r.Start {
			r.Start, r.End = r.End, r.Start
		}
		if r.Start < 1 {
			return nil, fmt.Errorf("lines %q: lines count from 1", clip(s, 60))
		}
		if len(out) == maxPieces {
			return nil, fmt.Errorf("more than %d ranges in one location; make several locations of them", maxPieces)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, errors.New(`lines holds no number; write "80-140" or "42", or leave it out for the whole file`)
	}
	return out, nil
}

// number reads digits that a pattern has already bounded to nine.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
