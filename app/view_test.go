package app

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

// screen is what is to be seen of output that goes back and clears as a live view does.
func screen(t *testing.T, out string) []string {
	t.Helper()
	lines := []string{}
	up := regexp.MustCompile(`^\x1b\[(\d+)A\r\x1b\[J`)
	for out != "" {
		if m := up.FindStringSubmatch(out); m != nil {
			n, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			require.LessOrEqual(t, n, len(lines), "goes above where it began")
			lines, out = lines[:len(lines)-n], out[len(m[0]):]
			continue
		}
		line, rest, ok := strings.Cut(out, "\n")
		require.True(t, ok, "an unfinished line")
		require.NotContains(t, line, "\x1b")
		lines, out = append(lines, line), rest
	}
	return lines
}

func TestLiveViewShowsTheLastCallsWithTimersAndLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const width = 72
		var out bytes.Buffer
		v := &view{out: &out, width: func() int { return width }, now: time.Now}
		v.take("", "", librarian.AdmittedData{Model: "test/model"})
		look := func() []string {
			synctest.Wait()
			v.mu.Lock()
			defer v.mu.Unlock()
			lines := screen(t, out.String())
			require.LessOrEqual(t, len(lines), viewCalls+1)
			for _, l := range lines {
				require.Less(t, utf8.RuneCountInString(l), width, "a line that wraps cannot be taken back")
			}
			return lines
		}
		require.Equal(t, []string{"0 tool calls · 0.0s · test/model · thinking · Ctrl-C stops"}, look())
		for i := range 5 {
			id := fmt.Sprint(i)
			v.take("", "", librarian.ToolStartData{CallID: id, Verb: "grep", Subject: "\x1b[31m" + strings.Repeat(id, 70)})
			time.Sleep(time.Second)
			v.take("", "", librarian.ToolEndData{CallID: id, Verb: "grep", Subject: id, Summary: "3 matches", Took: time.Second})
		}
		v.take("", "", librarian.ToolStartData{CallID: "a", Verb: "read", Subject: "a.go"})
		v.take("", "", librarian.ToolStartData{CallID: "b", Verb: "read", Subject: "b.go"})
		time.Sleep(2500 * time.Millisecond)
		lines := look()
		require.Len(t, lines, 4)
		require.Regexp(t, `^grep +4 \(3 matches\) +1\.0s$`, lines[0])
		require.Regexp(t, `^read +a\.go \(…\) +2\.5s$`, lines[1])
		require.Regexp(t, `^read +b\.go \(…\) +2\.5s$`, lines[2])
		require.Equal(t, "5 tool calls · 7.5s · test/model · Ctrl-C stops", lines[3])
		v.take("", "", librarian.Outcome{Kind: librarian.OutcomeFound})
		v.close()
		v.close()
		require.Empty(t, screen(t, out.String()))
		require.Len(t, v.calls(), 5)
		require.Equal(t, librarian.OutcomeFound, v.outcome().Kind)
	})
}

func TestPlainViewIsALineACall(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := &view{out: &out, now: time.Now}
	v.take("", "", librarian.AdmittedData{Model: "test/model"})
	v.take("", "", librarian.ToolStartData{CallID: "1", Verb: "read"})
	v.take("", "", librarian.ToolEndData{CallID: "1", Verb: "read", Subject: "a.go\x1b[2J", Took: time.Second})
	v.close()
	require.Regexp(t, `^read +a\.go\S*\[2J +1\.0s\n$`, out.String())
	require.NotContains(t, out.String(), "\x1b")
}
