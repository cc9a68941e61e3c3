package githubsim

import "slices"

import "maps"

// The functions of this file draw events and hand them to the delivery queue. They run with Server.mu held.

// emit sends a repository's event to every App that is installed on it and subscribed to it.
func (s *Server) emit(r *repo, by actor, event, action string, payload object) {
	payload["action"] = action
	payload["repository"] = s.repoJSON(r, nil)
	payload["sender"] = s.sender(by)
	if r.owner.Type == "Organization" {
		payload["organization"] = s.orgJSON(r.owner)
	}
	for _, in := range s.world.installs {
		if !in.covers(r) || !in.suspended.IsZero() || !subscribed(in, event) {
			continue
		}
		one := maps.Clone(payload)
		one["installation"] = object{"id": in.id, "node_id": nodeID("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", in.id)}
		s.send(in.app, in, r, event, one)
	}
}

// eventNeeds are the permissions of which an installation needs one to be told of an event, whatever its App subscribed to.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
var eventNeeds = map[string][]string{
	"issues": {"issues"}, "issue_comment": {"issues", "pull_requests"}, "pull_request": {"pull_requests"},
	"pull_request_review": {"pull_requests"}, "pull_request_review_comment": {"pull_requests"}, "discussion": {"discussions"},
	"discussion_comment": {"discussions"}, "repository_dispatch": {"contents"},
}

func subscribed(in *installation, event string) bool {
	needs, any := eventNeeds[event]
	return slices.Contains(in.events, event) &&
		(!any || slices.ContainsFunc(needs, func(p string) bool { return level(in.permissions[p]) > 0 }))
}

// sender is never null: GitHub shows its ghost account for one that is gone.
func (s *Server) sender(by actor) object {
	if by.user == nil || by.user.deleted {
		return s.userObject(&account{Account: Account{ID: 10137, Login: "ghost", Type: "User"}})
	}
	return s.userObject(by.user)
}

func (s *Server) orgJSON(a *account) object {
	u := s.api("/orgs/%s", a.Login)
	return object{"login": a.Login, "id": a.ID, "node_id": nodeID("O", a.ID), "url": u, "repos_url": u + "/repos", "events_url": u + "/events",
		"hooks_url": u + "/hooks", "issues_url": u + "/issues", "members_url": u + "/members{/member}",
		"public_members_url": u + "/public_members{/member}", "avatar_url": s.base + "/avatars/o", "description": nil}
}

// emitIssue sends what happened to an issue, or to a pull request as its own event.
func (s *Server) emitIssue(i *issue, by actor, action string, more object) {
	payload := object{}
	maps.Copy(payload, more)
	if i.pull != nil {
		payload["number"], payload["pull_request"] = i.number, s.pullJSON(i)
		s.emit(i.repo, by, "pull_request", action, payload)
		return
	}
	payload["issue"] = s.issueJSON(i)
	s.emit(i.repo, by, "issues", action, payload)
}

func (s *Server) emitComment(c *comment, by actor, action string, more object) {
	payload := object{"issue": s.issueJSON(c.issue), "comment": s.commentJSON(c)}
	maps.Copy(payload, more)
	s.emit(c.issue.repo, by, "issue_comment", action, payload)
}

func (s *Server) emitRepo(r *repo, by actor, action string, changes object) {
	payload := object{}
	if changes != nil {
		payload["changes"] = changes
	}
	s.emit(r, by, "repository", action, payload)
}

// emitInstallation sends what happened to an installation; every App gets these, subscribed or not.
func (s *Server) emitInstallation(in *installation, action string) {
	s.send(in.app, in, nil, "installation", object{"action": action, "installation": s.installationJSON(in),
		"repositories": s.briefRepos(s.installed(in)), "requester": nil, "sender": s.userObject(in.account)})
}

func (s *Server) emitInstallationRepos(in *installation, added, removed []*repo) {
	action := "added"
	if removed != nil {
		action = "removed"
	}
	s.send(in.app, in, nil, "installation_repositories", object{"action": action, "installation": s.installationJSON(in),
		"repository_selection": "selected", "repositories_added": s.briefRepos(added), "repositories_removed": s.briefRepos(removed),
		"requester": nil, "sender": s.userObject(in.account)})
}

func (s *Server) briefRepos(list []*repo) []object {
	out := []object{}
	for _, r := range list {
		out = append(out, object{"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(), "private": r.private()})
	}
	return out
}
