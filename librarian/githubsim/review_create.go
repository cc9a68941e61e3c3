package githubsim

import (
	"errors"
	"net/http"
	"strings"
)

// createReview submits a review, with comments on lines of the diff or without. A review that is kept as a draft is not known here.
// https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
func createReview(c *call) (reply, error) {
	i, err := c.openPullFor("review")
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Body     string `json:"body"`
		Event    string `json:"event"`
		Comments []struct {
			Path      string `json:"path"`
			Side      string `json:"side"`
			Line      int    `json:"line"`
			StartLine int    `json:"start_line"`
			Body      string `json:"body"`
		} `json:"comments"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	state, known := map[string]string{"APPROVE": "approved", "REQUEST_CHANGES": "changes_requested", "COMMENT": "commented"}[in.Event]
	switch {
	case !known:
		return reply{}, refusedReview("event is APPROVE, REQUEST_CHANGES or COMMENT")
	case state != "approved" && strings.TrimSpace(in.Body) == "" && len(in.Comments) == 0:
		return reply{}, refusedReview("body can't be blank")
	}
	if err := checkBody("PullRequestReview", in.Body); err != nil {
		return reply{}, err
	}
	var options []ReviewCommentOptions
	var places []diffPlace
	for _, x := range in.Comments {
		o := ReviewCommentOptions{Path: x.Path, Line: x.Line, StartLine: x.StartLine, Side: x.Side, Body: x.Body}
		at, err := c.findInDiff(i, &o)
		if errors.Is(err, errNotInDiff) {
			return reply{}, refusedReview("line must be part of the diff")
		}
		if err != nil {
			return reply{}, err
		}
		options, places = append(options, o), append(places, at)
	}
	r := c.addReview(i, c.caller.actor(), state, in.Body)
	for n, o := range options {
		c.addReviewComment(r, nil, o, places[n])
	}
	return ok(c.reviewJSON(r))
}

// editReview changes what a review says as a whole.
// https://docs.github.com/en/rest/pulls/reviews#update-a-review-for-a-pull-request
func editReview(c *call) (reply, error) {
	if _, err := c.openPullFor("review"); err != nil {
		return reply{}, err
	}
	r, err := c.targetReview()
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Body string `json:"body"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	if c.caller.actor().user != r.by.user {
		return reply{}, &apiError{status: http.StatusForbidden, message: "Resource not accessible"}
	}
	if err := checkBody("PullRequestReview", in.Body); err != nil {
		return reply{}, err
	}
	c.changeReview(r, c.caller.actor(), in.Body)
	return ok(c.reviewJSON(r))
}

// refusedReview is GitHub's answer to a review that cannot be: its errors are plain sentences here.
func refusedReview(why string) error {
	return &apiError{status: http.StatusUnprocessableEntity, message: "Unprocessable Entity", extra: object{"errors": []string{why}}}
}
