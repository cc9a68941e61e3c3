package githubsim

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

const (
	maxInline = 1 << 20   // a file up to this size is shown in JSON
	maxRaw    = 100 << 20 // and up to this one raw; GitHub's numbers
)

// escapePath escapes a path for a URL, leaving its slashes.
func escapePath(p string) string {
	parts := strings.Split(p, "/")
	for i, s := range parts {
		parts[i] = url.PathEscape(s)
	}
	return strings.Join(parts, "/")
}

// accepts tells whether the Accept header names a GitHub media type such as "raw" or "sha".
func (c *call) accepts(kind string) bool {
	for part := range strings.SplitSeq(c.r.Header.Get("Accept"), ",") {
		media, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		sub, found := strings.CutPrefix(media, "application/vnd.github.")
		if sub = strings.TrimPrefix(strings.TrimSuffix(sub, "+json"), "v3."); found && sub == kind {
			return true
		}
	}
	return false
}

// resolveRef resolves a ref of the API in a repository, or says that there is none.
func (c *call) resolveRef(r repo, ref string) (string, error) {
	sha, err := r.dir.commit(c.r.Context(), ref, r.defaultBranch)
	if err != nil {
		return "", &apiError{status: http.StatusNotFound, message: "No commit found for the ref " + ref}
	}
	return sha, nil
}

// getContents answers with a file, a directory, a symbolic link or a submodule.
// https://docs.github.com/en/rest/repos/contents#get-repository-content
func getContents(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	where := strings.Trim(c.params["path"], "/")
	if where != "" && where != path.Clean(where) || strings.HasPrefix(where, "../") || strings.ContainsRune(where, 0) {
		return reply{}, unprocessable("Contents", "path", "invalid", "path contains a malformed path component")
	}
	ref := c.query.Get("ref")
	sha, err := c.resolveRef(r, ref)
	if err != nil {
		return reply{}, err
	}
	if ref == "" {
		ref = r.defaultBranch
	}
	if where == "" {
		return c.directory(r, sha, "", sha, ref)
	}
	list, err := r.dir.tree(c.r.Context(), sha, where, false)
	if err != nil || len(list) != 1 || list[0].path != where {
		return reply{}, notFound()
	}
	e := list[0]
	switch {
	case e.kind == "tree":
		return c.directory(r, e.sha, where, e.sha, ref)
	case e.kind == "commit":
		o := c.entryJSON(r, e, ref)
		o["submodule_git_url"] = orNil(r.dir.submoduleURL(c.r.Context(), sha, where))
		return ok(o)
	case e.mode == "120000":
		return c.link(r, e, sha, ref)
	}
	return c.file(r, e, ref)
}

func (c *call) directory(r repo, treeish, where, sha, ref string) (reply, error) {
	list, err := r.dir.tree(c.r.Context(), treeish, "", false)
	if err != nil {
		return reply{}, err
	}
	if len(list) > 1000 {
		list = list[:1000] // GitHub's bound
	}
	out := []object{}
	for _, e := range list {
		e.path = path.Join(where, e.path)
		o := c.entryJSON(r, e, ref)
		if o["type"] == "submodule" {
			o["type"] = "file" // GitHub's own oddity in listings
		}
		out = append(out, o)
	}
	if c.accepts("object") {
		o := c.entryJSON(r, entry{mode: "040000", kind: "tree", sha: sha, path: where}, ref)
		o["entries"] = out
		return ok(o)
	}
	return ok(out)
}

func (c *call) file(r repo, e entry, ref string) (reply, error) {
	if e.size > maxRaw {
		return reply{}, &apiError{status: http.StatusForbidden, message: "This API returns blobs up to 100 MB in size.",
			errors: []object{{"resource": "Blob", "field": "data", "code": "too_large"}}}
	}
	raw := c.accepts("raw")
	o := c.entryJSON(r, e, ref)
	o["content"], o["encoding"] = "", "none"
	if !raw && e.size > maxInline {
		return ok(o)
	}
	data, err := r.dir.blob(c.r.Context(), e.sha, maxRaw)
	if err != nil {
		return reply{}, err
	}
	if raw {
		return reply{body: data, contentType: "application/vnd.github.raw+json; charset=utf-8"}, nil
	}
	o["content"], o["encoding"] = base64Lines(data), "base64"
	return ok(o)
}

// link answers with what a symbolic link points to if that is a file of the repository, else with the link itself.
func (c *call) link(r repo, e entry, commit, ref string) (reply, error) {
	target, err := r.dir.blob(c.r.Context(), e.sha, 64<<10)
	if err != nil {
		return reply{}, err
	}
	to := path.Join(path.Dir(e.path), string(target))
	if !path.IsAbs(string(target)) && to != ".." && !strings.HasPrefix(to, "../") {
		if list, err := r.dir.tree(c.r.Context(), commit, to, false); err == nil && len(list) == 1 && list[0].path == to &&
			list[0].kind == "blob" && list[0].mode != "120000" {
			list[0].path = e.path
			return c.file(r, list[0], ref)
		}
	}
	if c.accepts("raw") {
		return reply{body: target, contentType: "application/vnd.github.raw+json; charset=utf-8"}, nil
	}
	o := c.entryJSON(r, e, ref)
	o["target"] = string(target)
	return ok(o)
}

