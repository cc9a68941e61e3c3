package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/gregjones/httpcache"

	"github.com/librarian-app/librarian/librarian"
)

// Options say which GitHub a Hub works with, and as whom.
type Options struct {
	APIURL string // "" means [DefaultAPIURL]; for an Enterprise Server https://HOST/api/v3/
	WebURL string // scheme and host that links and clones use; "" derives it from APIURL

	AppID      int64  // the App; 0 on the terminal
	PrivateKey []byte // the App's key, PEM; with AppID only
	UserToken  string // on the terminal: a person's token; "" there means anonymous

	Transport  http.RoundTripper // to the network; nil means one of its own, with time-outs
	RootCAs    *x509.CertPool    // who may vouch for the host, without Transport; nil means the system's
	Now        func() time.Time  // nil means time.Now
	Log        *slog.Logger      // nil means no log
	CacheBytes int64             // of answers, for each installation and class of access; 0 means 4 MiB
	MaxWait    time.Duration     // how long a read waits out a rate limit; 0 means 10 s
}

// maxClients bounds the clients, and with each a cache, that are kept; the one not used for longest goes first.
const maxClients = 64

// requestTime bounds one call with all its repetitions.
const requestTime = 90 * time.Second

// Hub knows one GitHub. Its methods are safe for concurrent use. Make it with New.
type Hub struct {
	opts Options
	host endpoint
	now  func() time.Time
	log  *slog.Logger
	wire wire

	app    *github.Client // with the App's JWT; nil without an App
	anyone *github.Client // with the person's token, or none
	person Token
	tokens *minter

	mu      sync.Mutex
	clients map[tokenKey]*client
	limits  map[int64]*limits // by installation
	known   map[permissionKey]knownPermission
}

type client struct {
	*github.Client
	used time.Time
}

// New checks opts and makes a Hub. It does no I/O.
func New(opts Options) (*Hub, error) {
	host, err := newEndpoint(opts.APIURL, opts.WebURL)
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	if opts.AppID < 0 || (opts.AppID == 0) != (len(opts.PrivateKey) == 0) {
		return nil, errors.New("hub: an App needs both its id and its private key")
	}
	if opts.AppID != 0 && opts.UserToken != "" {
		return nil, errors.New("hub: a person's token and an App exclude each other")
	}
	h := &Hub{opts: opts, host: host, now: opts.Now, log: opts.Log, clients: map[tokenKey]*client{},
		limits: map[int64]*limits{}, known: map[permissionKey]knownPermission{}}
	if h.now == nil {
		h.now = time.Now
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.opts.CacheBytes <= 0 {
		h.opts.CacheBytes = 4 << 20
	}
	if h.opts.MaxWait <= 0 {
		h.opts.MaxWait = 10 * time.Second
	}
	next := opts.Transport
	if next == nil {
		next = newTransport(opts.RootCAs)
	}
	h.wire = wire{host, next}
	if opts.UserToken != "" {
		h.person = newToken(opts.UserToken, time.Time{}, tokenKey{})
	}
	h.anyone = h.newClient(&tokenAuth{host: host, next: revalidate{h.wire},
		token: func(context.Context) (Token, error) { return h.person, nil }}, newLimits(h.now))
	if opts.AppID != 0 {
		auth, err := newAppAuth(opts.AppID, opts.PrivateKey, h.wire, h.now, h.log)
		if err != nil {
			return nil, errors.New("hub: the private key is not an RSA key in PEM form") // the cause may repeat it
		}
		h.app = h.githubClient(&retry{next: auth, limits: newLimits(h.now), maxWait: h.opts.MaxWait, all: true})
		h.tokens = newMinter(h.app, auth.clock)
	}
	return h, nil
}

// newTransport is http.DefaultTransport with time-outs that suit an API.
func newTransport(roots *x509.CertPool) http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   16,
		ForceAttemptHTTP2:     true,
	}
}

// Host is the GitHub that this Hub works with, as ids and links name it.
func (h *Hub) Host() string { return h.host.host }

// WebURL is the web site's scheme and host, without a slash at the end.
func (h *Hub) WebURL() string { return h.host.web }

