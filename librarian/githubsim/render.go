package githubsim

import (
	"fmt"
	"maps"
	"strings"
)

// The functions of this file draw the world as GitHub's JSON. They run with Server.mu held.

func (s *Server) api(format string, args ...any) string {
	return s.base + apiPrefix + fmt.Sprintf(format, args...)
}

// userJSON is the short form of an account, or null for a deleted one.
func (s *Server) userJSON(a *account) any {
	if a == nil || a.deleted {
		return nil
	}
	return s.userObject(a)
}

func (s *Server) userObject(a *account) object {
	u := s.api("/users/%s", a.Login)
	html := s.base + "/" + a.Login
	if a.app != nil {
		html = s.base + "/apps/" + a.app.Slug
	}
	return object{
		"login": a.Login, "id": a.ID, "node_id": nodeID("U", a.ID), "avatar_url": fmt.Sprintf("%s/avatars/u/%d?v=4", s.base, a.ID),
		"gravatar_id": "", "url": u, "html_url": html, "followers_url": u + "/followers", "following_url": u + "/following{/other_user}",
		"gists_url": u + "/gists{/gist_id}", "starred_url": u + "/starred{/owner}{/repo}", "subscriptions_url": u + "/subscriptions",
		"organizations_url": u + "/orgs", "repos_url": u + "/repos", "events_url": u + "/events{/privacy}",
		"received_events_url": u + "/received_events", "type": a.Type, "site_admin": false, "user_view_type": "public",
	}
}

// fullUser is the form of /users/{login}.
func (s *Server) fullUser(a *account) object {
	o := s.userObject(a)
	repos := 0
	for _, r := range s.world.repos {
		if r.owner == a && !r.private() {
			repos++
		}
	}
	maps.Copy(o, object{"name": a.Login, "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil,
		"twitter_username": nil, "public_repos": repos, "public_gists": 0, "followers": 0, "following": 0,
		"created_at": stamp(a.created), "updated_at": stamp(a.created)})
	return o
}

// repoLinks are the templates of a repository's URLs below its own.
var repoLinks = map[string]string{
	"archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}",
	"branches_url": "/branches{/branch}", "collaborators_url": "/collaborators{/collaborator}", "comments_url": "/comments{/number}",
	"commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}", "contents_url": "/contents/{+path}",
	"contributors_url": "/contributors", "deployments_url": "/deployments", "downloads_url": "/downloads", "events_url": "/events",
	"forks_url": "/forks", "git_commits_url": "/git/commits{/sha}", "git_refs_url": "/git/refs{/sha}", "git_tags_url": "/git/tags{/sha}",
	"hooks_url": "/hooks", "issue_comment_url": "/issues/comments{/number}", "issue_events_url": "/issues/events{/number}",
	"issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}", "labels_url": "/labels{/name}", "languages_url": "/languages",
	"merges_url": "/merges", "milestones_url": "/milestones{/number}", "notifications_url": "/notifications{?since,all,participating}",
	"pulls_url": "/pulls{/number}", "releases_url": "/releases{/id}", "stargazers_url": "/stargazers", "statuses_url": "/statuses/{sha}",
	"subscribers_url": "/subscribers", "subscription_url": "/subscription", "tags_url": "/tags", "teams_url": "/teams",
	"trees_url": "/git/trees{/sha}",
}

