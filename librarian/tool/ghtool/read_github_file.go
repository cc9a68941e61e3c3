package ghtool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of read_github_file.
const (
	maxBlob     = 32 << 20 // bytes of a file that is read through the API; larger ones are read in a checkout
	maxEntries  = 500      // of a folder that are listed
	fullListing = 1000     // entries the contents API gives of a folder, no more (https://docs.github.com/rest/repos/contents)
)

// ReadFileArgs are the arguments of read_github_file.
type ReadFileArgs struct {
	Owner  string `json:"owner" jsonschema:"The repository's owner."`
	Repo   string `json:"repo" jsonschema:"The repository's name."`
	Path   string `json:"path" jsonschema:"The file or folder, relative to the repository's root; empty is the root."`
	Ref    string `json:"ref,omitempty" jsonschema:"A branch, a tag or a commit sha. Default: the default branch."`
	Offset *int   `json:"offset,omitempty" jsonschema:"The first line to show, from 1. Default 1."`
	Limit  *int   `json:"limit,omitempty" jsonschema:"The number of lines to show, at most 2000. Default 2000."`
}

// ReadFileData is what read_github_file gives to programs.
type ReadFileData struct {
	Name  string `json:"name"` // owner/name
	SHA   string `json:"sha"`  // the commit
	Path  string `json:"path"`
	Kind  string `json:"kind"` // file, binary, directory, symlink, submodule
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
	Total int    `json:"total,omitempty"`
}

// content is one object of the contents API.
type content struct {
	Type      string    `json:"type"` // file, dir, symlink, submodule
	Name      string    `json:"name"`
	Path      string    `json:"path"`
	SHA       string    `json:"sha"`
	Size      int64     `json:"size"`
	Submodule string    `json:"submodule_git_url"` // of a submodule
	GitURL    string    `json:"git_url"`
	Entries   []content `json:"entries"` // of a folder
}

func (g github) readFile() tool.Tool {
	return tool.New(tool.Definition[ReadFileArgs]{
		Name: "read_github_file",
		Description: "Shows lines of one file of a repository through GitHub's API, without a checkout; a folder is listed. At most 2000 lines or 50 KiB, " +
			"whole lines, without line numbers; a notice in brackets says what was left out. Lines shown here can be cited. A file over 32 MB is read in a checkout, which is named. For more than a few files use checkout_repo.",
		Effect: tool.Read,
		Verb:   "read",
		Subject: func(a ReadFileArgs) string {
			s := tool.OneLine(tool.Clip(strings.TrimSuffix(a.Repo+"/"+shownPath(a.Path), "/"), 150))
			switch {
			case a.Offset != nil && a.Limit != nil:
				s += fmt.Sprintf(":%d-%d", *a.Offset, *a.Offset+min(*a.Limit, math.MaxInt-max(*a.Offset, 0))-1)
			case a.Offset != nil:
				s += fmt.Sprintf(":%d-", *a.Offset)
			}
			return s
		},
		Run: g.runReadFile,
		Refine: func(s *jsonschema.Schema) {
			least := 1.0
			s.Properties["offset"].Minimum, s.Properties["limit"].Minimum = &least, &least
		},
	})
}

func (g github) runReadFile(ctx context.Context, a ReadFileArgs) (tool.Result, error) {
	window := tool.Window{Offset: a.Offset, Limit: a.Limit}
	if err := window.Check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	p, no := tool.CleanPath(a.Path)
	if no != "" {
		return tool.Errorf("%s", no), nil
	}
	if !plausibleRef(a.Ref) {
		return tool.Errorf("%q is not a ref. Name a branch, a tag or a commit sha, or leave ref out for the default branch.", tool.OneLine(tool.Clip(a.Ref, 100))), nil
	}
	const instead = "Try checkout_repo + read."
	repo, err := g.open(ctx, a.Owner, a.Repo)
	if err != nil {
		return refusal(ctx, "read_github_file", err, instead)
	}
	sha, err := g.commit(ctx, repo, a.Ref)
	if err != nil {
		return refusal(ctx, "read_github_file", err, instead)
	}
	f := fileReading{g: g, repo: repo, sha: sha, path: p}
	result, err := f.read(ctx, window)
	if err != nil {
		return refusal(ctx, "read_github_file", err, instead)
	}
	return result, nil
}

// shownPath is a path parameter as it is shown.
func shownPath(p string) string {
	if clean, no := tool.CleanPath(p); no == "" {
		p = clean
	}
	return tool.QuotePath(p)
}

