package report

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// Marker is the hidden last line of a comment of ours, by which it is known again after a restart. Anybody can write
// one: whoever reads it must also hold that the comment's author is the App.
type Marker struct {
	Run  librarian.RunID
	Role string // "progress", "answer", "refusal"
	Part int    // from 1
	Of   int
}

// String is the marker as an HTML comment.
func (m Marker) String() string {
	return fmt.Sprintf("<!-- librarian run=%s role=%s part=%d/%d -->", m.Run, m.Role, max(m.Part, 1), max(m.Of, 1))
}

var markerLine = regexp.MustCompile(`^<!-- librarian run=([0-9a-f-]{36}) role=([a-z]{1,20}) part=(\d{1,3})/(\d{1,3}) -->$`)

// ParseMarker reads the marker of a comment's body. It must be the last line: one that is quoted further up is not meant.
func ParseMarker(body string) (Marker, bool) {
	body = strings.TrimSpace(body)
	m := markerLine.FindStringSubmatch(strings.TrimSpace(body[strings.LastIndexByte(body, '\n')+1:]))
	if m == nil {
		return Marker{}, false
	}
	run, err := librarian.ParseRunID(m[1])
	if err != nil {
		return Marker{}, false
	}
	return Marker{Run: run, Role: m[2], Part: number(m[3]), Of: number(m[4])}, true
}
