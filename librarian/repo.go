package librarian

import (
	"fmt"
	"strconv"
	"strings"
)

// RepoID identifies a repository for good; names change, it does not. Its three forms are
// "github:<host>:<number>", "git:<host>/<path>" and, on the terminal only, "file:<absolute path>".
type RepoID string

// GitHubRepo is the id of the repository that GitHub at host (lower-cased here) numbers n.
func GitHubRepo(host string, n int64) RepoID {
	return RepoID("github:" + strings.ToLower(host) + ":" + strconv.FormatInt(n, 10))
}

// GitRepo is the id of a repository on a plain git host. Host and path are folded to lower case, because the hosts
// that are asked treat Foo/Bar and foo/bar as one repository.
func GitRepo(host, path string) RepoID {
	return RepoID("git:" + strings.ToLower(host) + "/" + strings.ToLower(strings.Trim(path, "/")))
}

// FileRepo is the id of a local repository at an absolute path.
func FileRepo(path string) RepoID { return RepoID("file:" + path) }

// GitHub returns the host and number of a "github:" id; ok is false for any other.
func (id RepoID) GitHub() (host string, number int64, ok bool) {
	rest, found := strings.CutPrefix(string(id), "github:")
	if !found {
		return "", 0, false
	}
	i := strings.LastIndexByte(rest, ':')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(rest[i+1:], 10, 64)
	if err != nil || n <= 0 {
		return "", 0, false
	}
	return rest[:i], n, true
}

// Visibility is who can see a repository. Only [Public] is public: internal counts as private.
type Visibility string

// The visibilities GitHub knows.
const (
	Public   Visibility = "public"
	Internal Visibility = "internal"
	Private  Visibility = "private"
)

// Repo is what is known of a repository when it is opened.
type Repo struct {
	ID            RepoID     `json:"id"`
	Host          string     `json:"host"` // as in links, for example github.com or ghe.example.com
	Owner         string     `json:"owner"`
	Name          string     `json:"name"`
	Visibility    Visibility `json:"visibility"`
	DefaultBranch string     `json:"default_branch,omitempty"`
	Archived      bool       `json:"archived,omitempty"`
	Fork          bool       `json:"fork,omitempty"`
	Installation  int64      `json:"installation,omitempty"` // the App's installation that covers it; 0: none
	CloneURL      string     `json:"clone_url,omitempty"`    // https, no userinfo
	WebURL        string     `json:"web_url,omitempty"`      // the page of the repository; links to code are built on it; empty: no page
}

// FullName is "owner/name", as it is spelt upstream.
func (r Repo) FullName() string { return r.Owner + "/" + r.Name }

// Private reports whether reading r needs a right; internal and unknown visibilities do.
func (r Repo) Private() bool { return r.Visibility != Public }

// RepoName is a repository as a person names it.
type RepoName struct {
	Owner string `json:"owner"`
	Name  string `json:"name"`
}

func (n RepoName) String() string { return n.Owner + "/" + n.Name }

// Equal compares as GitHub does, in any case.
func (n RepoName) Equal(o RepoName) bool {
	return strings.EqualFold(n.Owner, o.Owner) && strings.EqualFold(n.Name, o.Name)
}

// ParseRepoName reads "owner/name" by GitHub's rules: an owner of letters, digits and inner hyphens (and the underscore of
// managed users), at most 39 characters; a name of letters, digits, '.', '_' and '-', at most 100, not made of dots only.
func ParseRepoName(s string) (RepoName, error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || !validOwner(owner) || !validName(name) {
		return RepoName{}, fmt.Errorf("%q is not an owner/repo name", clip(s, 120))
	}
	return RepoName{Owner: owner, Name: name}, nil
}

func validOwner(s string) bool {
	if s == "" || len(s) > 39 || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !alnum(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func validName(s string) bool {
	if s == "" || len(s) > 100 || s[0] == '-' || strings.Trim(s, ".") == "" {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !alnum(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
