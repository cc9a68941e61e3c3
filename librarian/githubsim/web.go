package githubsim

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// serveWeb answers the URLs that a person would open, as plain text: a file at a ref, an issue with its comments. What is not
// public asks for a token in the Authorization header and is else not found.
func (s *Server) serveWeb(w http.ResponseWriter, r *http.Request, entry *Request) {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/", 4)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	text, status := s.webPage(r, parts, entry)
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(text) // the client may be gone; that is its affair
	}
}

func (s *Server) webPage(r *http.Request, parts []string, entry *Request) ([]byte, int) {
	for i, p := range parts {
		text, err := url.PathUnescape(p)
		if err != nil {
			return []byte("Bad Request\n"), http.StatusBadRequest
		}
		parts[i] = text
	}
	if len(parts) == 1 && parts[0] == "" {
		return []byte("A simulated GitHub. Its API is at " + s.APIURL() + "\n"), http.StatusOK
	}
	missing := []byte("Not Found\n")
	if len(parts) < 2 {
		return missing, http.StatusNotFound
	}
	s.mu.Lock()
	c, err := s.authenticate(r)
	entry.Caller = c.kind
	target, missErr := s.repo(parts[0] + "/" + parts[1])
	if err != nil || missErr != nil || !s.sees(c, target) {
		s.mu.Unlock()
		return missing, http.StatusNotFound
	}
	if len(parts) == 4 && (parts[2] == "issues" || parts[2] == "pull" || parts[2] == "discussions") {
		defer s.mu.Unlock()
		return s.threadPage(target, parts[3])
	}
	at := *target
	s.mu.Unlock()
	switch {
	case len(parts) == 2:
		return []byte(at.fullName() + "\n"), http.StatusOK
	case len(parts) == 4 && at.dir != nil && (parts[2] == "blob" || parts[2] == "raw"):
		if data, ok := s.filePage(r, at, parts[3]); ok {
			return data, http.StatusOK
		}
	}
	return missing, http.StatusNotFound
}

// filePage reads {ref}/{path}; a ref may have slashes in it, so the shortest one that exists is taken.
func (s *Server) filePage(r *http.Request, at repo, rest string) ([]byte, bool) {
	for i, ch := range rest {
		if ch != '/' || i == 0 {
			continue
		}
		sha, err := at.dir.commit(r.Context(), rest[:i], at.defaultBranch)
		if err != nil {
			continue
		}
		list, err := at.dir.tree(r.Context(), sha, rest[i+1:], false)
		if err != nil || len(list) != 1 || list[0].kind != "blob" || list[0].path != rest[i+1:] {
			return nil, false
		}
		data, err := at.dir.blob(r.Context(), list[0].sha, maxRaw)
		return data, err == nil
	}
	return nil, false
}

func (s *Server) threadPage(r *repo, number string) ([]byte, int) {
	n := atoi(number, 0)
	var b strings.Builder
	for _, d := range r.discussions {
		if d.number == n {
			fmt.Fprintf(&b, "%s#%d %s\n\n%s wrote:\n%s\n", r.fullName(), d.number, d.title, authorName(d.by), d.body)
			for _, c := range d.comments {
				fmt.Fprintf(&b, "\n--- discussioncomment-%d ---\n%s wrote:\n%s\n", c.id, authorName(c.by), c.body)
			}
			return []byte(b.String()), http.StatusOK
		}
	}
	i := r.issue(int64(n))
	if i == nil {
		return []byte("Not Found\n"), http.StatusNotFound
	}
	fmt.Fprintf(&b, "%s#%d %s\n\n%s wrote:\n%s\n", r.fullName(), i.number, i.title, authorName(i.by), i.body)
	for _, c := range i.comments {
		fmt.Fprintf(&b, "\n--- issuecomment-%d ---\n%s wrote:\n%s\n", c.id, authorName(c.by), c.body)
	}
	if i.pull != nil {
		for _, c := range i.pull.comments {
			fmt.Fprintf(&b, "\n--- discussion_r%d on %s ---\n%s wrote:\n%s\n", c.id, c.path, authorName(c.by), c.body)
		}
	}
	return []byte(b.String()), http.StatusOK
}

func authorName(a actor) string {
	if login := a.login(); login != "" {
		return login
	}
	return "ghost"
}
