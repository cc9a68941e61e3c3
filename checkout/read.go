package checkout

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxRead is the most that ReadFile reads of one file, in bytes.
const MaxRead = 32 << 20

// FileData is what a path holds.
type FileData struct {
	Entry
	// Data is the text, as UTF-8; the raw bytes of a binary file; empty for a
	// symbolic link and a submodule.
	Data []byte
	// Binary says that there is a NUL in the first 8,000 bytes, git's own test.
	Binary bool
	// Encoding is what the bytes were before they were made UTF-8: "utf-8",
	// "utf-16le", "utf-16be" or "latin-1". Line numbers are the same in all.
	Encoding string
	// Truncated says that the file goes on after MaxRead bytes.
	Truncated bool
	// Target is where a symbolic link points (it is not followed), or a
	// submodule's URL if .gitmodules names one.
	Target string
	// LFS says that the file is a Git LFS pointer; what it points to is not fetched.
	LFS bool
}

// clean brings a path that a person or model wrote into the tree's form.
func (c *Checkout) clean(p string) (string, error) {
	if strings.ContainsRune(p, 0) {
		return "", c.pathError(p, "is not a path")
	}
	q := path.Clean("/" + p)[1:]
	if p = strings.TrimPrefix(path.Clean(strings.TrimLeft(p, "/")), "/"); p == ".." || strings.HasPrefix(p, "../") {
		return "", c.pathError(p, "is outside the tree")
	}
	return q, nil
}

func (c *Checkout) pathError(p, reason string, near ...string) *PathError {
	return &PathError{Repo: c.req.Repo.Name, Path: p, SHA: c.SHA(), Reason: reason, Near: near}
}

// Lookup gives the entry of a path, or a PathError that says why there is none
// and what looks like it.
func (c *Checkout) Lookup(ctx context.Context, name string) (Entry, error) {
	p, err := c.clean(name)
	if err != nil {
		return Entry{}, err
	}
	t, err := c.Tree(ctx)
	if err != nil {
		return Entry{}, fmt.Errorf("checkout: read listing: %w", err)
	}
	if e, ok := t.Lookup(p); ok {
		return e, nil
	}
	if t.IsDir(p) {
		return Entry{}, c.pathError(p, "is a directory")
	}
	for d := parent(p); d != ""; d = parent(d) {
		if e, ok := t.Lookup(d); ok {
			switch e.Kind {
			case Symlink:
				return Entry{}, c.pathError(p, "not found: "+d+" is a symbolic link, which is not followed,")
			case Submodule:
				return Entry{}, c.pathError(p, "not found: "+d+" is a submodule, which is not fetched,")
			default:
				return Entry{}, c.pathError(p, "not found: "+d+" is a file,")
			}
		}
	}
	return Entry{}, c.pathError(p, "not found", t.Near(p, 3)...)
}

// Open opens a file as its bytes are. Symbolic links and submodules have none.
func (c *Checkout) Open(ctx context.Context, name string) (*os.File, Entry, error) {
	e, err := c.Lookup(ctx, name)
	if err != nil {
		return nil, e, err
	}
	switch e.Kind {
	case Symlink, Submodule:
		return nil, e, c.pathError(e.Path, "is a "+string(e.Kind))
	}
	f, err := c.tree.root.Open(e.Path)
	if err != nil {
		return nil, e, fmt.Errorf("checkout: open %s: %w", e.Path, err)
	}
	return f, e, nil
}

// ReadFile reads a path: at most MaxRead bytes, made UTF-8 if it is text.
func (c *Checkout) ReadFile(ctx context.Context, name string) (*FileData, error) {
	e, err := c.Lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	d := &FileData{Entry: e}
	if e.Kind == Submodule {
		d.Target = c.submoduleURL(ctx, e.Path)
		return d, nil
	}
	raw, err := c.readRaw(e, MaxRead)
	if err != nil {
		return nil, fmt.Errorf("checkout: read %s: %w", e.Path, err)
	}
	if e.Kind == Symlink {
		d.Target = string(raw)
		return d, nil
	}
	d.Truncated = e.Size > int64(len(raw))
	d.LFS = e.Size < 1024 && bytes.HasPrefix(raw, []byte("version https://git-lfs."))
	d.Data, d.Encoding, d.Binary = decode(raw)
	return d, nil
}

