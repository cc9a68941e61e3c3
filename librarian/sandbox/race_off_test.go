//go:build !race

package sandbox_test

// raced: see race_on_test.go.
const raced = false
