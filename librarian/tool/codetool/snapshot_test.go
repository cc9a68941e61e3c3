package codetool_test

import (
	"testing"

	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/librarian/sandbox"
	"github.com/librarian-app/librarian/librarian/tool/codetool"
	"github.com/librarian-app/librarian/librarian/tool/tooltest"
)

func TestToolsStateWhatTheyAre(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(sandbox.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := codetool.NewSession(codetool.Options{DefaultHost: host, Sandbox: box, Index: codesearch.NewCache(t.TempDir(), codesearch.CacheOptions{})})
	tooltest.Snapshots(t, s.Tools())
	if n := len(codetool.NewSession(codetool.Options{}).Tools()); n != len(s.Tools())-2 {
		t.Errorf("without an index and a sandbox there are %d tools", n)
	}
}
