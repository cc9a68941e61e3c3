package githubsim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

const (
	jsonType = "application/json; charset=utf-8"
	docsURL  = "https://docs." + librarian.GitHubHost + "/rest"
	maxBody  = 1 << 20 // of an API request
)

// object is a JSON object. Maps, not go-github's structs: those leave out the nulls that GitHub sends.
type object = map[string]any

// apiError is an answer that is a refusal.
type apiError struct {
	status  int
	message string
	errors  []object
	header  http.Header
	extra   object
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.status, e.message) }

func notFound() error { return &apiError{status: http.StatusNotFound, message: "Not Found"} }

func unprocessable(resource, field, code, message string) error {
	return &apiError{status: http.StatusUnprocessableEntity, message: "Validation Failed",
		errors: []object{{"resource": resource, "field": field, "code": code, "message": message}}}
}

// reply is an answer. body is marshalled unless it is a []byte.
type reply struct {
	status      int // 0 means 200
	body        any // nil means none
	contentType string
	header      http.Header
}

func ok(body any) (reply, error) { return reply{body: body}, nil }

// call is one API request while it is answered.
type call struct {
	*Server
	r      *http.Request
	caller caller
	params map[string]string
	query  url.Values
	body   []byte
}

// route is one endpoint. Handlers run with Server.mu held, except those marked git, which read repositories and take the lock
// themselves. jwt marks what only an App's JWT may call.
type route struct {
	method, path string
	handle       func(*call) (reply, error)
	git, jwt     bool
	resource     string // the rate limit it counts for; "" means core
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, path string, entry *Request) {
	h := w.Header()
	s.commonHeaders(h)
	h.Set("X-GitHub-Api-Version-Selected", "2022-11-28")
	h.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding")
	c := &call{Server: s, r: r, query: r.URL.Query()}
	rt, params, known := findRoute(r.Method, path)
	c.params = params
	out, err := c.answer(h, rt, known, path, entry)
	if err != nil {
		out = errorReply(err)
	}
	c.write(w, rt, out)
}

func (s *Server) commonHeaders(h http.Header) {
	h.Set("X-GitHub-Request-Id", strings.ToUpper(hex.EncodeToString([]byte(randomText(8)))))
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	h.Set("Date", s.now().UTC().Format(http.TimeFormat)) // clients correct their clock by it
}

func (c *call) answer(h http.Header, rt route, known bool, path string, entry *Request) (reply, error) {
	s, r := c.Server, c.r
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return reply{}, &apiError{status: http.StatusRequestEntityTooLarge, message: "Payload too big"}
	}
	if c.body = body; r.Method != http.MethodGet {
		entry.Body = string(body[:min(len(body), 64<<10)])
	}

	s.mu.Lock()
	c.caller, err = s.authenticate(r)
	if entry.Caller = c.caller.kind; c.caller.kind == InstallationToken {
		entry.Installation = c.caller.token.inst.id
	}
	if err == nil {
		err = s.spend(h, c.caller, r.Method, path, rt.resource)
	} else {
		limit, span := s.limitOf(Anonymous, "core")
		rateHeaders(h, "core", limit, s.window("anonymous core", span))
	}
	switch {
	case err != nil:
	case !known:
		err = notFound()
	case rt.jwt && c.caller.kind != AppToken:
		err = &apiError{status: http.StatusUnauthorized, message: "A JSON web token could not be decoded"}
	}
	if err != nil || !rt.git {
		defer s.mu.Unlock()
		if err != nil {
			return reply{}, err
		}
		out, err := rt.handle(c)
		return out, err
	}
	s.mu.Unlock()
	return rt.handle(c)
}

// findRoute matches an escaped path segment by segment; the first route in the table wins. {name...} at the end takes the rest.
func findRoute(method, path string) (route, map[string]string, bool) {
	got := strings.Split(strings.Trim(path, "/"), "/")
	for _, rt := range routes() {
		if rt.method != method && (method != http.MethodHead || rt.method != http.MethodGet) {
			continue
		}
		if params, ok := matchPath(strings.Split(strings.Trim(rt.path, "/"), "/"), got); ok {
			return rt, params, true
		}
	}
	return route{}, nil, false
}

