package comment

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// The marker stands before the body: whatever construct the body leaves open, it stays an HTML comment of its own.
const markerFormat = "<!-- librarian run=%s role=%s part=%d/%d -->\n"

var roleForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// marker is the first line of p's comment.
func marker(p librarian.Post) (string, error) {
	if _, err := librarian.ParseRunID(string(p.Run)); err != nil {
		return "", err
	}
	if !roleForm.MatchString(p.Role) {
		return "", fmt.Errorf("%q is not a role", p.Role)
	}
	part, of := max(p.Part, 1), max(p.Of, 1)
	if part > of {
		return "", errors.New("the part is beyond the last")
	}
	return fmt.Sprintf(markerFormat, p.Run, p.Role, part, of), nil
}

// same reports whether body begins with a marker of the same run, role and part. The number of parts may differ: a second
// try may have cut the answer elsewhere.
func same(body, marker string) bool {
	upToOf := marker[:strings.LastIndexByte(marker, '/')+1]
	return strings.HasPrefix(body, upToOf)
}
