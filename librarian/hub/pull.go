package hub

import (
	"context"
	"fmt"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// Bounds of a pull request that is read.
const (
	maxPullFiles = 300
	maxHunk      = 16 << 10 // bytes
)

// pull reads what a pull request has beyond an issue.
func pull(ctx context.Context, c *github.Client, name librarian.RepoName, number int) (*librarian.Pull, error) {
	got, _, err := c.PullRequests.Get(ctx, name.Owner, name.Name, number)
	if err != nil {
		return nil, err
	}
	p := &librarian.Pull{
		HeadSHA:  got.GetHead().GetSHA(),
		HeadRef:  got.GetHead().GetRef(),
		HeadRepo: got.GetHead().GetRepo().GetFullName(), // empty when the fork was deleted
		BaseSHA:  got.GetBase().GetSHA(),
		BaseRef:  got.GetBase().GetRef(),
		Draft:    got.GetDraft(),
		Merged:   got.GetMerged(),
		Changed:  got.GetChangedFiles(),
	}
	for page := 1; page*commentsPage <= maxPullFiles; page++ {
		var files []struct {
			Name string `json:"filename"`
		}
		resp, err := get(ctx, c, fmt.Sprintf("repos/%s/pulls/%d/files?per_page=%d&page=%d", name, number, commentsPage, page), &files)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			p.Files = append(p.Files, f.Name)
		}
		if resp.NextPage == 0 {
			break
		}
	}
	p.Changed = max(p.Changed, len(p.Files))
	p.Reviews, err = reviews(ctx, c, name, number)
	return p, err
}

// reviews are the newest hundred or so that say something: an inline comment makes a review without text too.
func reviews(ctx context.Context, c *github.Client, name librarian.RepoName, number int) ([]librarian.Comment, error) {
	all, _, err := newest(ctx, c, fmt.Sprintf("repos/%s/pulls/%d/reviews", name, number))
	if err != nil {
		return nil, err
	}
	said := all[:0]
	for _, r := range all {
		if r.Body != "" || r.State != "COMMENTED" {
			said = append(said, r)
		}
	}
	list, _ := fit(said[max(0, len(said)-commentsPage):], 0)
	return list, nil
}

// reviewThread reads the thread of a review that place stands in. GitHub lists the comments of all threads together.
func reviewThread(ctx context.Context, c *github.Client, name librarian.RepoName, place librarian.Place) (*librarian.ReviewThread, error) {
	root := place.Root
	if root == 0 {
		root = place.TriggerID
	}
	all, omitted, err := newest(ctx, c, fmt.Sprintf("repos/%s/pulls/%d/comments", name, place.Number))
	if err != nil {
		return nil, err
	}
	mine := all[:0]
	for _, r := range all {
		if r.ID == root || r.InReplyTo == root {
			mine = append(mine, r)
		}
	}
	thread := &librarian.ReviewThread{Path: place.Path, Line: place.Line, Hunk: place.Hunk}
	for _, r := range mine {
		if r.ID == root {
			thread.Path, thread.Line, thread.Hunk = r.Path, r.Line, r.Hunk
		}
	}
	if len(thread.Hunk) > maxHunk { // its end is what the comment stands under
		thread.Hunk = thread.Hunk[len(thread.Hunk)-maxHunk:]
	}
	thread.Comments, thread.Omitted = fit(mine, omitted)
	return thread, nil
}
