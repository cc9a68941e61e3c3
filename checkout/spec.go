package checkout

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Spec is what a person meant by the text that names a repository.
type Spec struct {
	Host string // lower case, with port if one was given
	Path string // "owner/name", or nested groups "a/b/c" on hosts that have them; spelt as given
	Ref  string // from a deep link: branch, tag, sha or "refs/pull/N/head"; else empty
	Rest string // from a /tree/ or /blob/ link, what follows the first segment of the ref; may belong to either
	HTTP bool   // given as http://, which only a loopback host may be
	SSH  bool   // given as ssh:// or scp-like; fetched over https all the same
}

// ParseError says that a text does not name a repository.
type ParseError struct {
	Text   string
	Reason string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%q does not name a repository: %s", clip(e.Text, 100), e.Reason)
}

// Hint says what to try next.
func (e *ParseError) Hint() string {
	return "Give owner/repo or an https URL. If the name is uncertain, resolve it with search_repos first."
}

var (
	hostForm    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	segmentForm = regexp.MustCompile(`^[A-Za-z0-9_.~-][A-Za-z0-9_.~+-]*$`)
	scpForm     = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]*)@([A-Za-z0-9.-]+):([^/:].*)$`)
	pullNumber  = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)
)

// ParseRepo reads the forms in which a repository is named: owner/repo, https,
// ssh and scp-like URLs, with ".git" and a trailing slash trimmed, deep links
// as GitHub and GitLab make them (the ref taken from them), nested GitLab
// groups. defaultHost is the GitHub host, where owner/repo lives and nothing nests. It refuses other schemes, user
// information in a URL, a leading "-" and segments made of dots only. It does
// no I/O and says nothing about whether the repository exists.
func ParseRepo(text, defaultHost string) (Spec, error) {
	bad := func(format string, args ...any) (Spec, error) {
		return Spec{}, &ParseError{Text: text, Reason: fmt.Sprintf(format, args...)}
	}
	t := strings.TrimSpace(text)
	var s Spec
	var path string
	switch {
	case t == "":
		return bad("it is empty")
	case len(t) > 2000:
		return bad("it is longer than 2,000 bytes")
	case strings.HasPrefix(t, "-"):
		return bad("it begins with '-'")
	case strings.Contains(t, "://"):
		u, err := url.Parse(t)
		if err != nil {
			return bad("it is not a URL")
		}
		s.Host = strings.ToLower(u.Host)
		switch strings.ToLower(u.Scheme) {
		case "https":
		case "http":
			s.HTTP = true
		case "ssh", "git+ssh":
			s.SSH = true
			s.Host = strings.ToLower(u.Hostname())
		default:
			return bad("%s URLs are not fetched", u.Scheme)
		}
		if _, hasPassword := u.User.Password(); hasPassword || (u.User != nil && !s.SSH) {
			return bad("a URL must not carry a user name or password")
		}
		if path = u.EscapedPath(); strings.Contains(path, "%") {
			if path, err = url.PathUnescape(path); err != nil {
				return bad("it is not a URL")
			}
		}
	case scpForm.MatchString(t):
		m := scpForm.FindStringSubmatch(t)
		s.SSH, s.Host, path = true, strings.ToLower(m[2]), m[3]
	default:
		if strings.ContainsAny(t, ":?#@\\") {
			return bad("it is neither owner/repo nor a URL")
		}
		path = t
		// "github.com/owner/repo" is what people paste without the scheme.
		if first, rest, ok := strings.Cut(t, "/"); ok && strings.Count(strings.Trim(rest, "/"), "/") >= 1 &&
			(strings.EqualFold(first, defaultHost) || strings.Contains(first, ".")) && hostForm.MatchString(first) {
			s.Host, path = strings.ToLower(first), rest
		} else {
			s.Host = strings.ToLower(defaultHost)
		}
	}
	s.Host = oneName(s.Host, strings.ToLower(defaultHost), s.HTTP)
	if !hostForm.MatchString(s.Host) {
		return bad("its host is malformed")
	}
	segs := strings.Split(strings.Trim(path, "/"), "/")
	segs, err := deepLink(&s, segs)
	if err != nil {
		return bad("%s", err)
	}
	if len(segs) < 2 {
		return bad("it needs an owner and a name")
	}
	last := len(segs) - 1
	segs[last] = strings.TrimSuffix(segs[last], ".git")
	for _, seg := range segs {
		switch {
		case strings.Trim(seg, ".") == "":
			return bad("a segment is empty or made of dots only")
		case strings.HasPrefix(seg, "-"):
			return bad("a segment begins with '-'")
		case !segmentForm.MatchString(seg):
			return bad("a segment has characters that no host allows")
		case strings.EqualFold(seg, ".git"):
			return bad("a segment is .git")
		}
	}
	if len(segs) > 20 {
		return bad("it has more than 20 segments")
	}
	if len(segs) > 2 && strings.EqualFold(s.Host, defaultHost) {
		return bad("on %s a repository is owner/name", s.Host)
	}
	if err := CheckRef(s.Ref); err != nil {
		return Spec{}, err
	}
	s.Path = strings.Join(segs, "/")
	return s, nil
}

// oneName gives a host that is written in several ways one name, so that it is one store and one set of credentials:
// without the port that the scheme has anyway, and GitHub's without the "www." that only redirects.
func oneName(host, defaultHost string, http bool) string {
	port := ":443"
	if http {
		port = ":80"
	}
	if host != defaultHost {
		host = strings.TrimSuffix(host, port)
	}
	if host == "www."+defaultHost {
		return defaultHost
	}
	return host
}

// deepLink cuts what follows the repository in a link to something inside it,
// and takes the ref from it.
func deepLink(s *Spec, segs []string) ([]string, error) {
	// GitLab puts "-" between the project and the rest.
	for i := 2; i < len(segs)-1; i++ {
		if segs[i] == "-" {
			return segs[:i], linkRef(s, segs[i+1:])
		}
	}
	if len(segs) > 3 {
		switch segs[2] {
		case "tree", "blob", "blame", "raw", "edit", "commits", "pull", "pulls", "commit", "issues", "discussions",
			"releases", "actions", "compare", "wiki", "archive":
			return segs[:2], linkRef(s, segs[2:])
		}
	}
	if len(segs) == 3 {
		switch segs[2] {
		case "issues", "pulls", "discussions", "releases", "actions", "wiki", "tags", "branches", "commits":
			return segs[:2], nil
		}
	}
	return segs, nil
}

// linkRef reads the ref from the part of a deep link that follows the repository.
func linkRef(s *Spec, rest []string) error {
	if len(rest) < 2 {
		return nil
	}
	switch rest[0] {
	case "tree", "blob", "blame", "raw", "edit", "commits", "commit":
		s.Ref = rest[1]
		s.Rest = strings.Join(rest[2:], "/")
		if rest[1] == "refs" && len(rest) > 3 { // /blob/refs/heads/main/path
			s.Ref = strings.Join(rest[1:4], "/")
			s.Rest = strings.Join(rest[4:], "/")
		}
	case "pull":
		if !pullNumber.MatchString(rest[1]) {
			return fmt.Errorf("%q is not a pull request number", clip(rest[1], 20))
		}
		s.Ref = "refs/pull/" + rest[1] + "/head"
	case "merge_requests":
		if !pullNumber.MatchString(rest[1]) {
			return fmt.Errorf("%q is not a merge request number", clip(rest[1], 20))
		}
		s.Ref = "refs/merge-requests/" + rest[1] + "/head"
	case "releases":
		if len(rest) > 2 && rest[1] == "tag" {
			s.Ref = "refs/tags/" + strings.Join(rest[2:], "/")
		}
	}
	return nil
}