// entryJSON is what files and directories have in common.
func (c *call) entryJSON(r repo, e entry, ref string) object {
	kind, view := "file", "blob"
	switch {
	case e.kind == "tree":
		kind, view = "dir", "tree"
	case e.kind == "commit":
		kind = "submodule"
	case e.mode == "120000":
		kind = "symlink"
	}
	full, at := r.fullName(), escapePath(e.path)
	self := c.url("/repos/%s/contents/%s?ref=%s", full, at, url.QueryEscape(ref))
	html := fmt.Sprintf("%s/%s/%s/%s/%s", c.URL(), full, view, escapePath(ref), at)
	o := object{"name": path.Base(e.path), "path": e.path, "sha": e.sha, "size": e.size, "url": self, "html_url": html, "type": kind, "download_url": nil}
	gitURL := c.url("/repos/%s/git/%ss/%s", full, view, e.sha)
	if e.path == "" {
		o["name"] = ""
	}
	if kind == "file" || kind == "symlink" {
		o["download_url"] = fmt.Sprintf("%s/%s/raw/%s/%s", c.URL(), full, escapePath(ref), at)
	}
	o["git_url"] = gitURL
	if kind == "submodule" {
		o["git_url"], o["html_url"] = nil, nil
	}
	o["_links"] = object{"self": self, "git": o["git_url"], "html": o["html_url"]}
	return o
}

// url is api for handlers that run without the lock.
func (c *call) url(format string, args ...any) string {
	return c.URL() + apiPrefix + fmt.Sprintf(format, args...)
}

// base64Lines breaks base64 after 60 characters, as GitHub does.
func base64Lines(data []byte) string {
	text := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(text) > 60 {
		b.WriteString(text[:60] + "\n")
		text = text[60:]
	}
	if text != "" {
		b.WriteString(text + "\n")
	}
	return b.String()
}

func getReadme(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	ref := c.query.Get("ref")
	sha, err := c.resolveRef(r, ref)
	if err != nil {
		return reply{}, err
	}
	list, err := r.dir.tree(c.r.Context(), sha, "", false)
	if err != nil {
		return reply{}, err
	}
	if ref == "" {
		ref = r.defaultBranch
	}
	for _, e := range list {
		base, _, _ := strings.Cut(strings.ToLower(e.path), ".")
		if e.kind == "blob" && base == "readme" {
			return c.file(r, e, ref)
		}
	}
	return reply{}, notFound()
}

func getBlob(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	sha := c.params["sha"]
	if !isSHA(sha) {
		return reply{}, unprocessable("Blob", "sha", "invalid", "The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
	}
	data, err := r.dir.blob(c.r.Context(), sha, maxRaw)
	switch {
	case errors.Is(err, errTooBig):
		return reply{}, &apiError{status: http.StatusForbidden, message: "This API returns blobs up to 100 MB in size."}
	case err != nil:
		return reply{}, notFound()
	case c.accepts("raw"):
		return reply{body: data, contentType: "application/vnd.github.raw+json; charset=utf-8"}, nil
	}
	return ok(object{"sha": sha, "node_id": "B_" + sha, "size": len(data), "url": c.url("/repos/%s/git/blobs/%s", r.fullName(), sha),
		"content": base64Lines(data), "encoding": "base64"})
}

// getTree lists a tree, all below it with recursive; at most 100,000 entries, more is truncated.
func getTree(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	name := c.params["sha"]
	sha, err := r.dir.resolve(c.r.Context(), name, "tree")
	if err != nil || !isSHA(name) {
		commit, err := c.resolveRef(r, name)
		if err != nil {
			return reply{}, notFound()
		}
		if sha, err = r.dir.resolve(c.r.Context(), commit, "tree"); err != nil {
			return reply{}, notFound()
		}
	}
	_, deep := c.query["recursive"]
	list, err := r.dir.tree(c.r.Context(), sha, "", deep)
	if err != nil {
		return reply{}, err
	}
	const most = 100_000
	truncated := len(list) > most
	out := []object{}
	for _, e := range list[:min(most, len(list))] {
		o := object{"path": e.path, "mode": e.mode, "type": e.kind, "sha": e.sha}
		switch e.kind {
		case "blob":
			o["size"], o["url"] = e.size, c.url("/repos/%s/git/blobs/%s", r.fullName(), e.sha)
		case "tree":
			o["url"] = c.url("/repos/%s/git/trees/%s", r.fullName(), e.sha)
		}
		out = append(out, o)
	}
	return ok(object{"sha": sha, "url": c.url("/repos/%s/git/trees/%s", r.fullName(), sha), "tree": out, "truncated": truncated})
}
