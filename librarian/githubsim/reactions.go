package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Reaction is a reaction as it was when it was read.
type Reaction struct {
	ID      int64
	User    string // login; "" when the account was deleted
	Content string // "eyes", "rocket", "confused", "+1", …
}

type reaction struct {
	id      int64
	user    *account
	content string
	created time.Time
}

var reactionContents = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// reactionSummary is the count of each kind, as issues and comments carry it.
func reactionSummary(u string, all []*reaction) object {
	o := object{"url": u, "total_count": len(all)}
	for _, k := range reactionContents {
		o[k] = 0
	}
	for _, r := range all {
		n, _ := o[r.content].(int)
		o[r.content] = n + 1
	}
	return o
}

func (s *Server) reactionJSON(r *reaction) object {
	return object{"id": r.id, "node_id": nodeID("REA", r.id), "user": s.userJSON(r.user), "content": r.content, "created_at": stamp(r.created)}
}

func reactionSnapshots(all []*reaction) []Reaction {
	var list []Reaction
	for _, r := range all {
		list = append(list, Reaction{ID: r.id, User: actor{user: r.user}.login(), Content: r.content})
	}
	return list
}

// Reactions lists the reactions on a comment of any kind, a review or a discussion, oldest first; nil when there is no such object.
func (s *Server) Reactions(commentID int64) []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.reactionsOn(commentID); list != nil {
		return reactionSnapshots(*list)
	}
	return nil
}

// reactionsOn finds the reactions on a comment of any kind, a review or a discussion, by its id.
func (s *Server) reactionsOn(id int64) *[]*reaction {
	if c := s.world.comments[id]; c != nil {
		return &c.reactions
	}
	if c := s.world.reviewComments[id]; c != nil {
		return &c.reactions
	}
	if r := s.world.reviews[id]; r != nil {
		return &r.reactions
	}
	if d := s.world.discussions[id]; d != nil {
		return &d.reactions
	}
	if c := s.world.discussionComments[id]; c != nil {
		return &c.reactions
	}
	return nil
}

// IssueReactions lists the reactions on an issue's or pull request's own text.
func (s *Server) IssueReactions(fullName string, number int) []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, err := s.issue(fullName, number); err == nil {
		return reactionSnapshots(i.reactions)
	}
	return nil
}

// React adds a reaction to a comment of any kind, a review or a discussion as somebody. GitHub sends no webhook for it.
func (s *Server) React(commentID int64, login, content string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.reactionsOn(commentID)
	if list == nil {
		return fmt.Errorf("githubsim: react to %d: %w", commentID, ErrUnknown)
	}
	by, err := s.person(login)
	if err != nil {
		return fmt.Errorf("githubsim: react to %d: %w", commentID, err)
	}
	s.addReaction(list, by.user, content)
	return nil
}

// addReaction is idempotent for each user and content; made is false when it was there.
func (s *Server) addReaction(to *[]*reaction, user *account, content string) (r *reaction, made bool) {
	for _, r := range *to {
		if r.user == user && r.content == content {
			return r, false
		}
	}
	r = &reaction{id: s.world.id(), user: user, content: content, created: s.now()}
	*to = append(*to, r)
	return r, true
}

func (c *call) react(i *issue, to *[]*reaction) (reply, error) {
	if err := c.unlocked(i, "reaction"); err != nil {
		return reply{}, err
	}
	var in struct {
		Content string `json:"content"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	if !slices.Contains(reactionContents, in.Content) {
		return reply{}, unprocessable("Reaction", "content", "invalid", "content is not a known reaction")
	}
	r, made := c.addReaction(to, c.caller.actor().user, in.Content)
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	return reply{status: status, body: c.reactionJSON(r)}, nil
}

func (c *call) unreact(from *[]*reaction) (reply, error) {
	id, err := c.id("reaction")
	if err != nil {
		return reply{}, err
	}
	n := slices.IndexFunc(*from, func(r *reaction) bool { return r.id == id })
	if n < 0 {
		return reply{}, notFound()
	}
	if (*from)[n].user != c.caller.actor().user {
		return reply{}, &apiError{status: http.StatusForbidden, message: "You do not have permission to delete this reaction."}
	}
	*from = slices.Delete(slices.Clone(*from), n, n+1)
	return reply{status: http.StatusNoContent}, nil
}

func (c *call) reactionsReply(all []*reaction) (reply, error) {
	want := c.query.Get("content")
	all = slices.DeleteFunc(slices.Clone(all), func(r *reaction) bool { return want != "" && r.content != want })
	part, h := pageOf(c, all)
	out := []object{}
	for _, r := range part {
		out = append(out, c.reactionJSON(r))
	}
	return reply{body: out, header: h}, nil
}

func commentReactions(c *call) (reply, error) {
	x, err := c.targetComment(false)
	if err != nil {
		return reply{}, err
	}
	return c.reactionsReply(x.reactions)
}

func reactToComment(c *call) (reply, error) {
	x, err := c.targetComment(true)
	if err != nil {
		return reply{}, err
	}
	return c.react(x.issue, &x.reactions)
}

func unreactComment(c *call) (reply, error) {
	x, err := c.targetComment(true)
	if err != nil {
		return reply{}, err
	}
	return c.unreact(&x.reactions)
}

func issueReactions(c *call) (reply, error) {
	i, err := c.targetIssue(false, "")
	if err != nil {
		return reply{}, err
	}
	return c.reactionsReply(i.reactions)
}

func reactToIssue(c *call) (reply, error) {
	i, err := c.targetIssue(true, "")
	if err != nil {
		return reply{}, err
	}
	return c.react(i, &i.reactions)
}

func unreactIssue(c *call) (reply, error) {
	i, err := c.targetIssue(true, "")
	if err != nil {
		return reply{}, err
	}
	return c.unreact(&i.reactions)
}