func matchPath(want, got []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, w := range want {
		name, isParam := strings.CutPrefix(w, "{")
		name = strings.TrimSuffix(name, "}")
		if rest, ok := strings.CutSuffix(name, "..."); ok && isParam {
			text, err := url.PathUnescape(strings.Join(got[min(i, len(got)):], "/"))
			params[rest] = text
			return params, err == nil
		}
		if i >= len(got) {
			return nil, false
		}
		text, err := url.PathUnescape(got[i])
		if err != nil || !isParam && text != w || text == "" {
			return nil, false
		}
		if isParam {
			params[name] = text
		}
	}
	return params, len(want) == len(got)
}

// id reads a numeric path parameter; what is no number is not found.
func (c *call) id(name string) (int64, error) {
	n, err := strconv.ParseInt(c.params[name], 10, 64)
	if err != nil || n <= 0 {
		return 0, notFound()
	}
	return n, nil
}

// input decodes the JSON body. An empty body is an empty object.
func (c *call) input(into any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return &apiError{status: http.StatusUnprocessableEntity, message: "Invalid request.\n\nFor '" + kind.Field + "', wrong type."}
		}
		return &apiError{status: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
	return nil
}

func errorReply(err error) reply {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{status: http.StatusInternalServerError, message: "Server Error: " + err.Error()}
	}
	body := object{"message": e.message, "documentation_url": docsURL, "status": strconv.Itoa(e.status)}
	if e.errors != nil {
		body["errors"] = e.errors
	}
	maps.Copy(body, e.extra)
	return reply{status: e.status, body: body, header: e.header}
}

func (c *call) write(w http.ResponseWriter, rt route, out reply) {
	h, r := w.Header(), c.r
	maps.Copy(h, out.header)
	if out.status == 0 {
		out.status = http.StatusOK
	}
	raw, isRaw := out.body.([]byte)
	if !isRaw && out.body != nil {
		var err error
		if raw, err = json.Marshal(out.body); err != nil {
			panic(err) // our own maps always marshal
		}
	}
	if out.contentType == "" {
		out.contentType = jsonType
	}
	if out.body != nil {
		h.Set("Content-Type", out.contentType)
	}
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && out.status == http.StatusOK {
		reach := "private"
		if r.Header.Get("Authorization") == "" {
			reach = "public"
		}
		h.Set("Cache-Control", reach+", max-age=60, s-maxage=60")
		sum := sha256.New()
		sum.Write(raw)
		io.WriteString(sum, "\x00"+r.Header.Get("Accept")+"\x00"+h.Get("Link")) //nolint:errcheck // a hash never fails
		if c.opts.ETagPerToken {
			io.WriteString(sum, "\x00"+r.Header.Get("Authorization")) //nolint:errcheck // a hash never fails
		}
		tag := `"` + hex.EncodeToString(sum.Sum(nil)) + `"`
		h.Set("ETag", "W/"+tag)
		if match := r.Header.Get("If-None-Match"); match != "" && (match == "*" || strings.Contains(match, tag)) {
			h.Del("Content-Type")
			c.refund(h, c.caller, rt.resource)
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if out.body == nil {
		w.WriteHeader(out.status)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(out.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(raw) // the client may be gone; that is its affair
	}
}

// pageOf cuts the page that per_page (default 30, at most 100) and page ask for, and the Link header that leads to the others.
func pageOf[T any](c *call, all []T) ([]T, http.Header) {
	size, page := atoi(c.query.Get("per_page"), 30), atoi(c.query.Get("page"), 1)
	if size > 100 {
		size = 100
	}
	last := max(1, (len(all)+size-1)/size)
	var links []string
	link := func(n int, rel string) {
		q := url.Values{}
		maps.Copy(q, c.query)
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.base, c.r.URL.EscapedPath(), q.Encode(), rel))
	}
	if page > 1 {
		link(min(page-1, last), "prev")
	}
	if page < last {
		link(page+1, "next")
		link(last, "last")
	}
	if page > 1 {
		link(1, "first")
	}
	h := http.Header{}
	if len(links) > 0 {
		h.Set("Link", strings.Join(links, ", "))
	}
	from := min((page-1)*size, len(all))
	return all[from:min(from+size, len(all))], h
}

// atoi reads a positive number, or gives the default.
func atoi(text string, def int) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1<<20 {
		return n
	}
	return def
}

// stamp is a time as GitHub writes it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

func stampOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}
