package access

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

// sharing is the one case in which another private repository may be read; each test takes one thing from it.
func sharing(change func(*ReadFacts)) ReadFacts {
	f := ReadFacts{
		Repo: "github:h:2", Own: "github:h:1", Visibility: librarian.Private,
		Share: ShareFacts{
			Rules:      []ShareRule{{From: "acme/nothing", Into: "acme/*"}, {From: "acme/backend-*", Into: "acme/*"}},
			Name:       librarian.RepoName{Owner: "acme", Name: "Backend-Api"},
			Covered:    true,
			AskerLevel: Read, Person: true, Named: true,
			Thread:        librarian.RepoName{Owner: "Acme", Name: "web"},
			ThreadVisible: librarian.Private,
		},
	}
	if change != nil {
		change(&f)
	}
	return f
}

func TestShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*ReadFacts)
		want   bool
	}{
		{"all hold", nil, true},
		{"W9 internal counts as private, and is shared alike", func(f *ReadFacts) { f.Visibility = librarian.Internal }, true},
		{"into an internal thread", func(f *ReadFacts) { f.Share.ThreadVisible = librarian.Internal }, true},
		{"W4 the thread is public", func(f *ReadFacts) { f.Share.ThreadVisible = librarian.Public }, false},
		{"W4 the thread's visibility is not known", func(f *ReadFacts) { f.Share.ThreadVisible = "" }, false},
		{"W9 the asker did not name it", func(f *ReadFacts) { f.Share.Named = false }, false},
		{"W9 the asker cannot read it", func(f *ReadFacts) { f.Share.AskerLevel = None }, false},
		{"W1 not known whether the asker can read it", func(f *ReadFacts) { f.Share.AskerLevel = Unknown }, false},
		{"W9 no rule", func(f *ReadFacts) { f.Share.Rules = nil }, false},
		{"W9 a rule of another repository", func(f *ReadFacts) { f.Share.Name.Name = "billing" }, false},
		{"W9 a rule into other threads", func(f *ReadFacts) { f.Share.Rules = []ShareRule{{From: "acme/*", Into: "acme/backend-*"}} }, false},
		{"the rule is not turned around", func(f *ReadFacts) { f.Share.Rules = []ShareRule{{From: "acme/web", Into: "acme/backend-api"}} }, false},
		{"another owner's repository of the same name", func(f *ReadFacts) { f.Share.Name.Owner = "acme2" }, false},
		{"another owner's thread", func(f *ReadFacts) { f.Share.Thread.Owner = "globex" }, false},
		{"outside of the installation", func(f *ReadFacts) { f.Share.Covered = false }, false},
		{"L7 nobody's rights", func(f *ReadFacts) { f.Share.Person = false }, false},
		{"no thread", func(f *ReadFacts) { f.Own = "" }, false},
		{"the settings leave its own repository only", func(f *ReadFacts) { f.Rule.OwnOnly = true }, false},
		{"the settings exclude it", func(f *ReadFacts) { f.Rule.Exclude = []Pattern{"ACME/back*"} }, false},
		{"the settings exclude another", func(f *ReadFacts) { f.Rule.Exclude = []Pattern{"acme/front*"} }, true},
		{"excluded though public", func(f *ReadFacts) { f.Rule.Exclude, f.Visibility = []Pattern{"acme/*"}, librarian.Public }, false},
		{"public, but nothing beside its own", func(f *ReadFacts) { f.Rule.OwnOnly, f.Visibility = true, librarian.Public }, false},
		{"public, without a name to hold the exclusion against", func(f *ReadFacts) {
			f.Rule.Exclude, f.Visibility, f.Share = []Pattern{"acme/*"}, librarian.Public, ShareFacts{}
		}, false},
		{"its own, whatever is excluded", func(f *ReadFacts) { f.Rule = ReadRule{true, []Pattern{"*/*"}}; f.Repo = f.Own }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, MayRead(sharing(tt.change)))
		})
	}
}

