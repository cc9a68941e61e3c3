package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutlineFindsDeclarationsPerLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, src, want string }{
		{"a.go", "package a\n\n// F does.\nfunc (r *T[K]) F(x struct{}) {\n\ts := \"}\" // }\n}\n\ntype T struct {\n\tx int\n}\n", "function F<T 4-6(3); type T 8-10(8)"},
		{"b.go", "package a\n\nvar T = `\nfunc no() {\n}\n`\n\nconst C = `x\n\n` +\n\t`y\n`\n\nfunc f() {\n}\n", "variable T 3-6(3); constant C 8-12(8); function f 14-15(14)"},
		{"b.ts", "const q = `\nfunction no() {\n}\n`\nfunction f() {\n}\n", "constant q 1-4(1); function f 5-6(5)"},
		{"a.py", "@deco\ndef f(a,\n      b):\n    \"\"\"Doc }.\"\"\"\n    return 1\n\nclass C:\n    async def g(self):\n        pass\n", "function f 2-5(1); class C 7-9(7); function g<C 8-9(8)"},
		{"a.rs", "/// Doc.\npub(crate) fn new<'a>(x: &'a str) -> char {\n    '{'\n}\n\nimpl<T> Tr for S<T> {\n    fn go(&self) {}\n}\n", "function new 2-4(1); impl S 6-8(6); function go<S 7-7(7)"},
		{"A.java", "package a;\nimport b.C;\n/** Doc. */\n@X(1)\npublic class A extends B {\n    private static final int N = 3;\n    @Override\n    public <T> void f(int x) throws E {\n        if (x) { g(); }\n    }\n}\n", "class A 5-11(3); field N<A 6-6(6); function f<A 8-10(7)"},
		{"a.ts", "export const f = async (x: number) => {\n  const re = /[{]/;\n};\n\nclass A {\n  get x(): number { return 1; }\n  g = () => { h(); };\n}\n", "function f 1-3(1); class A 5-8(5); function x<A 6-6(6); function g<A 7-7(7)"},
		{"b.js", "export default ok && function get(a) {\n  return a;\n};\n", "function get 1-3(1)"},
		{"c.js", "export default forwardRef((props, ref) => {\n  return 1;\n});\n", "function default 1-3(1)"},
		{"d.js", "export default memo(function Card({ a }) {\n  return 1;\n});\n", "function Card 1-3(1)"},
		{"e.js", "export const slice = create({\n  name: \"x\",\n  reducers: {\n    add(s) {\n      s.x++;\n    },\n    drop: (s) => {\n      s.x--;\n    },\n  },\n});\n", "constant slice 1-11(1); function add<slice 4-6(4); function drop<slice 7-9(7)"},
		{"c.ts", "export default class extends A {\n  m() {\n    return 1;\n  }\n}\n\nexport default function (x) {\n  return 1;\n}\n", "class default 1-5(1); function m<default 2-4(2); function default 7-9(7)"},
		{"d.ts", "export function F({ a, b }: { a: string; b(): void }, c = { d: 1 }) {\n  return a;\n}\n", "function F 1-3(1)"},
		{"a.rb", "module M\n  class A < B\n    def x?(a)\n      y = <<~T\n        def no\n      T\n    end\n  end\nend\n", "namespace M 1-9(1); class A<M 2-8(2); function x?<A 3-7(3)"},
		{"a.c", "#include <x.h>\n#define MAX(a, b) \\\n  ((a) > (b))\n\nstatic int\nf(struct s *p)\n{\n  return '}';\n}\n\nstruct s {\n  int x;\n};\n", "macro MAX 2-3(2); function f 5-9(5); struct s 11-13(11); field x<s 12-12(12)"},
		{"a.sh", "# Doc\nfoo() {\n  cat <<EOF\n}\nEOF\n}\n", "function foo 2-6(1)"},
		{"q.sh", "one() {\n  A=\"$(which \"${X}\") ($(type \"$X\" | sed -e 's/^\\ *//' -e \"s/\\`|'//g\"))\"\n  case \"$A\" in *\\'* | *' '*) ;; esac\n}\n\ntwo() {\n  o=${o//'\"'/q}\n  o=${o//\\'/p}\n  B=$'\\''\n}\n\nthree() {\n  echo \"a\n}\n  \"\n}\n", "function one 1-4(1); function two 6-10(6); function three 12-16(12)"},
		{"a.lua", "function M.f(x)\n  return x\nend\n\nM.g = function()\nend\n", "function f 1-3(1); function g 5-6(5)"},
		{"a.ex", "defmodule A.B do\n  def f(x), do: x\n\n  defp g(x) do\n    x\n  end\nend\n", "class A.B 1-7(1); function f<A.B 2-2(2); function g<A.B 4-6(4)"},
		{"a.hs", "-- | Doc\nf :: Int -> Int\nf 0 = 1\nf n =\n  n\n\ndata T = A\n  | B\n", "function f 2-5(1); type T 7-8(7)"},
		{"a.php", "<?php\nclass A {\n    #[X]\n    public function f(string $s): int\n    {\n        return 1; // }\n    }\n}\n", "class A 2-8(2); function f<A 4-7(3)"},
		{"a.kt", "class A(val x: Int) {\n    fun <T> List<T>.g(): Int = 1\n\n    fun h() {\n    }\n}\n", "class A 1-6(1); function g<A 2-2(2); function h<A 4-5(4)"},
		{"a.swift", "extension A {\n  func f() -> Int {\n    1\n  }\n}\n", "impl A 1-5(1); function f<A 2-4(2)"},
		{"A.cs", "namespace N\n{\n    public class A\n    {\n        [X]\n        public int F(int x)\n        {\n            return 1;\n        }\n    }\n}\n", "namespace N 1-11(1); class A<N 3-10(3); function F<A 6-9(5)"},
		{"B.cs", "class A\n{\n    public static P<T> Retry<T>(this B<T> b) =>\n        b.Retry(1);\n\n    Task<T> Run<T, U>(U u)\n        where T : class\n    {\n        return Wait<T>(u);\n    }\n}\n", "class A 1-11(1); function Retry<A 3-4(3); function Run<A 6-10(6)"},
		{"B.java", "enum S {\n    /** First. */\n    One {\n        boolean next(T t) {\n            return true;\n        }\n    },\n    Two, Three(3) {\n        @Override boolean next(T t) {\n            return false;\n        }\n    };\n\n    S() {\n        this(0);\n    }\n}\n", "enum S 1-17(1); class One<S 3-7(2); function next<One 4-6(4); class Three<S 8-12(8); function next<Three 9-11(9); function S<S 14-16(14)"},
		{"g.ts", "export class A<\n\tT extends B<'x'>,\n\tU\n>\n{\n\tm(): { a: string; b(): void } {\n\t\treturn f();\n\t}\n}\n\nclass C extends P<{ a: number; b: string }, {}> {\n\tn(x: { y: 1 }): Q | { z: 2 } {\n\t\treturn 1;\n\t}\n\n\tprivate o: { p: 1 } = { p: 1 };\n\n\tq() {}\n}\n\nfunction r(): void {\n\tif (a < b) { c(); }\n}\n\nfunction s() {}\n", "class A 1-9(1); function m<A 6-8(6); class C 11-19(11); function n<C 12-14(12); function q<C 18-18(18); function r 21-23(21); function s 25-25(25)"},
		{"h.ts", "class V<T extends { tag: string }> extends P<T> {\n\tconstructor(a: T) {\n\t\tif (a < b) { c(); }\n\t}\n}\n\nexport class W<\n\tA = B,\n\t// why\n\tD = never,\n> extends E {\n\t$f: G = (a: string) => {\n\t\treturn a;\n\t};\n}\n", "class V 1-5(1); function constructor<V 2-4(2); class W 7-15(7); function $f<W 12-14(12)"},
		{"n.cc", "// About.\n\n// Hidden.\nnamespace {\n\n// Does.\nint f(int x) {\n  return x;\n}\n\n}  // namespace\n", "function f 7-9(6)"},
		{"R.java", "class R {\n    public void record(long key) {\n        a(key);\n    }\n\n    record P(int x) {\n    }\n}\n", "class R 1-8(1); function record<R 2-4(2); class P<R 6-7(6)"},
		{"m.cc", "class ALIGNED(16) A final : public B {\n  void f();\n};\n", "class A 1-3(1); function f<A 2-2(2)"},
		{"P.cs", "Console.Write(1);\nbuilder.Services.Add(2);\n\nclass A\n{\n    void I.Run()\n    {\n    }\n\n    extern string? Name(int x);\n}\n", "class A 4-11(4); function Run<A 6-8(6); function Name<A 10-10(10)"},
		{"k.ts", "class A {\n\ttype(): Kind {\n\t\treturn 1;\n\t}\n\n\tmodule(name: string): Mod {\n\t}\n\n\tasync() {\n\t}\n\n\t#load() {\n\t}\n}\n\ninterface O {\n\ttype?: string\n\tenum?: string[]\n}\n", "class A 1-14(1); function type<A 2-4(2); function module<A 6-7(6); function async<A 9-10(9); function load<A 12-13(12); interface O 16-19(16)"},
		{"ns.h", "namespace a {\nNAMESPACE_BEGIN\n\ntemplate <class K, class V>\nclass map {\n public:\n  void erase(K k) {\n  }\n};\n\nNAMESPACE_END\n}\n", "namespace a 1-12(1); class map<a 5-9(4); function erase<map 7-8(7)"},
		{"C.java", "class A {\n    void lock() {\n        synchronized (x) { a(); }\n        assert (x);\n    }\n\n    public <K> List<K> select(int[] match) {\n        return with(match);\n    }\n}\n", "class A 1-10(1); function lock<A 2-5(2); function select<A 7-9(7)"},
		{"C.cs", "class A\n{\n    bool Ok()\n    {\n        lock (x) { a(); }\n        using (y) { b(); }\n        return true;\n    }\n\n    T match(int x)\n    {\n        return delete(x);\n    }\n}\n", "class A 1-14(1); function Ok<A 3-8(3); function match<A 10-13(10)"},
		{"k.c", "static int *lock(struct s *x)\n{\n  if (x) { return match(x); }\n  return x;\n}\n\nint delete(int k) {\n  while (k) { k--; }\n}\n", "function lock 1-5(1); function delete 7-9(7)"},
		{"f.ts", "class A {\n  delete(k: K): void {\n    for await (const x of y) { f(); }\n    if (a) { b(); } else if (c) { d(); }\n  }\n\n  async select<T>(q: Q) {\n    switch (q) { default: }\n  }\n}\n", "class A 1-10(1); function delete<A 2-5(2); function select<A 7-9(7)"},
		{"p.dart", "class Point {\n  // From polar.\n  Point.polar(double r) : x = r {\n    check();\n  }\n\n  const Point(this.x);\n\n  factory Point.of(int i) => _cache[i]!;\n\n  void go() {\n    Point.polar(1);\n  }\n}\n", "class Point 1-14(1); function polar<Point 3-5(2); function Point<Point 7-7(7); function of<Point 9-9(9); function go<Point 11-13(11)"},
		{"a.md", "# One\n\ntext\n\n```\n# no\n```\n\n## Two\n", "section One 1-8(1); section Two 9-9(9)"},
		{"a.zig", "pub fn f(x: u8) void {\n    _ = '}';\n}\n", "function f 1-3(1)"},
		{"b.zig", "x: u8,\n\nfn f() error{ A, B }!?struct { u8, u8 } {\n    return null;\n}\n\nconst S = struct {\n    y: u8,\n    z: u8,\n\n    fn g() E!void {\n        f();\n    }\n};\n\nconst E = error{\n    A,\n};\n", "function f 3-5(3); struct S 7-14(7); function g<S 11-13(11); constant E 16-18(16)"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, outlined(c.file, c.src))
		})
	}
}

