package settings

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
)

var web = librarian.RepoName{Owner: "Acme", Name: "web"}

// base is a server that offers two models and one exception of egress.
func base() Settings {
	s := Default()
	s.Models = Models{Default: "x/big", Allowed: []string{"x/big", "x/small"}}
	s.Ask.Bots = []int64{8, 9}
	s.Egress = []string{"search_code", "mcp:docs"}
	return s
}

func layer(name, yaml string) Layer {
	if yaml == "" {
		return Layer{Source: name}
	}
	return Layer{Source: name, Raw: []byte(yaml), Found: true}
}

func merge(organisation, repository string) (Settings, []string) {
	s, told := Merge(base(), web, layer("org", organisation), layer("repo", repository))
	var lines []string
	for _, f := range told {
		lines = append(lines, f.String())
	}
	return s, lines
}

func TestNarrow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		org, repo string
		change    func(*Settings)
		told      []string
	}{
		{name: "nothing said"},
		{name: "empty files", org: "# nothing\n", repo: "---\n"},
		{name: "keys without values", org: "ask:\nlimits:\n  steps:\n"},
		{name: "who may ask", org: "ask: {private: triage, public: write}", repo: "ask: {private: admin}", change: func(s *Settings) {
			s.Ask.Private, s.Ask.Public = access.Admin, access.Write
		}},
		{name: "W11 the repository asks for more askers", org: "ask: {private: write}", repo: "ask:\n  private: read\n  public: none\n",
			change: func(s *Settings) { s.Ask.Private = access.Write },
			told: []string{"repo, line 2, ask.private: " + wider + "; it stays write",
				"repo, line 3, ask.public: " + wider + "; it stays triage"}},
		{name: "bots", org: "ask: {bots: [9, 10]}", change: func(s *Settings) { s.Ask.Bots = []int64{9} },
			told: []string{"org, line 1, ask.bots[1]: is not allowed above, and was ignored"}},
		{name: "no bots", org: "ask: {bots: []}", change: func(s *Settings) { s.Ask.Bots = []int64{} }},
		{name: "switched off by the organisation", org: "enabled: false", repo: "enabled: true", change: func(s *Settings) { s.Enabled = false },
			told: []string{"repo, line 1, enabled: " + wider}},
		{name: "not included", org: "include: [acme/api, acme/b-*]", change: func(s *Settings) { s.Enabled = false }},
		{name: "included in any case", org: "include: [ACME/W*]"},
		{name: "no repository included", org: "include: []", change: func(s *Settings) { s.Enabled = false }},
		{name: "excluded", org: "exclude: ['*/web']", change: func(s *Settings) { s.Enabled = false }},
		{name: "own repository only", org: "read: {own_only: true}", repo: "read: {own_only: false}",
			change: func(s *Settings) { s.Read.OwnOnly = true }, told: []string{"repo, line 1, read.own_only: " + wider}},
		{name: "never read", org: "read: {exclude: [acme/secret-*]}", repo: "read: {exclude: [Globex/*]}",
			change: func(s *Settings) { s.Read.Exclude = []access.Pattern{"acme/secret-*", "globex/*"} }},
		{name: "share", org: "share:\n- from: acme/backend-*\n  into: Acme/*\n", change: func(s *Settings) {
			s.Share = []access.ShareRule{{From: "acme/backend-*", Into: "acme/*"}}
		}},
		{name: "share of others, and by halves", org: "share:\n- {from: globex/x, into: acme/*}\n- {from: acme/x, into: '*/*'}\n- {from: acme/x}\n",
			told: []string{"org, line 2, share[0]: names repositories that are not of Acme, and was ignored",
				"org, line 3, share[1]: names repositories that are not of Acme, and was ignored",
				"org, line 4, share[2]: needs both from and into, and was ignored"}},
		{name: "W11 the repository shares", repo: "share: [{from: acme/*, into: acme/web}]",
			told: []string{"repo, line 1, share: is the organisation's to set, and was ignored"}},
		{name: "egress", org: "private: {egress: ['mcp:docs', grep.example]}", repo: "private: {egress: []}",
			change: func(s *Settings) { s.Egress = []string{"mcp:docs"} },
			told: []string{"org, line 1, private.egress[1]: is not allowed above, and was ignored",
				"repo, line 1, private.egress: is the organisation's to set, and was ignored"}},
		{name: "scope", org: "scope: {owners: [acme]}", repo: "scope:\n  repos: [acme/api]\n  owners: ['a b']\n",
			change: func(s *Settings) { s.Scope.Repos = []librarian.RepoName{{Owner: "acme", Name: "api"}} },
			told:   []string{"repo, line 3, scope.owners[0]: is not the name of an account, and was ignored"}},
		{name: "triggers", org: "triggers: {label: false, dispatch: true}", repo: "triggers:\n  label: true\n  events: false\n",
			change: func(s *Settings) { s.Triggers.Label, s.Triggers.Events = false, false },
			told:   []string{"repo, line 2, triggers.label: " + wider}},
		{name: "models", org: "models: {allowed: [x/small, y/other]}", repo: "models: {default: x/big}",
			change: func(s *Settings) { s.Models.Allowed = []string{"x/small"} },
			told: []string{"org, line 1, models.allowed[1]: is not allowed above, and was ignored",
				"repo, line 1, models.default: is not among the models that may answer here, and was ignored"}},
		{name: "models for private content", org: "models: {private: [x/small], default: x/small}", repo: "models: {private: [x/big]}",
			change: func(s *Settings) { s.Models.Private, s.Models.Default = []string{}, "x/small" },
			told:   []string{"repo, line 1, models.private[0]: is not allowed above, and was ignored"}},
		{name: "models narrowed for all", org: "models: {private: [x/small, x/big]}", repo: "models: {allowed: [x/big]}",
			change: func(s *Settings) { s.Models.Allowed, s.Models.Private = []string{"x/big"}, []string{"x/big"} }},
		{name: "tools", org: "tools: {disabled: [bash]}", repo: "tools: {disabled: [grep, bash, provide_results]}",
			change: func(s *Settings) { s.Tools.Disabled = []string{"bash", "grep"} },
			told:   []string{"repo, line 1, tools.disabled[2]: provide_results always stays"}},
		{name: "limits", org: "limits: {steps: 10, time: 2m, cost: 0.5, user_runs: 5, monthly_cost: 100}",
			repo: "limits:\n  steps: 20\n  time: 90s\n  input_tokens: 1000\n  repository_runs: 7\n", change: func(s *Settings) {
				s.Limits = Limits{Steps: 10, Time: 90 * time.Second, InputTokens: 1000, Cost: 0.5, UserRuns: 5, RepositoryRuns: 7, MonthlyCost: 100}
			}, told: []string{"repo, line 2, limits.steps: " + wider}},
		{name: "notify", org: "notify: edit", repo: "notify: comment"},
		{name: "a fault in a key that opens nothing", repo: "limits:\n  steps: many\n  time: soon\n  cost: 0\n  turns: 3\nnotify: loud\ntriggers: {mention: 'no', label: false}\n",
			change: func(s *Settings) { s.Triggers.Label = false },
			told: []string{`repo, line 2, limits.steps: "many" is not a whole number`,
				`repo, line 3, limits.time: "soon" is not a duration as in 90s or 10m`,
				`repo, line 4, limits.cost: must be at least 0.01`,
				`repo, line 5, limits.turns: there is no such key`,
				`repo, line 6, notify: "loud" is none of comment, edit`,
				`repo, line 7, triggers.mention: "no" is neither true nor false`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := base()
			if tt.change != nil {
				tt.change(&want)
			}
			got, told := merge(tt.org, tt.repo)
			require.Empty(t, cmp.Diff(want, got))
			require.Empty(t, cmp.Diff(tt.told, told))
		})
	}
}

