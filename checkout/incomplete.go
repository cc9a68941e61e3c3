package checkout

import (
	"context"
	"errors"
	"regexp"
	"slices"
)

// maxLacking is how many files an incomplete repository may lack: each costs one
// request to find out.
const maxLacking = 100

// lacking is how git says which object it has not got.
var lacking = regexp.MustCompile(`not our ref ([0-9a-f]{40})`)

// fetchBlobs brings blobs, of an incomplete repository those that it has.
func (s *Store) fetchBlobs(ctx context.Context, req Request, dir string, oids []string, lock *fileLock) error {
	for range maxLacking {
		err := s.fetchObjects(ctx, req, dir, oids, lock)
		ge, ok := errors.AsType[*gitError](err)
		if !ok || !req.Incomplete || !errors.Is(err, errNotThere) {
			return err
		}
		m := lacking.FindStringSubmatch(ge.stderr)
		if m == nil || !slices.Contains(oids, m[1]) {
			return err
		}
		if oids = slices.DeleteFunc(slices.Clone(oids), func(id string) bool { return id == m[1] }); len(oids) == 0 {
			return nil
		}
	}
	return &UpstreamError{Repo: req.Repo.Name, Reason: "it lacks too many of the commit's files"}
}

// leaveOut takes the files out of the plan whose blobs are missing, unless that
// is all of them, and gives what is still missing.
func (p *plan) leaveOut(missing []string) []string {
	gone := make(map[string]bool, len(missing))
	for _, id := range missing {
		gone[id] = true
	}
	var left []Entry
	var lacks []string
	files := 0
	for _, e := range p.tree.Entries {
		switch {
		case e.Kind == Submodule:
		case gone[e.OID]:
			lacks = append(lacks, e.Path)
			continue
		default:
			files++
		}
		left = append(left, e)
	}
	if files == 0 {
		return missing
	}
	p.tree, p.lacks = &Tree{Entries: left}, lacks
	return nil
}

// Lacks are the paths of the commit whose contents the repository has not got,
// so that they are not in the tree; only where Request.Incomplete allowed that.
func (c *Checkout) Lacks() []string { return c.tree.meta.Lacks }
