//go:build cgo && treesitter

package syntax

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pythonMethod is how this build outlines Python, and every language that has a grammar.
const pythonMethod = MethodTreeSitter

func TestEveryQueryFitsItsGrammar(t *testing.T) {
	t.Parallel()
	for name, g := range grammars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := g()
			require.NotNil(t, l)
			require.Contains(t, l.names, "name")
			require.Contains(t, l.names, "error")
		})
	}
}

// What a grammar gets right where the heuristics guess: groups, annotations over lines, declarators, code in strings and expressions.
func TestOutlineByGrammar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, src, want string }{
		{"a.go", "package a\n\n// G.\nconst (\n\t// X is.\n\tX = iota\n\tY\n)\n\nvar v = map[string]int{\n\t\"{\": 1,\n}\n\nfunc (t *T[K]) M() {\n\tconst local = 1\n}\n",
			"constant X 6-6(5) X = iota; constant Y 7-7(7) Y; variable v 10-12(10) var v = map[string]int; function M<T 14-16(14) func (t *T[K]) M()"},
		{"a.py", "X = {\n  'a': 1,\n}\n\n@deco(\n    a=1,\n)\nclass C(B):\n    @property\n    def f(self,\n          a=\"}\") -> int:\n        \"\"\"Doc f.\"\"\"\n        def inner(): pass\n",
			"constant X 1-3(1) X = {; class C 8-13(5) class C(B):; function f<C 10-13(9) def f(self, a=\"}\") -> int:; function inner<f 13-13(13) def inner():"},
		{"a.ts", "@Component({\n  selector: 'a',\n})\nexport class Foo<T> {\n  #x = 1;\n  async on(e: Event): Promise<void> {\n    const inner = () => 1;\n    const local = 3;\n  }\n}\nexport const c = {\n  run() { return 1; },\n};\ndescribe('things', () => {\n  it('works', async () => { const r = /[{]/; });\n});\nlet a = 1, b = 2;\n",
			"class Foo 4-10(1) export class Foo<T>; function on<Foo 6-9(6) async on(e: Event): Promise<void>; function inner<on 7-7(7) const inner = () =>; object c 11-13(11) export const c =; function run<c 12-12(12) run(); test things 14-16(14) describe('things', () =>; test works<things 15-15(15) it('works', async () =>; variable a 17-17(17) let a = 1; variable b 17-17(17) b = 2"},
		{"a.tsx", "export const A = memo(function A(p) {\n  return <B c={`}`}>{'{'}</B>;\n});\n\nexport default function Main() { return <A/>; }\n",
			"function A 1-3(1) export const A = memo(function A(p); function Main 5-5(5) export default function Main()"},
		{"a.js", "module.exports.f = function () {\n  return /}/;\n};\n\nclass A {\n  static h = (x) => x;\n}\n",
			"function f 1-3(1) module.exports.f = function (); class A 5-7(5) class A; function h<A 6-6(6) static h = (x) =>"},
		{"a.rs", "/// Doc.\n#[derive(Debug,\n  Clone)]\npub struct S<T> { x: T }\nimpl<T: A> fmt::Display for b::S<T> {\n    #[inline]\n    fn f(&self) -> u8 { let c = '{'; 1 }\n}\nmod tests { #[test] fn t() {} }\n",
			"struct S 4-4(1) pub struct S<T>; impl S 5-8(5) impl<T: A> fmt::Display for b::S<T>; function f<S 7-7(6) fn f(&self) -> u8; namespace tests 9-9(9) mod tests; function t<tests 9-9(9) fn t()"},
		{"A.java", "/** D */\n@Foo(\n  x = {1}\n)\npublic final class A<T> {\n    static final int N = 3, M = 4;\n    @Override public <T> void f(int x) { int local = 1; }\n    record P(int x) {}\n    enum E { X, Y; }\n}\n",
			"class A 5-10(1) public final class A<T>; field N<A 6-6(6) static final int N = 3, M = 4; field M<A 6-6(6) static final int N = 3, M = 4; function f<A 7-7(7) public <T> void f(int x); class P<A 8-8(8) record P(int x); enum E<A 9-9(9) enum E"},
		{"a.c", "typedef struct node { int a; } node;\ntypedef struct { int b; } anon, *panon;\nstatic const char *\nf(int (*cb)(int)) /* c */\n{\n  int local;\n}\nint (*table[3])(int);\nint *p, q;\nint proto(int);\n",
			"struct node 1-1(1) typedef struct node; field a<node 1-1(1) int a; struct anon 2-2(2) typedef struct; struct panon 2-2(2) typedef struct; field b<panon 2-2(2) int b; function f 3-7(3) static const char * f(int (*cb)(int)); function table 8-8(8) int (*table[3])(int); variable p 9-9(9) int *p, q; variable q 9-9(9) int *p, q; function proto 10-10(10) int proto(int)"},
		{"a.cpp", "namespace a::b {\n// Doc.\ntemplate <typename T>\nclass V : public W<T> {\n public:\n  ~V();\n  T& operator[](size_t i) { return d[i]; }\n};\nint V<int>::g(int y) { return R\"(})\"[0]; }\nusing S = V<int>;\n}\n",
			"namespace b 1-11(1) namespace a::b; class V<b 4-8(2) class V : public W<T>; function ~V<V 6-6(6) ~V(); function operator[]<V 7-7(7) T& operator[](size_t i); function g<V 9-9(9) int V<int>::g(int y); type S<b 10-10(10) using S = V<int>"},
		{"A.cs", "namespace N.M\n{\n    /// <summary>d</summary>\n    [Foo(\n      1)]\n    public partial class A<T> : B where T : C\n    {\n        [X] private readonly int _a = 1;\n        public int P { get; set; }\n        public async Task<int> F(int x) => await g();\n    }\n}\n",
			"namespace N.M 1-12(1) namespace N.M; class A<N.M 6-11(3) public partial class A<T> : B where T : C; field _a<A 8-8(8) private readonly int _a = 1; field P<A 9-9(9) public int P; function F<A 10-10(10) public async Task<int> F(int x)"},
		{"a.rb", "module A # why\n  class B::C < D\n    attr_reader :foo\n    def self.make(a) = new\n    def x=(v); @x = v; end\n    class << self\n      def y = <<~T\n        end\n      T\n    end\n  end\nend\nRSpec.describe Foo do\n  it \"works\" do\n  end\nend\n",
			"namespace A 1-12(1) module A; class C<A 2-11(2) class B::C < D; field foo<C 3-3(3) attr_reader :foo; function make<C 4-4(4) def self.make(a) =; function x<C 5-5(5) def x=(v); function y<C 7-9(7) def y =; test Foo 13-16(13) RSpec.describe Foo; test works<Foo 14-15(14) it \"works\""},
		{"a.php", "<html><?php\n/** Doc */\n#[Attr]\nfinal class A extends B {\n    const X = 1;\n    public static function f(): int { return <<<T\n    }\n    T; }\n}\ntrait T { abstract function g(); }\n?></html>\n",
			"class A 4-9(2) final class A extends B; constant X<A 5-5(5) const X = 1; function f<A 6-8(6) public static function f(): int; trait T 10-10(10) trait T; function g<T 10-10(10) abstract function g()"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			o := NewOutline(c.file, []byte(c.src))
			require.Equal(t, MethodTreeSitter, o.Method)
			var got []string
			for _, d := range o.Decls {
				name := d.Name
				if d.Parent != "" {
					name += "<" + d.Parent
				}
				got = append(got, fmt.Sprintf("%s %s %d-%d(%d) %s", d.Kind, name, d.Start, d.End, d.DocStart, d.Signature))
			}
			require.Equal(t, strings.Split(c.want, "; "), got)
		})
	}
}

