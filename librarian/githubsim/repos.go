package githubsim

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// findRepo finds the repository of the path by name, present or past, or by id, whether or not the caller may see it.
func (c *call) findRepo() (*repo, error) {
	if _, byID := c.params["repo_id"]; byID {
		id, err := c.id("repo_id")
		if err != nil {
			return nil, err
		}
		if r := c.world.repos[id]; r != nil {
			return r, nil
		}
		return nil, notFound()
	}
	r, err := c.repo(c.params["owner"] + "/" + c.params["repo"])
	if err != nil {
		return nil, notFound()
	}
	return r, nil
}

// redirect is the answer to a request for a repository by an old name: 301 for reads, 307 for writes, to its id.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (c *call) redirect(r *repo) error {
	if _, byID := c.params["repo_id"]; byID || strings.EqualFold(c.params["owner"]+"/"+c.params["repo"], r.fullName()) {
		return nil
	}
	path := strings.TrimPrefix(c.r.URL.EscapedPath(), apiPrefix+"/repos/")
	rest := strings.SplitN(path, "/", 3)
	to := c.api("/repositories/%d", r.id)
	if len(rest) == 3 {
		to += "/" + rest[2]
	}
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	e := &apiError{status: http.StatusMovedPermanently, message: "Moved Permanently", header: http.Header{"Location": {to}}, extra: object{"url": to}}
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		e.status, e.message = http.StatusTemporaryRedirect, "Temporary Redirect"
	}
	return e
}

// seen finds the repository of the path for a caller who may know of it; otherwise it is not found.
func (c *call) seen() (*repo, error) {
	r, err := c.findRepo()
	if err != nil {
		return nil, err
	}
	if !c.sees(c.caller, r) {
		return nil, notFound()
	}
	return r, c.redirect(r)
}

// permit says how the caller would be refused what it needs of a repository that it sees, or nil.
func (c *call) permit(r *repo, n need) error {
	if err := c.allow(c.caller, r, n); err != nil {
		return err
	}
	if n.write && r.archived {
		return &apiError{status: http.StatusForbidden, message: "Repository was archived so is read-only."}
	}
	return nil
}

// target finds the repository of the path for a caller who needs something of it.
func (c *call) target(n need) (*repo, error) {
	r, err := c.seen()
	if err != nil {
		return nil, err
	}
	return r, c.permit(r, n)
}

// openRepo is target for handlers that run without the lock: it gives a copy, and fails with 409 where there is no code.
func (c *call) openRepo(n need) (repo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.target(n)
	if err != nil {
		return repo{}, err
	}
	if r.dir == nil {
		return repo{}, &apiError{status: http.StatusConflict, message: "Git Repository is empty."}
	}
	return *r, nil
}

func getRepo(c *call) (reply, error) {
	r, err := c.target(reads("metadata"))
	if err != nil {
		return reply{}, err
	}
	return ok(c.fullRepo(r, &c.caller))
}

// collaboratorPermission answers with the legacy permission (maintain shows as write, triage as read) beside the role's name
// and the user's exact rights.
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func collaboratorPermission(c *call) (reply, error) {
	r, err := c.target(reads("metadata"))
	if err != nil {
		return reply{}, err
	}
	if err := c.mayAskRights(r); err != nil {
		return reply{}, err
	}
	u, err := c.account(c.params["user"])
	if err != nil || u.Type == "Organization" {
		return reply{}, notFound()
	}
	g := c.permission(r, u)
	legacy := map[string]string{"maintain": "write", "triage": "read"}[g.permission]
	if legacy == "" {
		legacy = g.permission
	}
	user := c.userObject(u)
	user["permissions"], user["role_name"] = rights(g.permission), g.role
	return ok(object{"permission": legacy, "role_name": g.role, "user": user})
}

// mayAskRights: an installation must have the repository, a person push access to it, to ask what others may do there.
func (c *call) mayAskRights(r *repo) error {
	switch {
	case c.caller.kind == InstallationToken && tokenCovers(c.caller.token, r):
		return nil
	case c.caller.kind == InstallationToken:
		return &apiError{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	case c.caller.kind == UserToken && roleRank(c.permission(r, c.caller.user).permission) >= roleRank("write"):
		return nil
	case c.caller.kind == UserToken:
		return &apiError{status: http.StatusForbidden, message: "Must have push access to view collaborator permission."}
	}
	return &apiError{status: http.StatusUnauthorized, message: "Requires authentication"}
}

func isCollaborator(c *call) (reply, error) {
	r, err := c.target(reads("metadata"))
	if err != nil {
		return reply{}, err
	}
	if err := c.mayAskRights(r); err != nil {
		return reply{}, err
	}
	u, err := c.account(c.params["user"])
	if err != nil {
		return reply{}, notFound()
	}
	if _, granted := r.grants[u.ID]; !granted && r.owner != u && c.association(r, u) != "MEMBER" {
		return reply{}, notFound()
	}
	return reply{status: http.StatusNoContent}, nil
}

func currentUser(c *call) (reply, error) {
	switch c.caller.kind {
	case UserToken:
		o := c.fullUser(c.caller.user)
		maps.Copy(o, object{"private_gists": 0, "total_private_repos": 0, "owned_private_repos": 0, "disk_usage": 0, "collaborators": 0,
			"two_factor_authentication": true, "user_view_type": "private"})
		return ok(o)
	case InstallationToken, AppToken:
		return reply{}, &apiError{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	return reply{}, &apiError{status: http.StatusUnauthorized, message: "Requires authentication"}
}

func userByLogin(c *call) (reply, error) {
	a, err := c.account(c.params["login"])
	if err != nil {
		return reply{}, notFound()
	}
	return ok(c.fullUser(a))
}

func userByID(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return reply{}, err
	}
	if a := c.accountByID(id); a != nil {
		return ok(c.fullUser(a))
	}
	return reply{}, notFound()
}

func orgByLogin(c *call) (reply, error) {
	a, err := c.account(c.params["login"])
	if err != nil || a.Type != "Organization" {
		return reply{}, notFound()
	}
	o := c.fullUser(a)
	for _, k := range []string{"company", "location", "email"} {
		delete(o, k) // of an organisation they are text or nothing
	}
	u := c.api("/orgs/%s", url.PathEscape(a.Login))
	maps.Copy(o, object{"url": u, "hooks_url": u + "/hooks", "issues_url": u + "/issues", "members_url": u + "/members{/member}",
		"public_members_url": u + "/public_members{/member}", "repos_url": u + "/repos", "events_url": u + "/events", "description": nil,
		"has_organization_projects": true, "has_repository_projects": true, "archived_at": nil, "default_repository_permission": "read"})
	return ok(o)
}

func orgMember(c *call) (reply, error) {
	a, err := c.account(c.params["login"])
	if err != nil || a.Type != "Organization" {
		return reply{}, notFound()
	}
	if _, member := a.members[strings.ToLower(c.params["user"])]; !member {
		return reply{}, notFound()
	}
	return reply{status: http.StatusNoContent}, nil
}

func meta(c *call) (reply, error) {
	return ok(object{"verifiable_password_authentication": false, "installed_version": "3.19.0"})
}
