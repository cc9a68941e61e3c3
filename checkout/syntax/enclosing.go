package syntax

// Node is the declaration around a line. Lines count from 1 and are inclusive; DocStart takes in its comment.
type Node struct {
	Decl
	Method string
}

// Enclosing gives the smallest function, method, type or test that holds a line (its doc comment counts as part of it). ok is false
// when no declaration does.
func Enclosing(path string, src []byte, line int) (Node, bool) {
	return NewOutline(path, src).Enclosing(line)
}

// Enclosing is the same for an outline that is already there.
func (o Outline) Enclosing(line int) (Node, bool) {
	best := -1
	all := o.All()
	for i, d := range all {
		if line < d.DocStart || line > d.End {
			continue
		}
		if best < 0 || d.End-d.DocStart <= all[best].End-all[best].DocStart {
			best = i
		}
	}
	if best < 0 {
		return Node{}, false
	}
	return Node{Decl: all[best], Method: o.Method}, true
}
