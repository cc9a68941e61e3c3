package githubsim

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ref is a ref of a repository.
type ref struct{ name, kind, sha, peeled string }

// refs lists the refs below a prefix such as refs/heads/, by name.
func (c *call) refs(r repo, prefix string) ([]ref, error) {
	out, err := r.dir.run(c.r.Context(), 32<<20, "for-each-ref", "--format=%(refname)%00%(objecttype)%00%(objectname)%00%(*objectname)")
	if err != nil {
		return nil, err
	}
	var list []ref
	for line := range strings.SplitSeq(string(out), "\n") {
		f := strings.Split(line, "\x00")
		if len(f) != 4 || !strings.HasPrefix(f[0], prefix) {
			continue
		}
		if f[3] == "" {
			f[3] = f[2]
		}
		list = append(list, ref{f[0], f[1], f[2], f[3]})
	}
	return list, nil
}

// refsPage is the page asked for of a repository's refs below a prefix.
func (c *call) refsPage(prefix string) (repo, []ref, http.Header, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return repo{}, nil, nil, err
	}
	all, err := c.refs(r, prefix)
	if err != nil {
		return repo{}, nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	part, h := pageOf(c, all)
	return r, part, h, nil
}

// gitDate turns git's "seconds zone" into GitHub's form.
func gitDate(text string) string {
	seconds, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return ""
	}
	return stamp(time.Unix(n, 0))
}

func listBranches(c *call) (reply, error) {
	r, part, h, err := c.refsPage("refs/heads/")
	if err != nil {
		return reply{}, err
	}
	out := []object{}
	for _, b := range part {
		out = append(out, object{"name": strings.TrimPrefix(b.name, "refs/heads/"), "protected": false,
			"commit": object{"sha": b.sha, "url": c.url("/repos/%s/commits/%s", r.fullName(), b.sha)}})
	}
	return reply{body: out, header: h}, nil
}

func getBranch(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	name := c.params["branch"]
	missing := &apiError{status: http.StatusNotFound, message: "Branch not found"}
	if !cleanRef(name) {
		return reply{}, missing
	}
	sha, err := r.dir.resolve(c.r.Context(), "refs/heads/"+name, "commit")
	if err != nil {
		return reply{}, missing
	}
	info, err := r.dir.one(c.r.Context(), sha)
	if err != nil {
		return reply{}, err
	}
	self := c.url("/repos/%s/branches/%s", r.fullName(), escapePath(name))
	return ok(object{"name": name, "commit": c.commitJSON(r, info), "protected": false, "protection_url": self + "/protection",
		"_links":     object{"self": self, "html": c.URL() + "/" + r.fullName() + "/tree/" + escapePath(name)},
		"protection": object{"enabled": false, "required_status_checks": object{"enforcement_level": "off", "contexts": []string{}, "checks": []object{}}}})
}

func listTags(c *call) (reply, error) {
	r, part, h, err := c.refsPage("refs/tags/")
	if err != nil {
		return reply{}, err
	}
	out := []object{}
	for _, t := range part {
		name := strings.TrimPrefix(t.name, "refs/tags/")
		u := c.url("/repos/%s", r.fullName())
		out = append(out, object{"name": name, "node_id": "REF_" + name, "zipball_url": u + "/zipball/" + t.name, "tarball_url": u + "/tarball/" + t.name,
			"commit": object{"sha": t.peeled, "url": u + "/commits/" + t.peeled}})
	}
	return reply{body: out, header: h}, nil
}

func (c *call) refJSON(r repo, x ref) object {
	return object{"ref": x.name, "node_id": "REF_" + x.name, "url": c.url("/repos/%s/git/%s", r.fullName(), escapePath(x.name)),
		"object": object{"sha": x.sha, "type": x.kind, "url": c.objectURL(r, x.kind, x.sha)}}
}

func getRef(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	want := "refs/" + strings.TrimPrefix(c.params["ref"], "refs/")
	all, err := c.refs(r, want)
	if err != nil {
		return reply{}, err
	}
	for _, x := range all {
		if x.name == want {
			return ok(c.refJSON(r, x))
		}
	}
	return reply{}, notFound()
}

func matchingRefs(c *call) (reply, error) {
	r, err := c.openRepo(reads("contents"))
	if err != nil {
		return reply{}, err
	}
	all, err := c.refs(r, "refs/"+strings.TrimPrefix(c.params["ref"], "refs/"))
	if err != nil {
		return reply{}, err
	}
	out := []object{}
	for _, x := range all {
		out = append(out, c.refJSON(r, x))
	}
	return ok(out)
}
