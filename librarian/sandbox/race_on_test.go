//go:build race

package sandbox_test

// raced says that the test's binary needs terabytes of address space, so it cannot be run inside the limits.
const raced = true
