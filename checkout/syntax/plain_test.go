//go:build !(cgo && treesitter)

package syntax

// pythonMethod is how this build outlines Python, and every language that has a grammar in the other one.
const pythonMethod = MethodHeuristic
