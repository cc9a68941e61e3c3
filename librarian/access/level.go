package access

// Level is what a person may do in a repository. Higher levels include lower ones.
type Level int

// The levels GitHub knows. Custom roles map to these through the booleans of the permission API.
const (
	Unknown  Level = iota // GitHub did not say; as good as None
	None                  // GitHub said: nothing
	Read                  // see it
	Triage                // manage its issues and pull requests
	Write                 // push
	Maintain              // manage it
	Admin
)

// String names a level as GitHub does.
func (l Level) String() string {
	switch l {
	case None:
		return "none"
	case Read:
		return "read"
	case Triage:
		return "triage"
	case Write:
		return "write"
	case Maintain:
		return "maintain"
	case Admin:
		return "admin"
	default:
		return "unknown"
	}
}

// ParseLevel reads a level by its name; ok is false for any other text. "unknown" is no level that a rule can ask for.
func ParseLevel(s string) (l Level, ok bool) {
	for l := None; l <= Admin; l++ {
		if l.String() == s {
			return l, true
		}
	}
	return Unknown, false
}

// LevelOf is the highest level that the permissions object of a user grants. GitHub sends one boolean for each of pull,
// triage, push, maintain and admin, for custom roles too; see
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user. An absent object is
// Unknown.
func LevelOf(permissions map[string]bool) Level {
	if len(permissions) == 0 {
		return Unknown
	}
	switch {
	case permissions["admin"]:
		return Admin
	case permissions["maintain"]:
		return Maintain
	case permissions["push"]:
		return Write
	case permissions["triage"]:
		return Triage
	case permissions["pull"]:
		return Read
	}
	return None
}
