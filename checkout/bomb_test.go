package checkout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// nested adds trees, levels of them, each of which names the one below it ten times.
func nested(p *checkouttest.Pack, below string, levels int) string {
	for range levels {
		var entries []checkouttest.TreeEntry
		for i := range 10 {
			entries = append(entries, checkouttest.TreeEntry{Mode: "40000", Name: fmt.Sprintf("d%d", i), OID: below})
		}
		below = p.Add("tree", checkouttest.TreeData(entries...))
	}
	return below
}

// TestG15_TreeBomb: some hundred bytes that stand for more folders than there is memory for, with files far below them or with none;
// and paths that are few for their number and many for their length.
func TestG15_TreeBomb(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		says  string
		build func(p *checkouttest.Pack) string
	}{
		"files at the bottom": {"files and folders", func(p *checkouttest.Pack) string {
			blob := p.Add("blob", []byte("x"))
			return nested(p, p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "100644", Name: "x", OID: blob})), 12)
		}},
		"no files": {"files and folders", func(p *checkouttest.Pack) string { return nested(p, p.Add("tree", nil), 12) }},
		"long paths": {"paths of more than", func(p *checkouttest.Pack) string {
			blob := p.Add("blob", []byte("x"))
			var files []checkouttest.TreeEntry
			for i := range 200 {
				files = append(files, checkouttest.TreeEntry{Mode: "100644", Name: fmt.Sprintf("%03d", i), OID: blob})
			}
			tree := nested(p, p.Add("tree", checkouttest.TreeData(files...)), 2)
			for range 15 {
				tree = p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "40000", Name: strings.Repeat("n", 250), OID: tree}))
			}
			return tree
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			p := &checkouttest.Pack{}
			srv.AddRaw(t, "acme/bomb", p, checkouttest.TreeEntry{Mode: "40000", Name: "a", OID: tt.build(p)})
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
			_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/bomb")})
			var bud *checkout.BudgetError
			require.ErrorAs(t, err, &bud)
			require.Contains(t, err.Error(), tt.says)
			onlyWhole(t, dir)
		})
	}
}

// TestOneNameTwice: a file and a folder of one name, apart from each other in a tree that is not sorted, which is a benign fault.
func TestOneNameTwice(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"100644", "120000", "160000", "40000"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			p := &checkouttest.Pack{}
			blob := p.Add("blob", []byte("/etc"))
			tree := p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "100644", Name: "x", OID: blob}))
			second := blob
			if mode == "40000" {
				second = p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "100644", Name: "y", OID: blob}))
			}
			srv.AddRaw(t, "acme/twice", p, checkouttest.TreeEntry{Mode: "40000", Name: "a", OID: tree},
				checkouttest.TreeEntry{Mode: "100644", Name: "z", OID: blob}, checkouttest.TreeEntry{Mode: mode, Name: "a", OID: second})
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
			_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/twice")})
			var re *checkout.RefusedError
			require.ErrorAs(t, err, &re)
			onlyWhole(t, dir)
		})
	}
}
