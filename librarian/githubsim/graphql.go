package githubsim

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

const graphqlPath = "/api/graphql"

//go:embed schema.graphql
var schemaText string

var schema = sync.OnceValue(func() *ast.Schema {
	return gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})
})

// gqlError is an error of GraphQL: the answer's status stays 200 and the field is null.
type gqlError struct {
	kind, message string // kind is GitHub's "type", such as NOT_FOUND
	path          []any
	at            *ast.Position
}

func (e *gqlError) Error() string { return e.message }

func (e *gqlError) json() object {
	o := object{"message": e.message, "path": append([]any{}, e.path...)}
	if e.kind != "" {
		o["type"] = e.kind
	}
	if e.at != nil {
		o["locations"] = []object{{"line": e.at.Line, "column": e.at.Column}}
	}
	return o
}

func gqlForbidden(c *call) error {
	message := "Resource not accessible by personal access token"
	if c.caller.kind == InstallationToken {
		message = "Resource not accessible by integration"
	}
	return &gqlError{kind: "FORBIDDEN", message: message}
}

func gqlInvalid(message string) error { return &gqlError{kind: "UNPROCESSABLE", message: message} }

// serveGraphQL answers one GraphQL request, which is a POST with a query, perhaps with variables.
// https://docs.github.com/en/graphql/guides/forming-calls-with-graphql
func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request, entry *Request) {
	h := w.Header()
	s.commonHeaders(h)
	h.Set("Content-Type", jsonType)
	status, body := http.StatusOK, any(nil)
	out, err := s.graphql(h, r, entry)
	var refusal *apiError
	switch {
	case errors.As(err, &refusal):
		res := errorReply(err)
		status, body = res.status, res.body
		maps.Copy(h, res.header)
	case err != nil:
		status, body = http.StatusInternalServerError, object{"message": err.Error()}
	default:
		body = out
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err) // our own maps always marshal
	}
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client may be gone; that is its affair
}

