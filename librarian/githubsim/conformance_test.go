package githubsim_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// npmFolder names a folder whose node_modules has @octokit/openapi, GitHub's own description of its API. With it every answer and
// every event that any test of this package sees is checked against that description; without it nothing is.
const npmFolder = "LIBRARIAN_NPM"

// described is GitHub's description, trimmed to what githubsim answers: the whole of it has 969 schemas and is slow to load.
type described struct {
	paths  map[string]*openapi3.PathItem // by path with {} for each parameter
	events map[string]*openapi3.Schema   // by "event action"
}

var description = sync.OnceValues(func() (*described, error) {
	folder := os.Getenv(npmFolder)
	if folder == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(filepath.Join(folder, "node_modules/@octokit/openapi/generated/api.github.com.json"))
	if err != nil {
		return nil, err
	}
	return describe(raw)
})

var (
	pathParameter = regexp.MustCompile(`\{[^}]*\}`)
	reference     = regexp.MustCompile(`"\$ref":\s*"#/components/(\w+)/([^"]+)"`)
)

func shapeOf(path string) string { return pathParameter.ReplaceAllString(path, "{}") }

// describe keeps the paths of our endpoints, the events that we send, and whatever these refer to.
func describe(raw []byte) (*described, error) {
	var whole struct {
		OpenAPI    json.RawMessage                       `json:"openapi"`
		Info       json.RawMessage                       `json:"info"`
		Paths      map[string]json.RawMessage            `json:"paths"`
		Webhooks   map[string]json.RawMessage            `json:"x-webhooks"`
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, err
	}
	ours := map[string]bool{}
	for _, e := range githubsim.Endpoints() {
		_, path, _ := strings.Cut(e, " ")
		ours[shapeOf(path)] = true
	}
	kept := map[string]json.RawMessage{}
	for path, item := range whole.Paths {
		if ours[shapeOf(path)] {
			kept[path] = item
		}
	}
	for name, item := range whole.Webhooks {
		for _, event := range append(githubsim.DefaultEvents(), "installation", "installation_repositories", "ping") {
			if strings.HasPrefix(name, strings.ReplaceAll(event, "_", "-")) {
				kept["/x-webhooks/"+name] = item
			}
		}
	}
	components := map[string]map[string]json.RawMessage{}
	var follow func(item json.RawMessage)
	follow = func(item json.RawMessage) {
		for _, m := range reference.FindAllSubmatch(item, -1) {
			kind, name := string(m[1]), string(m[2])
			if components[kind] == nil {
				components[kind] = map[string]json.RawMessage{}
			}
			if _, done := components[kind][name]; !done && kind != "examples" {
				components[kind][name] = whole.Components[kind][name]
				follow(components[kind][name])
			}
		}
	}
	for _, item := range kept {
		follow(item)
	}
	components["examples"] = whole.Components["examples"] // they are not looked into
	trimmed, err := json.Marshal(map[string]any{"openapi": whole.OpenAPI, "info": whole.Info, "paths": kept, "components": components})
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(trimmed)
	if err != nil {
		return nil, err
	}
	d := &described{paths: map[string]*openapi3.PathItem{}, events: map[string]*openapi3.Schema{}}
	for path, item := range doc.Paths.Map() {
		name, isEvent := strings.CutPrefix(path, "/x-webhooks/")
		if !isEvent {
			d.paths[shapeOf(path)] = item
			continue
		}
		if body := item.Post.RequestBody; body != nil && body.Value.Content.Get("application/json") != nil {
			d.events[name] = body.Value.Content.Get("application/json").Schema.Value
		}
	}
	return d, nil
}

// deviations are the places where GitHub's own answers are otherwise than its description says, and ours with them.
var deviations = []struct {
	what, at *regexp.Regexp // the endpoint or event, and the place in its JSON
	why      string
}{
	{regexp.MustCompile("^GET /app/installations$"), regexp.MustCompile(`^\d+/account`), "an account is described as a user and an enterprise at once"},
	{regexp.MustCompile("pull"), regexp.MustCompile("head/repo$"), "the repository of a deleted fork is null"},
	{regexp.MustCompile("/pulls/"), regexp.MustCompile(`^(\d+/)?(position|line)$`), "an outdated comment has no place"},
}

