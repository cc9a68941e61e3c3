//go:build linux && (amd64 || arm64)

package sandbox

import "errors"

// The ways to hide the machine's files from a command, for the tests to go through each.
const (
	ViewNone  = int(viewNone)
	ViewMount = int(viewMount)
	ViewUser  = int(viewUser)
)

// UseView has all commands run with that kind of view, as on a system that allows no better one.
func (s *Sandbox) UseView(kind int) {
	s.views.mu.Lock()
	defer s.views.mu.Unlock()
	s.views.known, s.views.kind, s.views.why = true, viewKind(kind), errors.New("told so by a test")
}

// OwnCgroup is ownCgroup.
var OwnCgroup = ownCgroup

// CommandCgroup makes a command's group below dir, whose controllers are ours, and tells whether the kernel ended it because of its memory.
func CommandCgroup(dir string, l Limits) (group string, kill func(), outOfMemory func() bool, err error) {
	g, err := (&cgroups{dir: dir, limits: true}).make(l)
	if err != nil {
		return "", nil, nil, err
	}
	return g.dir, g.kill, g.outOfMemory, g.fd.Close()
}

// Members counts the processes of a group that live.
func Members(group int) int { return len(members(group)) }
