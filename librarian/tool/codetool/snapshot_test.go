package codetool_test

import (
	"testing"

	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/librarian/tool/codetool"
	"github.com/librarian-app/librarian/librarian/tool/tooltest"
)

func TestToolsStateWhatTheyAre(t *testing.T) {
	t.Parallel()
	s := codetool.NewSession(codetool.Options{DefaultHost: host, Index: codesearch.NewCache(t.TempDir(), codesearch.CacheOptions{})})
	tooltest.Snapshots(t, s.Tools())
	if n := len(codetool.NewSession(codetool.Options{}).Tools()); n != len(s.Tools())-1 {
		t.Errorf("without an index there are %d tools", n)
	}
}
