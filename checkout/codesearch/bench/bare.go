package bench

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/codesearch"
)

// OpenBare opens trees with git, for Options.Open. The tree is held in memory.
func OpenBare(program string) func(ctx context.Context, gitDir, commit string) (codesearch.Source, error) {
	return func(ctx context.Context, gitDir, commit string) (codesearch.Source, error) {
		b, err := checkout.ReadBare(ctx, program, gitDir, commit, 8*maxRead)
		if err != nil {
			return nil, err
		}
		return bareSource{b}, nil
	}
}

type bareSource struct{ b *checkout.Bare }

func (s bareSource) Files(context.Context) ([]codesearch.File, error) {
	files := make([]codesearch.File, 0, len(s.b.Entries))
	for _, e := range s.b.Entries {
		files = append(files, codesearch.File{Path: e.Path, Hash: e.OID, Size: e.Size})
	}
	return files, nil
}

func (s bareSource) Read(_ context.Context, f codesearch.File, limit int64) ([]byte, error) {
	b := s.b.Blob(f.Hash)
	if b == nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, fs.ErrNotExist)
	}
	return b[:min(int64(len(b)), limit)], nil
}
