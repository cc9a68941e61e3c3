package bench

import (
	"context"

	"github.com/librarian-app/librarian/checkout/codesearch"
)

// filtered shows only the files that count.
type filtered struct {
	codesearch.Source
	root string
}

func (f filtered) Files(ctx context.Context) ([]codesearch.File, error) {
	all, err := f.Source.Files(ctx)
	if err != nil {
		return nil, err
	}
	var out []codesearch.File
	for _, e := range all {
		if counts(e.Path, f.root) {
			out = append(out, e)
		}
	}
	return out, nil
}

// narrow gives the part of a tree that a question's data set counts.
func narrow(src codesearch.Source, set Set, q Question) codesearch.Source {
	if set.Format == formatNDCG {
		return filtered{src, q.root}
	}
	return src
}
