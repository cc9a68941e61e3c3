package syntax

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTestCalls(t *testing.T) {
	t.Parallel()
	src := `import { test } from 'x'

const helper = () => { it }

// About waiting.
describe("the queue's (head", () => {
  beforeEach(() => {
    reset()
  })

  it('waits', async () => {
    await wait()
  })
  it.each([
    { a: 1 },
  ])("holds %i", ({ a }) => {
    expect(a)
  })
  xit.skip(` + "`later`" + `, function () {
    function inner() {
      return text.match(/[)]it[{}"]/) ]
    }
  })
  it('has no body')
  it(named, () => {
  })
})
run.test("no framework", () => {
})
`
	for _, path := range []string{"a.js", "a.test.ts", "b.tsx"} {
		f := newFile(languageOf(path), []byte(src))
		o := Outline{Method: MethodHeuristic, Tests: f.testCalls()} // also in the build that has grammars
		f.braces()
		f.finish()
		o.Decls = f.decls
		var got []string
		for _, d := range o.All() {
			if d.Kind == "test" || d.Name == "inner" {
				got = append(got, fmt.Sprintf("%s%d %d-%d %s", strings.Repeat(" ", d.Depth), d.DocStart, d.Start, d.End, d.Name))
			}
		}
		require.Equal(t, []string{"5 6-27 the queue's (head", " 11 11-13 waits", " 14 14-18 holds %i", " 19 19-23 later", "  20 20-22 inner"}, got, path)
		for _, d := range o.Decls {
			require.NotEqual(t, "test", d.Kind)
		}
		for line, want := range map[int]string{12: "waits", 17: "holds %i", 21: "inner", 23: "later", 8: "the queue's (head"} {
			n, ok := o.Enclosing(line)
			require.True(t, ok)
			require.Equal(t, want, n.Name, line)
		}
		_, ok := o.Enclosing(29)
		require.False(t, ok)
	}
	n, ok := NewOutline("a.js", []byte("it('x', () => {\n  y()\n})\n")).Enclosing(2)
	require.True(t, ok)
	require.Equal(t, "test x", n.Kind+" "+n.Name)
	require.Empty(t, NewOutline("a.go", []byte("package a\nfunc x() {\nit(\"x\", func() {\n})\n}\n")).Tests)
}

func TestBats(t *testing.T) {
	t.Parallel()
	o := NewOutline("a.bats", []byte("setup() {\n  load x\n}\n\n# Of an \"empty\" suite.\n@test \"empty: it's {an} error\" {\n  run x\n}\n\n@test bare_name {\n  f() {\n    y\n  }\n}\n"))
	var got []string
	for _, d := range o.Decls {
		got = append(got, fmt.Sprintf("%s %s %d %d-%d", d.Kind, d.Name, d.DocStart, d.Start, d.End))
	}
	require.Equal(t, []string{"function setup 1 1-3", "test empty: it's {an} error 5 6-8", "test bare_name 10 10-14", "function f 11 11-13"}, got)
}

// Four times the text may take four times as long, and some more: what is quadratic takes sixteen times as long.
func TestTestCallsAreLinear(t *testing.T) {
	took := func(s string, n int) time.Duration {
		f := newFile(languageOf("a.js"), []byte(strings.Repeat(s, n/len(s))))
		best := time.Hour
		for range 3 {
			began := time.Now()
			f.testCalls()
			best = min(best, time.Since(began))
		}
		return best
	}
	for _, s := range []string{"it('x', {", "it(", "it('x')(", "it('x', () => {})\n", ")", "\n//x\nit('x', {", "(((((((("} {
		small, large := took(s, 1<<16), took(s, 1<<18)
		require.LessOrEqual(t, large, 8*small+50*time.Millisecond, "%q: %s, of a quarter %s", s, large, small)
	}
}
