package codesearch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBodiesComeBeforePrototypes(t *testing.T) {
	t.Parallel()
	ix, err := Build(t.Context(), tree(map[string]string{
		"include/jar.h":    "/**\n * Seals a jar with wax, so that nothing gets in.\n */\nEXPORT(int) jar_close(\n\tstruct jar *j, int how);\n\n/**\n * Says how many jars stand on a shelf, broken ones left out.\n */\nint jar_count(struct shelf *s);\n",
		"src/jar.c":        "#include \"jar.h\"\n\nint jar_close(struct jar *j, int how)\n{\n\tif (!j)\n\t\treturn -1;\n\treturn press(j, how);\n}\n",
		"test/jar_test.c":  "int jar_count(struct shelf *s)\n{\n\treturn 1;\n}\n",
		"include/shelf.h":  "class Shelf {\n public:\n  // Puts a jar where it can be reached.\n  void Put(Jar *jar);\n  // Does nothing, and says so.\n  virtual void Rest() = 0;\n};\n",
		"src/shelf.cc":     "void Shelf::Put(Jar *jar) {\n  jars_.push_back(jar);\n  count_++;\n}\n",
		"src/other.cc":     "void Crate::Put(Jar *jar) {\n  jars_.push_back(jar);\n  count_++;\n}\n",
		"src/unix/clock.c": "int tick(void)\n{\n\treturn 1;\n}\n",
		"src/win/clock.c":  "int tick(void)\n{\n\treturn 2;\n}\n",
		"include/clock.h":  "/* Waits until the hands of the clock have moved. */\nint tick(void);\n",
	}), Options{})
	require.NoError(t, err)
	first := func(question string) []Candidate {
		res, err := ix.Search(t.Context(), Query{Question: question})
		require.NoError(t, err)
		return res.Candidates
	}
	at := func(question, path string) {
		t.Helper()
		got := first(question)
		require.NotEmpty(t, got)
		require.Equal(t, path, got[0].Path, "%v", paths(got))
	}
	at("How is it sealed with wax?", "src/jar.c")
	require.Contains(t, first("How is it sealed with wax?")[0].Why, "declared in include/jar.h:4, which fits")
	at("How does jar_close work?", "src/jar.c")
	at("jar_close", "src/jar.c")
	at("Where is it put so that it can be reached?", "src/shelf.cc")
	at("How many stand on a shelf when broken ones are left out?", "include/jar.h") // a test's copy is no body
	at("What does nothing and says so?", "include/shelf.h")
	clocks := first("Until when is it waited for the hands of the clock to have moved?")
	require.Subset(t, paths(clocks[:2]), []string{"src/unix/clock.c tick", "src/win/clock.c tick"})
	for _, c := range first("jar_close of a jar") {
		require.NotEqual(t, "include/jar.h jar_close", c.Path+" "+c.Symbol, "its body is shown")
	}
}
