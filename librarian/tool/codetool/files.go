package codetool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// maxFile is the size in bytes above which a text file is not held whole: read goes through it for the lines it shows, and nothing
// looks for declarations in it.
const maxFile = checkout.MaxRead

// target is what the `repo` and `path` parameters of a call lead to.
type target struct {
	h     *held
	path  string // as the tree spells it; "" is the root
	entry checkout.Entry
	dir   bool // a folder, the root too; entry is empty
}

// locate resolves the parameters. The refusal, for the model, is not empty where they lead nowhere; err is a fault of the
// machine.
func (s *Session) locate(ctx context.Context, repo, path string) (t target, refusal string, err error) {
	h, refusal := s.find(repo)
	if refusal != "" {
		return target{}, refusal, nil
	}
	tree, err := h.Checkout.Tree(ctx)
	if err != nil {
		return target{}, "", fmt.Errorf("codetool: list %s: %w", h.key, err)
	}
	// A name that is really spelt with quotes is meant before what the quotes would stand for.
	if e, ok := tree.Lookup(path); ok {
		return target{h: h, path: e.Path, entry: e}, "", nil
	}
	clean, refusal := tool.CleanPath(path)
	if refusal != "" {
		return target{}, refusal, nil
	}
	if e, ok := tree.Lookup(clean); ok {
		return target{h: h, path: e.Path, entry: e}, "", nil
	}
	if tree.IsDir(clean) {
		return target{h: h, path: clean, dir: true}, "", nil
	}
	_, err = h.Checkout.Lookup(ctx, clean)
	refusal, err = pathRefusal(err)
	return target{}, refusal, err
}

// pathRefusal words a path that is not there, with the names on one line; any other error stays one.
func pathRefusal(err error) (refusal string, fault error) {
	var bad *checkout.PathError
	if !errors.As(err, &bad) {
		return "", err
	}
	shown := *bad
	shown.Path, shown.Reason, shown.Near = tool.Clip(tool.QuotePath(bad.Path), 1000), tool.OneLine(tool.Clip(bad.Reason, 1000)), nil
	for _, p := range bad.Near {
		shown.Near = append(shown.Near, tool.QuotePath(p))
	}
	return strings.TrimSpace(shown.Error() + " " + shown.Hint()), nil
}

// View shows a window of a file at a commit of a repository, and gives the key by which the checkout it was read in goes. The commit is opened
// if it is not held, as by checkout_repo. The error may be a *[tool.BoundsError] or a *librarian.UserError, which are for the model.
func (s *Session) View(ctx context.Context, repo librarian.Repo, sha, path string, w tool.Window) (v tool.View, key string, err error) {
	h, _, err := s.open(ctx, checkout.Spec{Host: repo.Host, Path: repo.FullName()}, sha)
	if err != nil {
		said, fault := refusal(err)
		if fault != nil {
			return tool.View{}, "", fault
		}
		return tool.View{}, "", &librarian.UserError{Message: said.Text, Err: err}
	}
	e, err := h.Checkout.Lookup(ctx, path)
	if no, fault := pathRefusal(err); fault != nil {
		return tool.View{}, "", fault
	} else if no != "" {
		return tool.View{}, "", &librarian.UserError{Message: no, Err: err}
	}
	if e.Kind != checkout.File && e.Kind != checkout.Exec {
		return tool.View{}, "", &librarian.UserError{Message: tool.QuotePath(e.Path) + " is a " + string(e.Kind) + "."}
	}
	v, err = target{h: h, path: e.Path, entry: e}.view(ctx, w)
	return v, h.key, err
}

// content reads a file's bytes, at most [maxFile] of them. A binary's are not read.
func (t target) content() (b []byte, binary bool, refusal string, err error) {
	f, err := t.open()
	if err != nil {
		return nil, false, "", err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, min(t.entry.Size, 8000))
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, false, "", t.fault("read", err)
	}
	switch {
	case tool.ReadText(head).Binary:
		return nil, true, "", nil
	case t.entry.Size > maxFile:
		return nil, false, fmt.Sprintf("%s is %s; in files over %s no declarations are looked for. Find a line with grep and path, then read around it.",
			tool.QuotePath(t.path), tool.Size(t.entry.Size), tool.Size(maxFile)), nil
	}
	b = make([]byte, t.entry.Size)
	copy(b, head)
	if _, err := io.ReadFull(f, b[len(head):]); err != nil {
		return nil, false, "", t.fault("read", err)
	}
	return b, false, "", nil
}

// view shows a window of a file of any size. The error may be a *[tool.BoundsError], which is for the model.
func (t target) view(ctx context.Context, w tool.Window) (tool.View, error) {
	if t.entry.Size <= maxFile {
		b, binary, _, err := t.content()
		switch {
		case err != nil:
			return tool.View{}, err
		case binary:
			return tool.View{Text: tool.BinaryText(t.entry.Size), Binary: true}, nil
		}
		return w.Show(b)
	}
	f, err := t.open()
	if err != nil {
		return tool.View{}, err
	}
	defer func() { _ = f.Close() }()
	v, err := w.ShowBig(&stopping{ctx: ctx, f: f, left: t.entry.Size}, t.entry.Size)
	if _, bounds := errors.AsType[*tool.BoundsError](err); err != nil && !bounds {
		return tool.View{}, t.fault("read", err)
	}
	return v, err
}

func (t target) open() (fs.File, error) {
	f, err := t.h.Checkout.Root().Open(t.entry.Path)
	if err != nil {
		return nil, t.fault("open", err)
	}
	return f, nil
}

func (t target) fault(op string, err error) error {
	return fmt.Errorf("codetool: %s %s: %w", op, tool.QuotePath(t.path), err)
}

// stopping reads a big file until ctx ends. A file that ends too early is an error.
type stopping struct {
	ctx  context.Context
	f    io.Reader
	left int64
}

// Read implements io.Reader.
func (s *stopping) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.f.Read(p)
	if s.left -= int64(n); errors.Is(err, io.EOF) && s.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// withoutContent describes a symbolic link or a submodule. Neither is followed.
func (t target) withoutContent(ctx context.Context) (string, error) {
	d, err := t.h.Checkout.ReadFile(ctx, t.path)
	if err != nil {
		return "", fmt.Errorf("codetool: %w", err)
	}
	if t.entry.Kind == checkout.Symlink {
		return "symlink -> " + tool.QuotePath(d.Target), nil
	}
	if d.Target == "" {
		return "submodule at " + t.entry.OID, nil
	}
	if u, err := url.Parse(d.Target); err == nil && u.User != nil {
		u.User = nil
		d.Target = u.String()
	}
	return "submodule " + tool.OneLine(d.Target) + " at " + t.entry.OID, nil
}

// listing collects lines up to a number of them and [tool.MaxBytes].
type listing struct {
	b     strings.Builder
	n     int
	limit int
	cut   string // the limit that was met, "lines" or "bytes"; empty: none
}

// add reports whether the line still fitted.
func (l *listing) add(line string) bool {
	switch {
	case l.n == l.limit:
		l.cut = "lines"
		return false
	case l.b.Len()+len(line)+1 > tool.MaxBytes:
		l.cut = "bytes"
		return false
	}
	if l.n > 0 {
		l.b.WriteByte('\n')
	}
	l.b.WriteString(line)
	l.n++
	return true
}
