package githubsim

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// commitInfo is a commit as git tells of it.
type commitInfo struct {
	sha, tree                         string
	parents                           []string
	author, authorMail, authorDate    string
	committer, committerMail, commits string
	message                           string
}

const commitFormat = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00"

// log lists commits, newest first.
func (g *gitDir) log(ctx context.Context, args ...string) ([]commitInfo, error) {
	all := append([]string{"log", "--no-show-signature", "--no-color", "--encoding=UTF-8", "--format=" + commitFormat}, args...)
	out, err := g.run(ctx, 64<<20, all...)
	if err != nil {
		return nil, err
	}
	f := strings.Split(string(out), "\x00")
	var list []commitInfo
	for ; len(f) > 10; f = f[10:] {
		list = append(list, commitInfo{sha: strings.TrimSpace(f[0]), tree: f[1], parents: strings.Fields(f[2]), author: f[3], authorMail: f[4],
			authorDate: f[5], committer: f[6], committerMail: f[7], commits: f[8], message: strings.TrimRight(f[9], "\n")})
	}
	return list, nil
}

func (g *gitDir) one(ctx context.Context, sha string) (commitInfo, error) {
	list, err := g.log(ctx, "-1", "--end-of-options", sha)
	if err == nil && len(list) == 0 {
		err = ErrUnknown
	}
	if err != nil {
		return commitInfo{}, err
	}
	return list[0], nil
}

var unsigned = object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}

func (c *call) commitJSON(r repo, i commitInfo) object {
	full := r.fullName()
	u, html := c.url("/repos/%s/commits/%s", full, i.sha), c.URL()+"/"+full+"/commit/"
	parents := []object{}
	for _, p := range i.parents {
		parents = append(parents, object{"sha": p, "url": c.url("/repos/%s/commits/%s", full, p), "html_url": html + p})
	}
	return object{"sha": i.sha, "node_id": "C_" + i.sha, "url": u, "html_url": html + i.sha, "comments_url": u + "/comments", "author": nil,
		"committer": nil, "parents": parents, "commit": object{
			"author":    object{"name": i.author, "email": i.authorMail, "date": i.authorDate},
			"committer": object{"name": i.committer, "email": i.committerMail, "date": i.commits},
			"message":   i.message, "tree": object{"sha": i.tree, "url": c.url("/repos/%s/git/trees/%s", full, i.tree)},
			"url": c.url("/repos/%s/git/commits/%s", full, i.sha), "comment_count": 0, "verification": unsigned}}
}

// getCommit answers with a commit, its counts and up to 300 files without patches, or with the sha alone for that media type.
// https://docs.github.com/en/rest/commits/commits#get-a-commit
func getCommit(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	ref := c.params["ref"]
	sha, err := r.dir.commit(c.r.Context(), ref, r.defaultBranch)
	if err != nil {
		return reply{}, &apiError{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + ref}
	}
	if c.accepts("sha") {
		return reply{body: []byte(sha), contentType: "application/vnd.github.sha; charset=utf-8"}, nil
	}
	info, err := r.dir.one(c.r.Context(), sha)
	if err != nil {
		return reply{}, err
	}
	o := c.commitJSON(r, info)
	from := ""
	if len(info.parents) > 0 {
		from = info.parents[0]
	}
	files, err := c.files(r, from, sha)
	if err != nil {
		return reply{}, err
	}
	added, removed := 0, 0
	for _, f := range files {
		a, _ := f["additions"].(int)
		d, _ := f["deletions"].(int)
		added, removed = added+a, removed+d
	}
	o["stats"] = object{"total": added + removed, "additions": added, "deletions": removed}
	o["files"] = files[:min(len(files), 300)]
	return ok(o)
}

