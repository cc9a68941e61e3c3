package app

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/handlers"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
)

// listened remembers what deliveries ask for.
type listened struct {
	mu       sync.Mutex
	requests []librarian.Request
}

func (a *listened) Enqueue(_ context.Context, _ librarian.Delivery, r librarian.Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r)
	return nil
}

// take gives what was asked since it was last called.
func (a *listened) take() []librarian.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.requests
	a.requests = nil
	return out
}

// hear is a simulated GitHub whose signed deliveries go through the webhook to a list.
func hear(t *testing.T) (*githubsim.Server, world, *listened) {
	t.Helper()
	sim := githubsim.New(githubsim.Options{})
	require.NoError(t, sim.Start(t.Context(), "127.0.0.1:0"))
	t.Cleanup(sim.Close)
	w, err := buildWorld(sim, []simRepo{{name: librarian.RepoName{Owner: "acme", Name: "pantry"}}}, githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	_, err = sim.CreateBot("helper[bot]")
	require.NoError(t, err)
	got := &listened{}
	hook, err := handlers.NewWebhook(handlers.Options{
		Secret: w.app.WebhookSecret, AppID: w.app.ID, Names: []string{simApp}, Host: "github.test", Enqueuer: got, Label: "librarian", Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	srv := httptest.NewServer(hook)
	t.Cleanup(srv.Close)
	require.NoError(t, sim.SetWebhookURL(w.app, srv.URL))
	require.NoError(t, sim.WaitDeliveries(t.Context()))
	return sim, w, got
}

// The rows of mentions and commands, each with LF, CRLF and a lone CR (M5). "" asks nothing, "/x" is a command.
var mentions = []struct{ id, body, want string }{
	{"M1 in brackets", "(@librarian) why?", "why?"},
	{"M1 in quotes", "\"@librarian x\"", "\"x\""},
	{"M1 after a colon", "cc:@librarian what is this", "cc: what is this"},
	{"M1 before a colon", "@librarian: why", "why"},
	{"M1 before a question mark", "@librarian? where is x", "where is x"},
	{"M1 with an s", "what is @librarian's limit", "what is librarian's limit"},
	{"M1 as the bot", "@librarian[bot] why", "why"},
	{"M1 with a capital", "@Librarian why", "why"},
	{"M1 in capitals", "@LIBRARIAN why", "why"},
	{"M2 a longer name", "@librarian-bot why", ""},
	{"M2 with a digit", "@librarian2 why", ""},
	{"M2 with an underscore", "@librarian_x why", ""},
	{"M2 a team of that owner", "@librarian/team why", ""},
	{"M2 a team", "@org/librarian why", ""},
	{"M2 an address", "librarian@example.com", ""},
	{"M2 another address", "me@librarian.dev", ""},
	{"M3 in a comment", "<!-- @librarian\nwhy -->", ""},
	{"M3 in a comment that never ends", "x\n<!-- @librarian why", ""},
	{"M3 in code", "`@librarian why`", ""},
	{"M3 in double code", "`` @librarian ` why ``", ""},
	{"M3 in a fence", "```\n@librarian why\n```", ""},
	{"M3 in a tilde fence", "~~~\n@librarian why\n~~~", ""},
	{"M3 in a fence in a list", "- a\n  ```\n  @librarian why\n  ```", ""},
	{"M3 in a fence that never ends", "```\n@librarian why", ""},
	{"M3 in indented code", "text\n\n    @librarian why", ""},
	{"M3 in a quote", "> @librarian why", ""},
	{"M3 in a link's text", "[@librarian why](https://x.example)", ""},
	{"M3 in a link's address", "[why](https://x.example/@librarian)", ""},
	{"M3 in an image", "![@librarian why](https://x.example/i.png)", ""},
	{"M3 in a heading", "# @librarian why", "why"},
	{"M3 in a list", "- @librarian why", "why"},
	{"M3 in a table", "| a | b |\n|---|---|\n| @librarian why | x |", "why"},
	{"M3 in details", "<details>\n\n@librarian why\n\n</details>", "why"},
	{"M4 below a quotation", "> @librarian a\n\n@librarian b", "b"},
	{"M5 with a zero-width space around", "\u200b@librarian\u200b why", "why"},
	{"M5 with a zero-width space inside", "@libra\u200brian why", ""},
	{"M6 text on both sides", "look here\n\n@librarian why is it so?", "why is it so?"},
	{"M6 nothing asked", "@librarian", "/help"},
	{"M9 stop", "@librarian stop", "/stop"},
	{"M9 stop the deploy", "@librarian stop the deploy how?", "stop the deploy how?"},
	{"M9 read the docs", "@librarian read the docs first", "read the docs first"},
}

func TestMentions(t *testing.T) {
	t.Parallel()
	sim, _, got := hear(t)
	for _, tt := range mentions {
		for ends, body := range map[string]string{"LF": tt.body, "CRLF": strings.ReplaceAll(tt.body, "\n", "\r\n"), "CR": strings.ReplaceAll(tt.body, "\n", "\r")} {
			if ends != "LF" && !strings.Contains(tt.body, "\n") {
				continue
			}
			_, err := sim.Comment("acme/pantry", 1, simUser, body)
			require.NoError(t, err)
			require.NoError(t, sim.WaitDeliveries(t.Context()))
			requests := got.take()
			if tt.want == "" {
				require.Empty(t, requests, "%s, %s", tt.id, ends)
				continue
			}
			require.Len(t, requests, 1, "%s, %s: exactly one run", tt.id, ends)
			said := requests[0].Question
			if requests[0].Kind == librarian.KindCommand {
				said = "/" + requests[0].Command
			}
			require.Contains(t, said, tt.want, "%s, %s", tt.id, ends)
			if !strings.HasPrefix(tt.want, "/") {
				require.Equal(t, librarian.KindQuestion, requests[0].Kind, tt.id)
			}
		}
	}
	_, err := sim.Comment("acme/pantry", 1, simUser, "look here\n\n@librarian why?\n\n> what was said")
	require.NoError(t, err)
	require.NoError(t, sim.WaitDeliveries(t.Context()))
	r := got.take()
	require.Len(t, r, 1)
	require.Contains(t, r[0].Question, "look here", "M6: text before the mention belongs to the question")
	require.Contains(t, r[0].Quoted, "what was said", "M4: a quotation after it is context")
}

func TestM7_AnythingCanBeAsked(t *testing.T) {
	t.Parallel()
	sim, _, got := hear(t)
	odd := "@librarian why $(rm) ${{ x }} \"quotes\" 'and' \\ and\x00NUL?\n\n```sh\nls\n```\n\n"
	for _, body := range []string{odd, odd + strings.Repeat("long ", 12_000), odd + strings.Repeat("x", githubsim.MaxBody-len(odd))} {
		_, err := sim.Comment("acme/pantry", 1, simUser, body)
		require.NoError(t, err)
		require.NoError(t, sim.WaitDeliveries(t.Context()))
		r := got.take()
		require.Len(t, r, 1)
		require.Contains(t, r[0].Question, "why $(rm) ${{ x }} \"quotes\" 'and' \\ and")
		require.Contains(t, r[0].Question, "```sh\nls\n```")
		if len(body) > 2*librarian.MaxQuestion {
			require.LessOrEqual(t, utf8.RuneCountInString(r[0].Question), librarian.MaxQuestion+200)
			require.Regexp(t, `(?i)(cut|clipped|left out|shortened)`, r[0].Question[len(r[0].Question)-200:], "that it was cut is said")
		}
	}
}

func TestM8_TheBotsOwnCommentsStartNothing(t *testing.T) {
	t.Parallel()
	sim, w, got := hear(t)
	repo, err := sim.Repo("acme/pantry")
	require.NoError(t, err)
	comment := map[string]any{"id": 99, "body": "@librarian why?", "user": map[string]any{"id": 5, "login": simUser, "type": "User"},
		"performed_via_github_app": map[string]any{"id": w.app.ID}}
	send := func() []librarian.Request {
		_, err := sim.SendEvent(w.app, "issue_comment", map[string]any{"action": "created", "comment": comment,
			"issue":      map[string]any{"id": 1, "number": 1, "title": "t", "user": map[string]any{"id": 5, "login": simUser}},
			"repository": map[string]any{"id": repo.ID, "name": "pantry", "full_name": "acme/pantry", "owner": map[string]any{"login": "acme"}},
			"sender":     map[string]any{"id": 5, "login": simUser, "type": "User"}})
		require.NoError(t, err)
		require.NoError(t, sim.WaitDeliveries(t.Context()))
		return got.take()
	}
	require.Empty(t, send(), "the App's id decides, not the login")
	delete(comment, "performed_via_github_app")
	require.Len(t, send(), 1, "the same by a person asks")
	comment["user"] = nil
	ghost := send()
	require.Len(t, ghost, 1)
	require.Equal(t, librarian.Principal{Login: librarian.GhostLogin}, ghost[0].Principal, "W8: a deleted account, which may nothing")
}

func TestO5_OnlyWhatIsNewAsks(t *testing.T) {
	t.Parallel()
	sim, _, got := hear(t)
	step := func(want int, why string, err error) []librarian.Request {
		t.Helper()
		require.NoError(t, err)
		require.NoError(t, sim.WaitDeliveries(t.Context()))
		r := got.take()
		require.Len(t, r, want, why)
		return r
	}
	i, err := sim.OpenIssue("acme/pantry", simUser, "Jars", "@librarian which is first?")
	step(1, "opened", err)
	step(0, "assigned", sim.AssignIssue("acme/pantry", i.Number, simUser, simUser))
	step(0, "labeled", sim.LabelIssue("acme/pantry", i.Number, simUser, "bug"))
	step(0, "edited", sim.EditIssue("acme/pantry", i.Number, simUser, "Jars", "@librarian which is first, please?"))
	i, err = sim.OpenIssue("acme/pantry", simUser, "Jars", "nothing")
	step(0, "opened without a mention", err)
	step(1, "an edit adds the first mention", sim.EditIssue("acme/pantry", i.Number, simUser, "Jars", "@librarian which is first?"))
	c, err := sim.Comment("acme/pantry", i.Number, simUser, "hm")
	step(0, "a comment", err)
	step(1, "an edit of a comment adds one", sim.EditComment(c.ID, simUser, "@librarian hm?"))
	step(0, "another edit", sim.EditComment(c.ID, simUser, "@librarian hm hm?"))
}
