package githubsim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// graphql sends a query and gives its data and the types of its errors.
func (s *sim) graphql(token, query string, variables map[string]any) (data map[string]any, kinds []string) {
	s.t.Helper()
	raw, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	require.NoError(s.t, err)
	got := s.call("POST", s.GraphQLURL(), token, string(raw))
	require.Equal(s.t, http.StatusOK, got.status, got.body)
	var out struct {
		Data   map[string]any
		Errors []struct{ Type, Message string }
	}
	require.NoError(s.t, json.Unmarshal([]byte(got.body), &out), got.body)
	for _, e := range out.Errors {
		if e.Type == "" {
			e.Type = e.Message
		}
		kinds = append(kinds, e.Type)
	}
	return out.Data, kinds
}

// dig follows names and indexes into decoded JSON.
func dig(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, isMap := v.(map[string]any)
			require.True(t, isMap, "%v in %v", p, v)
			v = m[p]
		case int:
			l, isList := v.([]any)
			require.True(t, isList && p < len(l), "%v in %v", p, v)
			v = l[p]
		}
	}
	return v
}

const (
	addComment = `mutation($in: AddDiscussionCommentInput!) { addDiscussionComment(input: $in) { comment { id databaseId body url
		author { __typename login ... on Bot { databaseId } } replyTo { id } } } }`
	addReaction = `mutation($id: ID!, $content: ReactionContent!) { addReaction(input: {subjectId: $id, content: $content}) {
		reaction { databaseId content user { login } } reactionGroups { content viewerHasReacted reactors { totalCount } } } }`
	readDiscussion = `query($id: ID!, $last: Int = 50) { node(id: $id) { __typename ... on Discussion { number title body locked author { login }
		repository { databaseId nameWithOwner isPrivate } comments(last: $last) { totalCount pageInfo { hasPreviousPage startCursor }
		nodes { ...c replies(last: 20) { totalCount nodes { ...c } } } } } } }
		fragment c on DiscussionComment { id databaseId body deletedAt author { login } authorAssociation createdAt replyTo { databaseId } }`
)

func TestDiscussionsAreReadAndWrittenByGraphQL(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	got := s.listen(accepted)
	_, err := s.OpenIssue("acme/vault", "ann", "One", "")
	require.NoError(t, err)
	d, err := s.OpenDiscussion("acme/vault", "bob", "How?", "@librarian how?")
	require.NoError(t, err)
	require.Equal(t, 2, d.Number, "discussions share their numbers with issues")
	first, err := s.CommentDiscussion("acme/vault", 2, "ann", "like so")
	require.NoError(t, err)
	reply, err := s.ReplyDiscussion(first.ID, "bob", "really?")
	require.NoError(t, err)
	token := s.token(nil)

	data, kinds := s.graphql(token, readDiscussion, map[string]any{"id": d.NodeID})
	require.Empty(t, kinds)
	n := dig(t, data, "node")
	require.Equal(t, "Discussion", dig(t, n, "__typename"))
	require.Equal(t, "bob", dig(t, n, "author", "login"))
	require.Equal(t, "acme/vault", dig(t, n, "repository", "nameWithOwner"))
	require.EqualValues(t, 1, dig(t, n, "comments", "totalCount"), "replies are not among them")
	require.Equal(t, "really?", dig(t, n, "comments", "nodes", 0, "replies", "nodes", 0, "body"))
	require.EqualValues(t, first.ID, dig(t, n, "comments", "nodes", 0, "replies", "nodes", 0, "replyTo", "databaseId"))

	data, kinds = s.graphql(token, addComment, map[string]any{"in": map[string]any{"discussionId": d.NodeID, "body": "answer", "replyToId": first.NodeID}})
	require.Empty(t, kinds)
	made := dig(t, data, "addDiscussionComment", "comment")
	require.Equal(t, "Bot", dig(t, made, "author", "__typename"))
	require.Equal(t, "librarian", dig(t, made, "author", "login"), "GraphQL's bots have no suffix")
	require.EqualValues(t, s.app.BotUserID, dig(t, made, "author", "databaseId"))
	require.Equal(t, first.NodeID, dig(t, made, "replyTo", "id"))
	id, _ := dig(t, made, "id").(string)
	_, kinds = s.graphql(token, addComment, map[string]any{"in": map[string]any{"discussionId": d.NodeID, "body": "x", "replyToId": reply.NodeID}})
	require.Equal(t, []string{"UNPROCESSABLE"}, kinds, "there are no replies to replies")
	_, kinds = s.graphql(token, addComment, map[string]any{"in": map[string]any{"discussionId": d.NodeID, "body": strings.Repeat("x", githubsim.MaxBody+1)}})
	require.Equal(t, []string{"UNPROCESSABLE"}, kinds)

	_, kinds = s.graphql(token, `mutation($id: ID!) { updateDiscussionComment(input: {commentId: $id, body: "better"}) { comment { body } } }`,
		map[string]any{"id": id})
	require.Empty(t, kinds)
	list := s.DiscussionComments("acme/vault", 2)
	require.Equal(t, "better", list[2].Body)
	require.Equal(t, "librarian", list[2].App)
	require.Equal(t, first.ID, list[2].ReplyTo)

	// Reactions.
	data, kinds = s.graphql(token, addReaction, map[string]any{"id": reply.NodeID, "content": "EYES"})
	require.Empty(t, kinds)
	require.Equal(t, "EYES", dig(t, data, "addReaction", "reaction", "content"))
	require.Equal(t, true, dig(t, data, "addReaction", "reactionGroups", 7, "viewerHasReacted"))
	require.NoError(t, s.React(reply.ID, "ann", "+1"))
	data, _ = s.graphql(token, `query($id: ID!) { node(id: $id) { ... on Reactable { reactions(first: 10) { viewerHasReacted nodes { content user { login } } } } } }`,
		map[string]any{"id": reply.NodeID})
	require.Nil(t, dig(t, data, "node", "reactions", "nodes", 0, "user"), "a bot is no User")
	require.Equal(t, "THUMBS_UP", dig(t, data, "node", "reactions", "nodes", 1, "content"))
	remove := strings.ReplaceAll(addReaction, "addReaction", "removeReaction")
	_, kinds = s.graphql(token, remove, map[string]any{"id": reply.NodeID, "content": "EYES"})
	require.Empty(t, kinds)
	require.Len(t, s.Reactions(reply.ID), 1)

	_, kinds = s.graphql(token, `mutation($id: ID!) { deleteDiscussionComment(input: {id: $id}) { comment { id } } }`, map[string]any{"id": id})
	require.Empty(t, kinds)
	require.NoError(t, s.DeleteDiscussionComment(first.ID, "ann"))
	list = s.DiscussionComments("acme/vault", 2)
	require.Len(t, list, 2, "what has replies stays")
	require.True(t, list[0].Deleted)

	counts := map[string]int{}
	for _, h := range got()[1:] {
		action, _ := h.payload["action"].(string)
		counts[h.event+" "+action]++
		raw, err := json.Marshal(h.payload)
		require.NoError(t, err)
		_, err = github.ParseWebHook(h.event, raw)
		require.NoError(t, err)
	}
	require.Equal(t, map[string]int{"issues opened": 1, "discussion created": 1, "discussion_comment created": 3, "discussion_comment edited": 1,
		"discussion_comment deleted": 2}, counts)
}

func TestGraphQLRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	open, err := s.OpenDiscussion("acme/widget", "eve", "T", "B")
	require.NoError(t, err)
	shut, err := s.OpenDiscussion("acme/vault", "ann", "T", "B")
	require.NoError(t, err)
	theirs, err := s.CommentDiscussion("acme/widget", open.Number, "ann", "hers")
	require.NoError(t, err)
	s.openPull("acme/widget")
	review, err := s.Review("acme/widget", 2, "bob", githubsim.ReviewOptions{Body: "@librarian?"})
	require.NoError(t, err)
	all := s.token(nil)
	reading := s.tokenOf(map[string]string{"discussions": "read", "pull_requests": "read"})
	other := s.tokenOf(map[string]string{"issues": "write"})
	eve, err := s.CreateUserToken("eve")
	require.NoError(t, err)
	read := `query($id: ID!) { node(id: $id) { id } }`
	comment := `mutation($id: ID!) { addDiscussionComment(input: {discussionId: $id, body: "x"}) { comment { id } } }`
	update := `mutation($id: ID!) { updateDiscussionComment(input: {commentId: $id, body: "x"}) { comment { id } } }`
	react := `mutation($id: ID!) { addReaction(input: {subjectId: $id, content: EYES}) { reaction { content } } }`
	for name, tc := range map[string]struct {
		token, query, id string
		want             string // "" for none
	}{
		"a stranger reads what is private":        {eve, read, shut.NodeID, "NOT_FOUND"},
		"a stranger reads what is public":         {eve, read, open.NodeID, ""},
		"without the permission to read":          {other, read, shut.NodeID, "FORBIDDEN"},
		"with it":                                 {reading, read, shut.NodeID, ""},
		"without the permission to write":         {reading, comment, shut.NodeID, "FORBIDDEN"},
		"public, but not to write":                {other, comment, open.NodeID, "FORBIDDEN"},
		"no such node":                            {all, read, "D_kwAAAAAAAAAAE", "NOT_FOUND"},
		"no id":                                   {all, read, "?", "NOT_FOUND"},
		"a comment where a discussion is meant":   {all, comment, theirs.NodeID, "NOT_FOUND"},
		"somebody's comment":                      {all, update, theirs.NodeID, "FORBIDDEN"},
		"a reaction on a review":                  {all, react, review.NodeID, ""},
		"a reaction on a review, not permitted":   {reading, react, review.NodeID, "FORBIDDEN"},
		"an unknown field":                        {all, `query { viewer { xyzzy } }`, "", `Cannot query field "xyzzy" on type "User".`},
		"no page size":                            {all, `query { repository(owner: "acme", name: "widget") { discussions { totalCount } } }`, "", "MISSING_PAGINATION_BOUNDARIES"},
		"too large a page":                        {all, `query { repository(owner: "acme", name: "widget") { discussions(first: 101) { totalCount } } }`, "", "EXCESSIVE_PAGINATION"},
		"a repository that is not there":          {all, `query { repository(owner: "acme", name: "nope") { id } }`, "", "NOT_FOUND"},
		"a repository that is not the stranger's": {eve, `query { repository(owner: "acme", name: "vault") { id } }`, "", "NOT_FOUND"},
	} {
		var variables map[string]any
		if tc.id != "" {
			variables = map[string]any{"id": tc.id}
		}
		_, kinds := s.graphql(tc.token, tc.query, variables)
		if tc.want == "" {
			require.Empty(t, kinds, name)
			continue
		}
		require.Equal(t, []string{tc.want}, kinds, name)
	}
	require.Len(t, s.Reactions(review.ID), 1)
	require.Equal(t, 401, s.call("POST", s.GraphQLURL(), "", `{"query":"{viewer{login}}"}`).status)
	require.Equal(t, 401, s.call("POST", s.GraphQLURL(), "ghs_wrong", `{"query":"{viewer{login}}"}`).status)
	got := s.call("POST", s.GraphQLURL(), all, `{"query":"{ viewer {"}`)
	require.Contains(t, got.body, "errors")
	require.Equal(t, "graphql", got.header.Get("X-RateLimit-Resource"))

	// Locked and archived.
	require.NoError(t, s.LockDiscussion("acme/widget", open.Number, "ann", true))
	_, kinds := s.graphql(all, comment, map[string]any{"id": open.NodeID})
	require.Equal(t, []string{"FORBIDDEN"}, kinds)
	require.NoError(t, s.LockDiscussion("acme/widget", open.Number, "ann", false))
	require.NoError(t, s.SetArchived("acme/widget", true))
	_, kinds = s.graphql(all, comment, map[string]any{"id": open.NodeID})
	require.Equal(t, []string{"FORBIDDEN"}, kinds)
}

