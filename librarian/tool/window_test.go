package tool_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool"
)

// numbered makes lines "1\n" … "n\n".
func numbered(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

func numberedRange(a, b int) string {
	var out []string
	for i := a; i <= b; i++ {
		out = append(out, fmt.Sprint(i))
	}
	return strings.Join(out, "\n")
}

func utf16le(s string) string {
	b := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func utf16be(s string) string {
	b := []byte{0xFE, 0xFF}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return string(b)
}

func TestWindowShow(t *testing.T) {
	t.Parallel()
	kb := strings.Repeat("x", 1023)      // with its newline, 1 KiB
	kbs := strings.Repeat(kb+"\n", 60)   // 60 KiB
	big := strings.Repeat("y", 50<<10+1) // one byte too long
	tests := []struct {
		name          string
		content       string
		offset, limit *int
		text          string
		start, end    int
		total         int
	}{
		{name: "whole", content: "a\nb\n", text: "a\nb", start: 1, end: 2, total: 2},
		{name: "no final newline", content: "a\nb", text: "a\nb", start: 1, end: 2, total: 2},
		{name: "a blank line", content: "\n", text: "[Line 1 is blank.]", start: 1, end: 1, total: 1},
		{name: "blank lines", content: "a\n \n\t\r\nb\n", offset: new(2), limit: new(2), text: " \n\t\n\n[1 more lines in file. Use offset=4 to continue.]", start: 2, end: 3, total: 4},
		{name: "blank lines to the end", content: "a\n \n\t\r\n", offset: new(2), text: " \n\t\n\n[Lines 2-3 are blank.]", start: 2, end: 3, total: 3},
		{name: "blank last line", content: "a\n\n", text: "a\n", start: 1, end: 2, total: 2},
		{name: "CRLF", content: "a\r\nb\r\n", text: "a\nb", start: 1, end: 2, total: 2},
		{name: "lone CR and U+2028 end no line", content: "a\rb\u2028c\u0085d\n", text: "a\rb\u2028c\u0085d", start: 1, end: 1, total: 1},
		{name: "offset", content: numbered(5), offset: new(4), text: "4\n5", start: 4, end: 5, total: 5},
		{name: "limit", content: numbered(5), limit: new(2), text: "1\n2\n\n[3 more lines in file. Use offset=3 to continue.]", start: 1, end: 2, total: 5},
		{name: "limit to the end", content: numbered(5), offset: new(4), limit: new(2), text: "4\n5", start: 4, end: 5, total: 5},
		{name: "one more line", content: numbered(5), offset: new(3), limit: new(2), text: "3\n4\n\n[1 more lines in file. Use offset=5 to continue.]", start: 3, end: 4, total: 5},
		{name: "2,000 lines", content: numbered(2000), text: numberedRange(1, 2000), start: 1, end: 2000, total: 2000},
		{name: "2,001 lines", content: numbered(2001), text: numberedRange(1, 2000) + "\n\n[Showing lines 1-2000 of 2001. Use offset=2001 to continue.]",
			start: 1, end: 2000, total: 2001},
		{name: "limit over the cap", content: numbered(3000), offset: new(11), limit: new(2500),
			text: numberedRange(11, 2010) + "\n\n[Showing lines 11-2010 of 3000. Use offset=2011 to continue.]", start: 11, end: 2010, total: 3000},
		{name: "limit at the cap", content: numbered(2001), limit: new(2000),
			text: numberedRange(1, 2000) + "\n\n[1 more lines in file. Use offset=2001 to continue.]", start: 1, end: 2000, total: 2001},
		{name: "bytes", content: kbs, text: strings.Repeat(kb+"\n", 50)[:50<<10-1] + "\n\n[Showing lines 1-50 of 60 (50.0KB limit). Use offset=51 to continue.]",
			start: 1, end: 50, total: 60},
		{name: "bytes before limit", content: kbs, offset: new(2), limit: new(55),
			text:  strings.Repeat(kb+"\n", 50)[:50<<10-1] + "\n\n[Showing lines 2-51 of 60 (50.0KB limit). Use offset=52 to continue.]",
			start: 2, end: 51, total: 60},
		{name: "line too big", content: "a\n" + big + "\nb\n", offset: new(2),
			text: "[Line 2 is 50.0KB, exceeds 50.0KB limit.]\n[1 more lines in file. Use offset=3 to continue.]", total: 3},
		{name: "stops before a line too big", content: "a\n" + big + "\nb\n",
			text: "a\n\n[Showing lines 1-1 of 3 (50.0KB limit). Use offset=2 to continue.]", start: 1, end: 1, total: 3},
		{name: "G11 5 MB single line", content: strings.Repeat("z", 5<<20), text: "[Line 1 is 5.0MB, exceeds 50.0KB limit.]", total: 1},
		{name: "long line", content: "a\n" + strings.Repeat("é", 2001) + "\n",
			text: "a\n" + strings.Repeat("é", 2000) + " [clipped: the line has 2001 characters]", start: 1, end: 2, total: 2},
		{name: "line of just 2,000 characters", content: strings.Repeat("é", 2000), text: strings.Repeat("é", 2000), start: 1, end: 1, total: 1},
		{name: "G11 empty", content: "", text: "[Empty file.]"},
		{name: "G11 Latin-1", content: "caf\xe9\nna\xefve\n", text: "café\nnaïve\n\n[Not UTF-8; read as Latin-1.]", start: 1, end: 2, total: 2},
		{name: "G11 stray byte in UTF-8", content: "über café\nx\xff\n", text: "über café\nx\uFFFD\n\n[1 bytes are not UTF-8; shown as \uFFFD.]", start: 1, end: 2, total: 2},
		{name: "UTF-8 with a mark", content: "\xef\xbb\xbfa\n", text: "a", start: 1, end: 1, total: 1},
		// U+0A0A is two newline bytes and no line's end.
		{name: "G11 UTF-16LE", content: utf16le("a\r\n੊😀\n"), text: "a\n੊😀\n\n[UTF-16 little-endian; shown as UTF-8.]", start: 1, end: 2, total: 2},
		{name: "G11 UTF-16BE", content: utf16be("a\n੊😀"), offset: new(2), text: "੊😀\n\n[UTF-16 big-endian; shown as UTF-8.]", start: 2, end: 2, total: 2},
		{name: "limit and encoding", content: "caf\xe9\nb\n", limit: new(1),
			text: "café\n\n[1 more lines in file. Use offset=2 to continue.]\n[Not UTF-8; read as Latin-1.]", start: 1, end: 1, total: 2},
		{name: "G4 LFS pointer", content: "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
			text:  "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n\n[A Git LFS pointer; the 12.1KB it stands for are not in the repository.]",
			start: 1, end: 3, total: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tool.Window{Offset: tt.offset, Limit: tt.limit}.Show([]byte(tt.content))
			require.NoError(t, err)
			body, _, _ := strings.Cut(tt.text, "\n\n[")
			if tt.start == 0 || strings.HasPrefix(tt.text, "[Line 1 is blank") {
				body = ""
			}
			for _, n := range got.Notes {
				require.Contains(t, got.Text, n)
			}
			got.Notes = nil
			require.Equal(t, tool.View{Text: tt.text, Body: body, Start: tt.start, End: tt.end, Total: tt.total}, got)
			require.Equal(t, tt.total, tool.CountLines([]byte(tt.content)))
			require.LessOrEqual(t, len(got.Text), tool.MaxBytes+300)
		})
	}
}

func TestWindowBinary(t *testing.T) {
	t.Parallel()
	content := []byte("\x7fELF\x00\x01" + strings.Repeat("a", 2000))
	got, err := tool.Window{Offset: new(7)}.Show(content)
	require.NoError(t, err)
	require.Equal(t, tool.View{Text: "Binary file, 2.0KB; its content is not shown.", Binary: true}, got)
	require.Zero(t, tool.CountLines(content))
}

func TestWindowBounds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		window  tool.Window
		content string
		want    string
	}{
		{window: tool.Window{Offset: new(0)}, content: "a", want: "offset must be greater than or equal to 1."},
		{window: tool.Window{Offset: new(-1), Limit: new(0)}, content: "a", want: "offset must be greater than or equal to 1."},
		{window: tool.Window{Limit: new(0)}, content: "a", want: "limit must be greater than or equal to 1."},
		{window: tool.Window{Offset: new(4)}, content: "a\nb\nc\n", want: "Offset 4 is beyond end of file (3 lines total)"},
		{window: tool.Window{Offset: new(2)}, content: "", want: "Offset 2 is beyond end of file (0 lines total)"},
	}
	for _, tt := range tests {
		_, err := tt.window.Show([]byte(tt.content))
		var bounds *tool.BoundsError
		require.ErrorAs(t, err, &bounds)
		require.Equal(t, tt.want, err.Error())
	}
	require.NoError(t, tool.Window{}.Check())
	require.NoError(t, tool.Window{Offset: new(1), Limit: new(1)}.Check())
}

// Reading on from where a notice says must show every line once, whatever cut the pieces.
func FuzzWindowPaging(f *testing.F) {
	f.Add("a\nb\r\n\nc", 2)
	f.Add(strings.Repeat("x", 60<<10)+"\nb", 7)
	f.Add(numbered(2500), 9000)
	f.Fuzz(func(t *testing.T, content string, limit int) {
		total := tool.CountLines([]byte(content))
		for next := 1; next <= total; {
			v, err := tool.Window{Offset: new(next), Limit: new(max(1, limit))}.Show([]byte(content))
			require.NoError(t, err)
			require.Equal(t, total, v.Total)
			if v.Start == 0 { // this line alone is too big
				next++
				continue
			}
			require.Equal(t, next, v.Start)
			require.GreaterOrEqual(t, v.End, v.Start)
			require.LessOrEqual(t, v.End, total)
			next = v.End + 1
		}
	})
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1024: "1.0KB", 50 << 10: "50.0KB", 5 << 20: "5.0MB", 3 << 30: "3.0GB"} {
		require.Equal(t, want, tool.Size(n))
	}
}
