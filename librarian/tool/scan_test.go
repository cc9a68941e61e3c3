package tool_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool"
)

// What a file is shown as must not depend on whether it was read whole or line by line.
func TestWindowShowBig(t *testing.T) {
	t.Parallel()
	kbs := strings.Repeat(strings.Repeat("x", 1023)+"\n", 60)
	contents := map[string]string{
		"plain":                       "a\nb\r\n\nc",
		"CR at the end":               "a\rb\r",
		"UTF-8 with a mark":           "\xef\xbb\xbfa\nb\n",
		"2,001 lines":                 numbered(2001),
		"many lines":                  numbered(5000),
		"50 KiB":                      kbs,
		"long lines that are clipped": strings.Repeat(strings.Repeat("é", 20_000)+"\n", 60),
		"a line too big":              "a\n" + strings.Repeat("é", 300<<10) + "\r\nb\n",
		"a line just too big":         strings.Repeat("y", 50<<10+1) + "\r\nb\n",
		"a line just not too big":     strings.Repeat("y", 50<<10) + "\r\nb\n",
		"only a line too big":         strings.Repeat("z", 1<<20),
		"UTF-16LE":                    utf16le("a\r\n੊😀\n" + numbered(9000)),
		"UTF-16BE":                    utf16be("a\n੊😀"),
		"UTF-16 with halves":          "\xfe\xff\x00a\xd8\x00\x00b\xd8\x00\xd8\x00\xdc\x00\xdc\x00\x00\n\xd8\x00",
		"UTF-16 with an odd byte":     utf16le("a\n") + "x",
		"UTF-16 pairs over a border":  utf16be(strings.Repeat("x", 2047) + "😀" + strings.Repeat("y", 2046) + "😀\nz"),
		"Latin-1":                     strings.Repeat("caf\xe9\n", 3000),
		"stray bytes":                 "über café\nx\xff\n",
		"a NUL late":                  strings.Repeat("a\n", 5000) + "\x00\nb\n",
	}
	for name, content := range contents {
		for _, offset := range []*int{nil, new(1), new(2), new(3), new(2000), new(9002)} {
			for _, limit := range []*int{nil, new(1), new(2000), new(2500)} {
				w := tool.Window{Offset: offset, Limit: limit}
				want, wantErr := w.Show([]byte(content))
				for how, r := range map[string]io.Reader{"at once": strings.NewReader(content), "by halves": iotest.HalfReader(strings.NewReader(content))} {
					got, err := w.ShowBig(r, int64(len(content)))
					require.Equal(t, wantErr, err, "%s %s", name, how)
					require.Equal(t, want.Total, got.Total, "%s %s", name, how)
					if name == "stray bytes" { // how to read them is told by the lines that are shown
						continue
					}
					require.Equal(t, want, got, "%s %s", name, how)
				}
			}
		}
	}
	v, err := tool.Window{}.ShowBig(strings.NewReader("\x7fELF\x00"), 99<<20)
	require.NoError(t, err)
	require.Equal(t, tool.View{Text: "Binary file, 99.0MB; its content is not shown.", Binary: true}, v)
	_, err = tool.Window{Offset: new(0)}.ShowBig(iotest.ErrReader(errors.New("read")), 1)
	require.EqualError(t, err, "offset must be greater than or equal to 1.", "bounds come first")
	_, err = tool.Window{}.ShowBig(io.MultiReader(strings.NewReader(strings.Repeat("a\n", 9000)), iotest.ErrReader(errors.New("disk"))), 1)
	require.EqualError(t, err, "disk", "what could not be read is no end of the file")
}

func TestWindowShowBigNeedsLittleMemory(t *testing.T) {
	line := strings.Repeat("0123456789abcde\n", 1<<12)
	var v tool.View
	used := testing.AllocsPerRun(1, func() {
		r := io.MultiReader(strings.NewReader(line), &endless{s: line, n: 1 << 10}, strings.NewReader("the end\n"))
		var err error
		v, err = tool.Window{Offset: new(4_000_000), Limit: new(3)}.ShowBig(r, 64<<20)
		require.NoError(t, err)
	})
	require.Less(t, used, 20_000.0, "not one for each of 4,000,000 lines")
	require.Equal(t, 4096*1025+1, v.Total)
	require.Equal(t, "0123456789abcde\n0123456789abcde\n0123456789abcde", v.Body)
}

// endless repeats s n times.
type endless struct {
	s string
	n int
	r strings.Reader
}

func (e *endless) Read(p []byte) (int, error) {
	if e.r.Len() == 0 {
		if e.n == 0 {
			return 0, io.EOF
		}
		e.n--
		e.r.Reset(e.s)
	}
	return e.r.Read(p)
}
