package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/librarian-app/librarian/librarian/run"
	"github.com/librarian-app/librarian/librarian/tool"
)

// ToolOptions is one tool called by hand on the terminal.
type ToolOptions struct {
	TerminalOptions
	Name string   // empty: list the tools
	Args []string // name=value each, or one JSON object
	JSON bool     // print the whole result for programs
	Out  io.Writer
}

// Tool calls one of the agent's tools without a model and prints what it gave. It is false when the tool refused.
func Tool(ctx context.Context, o ToolOptions) (ok bool, err error) {
	term, err := openTerminal(ctx, o.TerminalOptions)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, term.close()) }()
	options := term.run(secretsOf(term.github, nil, []byte(o.Token)))
	options.Base = o.Config.base()
	runner := run.New(options)
	specs := runner.Tools(term.asker())
	if o.Name == "" {
		for _, s := range specs {
			what, _, _ := strings.Cut(s.Description, ". ")
			if _, err := fmt.Fprintf(o.Out, "%-20s %s\n", s.Name, strings.TrimSuffix(what, ".")+"."); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	i := slices.IndexFunc(specs, func(s tool.Spec) bool { return s.Name == o.Name })
	if i < 0 {
		return false, &UsageError{Message: o.Name + " is not a tool here", Hint: "librarian tool lists them"}
	}
	args, err := toolArgs(specs[i], o.Args)
	if err != nil {
		return false, err
	}
	result, err := runner.Tool(ctx, term.asker(), o.Name, args)
	if err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return false, fmt.Errorf("app: %w", err)
	}
	return !result.IsError, printResult(o, result)
}

func printResult(o ToolOptions, r tool.Result) error {
	if !o.JSON {
		_, err := fmt.Fprintln(o.Out, strings.Map(printable, r.Text))
		return err
	}
	enc := json.NewEncoder(o.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Text     string          `json:"text"`
		IsError  bool            `json:"is_error"`
		Evidence []tool.Evidence `json:"evidence"`
		Data     json.RawMessage `json:"data,omitempty"`
	}{r.Text, r.IsError, append([]tool.Evidence{}, r.Evidence...), r.Data})
}

// printable keeps what a file holds from speaking to the terminal, and from turning the direction of what a reader sees.
func printable(r rune) rune {
	if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) {
		return '\uFFFD'
	}
	return r
}

// toolArgs makes a tool's arguments of a command line: one JSON object, or name=value, where the schema says what is text.
func toolArgs(s tool.Spec, list []string) (json.RawMessage, error) {
	if len(list) == 1 && strings.HasPrefix(strings.TrimSpace(list[0]), "{") {
		return json.RawMessage(list[0]), nil
	}
	var schema struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return nil, fmt.Errorf("app: schema of %s: %w", s.Name, err)
	}
	args := map[string]json.RawMessage{}
	for _, arg := range list {
		name, value, ok := strings.Cut(arg, "=")
		p, known := schema.Properties[name]
		if !ok || !known {
			return nil, &UsageError{Message: fmt.Sprintf("%q is not an argument of %s", arg, s.Name), Hint: "give name=value; it has " + strings.Join(s.Parameters(), ", ")}
		}
		raw := json.RawMessage(value)
		if p.Type == "string" || !json.Valid(raw) {
			raw, _ = json.Marshal(value) // of text it cannot fail
		}
		args[name] = raw
	}
	return json.Marshal(args)
}