func (s *Server) graphql(h http.Header, r *http.Request, entry *Request) (object, error) {
	if r.Method != http.MethodPost {
		return nil, notFound()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return nil, &apiError{status: http.StatusRequestEntityTooLarge, message: "Payload too big"}
	}
	entry.Body = string(body[:min(len(body), 64<<10)])
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{Server: s, r: r, body: body}
	c.caller, err = s.authenticate(r)
	if entry.Caller = c.caller.kind; c.caller.kind == InstallationToken {
		entry.Installation = c.caller.token.inst.id
	}
	switch {
	case err != nil:
		return nil, err
	case c.caller.kind == Anonymous || c.caller.kind == AppToken:
		return nil, &apiError{status: http.StatusUnauthorized, message: "This endpoint requires you to be authenticated."}
	}
	if err := s.spend(h, c.caller, r.Method, graphqlPath, "graphql"); err != nil {
		return object{"errors": []object{{"type": "RATE_LIMITED", "message": err.(*apiError).message}}}, nil //nolint:errorlint,forcetypeassert // spend gives nothing else
	}
	var in struct {
		Query         string         `json:"query"`
		Variables     map[string]any `json:"variables"`
		OperationName string         `json:"operationName"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, &apiError{status: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
	if in.Query == "" {
		return object{"errors": []object{{"message": "A query attribute must be specified and must be a string."}}}, nil
	}
	return c.execute(in.Query, in.OperationName, in.Variables, entry)
}

// execute parses, validates and runs a query. Nothing runs when any of it is invalid.
func (c *call) execute(query, name string, variables map[string]any, entry *Request) (object, error) {
	doc, problems := gqlparser.LoadQueryWithRules(schema(), query, rules.NewDefaultRules())
	if len(problems) > 0 {
		return object{"errors": problems}, nil
	}
	op := doc.Operations.ForName(name)
	if op == nil {
		return object{"errors": []object{{"message": fmt.Sprintf("No operation named %q", name)}}}, nil
	}
	entry.GraphQL = string(op.Operation)
	for _, x := range op.SelectionSet {
		if f, isField := x.(*ast.Field); isField {
			entry.GraphQL += " " + f.Name
		}
	}
	values, err := validator.VariableValues(schema(), op, variables)
	if err != nil {
		var one *gqlerror.Error
		if !errors.As(err, &one) {
			one = gqlerror.Wrap(err)
		}
		return object{"errors": gqlerror.List{one}}, nil
	}
	root := c.queryRoot()
	if op.Operation == ast.Mutation {
		if createsDiscussion(op) {
			if err := c.spendContent(c.caller); err != nil {
				return nil, err
			}
		}
		root = c.mutationRoot()
	}
	run := &execution{vars: values}
	out := object{"data": run.object(root, op.SelectionSet, nil)}
	if len(run.errors) > 0 {
		out["errors"] = run.errors
	}
	return out, nil
}

// createsDiscussion tells whether a mutation creates content, as GitHub's secondary limit counts it; reactions do not.
func createsDiscussion(op *ast.OperationDefinition) bool {
	return slices.ContainsFunc(op.SelectionSet, func(x ast.Selection) bool {
		f, isField := x.(*ast.Field)
		return isField && (f.Name == "createDiscussion" || f.Name == "updateDiscussion" || f.Name == "addDiscussionComment" || f.Name == "updateDiscussionComment")
	})
}

// node is an object of the graph: its fields by name, each a value, another node, a list, or a lazy one. Which type it is stands
// under "__typename".
type node map[string]any

// lazy is a field that is made when it is asked for, from its arguments.
type lazy func(args map[string]any) (any, error)

// later is a field without arguments that would else be made without end.
func later(f func() any) lazy { return func(map[string]any) (any, error) { return f(), nil } }

type execution struct {
	vars   map[string]any
	errors []object
}

// object runs a selection on a node.
func (x *execution) object(n node, set ast.SelectionSet, path []any) object {
	kind, _ := n["__typename"].(string)
	out := object{}
	var order []string
	merged := map[string][]*ast.Field{}
	x.collect(kind, set, &order, merged)
	for _, key := range order {
		fields := merged[key]
		f := fields[0]
		var sub ast.SelectionSet
		for _, same := range fields {
			sub = append(sub, same.SelectionSet...)
		}
		at := append(slices.Clip(path), any(key))
		value := n[f.Name]
		if make, isLazy := value.(lazy); isLazy {
			var err error
			if value, err = make(f.ArgumentMap(x.vars)); err != nil {
				x.fail(err, at, f.Position)
				value = nil
			}
		}
		out[key] = x.value(value, sub, at)
	}
	return out
}

func (x *execution) fail(err error, path []any, at *ast.Position) {
	var e *gqlError
	if !errors.As(err, &e) {
		e = &gqlError{message: err.Error()}
	}
	one := *e
	one.path, one.at = path, at
	x.errors = append(x.errors, one.json())
}

func (x *execution) value(v any, set ast.SelectionSet, path []any) any {
	switch v := v.(type) {
	case node:
		if v == nil {
			return nil
		}
		return x.object(v, set, path)
	case []node:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = x.value(one, set, append(slices.Clip(path), any(i)))
		}
		return list
	}
	return v
}

// collect gathers the fields of a selection that fit a type, those of fragments included, by the name they answer under.
func (x *execution) collect(kind string, set ast.SelectionSet, order *[]string, into map[string][]*ast.Field) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if x.skipped(s.Directives) {
				continue
			}
			if into[s.Alias] == nil {
				*order = append(*order, s.Alias)
			}
			into[s.Alias] = append(into[s.Alias], s)
		case *ast.InlineFragment:
			if !x.skipped(s.Directives) && isA(kind, s.TypeCondition) {
				x.collect(kind, s.SelectionSet, order, into)
			}
		case *ast.FragmentSpread:
			if !x.skipped(s.Directives) && isA(kind, s.Definition.TypeCondition) {
				x.collect(kind, s.Definition.SelectionSet, order, into)
			}
		}
	}
}

func (x *execution) skipped(list ast.DirectiveList) bool {
	for _, d := range list {
		on, _ := d.ArgumentMap(x.vars)["if"].(bool)
		if d.Name == "skip" && on || d.Name == "include" && !on {
			return true
		}
	}
	return false
}

// isA tells whether a type is another one, or one of its kinds.
func isA(kind, condition string) bool {
	if condition == "" || kind == condition {
		return true
	}
	return slices.ContainsFunc(schema().PossibleTypes[condition], func(d *ast.Definition) bool { return d.Name == kind })
}

// connection pages a list as GitHub does: by first or last, one of which must be given, of at most 100.
func connection[T any](name string, args map[string]any, all []T, id func(T) int64, draw func(T) node) (node, error) {
	first, hasFirst := number(args["first"])
	last, hasLast := number(args["last"])
	if !hasFirst && !hasLast {
		return nil, &gqlError{kind: "MISSING_PAGINATION_BOUNDARIES",
			message: fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", name)}
	}
	for which, n := range map[string]int{"first": first, "last": last} {
		if n > 100 || n < 0 {
			return nil, &gqlError{kind: "EXCESSIVE_PAGINATION",
				message: fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `%s` limit of 100 records.", n, name, which)}
		}
	}
	from, to := 0, len(all)
	for key, text := range map[string]any{"after": args["after"], "before": args["before"]} {
		cursor, _ := text.(string)
		if cursor == "" {
			continue
		}
		n := slices.IndexFunc(all, func(v T) bool { return cursorOf(id(v)) == cursor })
		switch {
		case n < 0:
			return nil, &gqlError{kind: "INVALID_CURSOR_ARGUMENTS", message: fmt.Sprintf("`%s` does not appear to be a valid cursor.", cursor)}
		case key == "after":
			from = n + 1
		default:
			to = n
		}
	}
	from = min(from, to)
	if hasFirst {
		to = min(to, from+first)
	}
	if hasLast {
		from = max(from, to-last)
	}
	info := node{"__typename": "PageInfo", "hasNextPage": to < len(all), "hasPreviousPage": from > 0, "startCursor": nil, "endCursor": nil}
	nodes, edges := []node{}, []node{}
	for _, v := range all[from:to] {
		one := draw(v)
		nodes = append(nodes, one)
		edges = append(edges, node{"__typename": "Edge", "cursor": cursorOf(id(v)), "node": one})
	}
	if from < to {
		info["startCursor"], info["endCursor"] = cursorOf(id(all[from])), cursorOf(id(all[to-1]))
	}
	return node{"__typename": "Connection", "totalCount": len(all), "nodes": nodes, "edges": edges, "pageInfo": info}, nil
}

func cursorOf(id int64) string {
	return base64.StdEncoding.EncodeToString([]byte("cursor:v2:" + strconv.FormatInt(id, 10)))
}

// number reads an Int argument, which is an int64 from a query's text and a json number from variables.
func number(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(v), true
	case int:
		return v, true
	case float64:
		return int(v), true
	case json.Number:
		n, err := v.Int64()
		return int(n), err == nil
	}
	return 0, false
}
