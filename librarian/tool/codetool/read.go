package codetool

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian/tool"
)

// ReadArgs are the arguments of read.
type ReadArgs struct {
	Repo   string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Path   string `json:"path" jsonschema:"The file or folder, relative to the repository's root."`
	Offset *int   `json:"offset,omitempty" jsonschema:"The first line to show, from 1. Default 1."`
	Limit  *int   `json:"limit,omitempty" jsonschema:"The number of lines to show, at most 2000. Default 2000."`
}

func (s *Session) read() tool.Tool {
	return tool.New(tool.Definition[ReadArgs]{
		Name: "read",
		Description: "Shows lines of a file in a checkout: at most 2000 lines or 50 KiB, whole lines, without line numbers; a notice in brackets says " +
			"what was left out and how to go on. Lines shown here can be cited. A folder is listed.",
		Effect: tool.Read,
		Verb:   "read",
		Subject: func(a ReadArgs) string {
			return at(s.label(a.Repo), a.Path) + askedLines(a.Offset, a.Limit)
		},
		Run:    s.runRead,
		Refine: atLeast(1, "offset", "limit"),
	})
}

func (s *Session) runRead(ctx context.Context, a ReadArgs) (tool.Result, error) {
	window := tool.Window{Offset: a.Offset, Limit: a.Limit}
	if err := window.Check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	t, no, err := s.locate(ctx, a.Repo, a.Path)
	if no != "" || err != nil {
		return refused(no), err
	}
	data := ReadData{Repo: t.h.key, SHA: t.h.Checkout.SHA(), Path: t.path, Kind: "file"}
	name := at(s.label(a.Repo), t.path)
	if t.dir {
		return s.list(ctx, t, defaultEntries)
	}
	// What is shown without lines: a link, a submodule, a binary.
	whole := func(kind, text string) tool.Result {
		data.Kind = kind
		return tool.Result{Text: text, Subject: name, Summary: kind, Evidence: []tool.Evidence{t.h.evidence(t.path, 0, 0)}, Data: tool.JSON(data)}
	}
	if k := t.entry.Kind; k == checkout.Symlink || k == checkout.Submodule {
		text, err := t.withoutContent(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		return whole(string(k), text), nil
	}
	view, err := t.view(ctx, window)
	bounds, beyond := errors.AsType[*tool.BoundsError](err)
	switch {
	case beyond:
		return tool.Errorf("%s", bounds), nil
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case err != nil:
		return tool.Result{}, err
	case view.Binary:
		return whole("binary", view.Text), nil
	}
	data.Start, data.End, data.Total = view.Start, view.End, view.Total
	subject := name
	if view.Start > 1 || view.End < view.Total {
		subject = fmt.Sprintf("%s:%d-%d", name, view.Start, view.End)
	}
	return tool.Result{Text: view.Text, Subject: subject, Evidence: []tool.Evidence{t.h.evidence(t.path, view.Start, view.End)}, Data: tool.JSON(data)}, nil
}

// askedLines is the range of a window in the trace.
func askedLines(offset, limit *int) string {
	switch {
	case offset != nil && limit != nil:
		return fmt.Sprintf(":%d-%d", *offset, *offset+min(*limit, math.MaxInt-max(*offset, 0))-1)
	case offset != nil:
		return fmt.Sprintf(":%d-", *offset)
	case limit != nil:
		return fmt.Sprintf(":1-%d", *limit)
	}
	return ""
}

// refused is a result whose text tells the model what to do instead.
func refused(text string) tool.Result { return tool.Result{Text: text, IsError: text != ""} }

// atLeast sets the least value of number parameters in a schema.
func atLeast(least float64, names ...string) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		for _, n := range names {
			s.Properties[n].Minimum = &least
		}
	}
}
