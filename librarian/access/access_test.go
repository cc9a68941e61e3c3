package access

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

func TestW1_LevelOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   map[string]bool
		want Level
	}{
		{"nothing said", nil, Unknown},
		{"empty", map[string]bool{}, Unknown},
		{"all false", map[string]bool{"pull": false, "push": false}, None},
		{"read", map[string]bool{"pull": true, "triage": false, "push": false}, Read},
		{"triage", map[string]bool{"pull": true, "triage": true}, Triage},
		{"write", map[string]bool{"pull": true, "triage": true, "push": true}, Write},
		{"maintain", map[string]bool{"pull": true, "triage": true, "push": true, "maintain": true}, Maintain},
		{"admin", map[string]bool{"pull": true, "triage": true, "push": true, "maintain": true, "admin": true}, Admin},
		{"a key nobody knows", map[string]bool{"owner": true}, None},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, LevelOf(tt.in))
		})
	}
	for l := None; l <= Admin; l++ {
		got, ok := ParseLevel(l.String())
		require.True(t, ok)
		require.Equal(t, l, got)
	}
	for _, s := range []string{"unknown", "", "READ", "owner"} {
		_, ok := ParseLevel(s)
		require.False(t, ok, s)
	}
}

func TestMayAsk(t *testing.T) {
	t.Parallel()
	person := librarian.Principal{ID: 7, Login: "mona"}
	bot := librarian.Principal{ID: 8, Login: "evil[bot]", Bot: true}
	ghost := librarian.Principal{Login: librarian.GhostLogin}
	itself := librarian.Principal{Login: "acme/app", Repository: true}
	open := AskRule{Public: None, Private: None, Bots: []int64{0}}
	for _, tt := range []struct {
		name string
		rule AskRule
		f    AskFacts
		ok   bool
		form Form
	}{
		{"reader in private", AskRule{}, AskFacts{Asker: person, Level: Read, Visibility: librarian.Private}, true, ""},
		{"reader in internal", AskRule{}, AskFacts{Asker: person, Level: Read, Visibility: librarian.Internal}, true, ""},
		{"triage in public", AskRule{}, AskFacts{Asker: person, Level: Triage, Visibility: librarian.Public}, true, ""},
		{"admin in public", AskRule{}, AskFacts{Asker: person, Level: Admin, Visibility: librarian.Public}, true, ""},
		{"W1 unknown in private", AskRule{}, AskFacts{Asker: person, Level: Unknown, Visibility: librarian.Private}, false, Reaction},
		{"W1 unknown in public", AskRule{}, AskFacts{Asker: person, Level: Unknown, Visibility: librarian.Public}, false, Reaction},
		{"W1 unknown where everybody may", open, AskFacts{Asker: person, Level: Unknown, Visibility: librarian.Public}, false, Reaction},
		{"W1 none in private", AskRule{}, AskFacts{Asker: person, Level: None, Visibility: librarian.Private}, false, Reaction},
		{"W2 bot", AskRule{}, AskFacts{Asker: bot, Level: Admin, Visibility: librarian.Public}, false, Silent},
		{"W2 another bot is listed", AskRule{Bots: []int64{9}}, AskFacts{Asker: bot, Level: Admin, Visibility: librarian.Public}, false, Silent},
		{"W2 listed bot", AskRule{Bots: []int64{8}}, AskFacts{Asker: bot, Level: Write, Visibility: librarian.Public}, true, ""},
		{"W2 listed bot without a right", AskRule{Bots: []int64{8}}, AskFacts{Asker: bot, Level: Read, Visibility: librarian.Public}, false, Reaction},
		{"W3 stranger in public", AskRule{}, AskFacts{Asker: person, Level: Read, Visibility: librarian.Public}, false, Reaction},
		{"W3 stranger where readers may", AskRule{Public: Read}, AskFacts{Asker: person, Level: Read, Visibility: librarian.Public}, true, ""},
		{"W3 stranger where everybody may", open, AskFacts{Asker: person, Level: None, Visibility: librarian.Public}, true, ""},
		{"a visibility nobody knows is private", AskRule{}, AskFacts{Asker: person, Level: Read, Visibility: "?"}, true, ""},
		{"stricter rule in private", AskRule{Private: Write}, AskFacts{Asker: person, Level: Triage, Visibility: librarian.Private}, false, Reaction},
		{"W8 ghost", AskRule{}, AskFacts{Asker: ghost, Level: Admin, Visibility: librarian.Public}, false, Silent},
		{"W8 ghost where everybody may and id 0 is listed", open, AskFacts{Asker: ghost, Level: Admin, Visibility: librarian.Public}, false, Silent},
		{"a configured event in public", AskRule{}, AskFacts{Asker: itself, Visibility: librarian.Public}, true, ""},
		{"a configured event where few may ask", AskRule{Private: Admin}, AskFacts{Asker: itself, Visibility: librarian.Private}, true, ""},
		{"T6 a configured event, archived", AskRule{}, AskFacts{Asker: itself, Visibility: librarian.Public, Archived: true}, false, Silent},
		{"T6 a configured event, locked", AskRule{}, AskFacts{Asker: itself, Visibility: librarian.Public, Locked: true}, false, Silent},
		{"T6 archived", AskRule{}, AskFacts{Asker: person, Level: Admin, Visibility: librarian.Public, Archived: true}, false, Silent},
		{"T6 locked, may write", AskRule{}, AskFacts{Asker: person, Level: Write, Visibility: librarian.Public, Locked: true}, false, Reaction},
		{"T6 locked, may not", AskRule{}, AskFacts{Asker: person, Level: Triage, Visibility: librarian.Public, Locked: true}, false, Silent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := MayAsk(tt.rule, tt.f)
			require.Equal(t, tt.ok, d.Allowed)
			require.Equal(t, tt.form, d.Form)
			require.Equal(t, tt.ok, d.Reason == "", "a refusal says why, in the log")
			require.False(t, strings.Contains(d.Line, "repository"), "no word of whether something exists")
		})
	}
}