func TestWhatNoGrammarReadsIsReadByTheHeuristics(t *testing.T) {
	t.Parallel()
	function := "func f() {\n}\n"
	for name, c := range map[string]struct {
		file string
		src  string
	}{
		"no grammar":     {"a.lua", "function f()\nend\n"},
		"only resembles": {"a.vue", "<template><p>{{ x }}</p></template>\n<script>\nfunction f() {\n}\n</script>\n"},
		"too large":      {"a.go", strings.Repeat("// comment\n", maxParsed/10) + function},
		"makes no sense": {"a.go", function + strings.Repeat(") ] }} ((( ' \n", 20)},
		"long heredocs":  {"a.rb", "def f\nend\nx = <<" + strings.Repeat("A", 300) + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := NewOutline(c.file, []byte(c.src))
			require.Equal(t, MethodHeuristic, o.Method)
			require.NotEmpty(t, o.Decls)
			require.Equal(t, "f", o.Decls[0].Name)
		})
	}
}

// The Ruby scanner aborts the whole process on these; rubyIsSafe must not let them through, and must let ordinary code.
func TestRubyScannersLimits(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("A", 300)
	for _, src := range []string{
		"x = <<" + word, "x = <<~" + word, "x = <<-'" + word + "'", "x = <<\"" + strings.Repeat("a b\n", 80) + "\"", "x = <<'" + word, "x = <<<" + word,
		"f(" + strings.Repeat("<<A, ", 300) + ")\n",
		strings.Repeat("\"#{", 210) + "<<A\n",
	} {
		require.False(t, rubyIsSafe([]byte(src)), "%.60q", src)
	}
	for _, src := range []string{"", "<<", "a << b\nc <<~T\n  x\nT\n", strings.Repeat("\"#{x}\"\n", 1000), strings.Repeat("a << 'x'\n", 1000), "def x\n  <<-SQL\n  SQL\nend\n"} {
		require.True(t, rubyIsSafe([]byte(src)), "%.60q", src)
	}
}

func FuzzTreesitterSurvives(f *testing.F) {
	names := []string{"a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.rs", "a.java", "a.c", "a.cpp", "a.cs", "a.rb", "a.php"}
	for i := range names {
		for _, src := range []string{"x = <<~A\n#{<<B}\n", "f'{x!r:{y}}'\n\tif x:\n", "R\"abc()abc\"", "$\"\"\"{{x}}\"\"\"", "<?php <<<'A'\nA;", "r##\"x\"##", "`${`${x}`}`", "<A b={<C/>}/>", "%w(a #{b})", "\xff\x00{"} {
			f.Add(uint8(i), []byte(src))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, src []byte) {
		name := names[int(which)%len(names)]
		lines := bytes.Count(src, []byte{'\n'}) + 1
		for _, d := range NewOutline(name, src).Decls {
			if d.DocStart < 1 || d.DocStart > d.Start || d.Start > d.End || d.End > lines || d.Name == "" || len(d.Signature) > 300 {
				t.Fatalf("%+v of %d lines", d, lines)
			}
		}
	})
}
