package checkout

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// object is what cat-file says of one object.
type object struct {
	oid  string // as git names it, after peeling
	kind string // commit, tree, blob, tag
	size int64
}

// errMissing says that an object is not in the store.
var errMissing = errors.New("object is not in the store")

// catFile streams the objects that ask writes names of, one a line. each is
// called for every object, in order, with its body, which it need not read to
// the end; for a missing one the body is nil and obj.oid is the name asked for.
// Nothing is fetched.
func (s *Store) catFile(ctx context.Context, gitDir string, ask func(io.Writer) error, each func(obj object, body io.Reader) error) error {
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(ask(pw)) }()
	defer func() { _ = pr.Close() }()
	return s.git.run(ctx, gitCommand{dir: gitDir, args: []string{"cat-file", "--batch", "--buffer"}, stdin: pr, stdout: func(r io.Reader) error {
		br := bufio.NewReaderSize(r, 256<<10)
		for {
			obj, err := readHeader(br)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if obj.kind == "" {
				if err := each(obj, nil); err != nil {
					return err
				}
				continue
			}
			body := io.LimitReader(br, obj.size)
			if err := each(obj, body); err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, body); err != nil {
				return err
			}
			if _, err := br.Discard(1); err != nil {
				return err
			}
		}
	}})
}

// readHeader reads "<oid> <type> <size>" or "<name> missing".
func readHeader(br *bufio.Reader) (object, error) {
	line, err := br.ReadString('\n')
	if err != nil {
		if line != "" {
			err = io.ErrUnexpectedEOF
		}
		return object{}, err
	}
	f := strings.Fields(line)
	switch {
	case len(f) == 3:
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err == nil {
			return object{oid: f[0], kind: f[1], size: n}, nil
		}
	case len(f) == 2 && (f[1] == "missing" || f[1] == "ambiguous"):
		return object{oid: f[0]}, nil
	}
	return object{}, fmt.Errorf("cat-file said %q", clip(strings.TrimSpace(line), 100))
}

// sizes asks for kind and size of many objects. Missing ones have no kind.
func (s *Store) sizes(ctx context.Context, gitDir string, oids []string, each func(object)) error {
	in := strings.NewReader(strings.Join(oids, "\n") + "\n")
	return s.git.run(ctx, gitCommand{dir: gitDir, args: []string{"cat-file", "--batch-check", "--buffer"}, stdin: in,
		stdout: func(r io.Reader) error {
			br := bufio.NewReaderSize(r, 64<<10)
			for {
				obj, err := readHeader(br)
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				each(obj)
			}
		}})
}

// peel gives the commit that a name leads to. errMissing if it is not here,
// RefError's reason if it is something else.
func (s *Store) peel(ctx context.Context, gitDir, name string) (object, error) {
	var first, commit object
	in := strings.NewReader(name + "\n" + name + "^{commit}\n")
	n := 0
	err := s.git.run(ctx, gitCommand{dir: gitDir, args: []string{"cat-file", "--batch-check"}, stdin: in, stdout: func(r io.Reader) error {
		br := bufio.NewReader(r)
		for {
			obj, err := readHeader(br)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if n == 0 {
				first = obj
			} else {
				commit = obj
			}
			n++
		}
	}})
	switch {
	case err != nil:
		return object{}, err
	case commit.kind == "commit":
		return commit, nil
	case first.kind == "" || first.kind == "commit" || first.kind == "tag":
		return object{}, errMissing
	}
	return first, nil
}

// oidOf is git's name for an object.
func oidOf(kind string, body []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(body))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// treeOf reads the id of a commit's tree.
func treeOf(commit []byte) (string, error) {
	line, _, _ := bytes.Cut(commit, []byte("\n"))
	tree, ok := bytes.CutPrefix(line, []byte("tree "))
	if !ok || !fullSHA.Match(tree) {
		return "", errors.New("malformed commit")
	}
	return string(tree), nil
}

// readWhole reads an object of a known kind and sees that it is the one named.
func readWhole(obj object, body io.Reader, kind, oid string, max int64) ([]byte, error) {
	switch {
	case body == nil:
		return nil, errMissing
	case obj.kind != kind:
		return nil, fmt.Errorf("object %s is a %s, not a %s", oid, obj.kind, kind)
	case obj.size > max:
		return nil, fmt.Errorf("object %s has %d bytes", oid, obj.size)
	}
	b := make([]byte, obj.size)
	if _, err := io.ReadFull(body, b); err != nil {
		return nil, err
	}
	if oidOf(kind, b) != oid {
		return nil, fmt.Errorf("object %s does not hold what its name says", oid)
	}
	return b, nil
}
