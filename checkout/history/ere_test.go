package history

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestERE compares what git's kind of expression finds, by way of grep -E in
// the C locale, with what RE2 finds.
func TestERE(t *testing.T) {
	t.Parallel()
	grep, err := exec.LookPath("grep")
	if err != nil {
		t.Skip("grep is not installed")
	}
	lines := []string{"return 42", "func Foo(a int) error {", "a-b]c^d", "x.y", "", "tab\there", "caf\u00e9 1", "aab", "AAB", "foo_bar", "d", "a\\b", "[x]", "^", "-", "]", "a{2}", "ab|cd", "$1"}
	for _, p := range []string{`\d+`, `\w+\s\d`, `^func \w+\(`, `[^a-z]`, `[]^-]`, `[\^]`, `[-^]`, `[^\]]`, `a.b`, `(?i)foo`, `(?i)aab`, `a{2}b`, `a{2,}`, `a{0,1}b$`, `x|y`, `(x|tab)\b`, `\bbar`, `_bar\b`, `^$`,
		`\\`, `\[x\]`, `\$1`, `ab\|cd`, `a*?b`, `(?:foo|x)[._]\w`, `é`, `[é]`, `\D`, `\S+\s`, `[[:upper:]]`, `a\{2\}`, `.+`, `q*`, `\t`} {
		e, err := ere(p)
		require.NoError(t, err, p)
		re := regexp.MustCompile(p)
		var want []string
		for _, l := range lines {
			if re.MatchString(l) {
				want = append(want, l)
			}
		}
		cmd := exec.CommandContext(t.Context(), grep, "-a", "-E", "-e", e)
		cmd.Env = []string{"LC_ALL=C"}
		cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
		out, _ := cmd.Output()
		require.Equal(t, strings.Join(want, "\n"), strings.TrimSuffix(string(out), "\n"), "%s as %s", p, e)
	}
	for _, p := range []string{"(", "(?=x)", `[^\x00-\x{10FFFF}]`, `\p{Han}`} {
		_, err := ere(p)
		require.Error(t, err, p)
	}
}
