package checkout

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Bare is one commit of a bare repository that lies on this machine, read into memory. It is for measuring, where no store, host or
// working tree is wanted; runs use a Store.
type Bare struct {
	Entries []Entry // files only, in the order of the paths' bytes
	blobs   map[string][]byte
}

// ReadBare reads the files of a commit. Files larger than limit bytes are listed and not read; those that the repository lacks (a
// snapshot without its largest files) are left out. git is the program's name or path. Nothing is fetched.
func ReadBare(ctx context.Context, program, dir, commit string, limit int64) (*Bare, error) {
	if !fullSHA.MatchString(commit) {
		return nil, fmt.Errorf("checkout: read bare: %q is not a full commit sha", clip(commit, 80))
	}
	b := &Bare{blobs: map[string][]byte{}}
	s := &Store{git: &git{path: program, timeout: 10 * time.Minute, memory: 4 << 30}}
	err := s.git.run(ctx, gitCommand{dir: dir, args: []string{"ls-tree", "-r", "-z", "-l", "--full-tree", commit}, stdout: func(r io.Reader) error {
		lines := bufio.NewReaderSize(r, 64<<10)
		for {
			line, err := lines.ReadString(0)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			head, path, _ := strings.Cut(strings.TrimSuffix(line, "\x00"), "\t")
			f := strings.Fields(head)
			if len(f) != 4 || f[0] != "100644" && f[0] != "100755" {
				continue
			}
			size, err := strconv.ParseInt(f[3], 10, 64)
			if err != nil {
				continue // its size is not known: the blob is not here
			}
			b.Entries = append(b.Entries, Entry{Path: path, Kind: File, OID: f[2], Size: size})
		}
	}})
	if err != nil {
		return nil, fmt.Errorf("checkout: read bare: %w", err)
	}
	err = s.catFile(ctx, dir, func(w io.Writer) error {
		asked := map[string]bool{}
		for _, e := range b.Entries {
			if e.Size > limit || asked[e.OID] {
				continue
			}
			asked[e.OID] = true
			if _, err := fmt.Fprintln(w, e.OID); err != nil {
				return err
			}
		}
		return nil
	}, func(obj object, body io.Reader) error {
		if body == nil {
			return nil
		}
		var buf bytes.Buffer
		buf.Grow(int(min(obj.size, limit)))
		_, err := buf.ReadFrom(body)
		b.blobs[obj.oid] = buf.Bytes()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("checkout: read bare: %w", err)
	}
	return b, nil
}

// Blob gives a file's bytes; nil when it was too large or is not there.
func (b *Bare) Blob(oid string) []byte { return b.blobs[oid] }