func TestT9_Strictest(t *testing.T) {
	t.Parallel()
	const shares = "share: [{from: acme/*, into: acme/*}]\nscope: {repos: [acme/api]}\n"
	for name, repo := range map[string]string{
		"not YAML":           "ask: [",
		"no keys":            "- ask\n",
		"one word":           "off",
		"two documents":      "enabled: true\n---\nenabled: true\n",
		"a misspelt key":     "exlude: [acme/web]\n",
		"a wrong level":      "ask: {private: raed}",
		"a wrong kind":       "ask: write",
		"not a list":         "exclude: acme/web",
		"not a pattern":      "exclude: ['acme/[a-z]']",
		"not true":           "enabled: nope",
		"an unknown inside":  "read: {own: true}",
		"twice":              "ask: {private: admin}\nask: {private: read}\n",
		"an alias":           "include: &a [acme/web]\nexclude: *a\n",
		"a merge key":        "<<: {enabled: false}\n",
		"too long":           "# " + strings.Repeat("x", MaxFile) + "\n",
		"too many":           "exclude: [" + strings.Repeat("a/b, ", maxList+1) + "]",
		"an empty entry":     "exclude: [acme/x, ]\nread: {exclude: [~]}\n",
		"a bomb of brackets": strings.Repeat("[", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, told := merge(shares, repo)
			require.NotEmpty(t, told)
			require.Equal(t, access.Write, s.Ask.Least(librarian.Public))
			require.LessOrEqual(t, access.Write, s.Ask.Least(librarian.Private))
			require.True(t, s.Read.OwnOnly)
			require.Empty(t, s.Share)
			require.Empty(t, s.Scope.Repos)
			require.Empty(t, s.Egress)
			require.Empty(t, s.Ask.Bots)
			require.True(t, s.Enabled, "other keys keep their value")
			require.Equal(t, base().Limits, s.Limits)
			require.Equal(t, base().Models, s.Models)
		})
	}
	s, told := Merge(base(), web, Layer{Source: "org", Err: errors.New("403 from a server with a token in it")}, layer("repo", "ask: {private: admin}"))
	require.Equal(t, access.Admin, s.Ask.Private, "the other layer still narrows")
	require.Equal(t, access.Write, s.Ask.Public)
	require.True(t, s.Read.OwnOnly)
	require.Len(t, told, 1)
	require.NotContains(t, told[0].String(), "token")

	// What a file repeats of itself is bounded.
	_, told = Merge(base(), web, Layer{}, layer("repo", strings.Repeat("x", 500)+": 1\n"+strings.Repeat("y: 1\n", 500)))
	require.Len(t, told, maxFaults)
	require.Less(t, len(told[0].String()), 200)
}