// conforms checks one value, the answer of an endpoint or an event, against a schema.
func conforms(what string, schema *openapi3.Schema, raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	return known(what, schema.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.MultiErrors()))
}

// known leaves the deviations out of an error.
func known(what string, err error) error {
	if list, ok := errors.AsType[openapi3.MultiError](err); ok {
		var rest []error
		for _, one := range list {
			rest = append(rest, known(what, one))
		}
		return errors.Join(rest...)
	}
	if one, ok := errors.AsType[*openapi3.SchemaError](err); ok {
		at := strings.Join(one.JSONPointer(), "/")
		for _, d := range deviations {
			if d.what.MatchString(what) && d.at.MatchString(at) {
				return nil
			}
		}
	}
	return err
}

// answer checks an answer of an endpoint; what GitHub does not describe is an error as well.
func (d *described) answer(endpoint string, status int, contentType string, body []byte) error {
	method, path, _ := strings.Cut(endpoint, " ")
	if path == "/repos/{owner}/{repo}/contents" {
		path += "/{path}" // of which GitHub describes the root as an empty one
	}
	item := d.paths[shapeOf(path)]
	if item == nil || item.GetOperation(method) == nil {
		return fmt.Errorf("GitHub describes no %s", endpoint)
	}
	response := item.GetOperation(method).Responses.Status(status)
	if response == nil {
		if status >= 300 { // every refusal and every redirect looks alike, described or not
			return refusalShape(body)
		}
		return fmt.Errorf("GitHub describes no answer %d", status)
	}
	media, _, _ := mime.ParseMediaType(contentType)
	content := response.Value.Content.Get(media)
	if len(response.Value.Content) == 0 && len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if media != "application/json" {
		return nil // raw forms
	}
	if content == nil {
		return fmt.Errorf("GitHub describes no content of type %s for %d", media, status)
	}
	return conforms(endpoint, content.Schema.Value, body)
}

func refusalShape(body []byte) error {
	var one struct{ Message, Documentation_URL *string } //nolint:revive,staticcheck // the name in JSON
	if err := json.Unmarshal(body, &one); err != nil || one.Message == nil || one.Documentation_URL == nil {
		return fmt.Errorf("a refusal without message and documentation_url: %s", body)
	}
	return nil
}

// event checks the payload of a webhook.
func (d *described) event(event string, payload []byte) error {
	var one struct{ Action string }
	if err := json.Unmarshal(payload, &one); err != nil {
		return err
	}
	name := strings.ReplaceAll(event, "_", "-")
	switch {
	case event == "repository_dispatch":
		name += "-sample.collected" // GitHub's example of an action that is the sender's own
	case one.Action != "":
		name += "-" + strings.ReplaceAll(one.Action, "_", "-")
	}
	schema := d.events[name]
	if schema == nil {
		return fmt.Errorf("GitHub describes no event %s", name)
	}
	return conforms(name, schema, payload)
}

// conforming checks every answer that passes through it.
type conforming struct {
	base http.RoundTripper
	t    *testing.T
	api  func() string
}

// RoundTrip sends a request and checks what comes back, except from faults that a test asked for.
func (c *conforming) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.base.RoundTrip(r)
	d, _ := description()
	path, isAPI := strings.CutPrefix(r.URL.String(), strings.TrimSuffix(c.api(), "/"))
	if err != nil || d == nil || !isAPI || res.Header.Get("X-GitHub-Request-Id") == "" || r.Method == http.MethodHead || res.StatusCode == http.StatusNotModified {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	path, _, _ = strings.Cut(path, "?")
	if endpoint, found := githubsim.Endpoint(r.Method, path); found && !strings.Contains(endpoint, "{repo_id}") {
		if err := d.answer(endpoint, res.StatusCode, res.Header.Get("Content-Type"), body); err != nil {
			c.t.Errorf("%s answered %d otherwise than GitHub describes: %v\n%.2000s", endpoint, res.StatusCode, short(err), body)
		}
	}
	return res, nil
}

