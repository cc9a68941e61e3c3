//go:build !cgo || !treesitter

package codetool_test

// method is how this build finds the declarations of the languages that have a grammar.
const method = "heuristic"
