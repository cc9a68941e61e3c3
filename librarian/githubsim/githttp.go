package githubsim

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
)

// maxFetchRequest bounds what a client may send to upload-pack: its wants and haves.
const maxFetchRequest = 64 << 20

// isGitPath tells whether a path is one of git's smart HTTP protocol.
func isGitPath(path string) bool {
	_, _, op := splitGitPath(path)
	return op != ""
}

// splitGitPath takes /{owner}/{repo}(.git)/{op} apart.
func splitGitPath(path string) (owner, name, op string) {
	parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
	if len(parts) != 3 {
		return "", "", ""
	}
	switch parts[2] {
	case "info/refs", "git-upload-pack", "git-receive-pack", "HEAD":
		return parts[0], strings.TrimSuffix(parts[1], ".git"), parts[2]
	}
	return "", "", ""
}

// serveGit answers git clients as GitHub does: 401 without or with bad credentials where something is wanted that is not
// public, 404 for what a good token may not see, and nothing but fetching.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request, entry *Request) {
	owner, name, op := splitGitPath(r.URL.Path)
	dir, to, err := s.gitTarget(r, owner, name, entry)
	var refusal *apiError
	switch {
	case errors.As(err, &refusal):
		if refusal.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, refusal.message, refusal.status)
	case to != "":
		http.Redirect(w, r, to+"/"+op+query(r), http.StatusMovedPermanently)
	case op == "info/refs" && r.Method == http.MethodGet && r.URL.Query().Get("service") == "git-upload-pack",
		op == "git-upload-pack" && r.Method == http.MethodPost:
		s.backend(w, r, dir, op)
	case op == "info/refs" || op == "git-receive-pack":
		http.Error(w, "Only fetching by git's smart protocol is served here; commit where the repository lies.", http.StatusForbidden)
	default:
		http.Error(w, "Not Found", http.StatusNotFound)
	}
}

func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

// gitTarget finds what a git request is for, or where to it is to be redirected.
func (s *Server) gitTarget(r *http.Request, owner, name string, entry *Request) (*gitDir, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.authenticate(r)
	if entry.Caller = c.kind; err != nil || c.kind == AppToken {
		return nil, "", &apiError{status: http.StatusUnauthorized, message: "Invalid username or token."}
	}
	if c.kind == InstallationToken {
		entry.Installation = c.token.inst.id
	}
	missing := &apiError{status: http.StatusNotFound, message: "Repository not found."}
	if c.kind == Anonymous {
		missing = &apiError{status: http.StatusUnauthorized, message: "Repository not found."}
	}
	target, err := s.repo(owner + "/" + name)
	if err != nil || !s.sees(c, target) {
		return nil, "", missing
	}
	if err := s.allow(c, target, reads("contents")); err != nil {
		return nil, "", err
	}
	if !strings.EqualFold(target.fullName(), owner+"/"+name) {
		return nil, s.base + "/" + url.PathEscape(target.owner.Login) + "/" + url.PathEscape(target.name) + ".git", nil
	}
	if target.dir == nil {
		return nil, "", &apiError{status: http.StatusNotFound, message: "Repository is empty."}
	}
	return target.dir, "", nil
}

// backend runs git http-backend for one request. It is a CGI host of its own, since Go's refuses chunked bodies and outlives its
// client; the body is streamed, which http-backend takes when no length is told.
func (s *Server) backend(w http.ResponseWriter, r *http.Request, g *gitDir, op string) {
	cmd := exec.CommandContext(r.Context(), g.git, "http-backend")
	ownGroup(cmd)
	cmd.Env = append(g.env("uploadpack.allowFilter=true", "uploadpack.allowAnySHA1InWant=true", "http.receivepack=false",
		"uploadpack.hideRefs=refs/stash", "uploadpack.hideRefs=refs/remotes", "uploadpack.hideRefs=refs/bisect", "uploadpack.hideRefs=refs/worktree"),
		"GATEWAY_INTERFACE=CGI/1.1", "SERVER_PROTOCOL=HTTP/1.1", "REQUEST_METHOD="+r.Method, "QUERY_STRING="+r.URL.RawQuery,
		"GIT_PROJECT_ROOT="+g.dir, "PATH_INFO=/"+op, "GIT_HTTP_EXPORT_ALL=1",
		"GIT_HTTP_MAX_REQUEST_BUFFER="+strconv.Itoa(maxFetchRequest), "REMOTE_ADDR=127.0.0.1",
		"CONTENT_TYPE="+r.Header.Get("Content-Type"), "HTTP_CONTENT_ENCODING="+r.Header.Get("Content-Encoding"),
		"HTTP_ACCEPT_ENCODING="+r.Header.Get("Accept-Encoding"), "GIT_PROTOCOL="+r.Header.Get("Git-Protocol"))
	if r.ContentLength >= 0 {
		cmd.Env = append(cmd.Env, "CONTENT_LENGTH="+strconv.FormatInt(r.ContentLength, 10))
	}
	cmd.Stdin = http.MaxBytesReader(w, r.Body, maxFetchRequest)
	var complaint limitedBuffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.log.Error("githubsim: git http-backend", "err", err)
		http.Error(w, "git http-backend", http.StatusInternalServerError)
		return
	}
	defer func() {
		if err := cmd.Wait(); err != nil {
			s.log.Debug("githubsim: git http-backend", "err", err, "stderr", complaint.String())
		}
	}()
	defer func() { _ = cmd.Cancel() }() // a client that went away leaves no git behind; a process that ended is not there to be killed
	lines := bufio.NewReader(out)
	header, err := textproto.NewReader(lines).ReadMIMEHeader()
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		http.Error(w, "git http-backend", http.StatusBadGateway)
		return
	}
	status := http.StatusOK
	if text := header.Get("Status"); text != "" {
		if n, err := strconv.Atoi(strings.Fields(text)[0]); err == nil {
			status = n
		}
		header.Del("Status")
	}
	maps.Copy(w.Header(), header)
	w.WriteHeader(status)
	_, _ = io.Copy(flusher{w, http.NewResponseController(w)}, lines) // the client may be gone; that is its affair
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // git was ended: what came of it must not look whole
	}
}

// flusher sends each piece as it comes, so that progress is seen.
type flusher struct {
	w  io.Writer
	rc *http.ResponseController
}

func (f flusher) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		err = f.rc.Flush()
	}
	return n, err
}