// plausibleRef keeps out what git takes for no ref (git-check-ref-format) and what would be an expression.
func plausibleRef(ref string) bool {
	return len(ref) <= 250 && !strings.HasPrefix(ref, "-") && !strings.Contains(ref, "..") && !strings.Contains(ref, "@{") &&
		!strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) })
}

// commit resolves a ref to a full sha.
func (g github) commit(ctx context.Context, repo librarian.Repo, ref string) (string, error) {
	name := ref
	if name == "" {
		name = "HEAD"
	}
	b, err := g.get(ctx, &repo, repoPath(repo, "commits", name), nil, acceptSHA, 1<<10)
	var status *statusError
	if errors.As(err, &status) && (status.status == http.StatusNotFound || status.status == http.StatusUnprocessableEntity || status.status == http.StatusConflict) {
		text := fmt.Sprintf("%s has no commit yet, or cannot be read.", repo.FullName())
		if ref != "" {
			text = fmt.Sprintf("%s: ref %q is not a branch, tag or commit there. Leave ref out for the default branch.", repo.FullName(), ref)
		}
		return "", &librarian.UserError{Message: text, Err: err}
	}
	if err != nil {
		return "", err
	}
	sha := strings.TrimSpace(string(b))
	if len(sha) != 40 || strings.Trim(sha, "0123456789abcdef") != "" {
		return "", errors.New("GitHub's answer is not a commit sha")
	}
	return sha, nil
}

// fileReading is one path of one commit.
type fileReading struct {
	g    github
	repo librarian.Repo
	sha  string
	path string
}

// read shows the path. It is looked up in the listing of its folder, because asked for by itself GitHub follows a symbolic link.
func (f fileReading) read(ctx context.Context, window tool.Window) (tool.Result, error) {
	if f.path == "" {
		return f.folder(ctx)
	}
	parent, err := f.list(ctx, strings.TrimSuffix(path.Dir(f.path), "."))
	if err != nil {
		return tool.Result{}, f.notFound(err)
	}
	i := slices.IndexFunc(parent.Entries, func(c content) bool { return c.Name == path.Base(f.path) })
	var c content
	switch {
	case i >= 0:
		c = parent.Entries[i]
	case len(parent.Entries) < fullListing:
		return tool.Result{}, f.notFound(nil, near(parent.Entries, f.path)...)
	default:
		if c, err = f.list(ctx, f.path); err != nil {
			return tool.Result{}, f.notFound(err)
		}
	}
	switch {
	case c.Type == "dir":
		return f.folder(ctx)
	case c.Type == "symlink":
		return f.linked(ctx, c)
	case c.Type == "submodule", c.GitURL == "", strings.Contains(c.GitURL, "/git/trees/"):
		// A listing calls submodules files; their URL is a tree's, or null for one that is not on GitHub.
		return f.submodule(ctx, c)
	case c.Size > maxBlob:
		return f.big(ctx, c.Size, window)
	}
	raw, err := f.g.get(ctx, &f.repo, repoPath(f.repo, "git", "blobs", c.SHA), nil, acceptRaw, maxBlob)
	if err != nil {
		return tool.Result{}, err
	}
	view, err := window.Show(raw)
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	kind := "file"
	if view.Binary {
		kind = "binary"
	}
	return f.result(kind, view, raw), nil
}

// big shows a file in a checkout, which checks what is said of it, too.
func (f fileReading) big(ctx context.Context, size int64, window tool.Window) (tool.Result, error) {
	about := fmt.Sprintf("%s is %s; files over %s are not read through the API", tool.QuotePath(f.path), tool.Size(size), tool.Size(maxBlob))
	if f.g.Big == nil {
		return tool.Errorf("%s. Use checkout_repo + grep.", about), nil
	}
	v, key, err := f.g.Big(ctx, f.repo, f.sha, f.path, window)
	if bounds, ok := errors.AsType[*tool.BoundsError](err); ok {
		return tool.Errorf("%s", bounds), nil
	}
	if message, ok := librarian.UserMessage(err); ok {
		return tool.Errorf("%s, and it cannot be checked out. %s", about, message), nil
	}
	if err != nil {
		return tool.Result{}, err
	}
	v.Text = tool.Notices(v.Text, fmt.Sprintf("[Over %s, so it was read in a checkout; read and grep take it with repo=%q.]", tool.Size(maxBlob), key))
	kind := "file"
	if v.Binary {
		kind = "binary"
	}
	return f.shown(kind, v), nil
}

// result is what is shown of the path, and told to whoever keeps it.
func (f fileReading) result(kind string, v tool.View, content []byte) tool.Result {
	if kind != "directory" && f.g.Keep != nil {
		f.g.Keep(f.repo, f.sha, f.path, kind, content)
	}
	return f.shown(kind, v)
}

