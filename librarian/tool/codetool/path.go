package codetool

import (
	"strconv"
	"strings"

	"github.com/librarian-app/librarian/librarian/tool"
)

// at joins a repository's label and a path as the trace shows them.
func at(label, p string) string {
	p, refusal := tool.CleanPath(p)
	switch {
	case refusal != "" || p == "":
		return label
	case label == "":
		return tool.QuotePath(p)
	}
	return label + "/" + tool.QuotePath(p)
}

// thousands writes a count as the trace does: 950, 2.1k, 14k.
func thousands(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10_000:
		return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1000, 'f', 1, 64), ".0") + "k"
	}
	return strconv.Itoa((n+500)/1000) + "k"
}
