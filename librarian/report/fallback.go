package report

import (
	"cmp"
	"slices"

	"github.com/librarian-app/librarian/librarian"
)

// maxFallback is how many places the host lists when it builds the answer itself.
const maxFallback = 10

// maxFallbackLines is the longest range that such an answer cites; of more only the file is named.
const maxFallbackLines = 200

// Fallback is the answer that the host builds from what was read, for a run that ended without findings. One place a
// file: the lines that were shown last. Files that were looked at most often come first, among those the latest: a
// run goes back to what matters, and narrows down. A file whose repository is no longer among sources is left out,
// because nothing is then known of who may see it.
func Fallback(ledger *Ledger, sources Sources, summary string) librarian.Findings {
	found := librarian.Findings{Summary: summary, Locations: []librarian.Location{}}
	files := ledger.Files()
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(b.Shown, a.Shown), cmp.Compare(b.Order, a.Order))
	})
	all := sources.Sources()
	for _, f := range files {
		i := slices.IndexFunc(all, func(s Source) bool { return s.Repo.ID == f.Repo && s.SHA == f.SHA })
		if i < 0 {
			continue
		}
		r := f.Last
		if r.End-r.Start >= maxFallbackLines {
			r = Range{}
		}
		if found.Locations = append(found.Locations, locate(all[i], f.Path, r, "")); len(found.Locations) == maxFallback {
			break
		}
	}
	return found
}