// ReadBlob reads one file at a recorded commit, fetching that commit if it is
// not there. It gives the bytes as they are, at most MaxRead of them.
func (s *Store) ReadBlob(ctx context.Context, req Request, sha, name string) ([]byte, error) {
	req.Ref, req.WantSHA = sha, ""
	if !fullSHA.MatchString(sha) {
		return nil, &RefError{Repo: req.Repo.Name, Ref: sha, Reason: "is not a full commit sha"}
	}
	c, err := s.Acquire(ctx, req)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	e, err := c.Lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	if e.Kind == Submodule {
		return nil, c.pathError(e.Path, "is a submodule")
	}
	b, err := c.readRaw(e, MaxRead)
	if err != nil {
		return nil, fmt.Errorf("checkout: read %s: %w", e.Path, err)
	}
	return b, nil
}

// readRaw reads an entry's bytes through the root, so that nothing outside the
// tree can be meant.
func (c *Checkout) readRaw(e Entry, max int64) ([]byte, error) {
	f, err := c.tree.root.Open(e.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, min(e.Size, max))
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return b, nil
}

// submoduleURL looks a submodule's URL up in .gitmodules, which is only read as text.
func (c *Checkout) submoduleURL(ctx context.Context, p string) string {
	t, err := c.Tree(ctx)
	if err != nil {
		return ""
	}
	e, ok := t.Lookup(".gitmodules")
	if !ok || e.Kind == Symlink || e.Kind == Submodule {
		return ""
	}
	raw, err := c.readRaw(e, 1<<20)
	if err != nil {
		return ""
	}
	var here, url string
	sc := bufio.NewScanner(bytes.NewReader(raw))
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		if strings.HasPrefix(line, "[") {
			if here == p && url != "" {
				return url
			}
			here, url = "", ""
			continue
		}
		k, v, _ := strings.Cut(line, "=")
		switch strings.ToLower(strings.TrimSpace(k)) {
		case "path":
			here = strings.Trim(strings.TrimSpace(v), `"`)
		case "url":
			url = clip(strings.Trim(strings.TrimSpace(v), `"`), 300)
		}
	}
	if here == p {
		return url
	}
	return ""
}

// isBinary is git's test (buffer_is_binary in xdiff-interface.c).
func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }

// decode makes text UTF-8. It leaves alone what is UTF-8 already, and binaries.
func decode(raw []byte) (text []byte, encoding string, binary bool) {
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}) && !bytes.HasPrefix(raw, []byte{0xff, 0xfe, 0, 0}):
		return fromUTF16(raw[2:], func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }), "utf-16le", false
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return fromUTF16(raw[2:], func(b []byte) uint16 { return uint16(b[1]) | uint16(b[0])<<8 }), "utf-16be", false
	case isBinary(raw):
		return raw, "", true
	case utf8.Valid(raw):
		return raw, "utf-8", false
	}
	out := make([]byte, 0, len(raw)+len(raw)/8)
	for len(raw) > 0 {
		// What is valid stays as it is: one stray byte must not spoil the rest.
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n <= 1 {
			r, n = rune(raw[0]), 1
		}
		out = utf8.AppendRune(out, r)
		raw = raw[n:]
	}
	return out, "latin-1", false
}

func fromUTF16(b []byte, unit func([]byte) uint16) []byte {
	u := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		u = append(u, unit(b))
	}
	return []byte(string(utf16.Decode(u)))
}

// ListItem is one name in a folder.
type ListItem struct {
	Name string
	Dir  bool
	Kind Kind // "" for a folder
	Size int64
}

// List gives what is directly in a folder ("" is the root), in the order of the
// names without regard to case.
func (c *Checkout) List(ctx context.Context, dir string) ([]ListItem, error) {
	p, err := c.clean(dir)
	if err != nil {
		return nil, err
	}
	t, err := c.Tree(ctx)
	if err != nil {
		return nil, fmt.Errorf("checkout: read listing: %w", err)
	}
	if p != "" && !t.IsDir(p) {
		_, err := c.Lookup(ctx, p)
		if err != nil {
			return nil, err
		}
		return nil, c.pathError(p, "is not a directory")
	}
	return t.list(p), nil
}
