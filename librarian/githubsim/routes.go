package githubsim

import (
	"strings"
	"sync"
)

// Endpoints lists the REST endpoints, as method and path below /api/v3.
func Endpoints() []string {
	var list []string
	for _, rt := range routes() {
		list = append(list, rt.method+" "+rt.path)
	}
	return list
}

// Endpoint is the entry of [Endpoints] that answers a request, by its escaped path below /api/v3.
func Endpoint(method, path string) (string, bool) {
	rt, _, found := findRoute(method, path)
	return rt.method + " " + rt.path, found
}

// routes is the table of endpoints. Where two match, the first wins.
var routes = sync.OnceValue(func() []route {
	const repo = "/repos/{owner}/{repo}"
	table := []route{
		{method: "GET", path: "/meta", handle: meta},
		{method: "GET", path: "/rate_limit", handle: rateLimits},
		{method: "GET", path: "/user", handle: currentUser},
		{method: "GET", path: "/user/{id}", handle: userByID},
		{method: "GET", path: "/users/{login}", handle: userByLogin},
		{method: "GET", path: "/orgs/{login}", handle: orgByLogin},
		{method: "GET", path: "/orgs/{login}/members/{user}", handle: orgMember},

		{method: "GET", path: "/app", handle: currentApp, jwt: true},
		{method: "GET", path: "/app/installations", handle: appInstallations, jwt: true},
		{method: "GET", path: "/app/installations/{id}", handle: appInstallation, jwt: true},
		{method: "DELETE", path: "/app/installations/{id}", handle: deleteInstallation, jwt: true},
		{method: "POST", path: "/app/installations/{id}/access_tokens", handle: createToken, jwt: true},
		{method: "GET", path: "/app/hook/config", handle: hookConfig, jwt: true},
		{method: "GET", path: "/app/hook/deliveries", handle: listDeliveries, jwt: true},
		{method: "GET", path: "/app/hook/deliveries/{id}", handle: getDelivery, jwt: true},
		{method: "POST", path: "/app/hook/deliveries/{id}/attempts", handle: redeliver, jwt: true},
		{method: "GET", path: "/users/{login}/installation", handle: accountInstallation, jwt: true},
		{method: "GET", path: "/orgs/{login}/installation", handle: accountInstallation, jwt: true},
		{method: "GET", path: repo + "/installation", handle: repoInstallation, jwt: true},
		{method: "GET", path: "/installation/repositories", handle: installationRepositories},
		{method: "DELETE", path: "/installation/token", handle: revokeToken},

		{method: "GET", path: repo, handle: getRepo},
		{method: "GET", path: repo + "/collaborators/{user}/permission", handle: collaboratorPermission},
		{method: "GET", path: repo + "/collaborators/{user}", handle: isCollaborator},

		{method: "GET", path: repo + "/issues", handle: listIssues},
		{method: "POST", path: repo + "/issues", handle: createIssue},
		{method: "GET", path: repo + "/issues/comments", handle: listRepoComments},
		{method: "GET", path: repo + "/issues/comments/{id}", handle: getComment},
		{method: "PATCH", path: repo + "/issues/comments/{id}", handle: editComment},
		{method: "DELETE", path: repo + "/issues/comments/{id}", handle: deleteComment},
		{method: "GET", path: repo + "/issues/comments/{id}/reactions", handle: commentReactions},
		{method: "POST", path: repo + "/issues/comments/{id}/reactions", handle: reactToComment},
		{method: "DELETE", path: repo + "/issues/comments/{id}/reactions/{reaction}", handle: unreactComment},
		{method: "GET", path: repo + "/issues/{number}", handle: getIssue},
		{method: "PATCH", path: repo + "/issues/{number}", handle: editIssue},
		{method: "PUT", path: repo + "/issues/{number}/lock", handle: lockIssue},
		{method: "DELETE", path: repo + "/issues/{number}/lock", handle: unlockIssue},
		{method: "GET", path: repo + "/issues/{number}/comments", handle: listComments},
		{method: "POST", path: repo + "/issues/{number}/comments", handle: createComment},
		{method: "GET", path: repo + "/issues/{number}/labels", handle: issueLabels},
		{method: "POST", path: repo + "/issues/{number}/labels", handle: addLabels},
		{method: "DELETE", path: repo + "/issues/{number}/labels/{name}", handle: removeLabel},
		{method: "GET", path: repo + "/issues/{number}/reactions", handle: issueReactions},
		{method: "POST", path: repo + "/issues/{number}/reactions", handle: reactToIssue},
		{method: "DELETE", path: repo + "/issues/{number}/reactions/{reaction}", handle: unreactIssue},

		{method: "GET", path: repo + "/pulls", handle: listPulls},
		{method: "POST", path: repo + "/pulls", handle: createPull},
		{method: "GET", path: repo + "/pulls/comments", handle: listRepoReviewComments},
		{method: "GET", path: repo + "/pulls/comments/{id}", handle: getReviewComment},
		{method: "PATCH", path: repo + "/pulls/comments/{id}", handle: editReviewComment},
		{method: "DELETE", path: repo + "/pulls/comments/{id}", handle: deleteReviewComment},
		{method: "GET", path: repo + "/pulls/comments/{id}/reactions", handle: reviewCommentReactions},
		{method: "POST", path: repo + "/pulls/comments/{id}/reactions", handle: reactToReviewComment},
		{method: "DELETE", path: repo + "/pulls/comments/{id}/reactions/{reaction}", handle: unreactReviewComment},
		{method: "GET", path: repo + "/pulls/{number}", handle: getPull},
		{method: "GET", path: repo + "/pulls/{number}/comments", handle: listReviewComments},
		{method: "POST", path: repo + "/pulls/{number}/comments", handle: createReviewComment},
		{method: "POST", path: repo + "/pulls/{number}/comments/{id}/replies", handle: replyToReviewComment},
		{method: "GET", path: repo + "/pulls/{number}/reviews", handle: listReviews},
		{method: "POST", path: repo + "/pulls/{number}/reviews", handle: createReview},
		{method: "GET", path: repo + "/pulls/{number}/reviews/{id}", handle: getReview},
		{method: "PUT", path: repo + "/pulls/{number}/reviews/{id}", handle: editReview},
		{method: "GET", path: repo + "/pulls/{number}/reviews/{id}/comments", handle: reviewOwnComments},
		{method: "GET", path: repo + "/pulls/{number}/files", handle: pullFiles, git: true},

		{method: "POST", path: repo + "/check-runs", handle: createCheckRun, git: true},
		{method: "GET", path: repo + "/check-runs/{id}", handle: getCheckRun},
		{method: "PATCH", path: repo + "/check-runs/{id}", handle: editCheckRun},
		{method: "POST", path: repo + "/dispatches", handle: createDispatch},

		{method: "GET", path: repo + "/contents", handle: getContents, git: true},
		{method: "GET", path: repo + "/contents/{path...}", handle: getContents, git: true},
		{method: "GET", path: repo + "/readme", handle: getReadme, git: true},
		{method: "GET", path: repo + "/branches", handle: listBranches, git: true},
		{method: "GET", path: repo + "/branches/{branch...}", handle: getBranch, git: true},
		{method: "GET", path: repo + "/tags", handle: listTags, git: true},
		{method: "GET", path: repo + "/commits", handle: listCommits, git: true},
		{method: "GET", path: repo + "/commits/{ref}/check-runs", handle: commitCheckRuns, git: true},
		{method: "GET", path: repo + "/commits/{ref...}", handle: getCommit, git: true},
		{method: "GET", path: repo + "/git/ref/{ref...}", handle: getRef, git: true},
		{method: "GET", path: repo + "/git/matching-refs/{ref...}", handle: matchingRefs, git: true},
		{method: "GET", path: repo + "/git/commits/{sha}", handle: getGitCommit, git: true},
		{method: "GET", path: repo + "/git/tags/{sha}", handle: getGitTag, git: true},
		{method: "GET", path: repo + "/git/blobs/{sha}", handle: getBlob, git: true},
		{method: "GET", path: repo + "/git/trees/{sha...}", handle: getTree, git: true},

		{method: "GET", path: "/search/repositories", handle: searchRepositories, resource: "search"},
		{method: "GET", path: "/search/code", handle: searchCode, git: true, resource: "code_search"},
	}
	// Whatever is under a repository's name is under its id too: that is where GitHub redirects to after a rename.
	for _, rt := range table {
		if rest, ok := strings.CutPrefix(rt.path, repo); ok {
			rt.path = "/repositories/{repo_id}" + rest
			table = append(table, rt)
		}
	}
	return table
})