// client is the client for one class of access; on the terminal there is but one.
func (h *Hub) client(key tokenKey) *github.Client {
	if h.app == nil {
		return h.anyone
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.clients[key]; c != nil {
		c.used = h.now()
		return c.Client
	}
	if len(h.clients) >= maxClients {
		oldest := key
		for k, c := range h.clients {
			if oldest == key || c.used.Before(h.clients[oldest].used) {
				oldest = k
			}
		}
		delete(h.clients, oldest)
	}
	l := h.limits[key.installation]
	if l == nil {
		l = newLimits(h.now)
		h.limits[key.installation] = l
	}
	c := &client{used: h.now(), Client: h.newClient(&tokenAuth{
		token: func(ctx context.Context) (Token, error) {
			t, _, err := h.tokens.token(ctx, key)
			return t, err
		},
		rejected: h.tokens.rejected,
		host:     h.host,
		next:     revalidate{h.wire},
	}, l)}
	h.clients[key] = c
	return c.Client
}

// newClient stacks a cache of its own and the retries onto auth.
func (h *Hub) newClient(auth http.RoundTripper, l *limits) *github.Client {
	cache := &httpcache.Transport{Cache: newLRU(h.opts.CacheBytes), Transport: auth, MarkCachedResponses: true}
	return h.githubClient(&retry{next: cache, limits: l, maxWait: h.opts.MaxWait})
}

func (h *Hub) githubClient(rt http.RoundTripper) *github.Client {
	c := github.NewClient(&http.Client{Transport: rt, Timeout: requestTime, CheckRedirect: h.checkRedirect})
	base := *h.host.api
	c.BaseURL, c.UploadURL = &base, &url.URL{} // nothing is ever uploaded
	c.UserAgent = "librarian"
	return c
}

func (h *Hub) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return errors.New("too many redirects")
	}
	if !h.host.is(req.URL) {
		return fmt.Errorf("refused a redirect to %s", req.URL.Host)
	}
	return nil
}

// Forget drops every token and kept answer of a repository, or of the whole installation when number is 0: for when it is
// removed from the App.
func (h *Hub) Forget(installation, number int64) {
	if h.tokens == nil {
		return
	}
	h.tokens.forget(installation, number)
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range h.clients {
		// Answers about any repository may stand in the installation's own class.
		if k.installation == installation && (number == 0 || k.repo == number || k.repo == 0) {
			delete(h.clients, k)
		}
	}
	for k := range h.known {
		if k.installation == installation && (number == 0 || k.repo == number) {
			delete(h.known, k)
		}
	}
	if number == 0 {
		delete(h.limits, installation)
	}
}

// Secrets lists every credential held now, in the forms they take on the wire, so that they can be redacted from what is
// posted or kept.
func (h *Hub) Secrets() []string {
	all := h.person.Secrets()
	if h.tokens != nil {
		all = append(all, h.tokens.secrets()...)
	}
	return all
}

// ReadToken is a token to fetch one repository with: contents, to be read, of that repository alone. It ends in five
// minutes at the earliest. On the terminal it is the person's own, or the zero Token. A repository that the installation
// does not cover is [librarian.ErrNotFound]; a public one ([librarian.Repo].Installation 0) needs no token.
func (h *Hub) ReadToken(ctx context.Context, installation, number int64) (Token, error) {
	if h.tokens == nil {
		return h.person, nil
	}
	if number <= 0 {
		return Token{}, fmt.Errorf("hub: read token: %w", librarian.ErrNotFound)
	}
	t, _, err := h.tokens.token(ctx, tokenKey{classRead, installation, number})
	if err != nil {
		return Token{}, failed("read token", err)
	}
	return t, nil
}

// Rejected is to be told when GitHub answers 401 to t: the next [Hub.ReadToken] mints another. Ask for that once.
func (h *Hub) Rejected(t Token) {
	if h.tokens != nil {
		h.tokens.rejected(t)
	}
}

// PostClient is a client that can post and react in place's repository, in threads of its kind, and nothing else; with it comes
// the repository's present name. Its writes are sent once, renamed repositories followed. A place of another GitHub, or on the
// terminal, is [librarian.ErrNotFound].
func (h *Hub) PostClient(ctx context.Context, place librarian.Place) (*github.Client, librarian.RepoName, error) {
	if h.tokens == nil {
		return nil, librarian.RepoName{}, errNoApp("post client")
	}
	host, number, ok := place.Repo.GitHub()
	class, posts := postClass(place.Kind)
	if !ok || !posts || host != h.host.host {
		return nil, librarian.RepoName{}, fmt.Errorf("hub: post client: %w", librarian.ErrNotFound)
	}
	key := tokenKey{class, place.Installation, number}
	_, name, err := h.tokens.token(ctx, key)
	if err != nil {
		return nil, librarian.RepoName{}, failed("post client", err)
	}
	return h.client(key), name, nil
}
