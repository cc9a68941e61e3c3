package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// columns gives the width of the terminal that w is; nil: it is none, or one that cannot be drawn on.
func columns(w io.Writer, getenv func(string) string) func() int {
	f, ok := w.(*os.File)
	if !ok || getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		n, _, err := term.GetSize(int(f.Fd()))
		if err != nil || n <= 0 {
			return 80
		}
		return n
	}
}
