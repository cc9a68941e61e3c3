package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/librarian-app/librarian/librarian"
)

// maxModelName bounds the name of a model, in bytes.
const maxModelName = 200

// maxTold is how many faults of one dispatch are told.
const maxTold = 5

// dispatch is client_payload.librarian: {query, repos?, owners?, continue_from?, issue_number? | pull_number? | sha?, model?}.
// Keys that nobody knows are ignored, and null is as good as absent.
type dispatch struct {
	query         string // as a reader sees it
	repos, owners []string
	run           librarian.RunID
	issue, pull   int
	sha, model    string
	faults        []string // for the sender; they quote nothing of the payload
}

// readDispatch reads as much as can be understood: with a fault, too, the target is where it will be shown.
func readDispatch(raw json.RawMessage, names []string) (d dispatch) {
	keys, ok := object(raw)
	if !ok {
		d.fault("client_payload", "is not an object with the key librarian")
		return d
	}
	ask, ok := keys[dispatchType]
	if !ok {
		d.fault("client_payload.librarian", "is missing")
		return d
	}
	if keys, ok = object(ask); !ok {
		d.fault("client_payload.librarian", "is not an object")
		return d
	}
	d.issue, d.pull = d.number(keys, "issue_number"), d.number(keys, "pull_number")
	d.readSHA(keys)
	d.readQuery(keys, names)
	d.repos = d.list(keys, "repos", "owner/name", func(s string) bool { _, err := librarian.ParseRepoName(s); return err == nil })
	d.owners = d.list(keys, "owners", "an account's name", func(s string) bool { _, err := librarian.ParseRepoName(s + "/x"); return err == nil })
	if s, ok := d.text(keys, "continue_from"); ok {
		run, err := librarian.ParseRunID(s)
		if d.run = run; err != nil {
			d.fault("continue_from", "is not a run's id")
		}
	}
	if s, ok := d.text(keys, "model"); ok {
		if d.model = s; len(s) > maxModelName || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == utf8.RuneError }) {
			d.fault("model", "is not a model's name")
		}
	}
	if d.targets() > 1 {
		d.fault("", "name only one of issue_number, pull_number and sha")
	}
	return d
}

func (d *dispatch) readQuery(keys map[string]json.RawMessage, names []string) {
	s, ok := d.text(keys, "query")
	n := utf8.RuneCountInString(s)
	switch {
	case !ok && keys["query"] == nil:
		d.fault("query", "is missing")
	case n > librarian.MaxQuestion:
		d.fault("query", fmt.Sprintf("has %d characters; %d are allowed", n, librarian.MaxQuestion))
	case ok:
		if d.query = plain(s, names); d.query == "" {
			d.fault("query", "is empty")
		}
	}
}

func (d *dispatch) readSHA(keys map[string]json.RawMessage) {
	s, ok := d.text(keys, "sha")
	if !ok {
		return
	}
	if len(s) != 40 && len(s) != 64 || strings.Trim(strings.ToLower(s), "0123456789abcdef") != "" {
		d.fault("sha", "is not a full commit id in hexadecimal")
		return
	}
	d.sha = strings.ToLower(s)
}

func (d *dispatch) targets() (n int) {
	for _, named := range []bool{d.issue > 0, d.pull > 0, d.sha != ""} {
		if named {
			n++
		}
	}
	return n
}

// request is what is asked, or the fault to be shown.
func (d *dispatch) request() librarian.Request {
	r := librarian.Request{Kind: librarian.KindQuestion, Place: librarian.Place{Kind: librarian.PlaceCommit, SHA: d.sha}}
	switch {
	case d.issue > 0:
		r.Place = librarian.Place{Kind: librarian.PlaceIssue, Number: d.issue}
	case d.pull > 0:
		r.Place = librarian.Place{Kind: librarian.PlacePull, Number: d.pull}
	}
	if len(d.faults) > 0 {
		told := d.faults[:min(len(d.faults), maxTold)]
		r.Kind, r.Command = librarian.KindCommand, librarian.CommandFault
		r.Question = "This repository_dispatch was not understood: " + strings.Join(told, "; ") + "."
		return r
	}
	r.Question, r.Repos, r.Owners, r.Continue, r.Model = d.query, d.repos, d.owners, d.run, d.model
	return r
}

func (d *dispatch) fault(key, what string) {
	if key != "" {
		what = "`" + key + "` " + what
	}
	d.faults = append(d.faults, what)
}

func (d *dispatch) text(keys map[string]json.RawMessage, key string) (s string, ok bool) {
	raw, ok := keys[key]
	if !ok {
		return "", false
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		d.fault(key, "is not a string")
		return "", false
	}
	return s, true
}

// number reads a number above 0, or the same as a string, which is what workflows' expressions make of one. 0: none.
func (d *dispatch) number(keys map[string]json.RawMessage, key string) int {
	raw, ok := keys[key]
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(bytes.Trim(raw, `"`))))
	if err != nil || n <= 0 || n > math.MaxInt32 {
		d.fault(key, "is not a number above 0")
		return 0
	}
	return n
}

func (d *dispatch) list(keys map[string]json.RawMessage, key, form string, valid func(string) bool) []string {
	raw, ok := keys[key]
	if !ok {
		return nil
	}
	var out []string
	if err := json.Unmarshal(raw, &out); err != nil {
		d.fault(key, "is not a list of strings")
		return nil
	}
	if len(out) > librarian.MaxScope {
		d.fault(key, fmt.Sprintf("has %d entries; %d are allowed", len(out), librarian.MaxScope))
	}
	for _, s := range out {
		if !valid(s) {
			d.fault(key, "has an entry that is not "+form)
			break
		}
	}
	return out
}

// object reads a JSON object without its keys that are null.
func object(raw json.RawMessage) (keys map[string]json.RawMessage, ok bool) {
	if err := json.Unmarshal(raw, &keys); err != nil || keys == nil {
		return nil, false
	}
	for k, v := range keys {
		if string(v) == "null" {
			delete(keys, k)
		}
	}
	return keys, true
}
