package githubsim

import "maps"

import "fmt"

// The functions of this file draw discussions as webhooks show them; the API has them in GraphQL alone.

func (s *Server) discussionURL(d *discussion) string {
	return fmt.Sprintf("%s/%s/discussions/%d", s.base, d.repo.fullName(), d.number)
}

func (s *Server) discussionCommentURL(c *discussionComment) string {
	return fmt.Sprintf("%s#discussioncomment-%d", s.discussionURL(c.discussion), c.id)
}

func (s *Server) discussionJSON(d *discussion) object {
	u := s.api("/repos/%s/discussions/%d", d.repo.fullName(), d.number)
	labels := []object{}
	for _, l := range d.labels {
		labels = append(labels, s.labelJSON(d.repo, l))
	}
	return object{
		"repository_url": s.api("/repos/%s", d.repo.fullName()), "category": object{"id": d.repo.id, "node_id": nodeID("DIC", d.repo.id),
			"repository_id": d.repo.id, "emoji": ":speech_balloon:", "name": "General", "description": "Anything", "created_at": stamp(d.repo.created),
			"updated_at": stamp(d.repo.created), "slug": "general", "is_answerable": false},
		"answer_html_url": nil, "answer_chosen_at": nil, "answer_chosen_by": nil, "html_url": s.discussionURL(d), "id": d.id,
		"node_id": nodeID("D", d.id), "number": d.number, "title": d.title, "user": s.userJSON(d.by.user), "state": "open", "state_reason": nil,
		"locked": d.locked, "comments": len(d.comments), "created_at": stamp(d.created), "updated_at": stamp(d.updated),
		"author_association": s.association(d.repo, d.by.user), "active_lock_reason": nil, "body": d.body,
		"reactions": reactionSummary(u+"/reactions", d.reactions), "timeline_url": u + "/timeline", "labels": labels,
	}
}

func (s *Server) discussionCommentJSON(c *discussionComment) object {
	d := c.discussion
	o := object{"id": c.id, "node_id": nodeID("DC", c.id), "html_url": s.discussionCommentURL(c), "parent_id": nil,
		"child_comment_count": len(d.replies(c)), "repository_url": d.repo.fullName(), "discussion_id": d.id,
		"author_association": s.association(d.repo, c.by.user), "user": s.userJSON(c.by.user), "created_at": stamp(c.created),
		"updated_at": stamp(c.updated), "body": c.body,
		"reactions": reactionSummary(s.api("/repos/%s/discussions/comments/%d/reactions", d.repo.fullName(), c.id), c.reactions)}
	if c.root != nil {
		o["parent_id"] = c.root.id
	}
	return o
}

func (s *Server) emitDiscussion(d *discussion, by actor, action string, more object) {
	payload := object{"discussion": s.discussionJSON(d)}
	maps.Copy(payload, more)
	s.emit(d.repo, by, "discussion", action, payload)
}

func (s *Server) emitDiscussionComment(c *discussionComment, by actor, action string, more object) {
	payload := object{"discussion": s.discussionJSON(c.discussion), "comment": s.discussionCommentJSON(c)}
	maps.Copy(payload, more)
	s.emit(c.discussion.repo, by, "discussion_comment", action, payload)
}
