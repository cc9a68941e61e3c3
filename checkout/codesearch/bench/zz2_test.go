package bench

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/librarian-app/librarian/checkout/codesearch"
)

func TestZZ2(t *testing.T) {
	src, err := OpenBare("git")(context.Background(), "/work/.mirror/"+os.Getenv("R")+"/repo", os.Getenv("H"))
	if err != nil {
		t.Fatal(err)
	}
	ix, err := codesearch.Build(context.Background(), src, codesearch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := ix.Search(context.Background(), codesearch.Query{Question: os.Getenv("Q")})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("conf %.3f missing %v terms %v\n", res.Confidence, res.Missing, res.Terms)
	for _, c := range res.Candidates {
		fmt.Printf("%.3f %s:%d-%d %s %s %q\n", c.Score, c.Path, c.Start, c.End, c.Kind, c.Symbol, c.Why)
	}
}
