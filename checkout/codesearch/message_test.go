package codesearch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What raises an error is where most of its message stands in a literal, whatever was filled in and however the language writes that.
func TestMessageIsFoundWhereItsLiteralIs(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"pool.java":   "class Pool {\n  // Connection is not available, request timed out after a while.\n  void note() {}\n  Conn lend(long ms) {\n    throw new SQLException(poolName + \" - Connection is not available, \" +\n      \"request timed out after \" + ms + \"ms\");\n  }\n}\nclass TransientException {}\n",
		"args.go":     "package x\n\n// Command is an unknown command for an app, with help for usage.\ntype Command struct{ app, help, usage string }\n\nfunc NoArgs(c *Command, a []string) error {\n\treturn fmt.Errorf(\"unknown command %q for %q\", a[0], c.app)\n}\n",
		"consumer.py": "UNKNOWN = \"\"\"\\\nReceived unregistered task of type %s.\nThe message has been ignored and discarded.\n\"\"\"\n\n\ndef send_task(task, type):\n    \"\"\"Send a task of a type; a received message.\"\"\"\n    return task\n",
		"tool.sh":     "ensure_version() {\n  if missing; then\n    err \"N/A: version \\\"${PREFIX:-$GIVEN}\\\" is not yet installed.\"\n  fi\n}\n\nversion_source() {\n  echo version is not installed\n}\n",
		"field.rs":    "fn missing_field(name: &str) -> Error {\n    Error::custom(format!(\"absent field `{}` in the map\", name))\n}\n\nfn field_map() {}\n",
		"job.rb":      "module Job\n  def verify(item)\n    raise ArgumentError, \"Job arguments to #{item.name} must be native types, but #{item.arg.inspect} is a #{item.arg.class}.\"\n  end\nend\n\nclass HardJob\n  def perform; end\nend\n",
		"load.go":     "package y\n\nfunc load(p string) error {\n\treturn fmt.Errorf(\"reading settings of the service %s: %w\", p, parse(p))\n}\n\nfunc parse(p string) error {\n\treturn fmt.Errorf(\"duplicate section name %s\", p)\n}\n",
		"conf.c":      "void conf_handler(int n)\n{\n    *err = put(*err, \"strange directive '%.9s', with words beginning with: %s\", n);\n}\n\nvoid print_it(void)\n{\n    print(\"barley\");\n}\n",
		"ref.c":       "int ref_missing(char *n)\n{\n    return fail(\"reference '%s' not found\", n);\n}\n\nint reference_found(int n)\n{\n    return n;\n}\n",
		"x_test.go":   "package x\n\nfunc TestDirective() {\n\twant := \"strange directive 'barley', with words beginning with: corn\"\n}\n",
		"errors.md":   "# Errors\n\n## unknown command\n\nunknown command \"foo\" for \"app\"\n",
	}
	ix, err := Build(t.Context(), tree(files), Options{})
	require.NoError(t, err)
	for question, want := range map[string]string{
		"MyPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10)": "pool.java lend",
		"Error: unknown command \"foo\" for \"app\"\nRun 'app --help' for usage.":                       "args.go NoArgs",
		"Received unregistered task of type 'tasks.add'.\nThe message has been ignored and discarded.":  "consumer.py UNKNOWN",
		"N/A: version \"v99\" is not yet installed.":                                                    "tool.sh ensure_version",
		"Error: absent field `name` in the map at line 1":                                               "field.rs missing_field",
		"ArgumentError: Job arguments to HardJob must be native types, but :foo is a Symbol.":           "job.rb verify",
		"strange directive 'barley', with words beginning with: 'corn'":                                 "conf.c conf_handler",
		"unknown thing: strange directive 'barley', with words beginning with: 'corn'":                  "conf.c conf_handler",
		"reference 'refs/heads/x' not found":                                                            "ref.c ref_missing",
		"error: starting: reading settings of the service x.toml: duplicate section name a":             "load.go parse",
	} {
		res, err := ix.Search(t.Context(), Query{Question: question})
		require.NoError(t, err)
		require.NotEmpty(t, res.Candidates, question)
		first := res.Candidates[0]
		require.Equal(t, want, first.Path+" "+first.Symbol, question)
		require.Contains(t, strings.Join(first.Why, " "), "contains “", question)
		require.False(t, res.Signals.Message, question)
	}
	res, err := ix.Search(t.Context(), Query{Question: "TransientException: pool note is full of version source commands"})
	require.NoError(t, err)
	require.True(t, res.Signals.Message, "no literal has it")
	require.Less(t, res.Confidence, ConfidenceSure)
}

func TestPastedMessagesAreLinesThatWerePrinted(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]int{
		"where is it decided that a request failed?":                     0,
		"How are invalid cookies rejected":                               0,
		"what does this mean?\n\nopen store: cannot read index\n":        1,
		"thread 'main' panicked at src/main.rs:10:20:\nthe lock is held": 1,
		"-NOAUTH Please sign in":                                         1, "(error) OOM no room": 1, "-v shows more": 0,
		"Traceback (most recent call last):\n  File \"x.py\", line 3, in f\nValueError: bad port": 1,
	} {
		require.Len(t, pastedMessages(question), want, question)
	}
}