// shown is the result; a view without lines is evidence of the file as a whole.
func (f fileReading) shown(kind string, v tool.View) tool.Result {
	subject := f.name()
	summary := kind
	if kind == "file" {
		summary = ""
		if v.Start > 1 || v.End < v.Total {
			subject += fmt.Sprintf(":%d-%d", v.Start, v.End)
		}
	}
	r := tool.Result{Text: v.Text, Subject: subject, Summary: summary,
		Data: tool.JSON(ReadFileData{Name: f.repo.FullName(), SHA: f.sha, Path: f.path, Kind: kind, Start: v.Start, End: v.End, Total: v.Total})}
	if kind != "directory" {
		r.Evidence = []tool.Evidence{{Repo: string(f.repo.ID), Name: f.repo.FullName(), SHA: f.sha, Path: f.path, Start: v.Start, End: v.End}}
	}
	return r
}

func (f fileReading) name() string {
	return strings.TrimSuffix(f.repo.Name+"/"+tool.QuotePath(f.path), "/")
}

// list asks the contents API for a path at the commit.
func (f fileReading) list(ctx context.Context, p string) (c content, err error) {
	parts := []string{"contents"}
	if p != "" {
		parts = append(parts, strings.Split(p, "/")...)
	}
	err = f.g.getJSON(ctx, &f.repo, repoPath(f.repo, parts...), url.Values{"ref": {f.sha}}, acceptObject, &c)
	return c, err
}

func (f fileReading) folder(ctx context.Context) (tool.Result, error) {
	c, err := f.list(ctx, f.path)
	if err != nil {
		return tool.Result{}, f.notFound(err)
	}
	slices.SortFunc(c.Entries, func(a, b content) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	var lines, said []string
	for _, e := range c.Entries[:min(len(c.Entries), maxEntries)] {
		name := tool.QuotePath(e.Name)
		if e.Type == "dir" {
			name += "/"
		}
		lines = append(lines, name)
	}
	if len(lines) == 0 {
		lines = []string{"(empty directory)"}
	}
	if len(c.Entries) > maxEntries {
		said = append(said, fmt.Sprintf("[%d entries limit reached. Use checkout_repo + ls for more.]", maxEntries))
	}
	r := f.result("directory", tool.View{Text: tool.Notices(strings.Join(lines, "\n"), said...)}, nil)
	r.Summary = tool.Count(len(c.Entries), "entry", "entries")
	return r, nil
}

// linked shows a symbolic link. Its target is its blob.
func (f fileReading) linked(ctx context.Context, c content) (tool.Result, error) {
	b, err := f.g.get(ctx, &f.repo, repoPath(f.repo, "git", "blobs", c.SHA), nil, acceptRaw, 64<<10)
	if err != nil {
		return tool.Result{}, err
	}
	return f.result("symlink", tool.View{Text: "symlink -> " + tool.QuotePath(string(b))}, nil), nil
}

func (f fileReading) submodule(ctx context.Context, c content) (tool.Result, error) {
	if c.Submodule == "" { // only asked for by itself does a submodule tell its URL
		whole, err := f.list(ctx, f.path)
		if err != nil {
			return tool.Result{}, f.notFound(err)
		}
		c.Submodule = whole.Submodule
	}
	where := c.Submodule
	if u, err := url.Parse(where); err == nil && u.User != nil {
		u.User = nil
		where = u.String()
	}
	if where != "" {
		where += " "
	}
	return f.result("submodule", tool.View{Text: "submodule " + tool.OneLine(where) + "at " + c.SHA}, nil), nil
}

// notFound words a path that is not there; another failure stays what it is.
func (f fileReading) notFound(err error, near ...string) error {
	var status *statusError
	if err != nil && (!errors.As(err, &status) || status.status != http.StatusNotFound) {
		return err
	}
	text := fmt.Sprintf("%s:%s not found at %.7s (check the path and ref).", f.repo.FullName(), tool.QuotePath(f.path), f.sha)
	if len(near) > 0 {
		text += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return &librarian.UserError{Message: text, Err: err}
}

// near finds entries whose name is the one asked for in other case or with another ending.
func near(entries []content, p string) []string {
	var out []string
	stem := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), strings.ToLower(path.Ext(s))) }
	for _, e := range entries {
		if stem(e.Name) == stem(path.Base(p)) && len(out) < 3 {
			out = append(out, tool.QuotePath(e.Path))
		}
	}
	return out
}