// TestNeverWider tries every file of a set in both layers: nothing of the result may be more than the base allows.
func TestNeverWider(t *testing.T) {
	t.Parallel()
	parts := []string{"", "enabled: true", "ask: {private: read, public: none, bots: [1, 8]}", "read: {own_only: false, exclude: []}", "private: {egress: [evil, search_code]}",
		"triggers: {mention: true, label: true, events: true, dispatch: true}", "models: {allowed: [x/big, evil], private: [evil], default: evil}",
		"tools: {disabled: []}", "limits: {steps: 10000, time: 10h, input_tokens: 100000000, cost: 1000, user_runs: 10000, repository_runs: 100000, monthly_cost: 100000}", "nonsense: 1", "ask: ["}
	b := base()
	b.Enabled, b.Read.OwnOnly, b.Triggers.Label, b.Ask.Public = false, true, false, access.Maintain
	b.Tools.Disabled = []string{"bash"}
	for _, org := range parts {
		for _, repo := range parts {
			s, _ := Merge(b, web, layer("org", org), layer("repo", repo))
			require.False(t, s.Enabled || s.Triggers.Label)
			require.True(t, s.Read.OwnOnly)
			require.GreaterOrEqual(t, s.Ask.Public, b.Ask.Public)
			require.GreaterOrEqual(t, s.Ask.Private, b.Ask.Private)
			require.Subset(t, b.Ask.Bots, s.Ask.Bots)
			require.Subset(t, b.Egress, s.Egress)
			require.Subset(t, b.Models.Allowed, s.Models.For(false))
			require.Subset(t, b.Models.Allowed, s.Models.For(true))
			if name, ok := s.Models.Pick("", true); ok {
				require.Contains(t, b.Models.Allowed, name)
			}
			require.Contains(t, s.Tools.Disabled, "bash")
			require.LessOrEqual(t, s.Limits.Steps, b.Limits.Steps)
			require.LessOrEqual(t, s.Limits.Time, b.Limits.Time)
			require.LessOrEqual(t, s.Limits.Cost, b.Limits.Cost)
			require.LessOrEqual(t, s.Limits.MonthlyCost, b.Limits.MonthlyCost)
			require.LessOrEqual(t, s.Limits.InputTokens, b.Limits.InputTokens)
			require.LessOrEqual(t, s.Limits.UserRuns, b.Limits.UserRuns)
			require.LessOrEqual(t, s.Limits.RepositoryRuns, b.Limits.RepositoryRuns)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	m := Models{Default: "big", Allowed: []string{"small", "big"}}
	for _, tt := range []struct {
		private []string
		name    string
		reads   bool
		want    string
		ok      bool
	}{
		{nil, "", false, "big", true}, {nil, "", true, "big", true}, {nil, "small", true, "small", true}, {nil, "evil", false, "evil", false},
		{[]string{"own"}, "", false, "big", true}, {[]string{"own"}, "", true, "own", true}, {[]string{"own"}, "big", true, "big", false},
		{[]string{}, "", true, "", false}, {[]string{"own"}, "own", false, "own", false},
	} {
		m.Private = tt.private
		got, ok := m.Pick(tt.name, tt.reads)
		require.Equal(t, tt.ok, ok)
		require.Equal(t, tt.want, got)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add("ask: {private: write}", "share: [{from: a/b, into: a/c}]")
	f.Add("a: &a [*a]", "<<: x")
	f.Fuzz(func(t *testing.T, org, repo string) {
		s, _ := Merge(base(), web, layer("org", org), layer("repo", repo))
		require.GreaterOrEqual(t, s.Ask.Public, access.Triage)
		require.GreaterOrEqual(t, s.Ask.Private, access.Read)
		for _, r := range s.Share {
			require.Equal(t, "acme", r.From.Owner())
		}
	})
}