// short cuts the schemas and values out of an error, which can be pages.
func short(err error) string {
	var list []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if strings.HasPrefix(line, "Error at") || strings.Contains(line, "describes no") || strings.HasPrefix(line, "doesn't match") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	if len(list) == 0 {
		return fmt.Sprintf("%.600s", err)
	}
	return strings.Join(list[:min(len(list), 20)], "; ")
}

// TestConformance holds that GitHub's description is at hand and knows every endpoint of ours and every event. That each answer
// and each payload is as described is checked all over the tests of this package, wherever one is seen.
func TestConformance(t *testing.T) {
	t.Parallel()
	d, err := description()
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		t.Skip(npmFolder + " names no folder with node_modules/@octokit/openapi; .ci/run installs it")
	}
	for _, e := range githubsim.Endpoints() {
		method, path, _ := strings.Cut(e, " ")
		if strings.HasPrefix(path, "/repositories/") || strings.HasSuffix(path, "/contents") {
			continue // the same under the id; and the root of a path
		}
		if item := d.paths[shapeOf(path)]; item == nil || item.GetOperation(method) == nil {
			t.Errorf("GitHub describes no %s", e)
		}
	}
	// A check that cannot fail is none.
	if err := d.answer("GET /repos/{owner}/{repo}/issues/{issue_number}", 200, "application/json", []byte(`{"id":"x"}`)); err == nil {
		t.Error("an issue that is none conforms")
	}
	if err := d.event("issues", []byte(`{"action":"opened"}`)); err == nil {
		t.Error("an event that is none conforms")
	}
}

// TestSchemaIsPartOfGitHubs holds that our part of the GraphQL schema says of each type, field and argument what GitHub's own says.
func TestSchemaIsPartOfGitHubs(t *testing.T) {
	t.Parallel()
	folder := os.Getenv(npmFolder)
	if folder == "" {
		t.Skip(npmFolder + " names no folder with node_modules/@octokit/graphql-schema; .ci/run installs it")
	}
	load := func(path string) ast.DefinitionList {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		doc, err := parser.ParseSchema(&ast.Source{Name: path, Input: string(text)}) // unvalidated: GitHub's has a field twice
		require.NoError(t, err)
		return doc.Definitions
	}
	ours, theirs := load("schema.graphql"), load(filepath.Join(folder, "node_modules/@octokit/graphql-schema/schema.graphql"))
	for _, our := range ours {
		name, their := our.Name, theirs.ForName(our.Name)
		if !assert.NotNil(t, their, "type %s", name) {
			continue
		}
		assert.Equal(t, their.Kind, our.Kind, name)
		assert.Subset(t, their.Interfaces, our.Interfaces, name)
		assert.Subset(t, their.Types, our.Types, name)
		for _, v := range our.EnumValues {
			assert.NotNil(t, their.EnumValues.ForName(v.Name), "%s.%s", name, v.Name)
		}
		for _, f := range our.Fields {
			what := name + "." + f.Name
			same := their.Fields.ForName(f.Name)
			if !assert.NotNil(t, same, what) {
				continue
			}
			assert.Equal(t, same.Type.String(), f.Type.String(), what)
			for _, a := range f.Arguments {
				if arg := same.Arguments.ForName(a.Name); assert.NotNil(t, arg, "%s(%s)", what, a.Name) {
					assert.Equal(t, arg.Type.String(), a.Type.String(), "%s(%s)", what, a.Name)
				}
			}
		}
		for _, f := range their.Fields { // a client must give what GitHub asks for
			if their.Kind == ast.InputObject && f.Type.NonNull && f.DefaultValue == nil {
				assert.NotNil(t, our.Fields.ForName(f.Name), "%s.%s is required", name, f.Name)
			}
		}
	}
}
