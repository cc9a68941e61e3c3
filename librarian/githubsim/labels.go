package githubsim

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// LabelIssue puts a label on an issue as somebody.
func (s *Server) LabelIssue(fullName string, number int, login, label string) error {
	return s.onIssue("label issue", fullName, number, login, func(i *issue, by actor) error {
		s.addLabel(i, by, label)
		return nil
	})
}

func (s *Server) addLabel(i *issue, by actor, label string) {
	if slices.ContainsFunc(i.labels, func(l string) bool { return strings.EqualFold(l, label) }) {
		return
	}
	i.labels, i.updated = append(i.labels, label), s.now()
	s.emitIssue(i, by, "labeled", object{"label": s.labelJSON(i.repo, label)})
}

// UnlabelIssue takes a label off as somebody.
func (s *Server) UnlabelIssue(fullName string, number int, login, label string) error {
	return s.onIssue("unlabel issue", fullName, number, login, func(i *issue, by actor) error {
		if !s.dropLabel(i, by, label) {
			return fmt.Errorf("label %s: %w", label, ErrUnknown)
		}
		return nil
	})
}

// dropLabel takes a label off, and says whether it was there.
func (s *Server) dropLabel(i *issue, by actor, label string) bool {
	n := slices.IndexFunc(i.labels, func(l string) bool { return strings.EqualFold(l, label) })
	if n < 0 {
		return false
	}
	label = i.labels[n]
	i.labels, i.updated = slices.Delete(slices.Clone(i.labels), n, n+1), s.now()
	s.emitIssue(i, by, "unlabeled", object{"label": s.labelJSON(i.repo, label)})
	return true
}

func (s *Server) labelJSON(r *repo, name string) object {
	sum := crc32.ChecksumIEEE([]byte(strings.ToLower(name)))
	return object{"id": int64(sum), "node_id": nodeID("LA", int64(sum)), "url": s.api("/repos/%s/labels/%s", r.fullName(), url.PathEscape(name)),
		"name": name, "description": nil, "color": fmt.Sprintf("%06x", sum&0xffffff), "default": false}
}

func (c *call) labelsReply(i *issue) (reply, error) {
	out := []object{}
	for _, l := range i.labels {
		out = append(out, c.labelJSON(i.repo, l))
	}
	return ok(out)
}

func issueLabels(c *call) (reply, error) {
	i, err := c.targetIssue(false, "")
	if err != nil {
		return reply{}, err
	}
	return c.labelsReply(i)
}

func addLabels(c *call) (reply, error) {
	i, err := c.targetIssue(true, "triage")
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Labels []string `json:"labels"`
	}
	if strings.HasPrefix(strings.TrimSpace(string(c.body)), "[") { // go-github sends the bare list
		err = c.input(&in.Labels)
	} else {
		err = c.input(&in)
	}
	if err != nil {
		return reply{}, err
	}
	for _, l := range in.Labels {
		c.addLabel(i, c.caller.actor(), l)
	}
	return c.labelsReply(i)
}

func removeLabel(c *call) (reply, error) {
	i, err := c.targetIssue(true, "triage")
	if err != nil {
		return reply{}, err
	}
	if !c.dropLabel(i, c.caller.actor(), c.params["name"]) {
		return reply{}, &apiError{status: http.StatusNotFound, message: "Label does not exist"}
	}
	return c.labelsReply(i)
}