func TestMayRead(t *testing.T) {
	t.Parallel()
	own, other := librarian.RepoID("github:h:1"), librarian.RepoID("github:h:2")
	for _, tt := range []struct {
		name string
		f    ReadFacts
		want bool
	}{
		{"its own, private", ReadFacts{Repo: own, Own: own, Visibility: librarian.Private}, true},
		{"public", ReadFacts{Repo: other, Own: own, Visibility: librarian.Public}, true},
		{"W4 private from a public thread", ReadFacts{Repo: other, Own: own, Visibility: librarian.Private}, false},
		{"W9 private from a private thread", ReadFacts{Repo: other, Own: own, Visibility: librarian.Private}, false},
		{"W9 internal counts as private", ReadFacts{Repo: other, Own: own, Visibility: librarian.Internal}, false},
		{"unknown visibility", ReadFacts{Repo: other, Own: own}, false},
		{"no repository", ReadFacts{Own: own, Visibility: librarian.Public}, false},
		{"no repository and no thread", ReadFacts{}, false},
		{"no thread, not the terminal", ReadFacts{Repo: other, Visibility: librarian.Private}, false},
		{"terminal", ReadFacts{Repo: other, Visibility: librarian.Private, Terminal: true}, true},
		{"terminal is not said of a thread", ReadFacts{Repo: other, Own: own, Visibility: librarian.Private, Terminal: true}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, MayRead(tt.f))
		})
	}
}

func TestW13_MayStop(t *testing.T) {
	t.Parallel()
	asker := librarian.Principal{ID: 7}
	require.True(t, MayStop(asker, AskFacts{Asker: asker}))
	require.True(t, MayStop(asker, AskFacts{Asker: librarian.Principal{ID: 9}, Level: Write}))
	require.False(t, MayStop(asker, AskFacts{Asker: librarian.Principal{ID: 9}, Level: Triage}))
	require.False(t, MayStop(librarian.Principal{}, AskFacts{Asker: librarian.Principal{}}))
	require.False(t, MayStop(asker, AskFacts{Asker: librarian.Principal{ID: 9, Bot: true}, Level: Admin}))
	require.False(t, MayStop(asker, AskFacts{Asker: librarian.Principal{Repository: true}, Level: Admin}))
	require.False(t, Person(librarian.Request{Principal: librarian.Principal{Repository: true}}))
}
