package codetool

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/syntax"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of outline and read_enclosing.
const (
	maxDeclarations = 1000
	aroundLine      = 20 // lines before and after a line that no declaration encloses
)

// OutlineArgs are the arguments of outline.
type OutlineArgs struct {
	Repo string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Path string `json:"path" jsonschema:"The file, relative to the repository's root."`
}

func (s *Session) outline() tool.Tool {
	return tool.New(tool.Definition[OutlineArgs]{
		Name: "outline",
		Description: "Lists what a file declares (functions, types, sections), each with its lines, at most 1000. An outline is not evidence: " +
			"read the lines before you cite them.",
		Effect:  tool.Read,
		Verb:    "outline",
		Subject: func(a OutlineArgs) string { return at(s.label(a.Repo), a.Path) },
		Run:     s.runOutline,
	})
}

// text reads the text of a file that a path leads to, or says why there is none.
func (s *Session) text(ctx context.Context, repo, path string) (t target, src []byte, refusal string, err error) {
	t, refusal, err = s.locate(ctx, repo, path)
	if refusal != "" || err != nil {
		return t, nil, refusal, err
	}
	switch {
	case t.dir:
		return t, nil, cmp.Or(tool.QuotePath(t.path), "The root") + " is a folder. Use ls.", nil
	case t.entry.Kind == checkout.Symlink || t.entry.Kind == checkout.Submodule:
		what, err := t.withoutContent(ctx)
		return t, nil, tool.QuotePath(t.path) + " has no text: " + what + ".", err
	}
	raw, binary, refusal, err := t.content()
	switch {
	case refusal != "" || err != nil:
		return t, nil, refusal, err
	case binary:
		return t, nil, tool.BinaryText(t.entry.Size), nil
	}
	return t, raw, "", nil
}

func (s *Session) runOutline(ctx context.Context, a OutlineArgs) (tool.Result, error) {
	t, raw, no, err := s.text(ctx, a.Repo, a.Path)
	if no != "" || err != nil {
		return refused(no), err
	}
	o := syntax.NewOutline(t.path, []byte(tool.ReadText(raw).Body))
	decls := o.All()
	data := OutlineData{Repo: t.h.key, SHA: t.h.Checkout.SHA(), Path: t.path, Language: o.Language, Method: o.Method, Decls: []Declaration{}}
	result := tool.Result{Subject: at(s.label(t.h.key), t.path), Summary: tool.Count(len(decls), "declaration", "declarations")}
	if len(decls) == 0 {
		result.Text = fmt.Sprintf("No declarations found in %s (%s). Use read or grep.", tool.QuotePath(t.path), language(o))
		result.Data = tool.JSON(data)
		return result, nil
	}
	out := listing{limit: maxDeclarations}
	for _, d := range decls {
		what := d.Signature
		if what == "" {
			what = d.Kind + " " + d.Name
		}
		line := fmt.Sprintf("%s%d-%d  %s", strings.Repeat("  ", min(d.Depth, 10)), d.Start, d.End, tool.OneLine(tool.Clip(what, 300)))
		if !out.add(line) {
			break
		}
		data.Decls = append(data.Decls, Declaration{Kind: d.Kind, Name: d.Name, Parent: d.Parent, Start: d.Start, End: d.End})
	}
	result.Text = fmt.Sprintf("%s (%s): %s\n\n%s", tool.QuotePath(t.path), language(o), result.Summary, out.b.String())
	if out.cut != "" {
		result.Text = tool.Notices(result.Text, fmt.Sprintf("[%d declarations shown. Use grep or read for the rest.]", out.n))
	}
	result.Data = tool.JSON(data)
	return result, nil
}

// language says what a file was taken for and how its declarations were found.
func language(o syntax.Outline) string {
	if o.Language == "" {
		return "language not known"
	}
	return o.Language + ", " + o.Method
}