// repoJSON is a repository; permissions are those of the caller, left out for a nil one.
func (s *Server) repoJSON(r *repo, c *caller) object {
	html := s.base + "/" + r.fullName()
	u := s.api("/repos/%s", r.fullName())
	open := 0
	for _, i := range r.issues {
		if i.open {
			open++
		}
	}
	o := object{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(), "private": r.private(), "owner": s.userObject(r.owner),
		"html_url": html, "description": orNil(r.description), "fork": r.fork, "url": u, "created_at": stamp(r.created), "updated_at": stamp(r.updated),
		"pushed_at": stamp(r.updated), "git_url": strings.Replace(html, "http", "git", 1) + ".git", "ssh_url": "git@" + s.hostName() + ":" + r.fullName() + ".git",
		"clone_url": html + ".git", "svn_url": html, "homepage": nil, "size": 1, "stargazers_count": r.stars, "watchers_count": r.stars,
		"language": orNil(r.language), "has_issues": true, "has_projects": false, "has_downloads": false, "has_wiki": false, "has_pages": false,
		"has_discussions": true, "forks_count": 0, "mirror_url": nil, "archived": r.archived, "disabled": false, "open_issues_count": open,
		"license": nil, "allow_forking": true, "is_template": false, "web_commit_signoff_required": false, "topics": append([]string{}, r.topics...),
		"visibility": r.visibility, "forks": 0, "open_issues": open, "watchers": r.stars, "default_branch": r.defaultBranch,
	}
	for k, v := range repoLinks {
		o[k] = u + v
	}
	if c != nil && c.kind != Anonymous {
		o["permissions"] = s.rightsOf(*c, r)
	}
	return o
}

// fullRepo is the form of /repos/{owner}/{repo}.
func (s *Server) fullRepo(r *repo, c *caller) object {
	o := s.repoJSON(r, c)
	o["network_count"], o["subscribers_count"] = 0, 0
	if r.owner.Type == "Organization" {
		o["organization"] = s.userObject(r.owner)
	}
	return o
}

// rightsOf is what the caller may do, as a repository shows it.
func (s *Server) rightsOf(c caller, r *repo) object {
	if c.kind == InstallationToken {
		can := tokenCovers(c.token, r)
		return object{"admin": false, "maintain": false, "push": can && level(c.token.permissions["contents"]) > 1, "triage": false,
			"pull": s.sees(c, r)}
	}
	return rights(s.permission(r, c.user).permission)
}

func rights(permission string) object {
	n := roleRank(permission)
	return object{"admin": n >= 5, "maintain": n >= 4, "push": n >= 3, "triage": n >= 2, "pull": n >= 1}
}

func (s *Server) hostName() string {
	_, host, _ := strings.Cut(s.base, "://")
	host, _, _ = strings.Cut(host, ":")
	return host
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// appJSON is an App as everybody sees it.
func (s *Server) appJSON(a *app) object {
	return object{"id": a.ID, "client_id": a.ClientID, "slug": a.Slug, "node_id": nodeID("A", a.ID), "owner": s.userObject(a.owner), "name": a.Slug,
		"description": "", "external_url": s.base + "/apps/" + a.Slug, "html_url": s.base + "/apps/" + a.Slug, "created_at": stamp(a.created),
		"updated_at": stamp(a.created), "permissions": maps.Clone(a.permissions), "events": append([]string{}, a.events...)}
}

func (s *Server) installationJSON(in *installation) object {
	selection := "all"
	if in.selected != nil {
		selection = "selected"
	}
	o := object{"id": in.id, "account": s.userObject(in.account), "repository_selection": selection,
		"access_tokens_url": s.api("/app/installations/%d/access_tokens", in.id), "repositories_url": s.api("/installation/repositories"),
		"html_url": fmt.Sprintf("%s/organizations/%s/settings/installations/%d", s.base, in.account.Login, in.id), "app_id": in.app.ID,
		"app_slug": in.app.Slug, "client_id": in.app.ClientID, "target_id": in.account.ID, "target_type": in.account.Type,
		"permissions": maps.Clone(in.permissions), "events": append([]string{}, in.events...), "created_at": stamp(in.created),
		"updated_at": stamp(in.updated), "single_file_name": nil, "has_multiple_single_files": false, "single_file_paths": []string{},
		"suspended_at": stampOrNil(in.suspended), "suspended_by": nil}
	if !in.suspended.IsZero() {
		o["suspended_by"] = s.userJSON(in.account)
	}
	return o
}

// association is how GitHub names an author's relation to a repository.
func (s *Server) association(r *repo, a *account) string {
	switch {
	case a == nil || a.deleted:
		return "NONE"
	case r.owner == a:
		return "OWNER"
	}
	if _, member := r.owner.members[strings.ToLower(a.Login)]; member {
		return "MEMBER"
	}
	if _, granted := r.grants[a.ID]; granted {
		return "COLLABORATOR"
	}
	return "NONE"
}
