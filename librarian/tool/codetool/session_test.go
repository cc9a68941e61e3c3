package codetool_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/sandbox"
	"github.com/librarian-app/librarian/librarian/tool"
	"github.com/librarian-app/librarian/librarian/tool/codetool"
)

const host = "forge.example"

func TestMain(m *testing.M) {
	sandbox.Child()
	os.Exit(m.Run())
}

// gate opens the repositories of a test server by the names that are known to it.
type gate struct {
	srv   *checkouttest.Server
	store *checkout.Store

	mu     sync.Mutex
	asked  []string // path@ref of each call
	hidden error    // the answer for acme/hidden
}

func (g *gate) Open(ctx context.Context, spec checkout.Spec, ref string) (codetool.Opened, error) {
	g.mu.Lock()
	g.asked = append(g.asked, spec.Path+"@"+ref)
	g.mu.Unlock()
	if strings.EqualFold(spec.Path, "acme/hidden") {
		return codetool.Opened{}, g.hidden
	}
	name := strings.ToLower(spec.Path) // G12: the host takes any case
	owner, short, _ := strings.Cut(name, "/")
	c, err := g.store.Acquire(ctx, checkout.Request{Ref: ref,
		Repo: checkout.Repo{ID: "github:" + spec.Host + ":" + name, Name: name, URL: g.srv.RepoURL(name), Class: checkout.Public}})
	if err != nil {
		return codetool.Opened{}, err
	}
	return codetool.Opened{Checkout: c, Repo: librarian.Repo{ID: librarian.RepoID("github:" + spec.Host + ":" + name), Host: spec.Host,
		Owner: owner, Name: short, Visibility: librarian.Public}}, nil
}

// bench is a session over a git server with repositories made from archives by name.
type bench struct {
	*codetool.Session
	gate  *gate
	ids   map[string]map[string]string // repository → commit message → sha
	tools map[string]tool.Tool
}