// files lists what changed between two commits; from "" is the empty tree. Renames are shown as such.
func (c *call) files(r repo, from, to string) ([]object, error) {
	args := []string{"diff-tree", "-r", "-M", "-z", "--raw", "--numstat", "--no-ext-diff", "--no-textconv"}
	if from == "" {
		args = append(args, "--root", "--no-commit-id", to)
	} else {
		args = append(args, from, to)
	}
	out, err := r.dir.run(c.r.Context(), 64<<20, args...)
	if err != nil {
		return nil, err
	}
	kinds := map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'C': "copied", 'T': "changed"}
	byName, list := map[string]object{}, []object{}
	f := strings.Split(string(out), "\x00")
	for len(f) > 1 {
		if raw, isRaw := strings.CutPrefix(f[0], ":"); isRaw {
			col := strings.Fields(raw)
			name, old, rest := f[1], "", f[2:]
			if kind := col[4][0]; (kind == 'R' || kind == 'C') && len(f) > 2 {
				old, name, rest = f[1], f[2], f[3:]
			}
			f = rest
			at := escapePath(name)
			full := r.fullName()
			o := object{"sha": col[3], "filename": name, "status": kinds[col[4][0]], "additions": 0, "deletions": 0, "changes": 0,
				"blob_url": c.URL() + "/" + full + "/blob/" + to + "/" + at, "raw_url": c.URL() + "/" + full + "/raw/" + to + "/" + at,
				"contents_url": c.url("/repos/%s/contents/%s?ref=%s", full, at, to)}
			if old != "" {
				o["previous_filename"] = old
			}
			byName[name] = o
			list = append(list, o)
			continue
		}
		col := strings.SplitN(f[0], "\t", 3)
		f = f[1:]
		if len(col) != 3 {
			continue
		}
		name := col[2]
		if name == "" && len(f) > 1 { // a rename: old and new name follow
			name, f = f[1], f[2:]
		}
		if o := byName[name]; o != nil {
			a, _ := strconv.Atoi(col[0]) // "-" for binary files, which GitHub counts as 0
			d, _ := strconv.Atoi(col[1])
			o["additions"], o["deletions"], o["changes"] = a, d, a+d
		}
	}
	return list, nil
}

func listCommits(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	sha, err := c.resolveRef(r, c.query.Get("sha"))
	if err != nil {
		return reply{}, err
	}
	args := []string{"--max-count=10000"}
	for _, k := range []string{"since", "until"} {
		if v := c.query.Get(k); v != "" {
			args = append(args, "--"+k+"="+v)
		}
	}
	args = append(args, "--end-of-options", sha, "--")
	if p := c.query.Get("path"); p != "" {
		args = append(args, path.Clean(p))
	}
	list, err := r.dir.log(c.r.Context(), args...)
	if err != nil {
		return reply{}, err
	}
	c.mu.Lock()
	part, h := pageOf(c, list)
	c.mu.Unlock()
	out := []object{}
	for _, i := range part {
		out = append(out, c.commitJSON(r, i))
	}
	return reply{body: out, header: h}, nil
}

func getGitCommit(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	if !isSHA(c.params["sha"]) {
		return reply{}, notFound()
	}
	sha, err := r.dir.resolve(c.r.Context(), c.params["sha"], "commit")
	if err != nil {
		return reply{}, notFound()
	}
	i, err := r.dir.one(c.r.Context(), sha)
	if err != nil {
		return reply{}, err
	}
	full := c.commitJSON(r, i)
	o, _ := full["commit"].(object)
	return ok(object{"sha": sha, "node_id": full["node_id"], "url": o["url"], "html_url": full["html_url"], "author": o["author"],
		"committer": o["committer"], "tree": o["tree"], "message": o["message"], "parents": full["parents"], "verification": o["verification"]})
}

func getGitTag(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	sha := c.params["sha"]
	if !isSHA(sha) {
		return reply{}, notFound()
	}
	raw, err := r.dir.run(c.r.Context(), 1<<20, "cat-file", "tag", sha)
	if err != nil {
		return reply{}, notFound()
	}
	head, message, _ := strings.Cut(string(raw), "\n\n")
	field := map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		k, v, _ := strings.Cut(line, " ")
		field[k] = v
	}
	name, rest, _ := strings.Cut(field["tagger"], " <")
	mail, when, _ := strings.Cut(rest, "> ")
	return ok(object{"sha": sha, "node_id": "TAG_" + sha, "url": c.url("/repos/%s/git/tags/%s", r.fullName(), sha), "tag": field["tag"],
		"message": message, "tagger": object{"name": name, "email": mail, "date": gitDate(when)}, "verification": unsigned,
		"object": object{"sha": field["object"], "type": field["type"], "url": c.objectURL(r, field["type"], field["object"])}})
}

func (c *call) objectURL(r repo, kind, sha string) string {
	return c.url("/repos/%s/git/%ss/%s", r.fullName(), kind, url.PathEscape(sha))
}