func TestGraphQLPages(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{ContentPerMinute: 2})
	d, err := s.OpenDiscussion("acme/widget", "eve", "T", "B")
	require.NoError(t, err)
	for _, body := range []string{"1", "2", "3", "4", "5"} {
		_, err := s.CommentDiscussion("acme/widget", d.Number, "eve", body)
		require.NoError(t, err)
	}
	token := s.token(nil)
	query := `query($id: ID!, $before: String) { node(id: $id) { ... on Discussion { comments(last: 2, before: $before) { nodes { body } pageInfo { hasPreviousPage startCursor } } } } }`
	var seen []any
	before := any(nil)
	for range 3 {
		data, kinds := s.graphql(token, query, map[string]any{"id": d.NodeID, "before": before})
		require.Empty(t, kinds)
		page := dig(t, data, "node", "comments")
		list, _ := dig(t, page, "nodes").([]any)
		for i := range list {
			seen = append(seen, dig(t, list, len(list)-1-i, "body"))
		}
		before = dig(t, page, "pageInfo", "startCursor")
		if dig(t, page, "pageInfo", "hasPreviousPage") == false {
			break
		}
	}
	require.Equal(t, []any{"5", "4", "3", "2", "1"}, seen)

	// Comments count against the secondary limit, reactions do not.
	comment := `{"query":"mutation { addDiscussionComment(input: {discussionId: \"` + d.NodeID + `\", body: \"x\"}) { comment { id } } }"}`
	react := `{"query":"mutation { addReaction(input: {subjectId: \"` + d.NodeID + `\", content: EYES}) { reaction { id } } }"}`
	for range 4 {
		require.NotContains(t, s.call("POST", s.GraphQLURL(), token, react).body, "errors")
	}
	for range 2 {
		require.Equal(t, 200, s.call("POST", s.GraphQLURL(), token, comment).status)
	}
	got := s.call("POST", s.GraphQLURL(), token, comment)
	require.Equal(t, 403, got.status)
	require.NotEmpty(t, got.header.Get("Retry-After"))
	require.Len(t, s.DiscussionComments("acme/widget", d.Number), 7)
	all := s.Requests()
	require.Equal(t, "mutation addDiscussionComment", all[len(all)-1].GraphQL)
}

func TestGraphQLRateLimit(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{Rate: githubsim.RateLimits{Installation: 2}})
	token := s.token(nil)
	for range 2 {
		_, kinds := s.graphql(token, `{ viewer { login } rateLimit { remaining } }`, nil)
		require.Empty(t, kinds)
	}
	got := s.call("POST", s.GraphQLURL(), token, `{"query":"{ viewer { login } }"}`)
	require.Equal(t, 200, got.status, "GitHub answers 200 to it")
	require.Contains(t, got.body, "RATE_LIMITED")
	require.Equal(t, "0", got.header.Get("X-RateLimit-Remaining"))
	require.Equal(t, 200, s.call("GET", "/installation/repositories", token, "").status, "REST has a limit of its own")
}