func newBench(t testing.TB, archives map[string]string, set ...func(*checkout.Options)) *bench {
	t.Helper()
	srv := checkouttest.NewServer(t)
	b := &bench{ids: map[string]map[string]string{}, tools: map[string]tool.Tool{}}
	for name, archive := range archives {
		b.ids[name] = srv.Add(t, name, archive)
	}
	opts := checkout.Options{Dir: t.TempDir(), PrivateHosts: []string{srv.Host()}}
	for _, f := range set {
		f(&opts)
	}
	store, err := checkout.New(opts)
	require.NoError(t, err)
	require.NoError(t, store.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	b.gate = &gate{srv: srv, store: store}
	box, err := sandbox.New(sandbox.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	b.Session = codetool.NewSession(codetool.Options{Gate: b.gate, DefaultHost: host, Sandbox: box, Index: codesearch.NewCache(t.TempDir(), codesearch.CacheOptions{})})
	t.Cleanup(b.Close)
	for _, tl := range b.Tools() {
		b.tools[tl.Spec().Name] = tl
	}
	return b
}

// oneRepo is a bench with one repository, acme/one, that is checked out.
func oneRepo(t *testing.T, archive string) *bench {
	t.Helper()
	b := newBench(t, map[string]string{"acme/one": archive})
	b.ok(t, "checkout_repo", `{"repo":"acme/one"}`)
	return b
}

func (b *bench) call(t *testing.T, name, args string) tool.Result {
	t.Helper()
	require.Contains(t, b.tools, name)
	got, err := b.tools[name].Call(t.Context(), json.RawMessage(args))
	require.NoError(t, err)
	require.NotEmpty(t, got.Text)
	return got
}

func (b *bench) ok(t *testing.T, name, args string) tool.Result {
	t.Helper()
	got := b.call(t, name, args)
	require.False(t, got.IsError, got.Text)
	return got
}

// mustOK is ok where there is no *testing.T.
func (b *bench) mustOK(t testing.TB, name, args string) {
	t.Helper()
	r, err := b.tools[name].Call(t.Context(), json.RawMessage(args))
	if err != nil || r.IsError {
		t.Fatalf("%s %s: %v %s", name, args, err, r.Text)
	}
}

func (b *bench) refused(t *testing.T, name, args string) string {
	t.Helper()
	got := b.call(t, name, args)
	require.True(t, got.IsError, got.Text)
	require.Empty(t, got.Evidence)
	return got.Text
}

// sha is the commit of acme/one with a message.
func (b *bench) sha(message string) string { return b.ids["acme/one"][message] }

// shown are the evidence's places as path:start-end, which must all be of one commit of acme/one.
func (b *bench) shown(t *testing.T, r tool.Result, sha string) []string {
	t.Helper()
	var out []string
	for _, e := range r.Evidence {
		require.Equal(t, "github:"+host+":acme/one", e.Repo)
		require.Equal(t, "acme/one", e.Name)
		require.Equal(t, sha, e.SHA)
		out = append(out, strings.Join([]string{e.Path, itoa(e.Start) + "-" + itoa(e.End)}, ":"))
	}
	return out
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

const twoRefs = `
-- @commit first --
-- README.md --
hello
-- src/main.go --
package main
-- @tag v1 --
-- @branch feature/deep/name --
-- @commit deep --
-- deep.txt --
deep
-- @branch topic --
-- @commit third --
-- topic.txt --
topic
`

func TestCheckoutRepo(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"acme/one": twoRefs, "other/one": "-- @commit a --\n-- a.txt --\na\n"})
	first, third, deep := b.sha("first"), b.sha("third"), b.sha("deep")

	got := b.ok(t, "checkout_repo", `{"repo":"Acme/One"}`)
	require.Equal(t, "Checked out acme/one@main ("+first[:12]+", default branch main)\ncloned · 2 files.\nName it in repo parameters as \"acme/one\".", got.Text)
	require.Equal(t, "acme/one@main", got.Subject)
	require.Equal(t, "cloned · 2 files", got.Summary)
	require.Empty(t, got.Evidence)
	require.JSONEq(t, `{"repo":"acme/one","name":"acme/one","ref":"main","sha":"`+first+`","default_branch":"main","files":2,"how":"cloned"}`, string(got.Data))

	got = b.ok(t, "checkout_repo", `{"repo":"acme/one.git"}`)
	require.Contains(t, got.Text, "\ncached · 2 files.\n", "a ref stands for one commit within a run")

	got = b.ok(t, "checkout_repo", `{"repo":"https://forge.example/acme/one/","ref":"topic"}`)
	require.Equal(t, "Checked out acme/one@topic ("+third[:12]+", default branch main)\nfetched · 4 files.\nName it in repo parameters as \"acme/one@topic\".", got.Text)
	require.Equal(t, "acme/one@topic", got.Subject)

	got = b.ok(t, "checkout_repo", `{"repo":"acme/one","ref":"v1"}`)
	require.Contains(t, got.Text, "Checked out acme/one@v1 ("+first[:12], "one commit has one key")
	require.Contains(t, got.Text, `as "acme/one".`)

	got = b.ok(t, "checkout_repo", `{"repo":"https://forge.example/acme/one/tree/feature/deep/name/src"}`)
	require.Contains(t, got.Text, "Checked out acme/one@feature/deep/name ("+deep[:12], "a link's branch may have slashes")

	require.Equal(t, []string{"acme/one", "acme/one@topic", "acme/one@feature/deep/name"}, b.Keys())
	require.Equal(t, []string{"Acme/One@", "acme/one@topic", "acme/one@v1", "acme/one@feature", "acme/one@feature/deep", "acme/one@feature/deep/name"}, b.gate.asked)

	o, ok := b.Lookup("ACME/ONE@TOPIC")
	require.True(t, ok)
	require.Equal(t, third, o.Checkout.SHA())
	_, ok = b.Lookup("acme/two")
	require.False(t, ok)

	b.ok(t, "checkout_repo", `{"repo":"https://elsewhere.example/acme/one"}`)
	require.Equal(t, "elsewhere.example/acme/one", b.Keys()[3])
	b.ok(t, "checkout_repo", `{"repo":"other/one"}`)
	b.ok(t, "read", `{"repo":"One@topic","path":"topic.txt"}`)
	b.refused(t, "read", `{"repo":"one","path":"a.txt"}`) // there are three of that name
	got = b.ok(t, "read", `{"repo":"other/one","path":"a.txt"}`)
	require.Equal(t, "other/one/a.txt", got.Subject, "two repositories of one name are told apart")
}

func TestCheckoutRepoRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"acme/one": twoRefs})
	b.gate.hidden = &librarian.UserError{Message: "acme/hidden does not exist or cannot be read.", Err: errors.New("secret cause")}
	const resolve = "If the name is uncertain, resolve it with search_repos first."
	tests := []struct{ name, args, want string }{
		{"no such repository", `{"repo":"acme/none"}`, "acme/none does not exist or cannot be read. " + resolve},
		{"no access reads the same", `{"repo":"acme/hidden"}`, "acme/hidden does not exist or cannot be read. " + resolve},
		{"not a name", `{"repo":"one"}`, `"one" does not name a repository: it needs an owner and a name. Give owner/repo or an https URL. ` + resolve},
		{"other scheme", `{"repo":"file:///etc/passwd"}`, `"file:///etc/passwd" does not name a repository: file URLs are not fetched. Give owner/repo or an https URL. ` + resolve},
		{"userinfo", `{"repo":"https://u:p@forge.example/a/b"}`, ""},
		{"dots", `{"repo":"acme/.."}`, ""},
		{"option", `{"repo":"--upload-pack=x/y"}`, ""},
		{"no such ref", `{"repo":"acme/one","ref":"nope"}`, ""},
		{"G5 option as ref", `{"repo":"acme/one","ref":"--upload-pack=touch x"}`, `ref "--upload-pack=touch x" begins with '-'. Leave ref out for the default branch, or name a branch, a tag, a full commit sha or refs/pull/N/head.`},
		{"G5 range as ref", `{"repo":"acme/one","ref":"a..b"}`, `ref "a..b" contains '..'. Leave ref out for the default branch, or name a branch, a tag, a full commit sha or refs/pull/N/head.`},
		{"G5 reflog", `{"repo":"acme/one","ref":"@{-1}"}`, ""},
		{"G5 configuration", `{"repo":"acme/one","ref":"-c core.pager=x"}`, ""},
		{"G5 control character", `{"repo":"acme/one","ref":"a\u0007b"}`, ""},
		{"no repo", `{}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := b.refused(t, "checkout_repo", tt.args)
			if tt.want != "" {
				require.Equal(t, tt.want, text)
			}
			require.NotContains(t, text, "secret cause")
		})
	}
	require.Empty(t, b.Keys())

	b.gate.hidden = errors.New("disk on fire")
	_, err := b.tools["checkout_repo"].Call(t.Context(), json.RawMessage(`{"repo":"acme/hidden"}`))
	require.ErrorIs(t, err, b.gate.hidden, "a fault without a sentence breaks the run")
}

func TestRepoParameter(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"acme/one": twoRefs, "acme/two": "-- @commit a --\n-- two.txt --\n2\n"})
	require.Equal(t, "No repository is checked out yet. Call checkout_repo first.", b.refused(t, "read", `{"path":"README.md"}`))
	b.ok(t, "checkout_repo", `{"repo":"acme/one"}`)
	b.ok(t, "read", `{"path":"README.md"}`)
	b.ok(t, "read", `{"path":"README.md","repo":"ACME/one"}`)
	b.ok(t, "read", `{"path":"README.md","repo":"acme/one@main"}`)
	b.ok(t, "read", `{"path":"README.md","repo":"https://forge.example/acme/one"}`)
	b.ok(t, "read", `{"path":"README.md","repo":"acme/one@`+b.sha("first")[:12]+`"}`)
	require.Equal(t, "acme/one@topic is not checked out. Checked out: acme/one. Use checkout_repo for another.",
		b.refused(t, "read", `{"path":"README.md","repo":"acme/one@topic"}`))
	b.ok(t, "checkout_repo", `{"repo":"acme/two"}`)
	b.ok(t, "checkout_repo", `{"repo":"acme/one","ref":"topic"}`)
	require.Equal(t, "Several repositories are checked out; say which one in repo: acme/one, acme/two, acme/one@topic.", b.refused(t, "ls", `{}`))
	require.Equal(t, "topic", b.ok(t, "read", `{"path":"topic.txt","repo":"acme/one@topic"}`).Text)
	require.Equal(t, "one@topic/topic.txt", b.ok(t, "read", `{"path":"topic.txt","repo":"acme/one@topic"}`).Subject)
	b.refused(t, "read", `{"path":"topic.txt","repo":"acme/one"}`)
	for _, name := range []string{"read", "grep", "find", "ls", "find_code", "outline", "read_enclosing"} {
		args := `{"repo":"acme/three","path":"x"`
		switch name {
		case "grep", "find":
			args += `,"pattern":"x"`
		case "find_code":
			args += `,"question":"x"`
		case "read_enclosing":
			args += `,"line":1`
		}
		require.Equal(t, "acme/three is not checked out. Checked out: acme/one, acme/two, acme/one@topic. Use checkout_repo for another.",
			b.refused(t, name, args+"}"), name)
	}
}

func TestSessionAdoptAndClose(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"acme/one": twoRefs})
	spec, err := checkout.ParseRepo("acme/one", host)
	require.NoError(t, err)
	o, err := b.gate.Open(t.Context(), spec, "")
	require.NoError(t, err)
	key, err := b.Adopt(o, "")
	require.NoError(t, err)
	require.Equal(t, "acme/one", key)
	got := b.ok(t, "checkout_repo", `{"repo":"acme/one"}`)
	require.Contains(t, got.Text, "cached")
	require.Len(t, b.gate.asked, 1, "what was adopted is not opened again")
	b.Close()
	b.Close()
	require.Equal(t, "No repository is checked out yet. Call checkout_repo first.", b.refused(t, "ls", `{}`))
	_, err = b.tools["checkout_repo"].Call(t.Context(), json.RawMessage(`{"repo":"acme/one"}`))
	require.Error(t, err)
}

func TestSessionOpensOnceForManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"acme/one": twoRefs})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := []string{"acme/one", "ACME/ONE"}[i%2]
			got, err := b.tools["checkout_repo"].Call(t.Context(), json.RawMessage(`{"repo":"`+name+`"}`))
			if err != nil || got.IsError {
				t.Errorf("%v %s", err, got.Text)
			}
			if got, err := b.tools["read"].Call(t.Context(), json.RawMessage(`{"repo":"acme/one","path":"README.md"}`)); err != nil || got.Text != "hello" {
				t.Errorf("%v %s", err, got.Text)
			}
		})
	}
	wg.Wait()
	require.Equal(t, []string{"acme/one"}, b.Keys())
}
