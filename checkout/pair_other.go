//go:build !amd64 || purego

package checkout

const hasPairs = false

func indexPair([]byte, int, int, byte, byte, byte, byte) int { panic("checkout: no pairs here") }