// outlined tells what is declared in a file, in one line.
func outlined(file, src string) string {
	var got []string
	for _, d := range NewOutline(file, []byte(src)).Decls {
		name := d.Name
		if d.Parent != "" {
			name += "<" + d.Parent
		}
		got = append(got, fmt.Sprintf("%s %s %d-%d(%d)", d.Kind, name, d.Start, d.End, d.DocStart))
	}
	return strings.Join(got, "; ")
}

func TestEnclosingGivesTheSmallestDeclaration(t *testing.T) {
	t.Parallel()
	src := []byte("class C:\n    # about f\n    def f(self):\n        pass\n\nx = 1\n")
	n, ok := Enclosing("a.py", src, 2)
	require.True(t, ok)
	require.Equal(t, "f", n.Name)
	require.Equal(t, pythonMethod, n.Method)
	_, ok = Enclosing("a.py", src, 5)
	require.False(t, ok)
}

func FuzzOutlineStaysInsideTheFile(f *testing.F) {
	for _, ext := range []string{".go", ".py", ".rb", ".js", ".c", ".hs", ".md", ".sh", ".php", ".rs"} {
		f.Add("a"+ext, []byte("func f() {\n\"'`/*\n"))
	}
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		lines := strings.Count(string(src), "\n") + 1
		for _, d := range NewOutline(name, src).Decls {
			if d.DocStart < 1 || d.DocStart > d.Start || d.Start > d.End || d.End > lines {
				t.Fatalf("%+v of %d lines", d, lines)
			}
		}
	})
}
