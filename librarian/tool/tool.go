// Package tool says what a tool of the agent is: a name and a description for the model, an input schema made from a
// struct, an effect, and a call. It owns the three outcomes that are kept apart: a [Result], a Result with IsError (the
// model may try again, and the text says how), and a Go error (the run breaks). The tools themselves live in the
// packages below it; which tools a run has is decided by whoever builds its [Catalog].
package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// ProvideResults is the name of the one tool that ends a run well.
const ProvideResults = "provide_results"

// Effect is what a tool does to the world.
type Effect string

// Every tool of a research run reads; the host alone writes. Finish is provide_results.
const (
	Read   Effect = "read"
	Write  Effect = "write"
	Finish Effect = "finish"
)

// Spec is what a model is told of a tool.
type Spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // a JSON Schema object
	Effect      Effect          `json:"effect"`
}

// Evidence is a range of lines of a file at a commit that a result really shows. Lines count from 1, inclusive; Start 0
// says that the file was shown without lines.
type Evidence struct {
	Repo  string `json:"repo"` // a repository id
	Name  string `json:"name"` // owner/name
	SHA   string `json:"sha"`
	Path  string `json:"path"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

// Result is what a call gave.
type Result struct {
	Text     string          // for the model
	IsError  bool            // the call was refused or found nothing it could work on; Text says what to do instead
	Subject  string          // for the trace; empty: what [Tool.Trace] said
	Summary  string          // for the trace, without parentheses: "14 matches"
	Evidence []Evidence      // what Text shows of files
	Data     json.RawMessage // for programs (scout, pages); never sent to a provider
	Done     bool            // an accepted provide_results
}

// Errorf makes a result with IsError whose text the model can act on.
func Errorf(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// Tool is one instrument of the agent.
type Tool interface {
	Spec() Spec
	// Trace gives the verb and the subject of a call's line in the trace; it must not fail on bad arguments.
	Trace(args json.RawMessage) (verb, subject string)
	Call(ctx context.Context, args json.RawMessage) (Result, error)
}

// Definition is a tool whose arguments are an A: a struct with json tags, and a jsonschema tag per field that describes it
// with unit, default and limit.
type Definition[A any] struct {
	Name        string
	Description string
	Effect      Effect
	Verb        string
	Subject     func(A) string
	Run         func(ctx context.Context, args A) (Result, error)
	// Refine, when set, may tighten the schema made from A (enums, bounds).
	Refine func(*jsonschema.Schema)
}

// New makes the tool. It panics where A cannot be described by a schema, which is a mistake in the program.
func New[A any](d Definition[A]) Tool {
	s, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", d.Name, err))
	}
	withoutNull(s)
	if d.Refine != nil {
		d.Refine(s)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", d.Name, err))
	}
	return &defined[A]{d: d, schema: raw, required: s.Required}
}

// withoutNull makes "null or X" of a pointer or slice field plain X: leaving a field out says the same, and not every
// provider takes a list of types. Null is still understood.
func withoutNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, p := range s.Properties {
		withoutNull(p)
	}
	if s.Items != nil {
		withoutNull(s.Items)
	}
}

type defined[A any] struct {
	d        Definition[A]
	schema   json.RawMessage
	required []string
}

func (t *defined[A]) Spec() Spec {
	return Spec{Name: t.d.Name, Description: t.d.Description, Schema: t.schema, Effect: t.d.Effect}
}

func (t *defined[A]) Trace(args json.RawMessage) (verb, subject string) {
	var a A
	if json.Unmarshal(wholeNumbers(args), &a) != nil || t.d.Subject == nil {
		return t.d.Verb, ""
	}
	return t.d.Verb, t.d.Subject(a)
}

func (t *defined[A]) Call(ctx context.Context, args json.RawMessage) (Result, error) {
	var a A
	err := Decode(args, &a)
	if err == nil {
		err = t.missing(args)
	}
	if err != nil {
		return Errorf("Invalid arguments for %s: %v. Expected: %s", t.d.Name, err, t.schema), nil
	}
	return t.d.Run(ctx, a)
}

// missing names the first required argument that is not there, which decoding into a struct does not notice.
func (t *defined[A]) missing(args json.RawMessage) error {
	var given map[string]json.RawMessage
	if len(bytes.TrimSpace(args)) > 0 {
		if err := json.Unmarshal(args, &given); err != nil {
			return errors.New("the arguments must be an object")
		}
	}
	for _, name := range t.required {
		if v, ok := given[name]; !ok || string(v) == "null" {
			return fmt.Errorf("%s is missing", name)
		}
	}
	return nil
}

// Decode reads a tool's arguments strictly: one JSON object, no unknown field. Its errors are fit for the model.
func Decode(args json.RawMessage, into any) error {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	if name := twice(args); name != "" {
		return fmt.Errorf("%s is given twice", name)
	}
	d := json.NewDecoder(bytes.NewReader(wholeNumbers(args)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("%s must be %s, not %s", cmp.Or(wrong.Field, "the arguments"), kindOf(wrong.Type), wrong.Value)
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// twice names a field that a JSON object has more than once, in whatever case: which of the two was meant, nobody can tell.
func twice(args json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		var skipped json.RawMessage
		if err != nil || d.Decode(&skipped) != nil {
			return ""
		}
		key := strings.ToLower(fmt.Sprint(name))
		if seen[key] {
			return fmt.Sprint(name)
		}
		seen[key] = true
	}
	return ""
}

// kindOf names a type as JSON's users know it.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return kindOf(t.Elem())
	default:
		return t.String()
	}
}

// wholeNumbers writes 3.0 and 3e0 as 3. JSON has one kind of number, and some models write every one with a point; to a
// schema they are integers. What is no JSON, or has no such number, stays as it is.
func wholeNumbers(args json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var out []byte
	from := int64(0) // of args what is not yet in out
	for {
		t, err := d.Token()
		if err != nil {
			break
		}
		n, ok := t.(json.Number)
		if !ok || !strings.ContainsAny(n.String(), ".eE") {
			continue
		}
		f, err := n.Float64()
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			continue
		}
		end := d.InputOffset()
		out = append(out, args[from:end-int64(len(n))]...)
		out = strconv.AppendInt(out, int64(f), 10)
		from = end
	}
	return append(out, args[from:]...)
}

// Catalog is the set of tools that one run has, in the order they were given.
type Catalog struct{ tools []Tool }

// NewCatalog refuses two tools of one name.
func NewCatalog(tools ...Tool) (*Catalog, error) {
	seen := map[string]bool{}
	for _, t := range tools {
		name := t.Spec().Name
		if seen[name] {
			return nil, fmt.Errorf("tool: two tools are named %s", name)
		}
		seen[name] = true
	}
	return &Catalog{tools: tools}, nil
}

// Without is the catalogue less the named tools; provide_results cannot be dropped.
func (c *Catalog) Without(names ...string) *Catalog {
	out := &Catalog{}
	for _, t := range c.tools {
		if n := t.Spec().Name; n == ProvideResults || !slices.Contains(names, n) {
			out.tools = append(out.tools, t)
		}
	}
	return out
}

// Get finds a tool by its name.
func (c *Catalog) Get(name string) (Tool, bool) {
	for _, t := range c.tools {
		if t.Spec().Name == name {
			return t, true
		}
	}
	return nil, false
}

// Specs lists the tools for a model.
func (c *Catalog) Specs() []Spec {
	out := make([]Spec, len(c.tools))
	for i, t := range c.tools {
		out[i] = t.Spec()
	}
	return out
}