func TestW9_Named(t *testing.T) {
	t.Parallel()
	const host = "github.com"
	ask := func(text string) librarian.Request {
		return librarian.Request{Question: text, Principal: librarian.Principal{ID: 7}, Place: librarian.Place{Trigger: librarian.TriggerIssueComment}}
	}
	name := librarian.RepoName{Owner: "Acme", Name: "backend-api"}
	for text, want := range map[string]bool{
		"how does acme/backend-api retry?":           true,
		"ACME/Backend-API":                           true,
		"see acme/backend-api.":                      true,
		"see acme/backend-api... and go":             true,
		"(acme/backend-api)":                         true,
		"`acme/backend-api`":                         true,
		"in acme/backend-api/src/retry.go":           true,
		"acme/backend-api#12":                        true,
		"https://github.com/acme/backend-api/pull/1": true,
		"github.com/acme/backend-api.git":            true,
		"www.github.com/acme/backend-api":            true,
		"git@github.com:acme/backend-api.git":        true,
		"请看acme/backend-api的代码":                      true,
		"not acme/backend-api2 but acme/backend-api": true,
		"how does backend-api retry?":                false,
		"acme/backend-api-v2":                        false,
		"acme/backend-api.js":                        false,
		"acme/backend-api_x":                         false,
		"acme/backend-api.github":                    false,
		"mega-acme/backend-api":                      false,
		"x/acme/backend-api":                         false,
		"https://evil.example/acme/backend-api":      false,
		"https://notgithub.com/acme/backend-api":     false,
		"@acme/backend-api":                          false,
		"acme / backend-api":                         false,
		"acme/backend":                               false,
		"":                                           false,
	} {
		require.Equal(t, want, Named(ask(text), host, name), text)
	}
	const says = "acme/backend-api"
	q := ask("why?")
	q.Quoted = says
	require.False(t, Named(q, host, name), "what is quoted is not the asker's")
	q = ask("why?")
	q.Repos = []string{says}
	require.False(t, Named(q, host, name), "a scope that the asker did not write")
	q.Place.Trigger = librarian.TriggerDispatch
	require.True(t, Named(q, host, name), "L4: a dispatch names repositories beside its query")
	q.Principal.Bot = true
	require.False(t, Named(q, host, name), "L7: but a workflow is no person")
	for _, kind := range []librarian.TriggerKind{librarian.TriggerLabel, librarian.TriggerEvent} {
		q = ask(says)
		q.Place.Trigger = kind
		require.False(t, Named(q, host, name), "%s: the text is somebody else's", kind)
	}
	q = ask(says)
	q.Principal = librarian.Principal{Login: librarian.GhostLogin}
	require.False(t, Named(q, host, name), "W8")
	require.False(t, Named(ask("/"), host, librarian.RepoName{}))
}

func TestPattern(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"acme/*": true, "*/*": true, "acme/backend-?": true, "A.b_c-d/e": true,
		"": false, "acme": false, "acme/": false, "/x": false, "acme/a/b": false, "acme/[ab]": false, `acme/\*`: false, "acme/ä": false, "acme/a b": false, "!acme/x": false,
	} {
		_, err := ParsePattern(s)
		require.Equal(t, want, err == nil, s)
	}
	for _, tt := range []struct {
		p    Pattern
		repo string
		want bool
	}{
		{"acme/*", "acme/x", true}, {"acme/*", "ACME/.github", true}, {"*/x", "acme/x", true}, {"acme/b-?", "acme/b-1", true},
		{"acme/b-?", "acme/b-12", false}, {"acme/*", "acmex/x", false}, {"*", "acme/x", false}, {"acme/[x]", "acme/x", false}, {"", "acme/x", false},
	} {
		name, err := librarian.ParseRepoName(tt.repo)
		require.NoError(t, err)
		require.Equal(t, tt.want, tt.p.Match(name), "%s %s", tt.p, tt.repo)
	}
	require.False(t, Pattern("*/*").Match(librarian.RepoName{}))
	require.Equal(t, "acme", Pattern("acme/x").Owner())
}