// EnclosingArgs are the arguments of read_enclosing.
type EnclosingArgs struct {
	Repo string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Path string `json:"path" jsonschema:"The file, relative to the repository's root."`
	Line int    `json:"line" jsonschema:"A line of it, from 1."`
}

func (s *Session) readEnclosing() tool.Tool {
	return tool.New(tool.Definition[EnclosingArgs]{
		Name: "read_enclosing",
		Description: "Shows the smallest function, method, type or test around a line, with its comment: at most 2000 lines or 50 KiB. Where none " +
			"is found it shows the 20 lines before and after, and says so. Lines shown here can be cited.",
		Effect:  tool.Read,
		Verb:    "read",
		Subject: func(a EnclosingArgs) string { return fmt.Sprintf("%s:%d", at(s.label(a.Repo), a.Path), a.Line) },
		Run:     s.runReadEnclosing,
		Refine:  atLeast(1, "line"),
	})
}

func (s *Session) runReadEnclosing(ctx context.Context, a EnclosingArgs) (tool.Result, error) {
	if a.Line < 1 {
		return tool.Errorf("line must be greater than or equal to 1."), nil
	}
	t, raw, no, err := s.text(ctx, a.Repo, a.Path)
	if no != "" || err != nil {
		return refused(no), err
	}
	total := tool.CountLines(raw)
	if a.Line > total {
		return tool.Errorf("Line %d is beyond end of file (%d lines total)", a.Line, total), nil
	}
	data := ReadData{Repo: t.h.key, SHA: t.h.Checkout.SHA(), Path: t.path, Kind: "file", Total: total}
	o := syntax.NewOutline(t.path, []byte(tool.ReadText(raw).Body))
	var head string
	start, end := max(1, a.Line-aroundLine), min(total, a.Line+aroundLine)
	if node, ok := o.Enclosing(a.Line); ok {
		start, end = node.DocStart, min(node.End, total)
		data.Symbol, data.Decl, data.Method = node.Name, node.Kind, node.Method
		head = fmt.Sprintf("%s %s (found by %s)", node.Kind, node.Name, node.Method)
	} else {
		head = fmt.Sprintf("no declaration encloses line %d (%s); a window of lines", a.Line, language(o))
	}
	lines := end - start + 1
	view, err := tool.Window{Offset: &start, Limit: &lines}.Show(raw)
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	if from := max(start, a.Line-aroundLine); view.End < a.Line && view.Start > 0 || view.Start == 0 && start < a.Line {
		// What comes before fills the limit: begin nearer to the line that was asked for, at last at it.
		for _, begin := range []int{from, a.Line} {
			lines = end - begin + 1
			if view, err = (tool.Window{Offset: &begin, Limit: &lines}).Show(raw); err != nil {
				return tool.Errorf("%s", err), nil
			}
			if view.Start > 0 && view.End >= a.Line {
				break
			}
		}
	}
	data.Start, data.End = view.Start, view.End
	name := at(s.label(t.h.key), t.path)
	result := tool.Result{Subject: fmt.Sprintf("%s:%d", name, a.Line), Evidence: []tool.Evidence{t.h.evidence(t.path, view.Start, view.End)}, Data: tool.JSON(data)}
	if view.Start == 0 { // the first line alone is too big
		result.Text = view.Text
		return result, nil
	}
	result.Subject = fmt.Sprintf("%s:%d-%d", name, view.Start, view.End)
	result.Summary = strings.TrimSpace(data.Decl + " " + tool.OneLine(tool.Clip(data.Symbol, 80)))
	text := fmt.Sprintf("%s:%d-%d: %s\n\n%s", tool.QuotePath(t.path), view.Start, view.End, tool.OneLine(tool.Clip(head, 300)), view.Body)
	said := view.Notes
	if view.End < end {
		said = append([]string{fmt.Sprintf("[Showing lines %d-%d of %d-%d. Use read with offset=%d to continue.]", view.Start, view.End, start, end, view.End+1)}, said...)
	}
	result.Text = tool.Notices(text, said...)
	return result, nil
}
