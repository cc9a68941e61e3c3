package codesearch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFrameNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  File \"/usr/lib/app/x.py\", line 12, in start\n    go()":              "start",
		"  File \"x.py\", line 12, in <module>":                                  "",
		"\tat com.acme.Wire.drain(Wire.java:12)":                                 "drain",
		"    at Wire.drain (/app/wire.js:12:5)":                                  "drain",
		"    at /app/wire.js:12:5":                                               "",
		"acme/net.(*Wire).Drain(0xc0, {0x1, 0x2})\n\t/src/net/wire.go:12 +0x1a5": "Drain",
		"acme/net.(*Wire).Drain.func1()\n\t/src/net/wire.go:12 +0x1a5":           "func1",
		"   3: acme::wire::drain\n             at ./src/wire.rs:12:9":            "drain",
		"app/wire.rb:12:in `drain'":                                              "drain",
		"app/wire.rb:12:in 'Wire#drain'":                                         "drain",
		"app/wire.rb:12:in `block in drain'":                                     "drain",
		"src/wire.rs:12:14: mismatched types":                                    "",
		"see this:\n  src/wire.rs:12":                                            "",
		"what happens\nsrc/wire.rs:12":                                           "",
	} {
		at := placeText.FindStringIndex(text)
		require.NotNil(t, at, text)
		require.Equal(t, want, frameName(text, at[0], at[1]), text)
	}
}
