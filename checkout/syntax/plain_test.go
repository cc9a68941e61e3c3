//go:build !(cgo && treesitter)

package syntax

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// pythonMethod is how this build outlines Python, and every language that has a grammar in the other one.
const pythonMethod = MethodHeuristic

// What macros hide from a grammar, and what the grammars' queries call otherwise.
func TestOutlineWhereGrammarsDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, src, want string }{
		{"t.c", "typedef struct {\n  int a;\n} foo_t;\n\ntypedef int (*callback)(int);\n\nstatic const struct ops my_ops = {\n  .x = 1,\n};\n\nstatic void (*handler)(int) = 0;\n\nint (loads) (L *l) {\n  return 1;\n}\n", "struct foo_t 1-3(1); field a<foo_t 2-2(2); type callback 5-5(5); variable my_ops 7-9(7); field handler 11-11(11); function loads 13-15(13)"},
		{"w.cc", "class API_EXPORT Widget {\n public:\n  ~Widget() override;\n};\n\nstruct alignas(16) Foo : Bar {\n  int x;\n};\n\nWidget::~Widget() {\n  close();\n}\n\nA::A(int x) : a_{x}, b_(x) {\n  init();\n}\n\n__attribute__((noinline)) int f(void) {\n  return 1;\n}\n", "class Widget 1-4(1); function ~Widget<Widget 3-3(3); struct Foo 6-8(6); field x<Foo 7-7(7); function ~Widget<Widget 10-12(10); function A<A 14-16(14); function f 18-20(18)"},
		{"m.c", "INLINE(struct x *) find(int k)\n{\n  return k;\n}\n\nEXPORT(int) give(void) {\n}\n\nTEST(a, b) {\n}\n", "function find 1-4(1); function give 6-7(6); function TEST 9-10(9)"},
		{"D.cs", "public delegate void Handler(int a);\n\nclass A\n{\n    public bool Durable { get; set; } = true;\n\n    ~A()\n    {\n    }\n}\n", "type Handler 1-1(1); class A 3-10(3); field Durable<A 5-5(5); function ~A<A 7-9(7)"},
		{"x.js", "export default {\n  data() {\n    return { a: 1 };\n  },\n  methods: {\n    save(item) {\n      return item;\n    },\n  },\n};\n\nQueue.prototype = {\n  catch(f) {\n    return this.then(null, f);\n  },\n  user: {\n    add: function (y) {\n      if (y) { go(); }\n    },\n  },\n};\n\nclass P {\n  static async *[Symbol.asyncIterator]() {\n    try { yield 1; } catch (e) { go(); }\n  }\n\n  return(v) {\n    return v;\n  }\n}\n", "function data 2-4(2); function save 6-8(6); object Queue 12-21(12); function catch<Queue 13-15(13); function add<Queue 17-19(17); class P 23-31(23); function [Symbol.asyncIterator]<P 24-26(24); function return<P 28-30(28)"},
		{"N.java", "public non-sealed class Shape extends Base {\n}\n\nrecord Pair(int a, int b) {\n    Pair {\n        if (a > b) { fail(); }\n    }\n}\n", "class Shape 1-2(1); class Pair 4-8(4); function Pair<Pair 5-7(5)"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, outlined(c.file, c.src))
		})
	}
}
