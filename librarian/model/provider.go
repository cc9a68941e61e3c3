package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Options say how a provider's model is reached and what it costs.
type Options struct {
	Provider string // the name before the slash of provider/model-id: "anthropic", "bedrock", "vertex", "openai", or a name of the operator's
	Model    string // the provider's own id of the model
	Key      string // sent as the provider wants it; may be empty for a local server; not used for bedrock and vertex
	BaseURL  string // https://host/path, without userinfo; empty: the provider's own

	HTTP *http.Client // for a proxy and more CAs; nil: one that honours HTTPS_PROXY. Redirects are never followed

	MaxOutput   int   // tokens of one reply, thinking included; 0: the adapter's default
	MaxThinking Level // the most this model can do; empty: what is known of it
	NoStream    bool  // for servers that cannot stream

	Prices Prices
	Retry  Retry

	FirstByte time.Duration // how long a reply may take to begin; 5 min (local servers read a long prompt slowly)
	Stall     time.Duration // how long a stream may be silent; 60 s for Anthropic, which pings, else 3 min: the model may be thinking

	Log *slog.Logger // of retries; nil: slog.Default()
}

// maxReply bounds what is read of one answer, in bytes.
const maxReply = 64 << 20

var (
	errStall    = errors.New("model: the provider fell silent")
	errTooLarge = errors.New("model: the answer is too large")
	errCut      = errors.New("model: the stream broke off")
)

// provider is what the adapters share.
type provider struct {
	o Options
}

func newProvider(o Options) (provider, error) {
	if o.Provider == "" || o.Model == "" {
		return provider{}, errors.New("model: a provider and a model are needed")
	}
	if o.BaseURL != "" {
		u, err := url.Parse(o.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return provider{}, fmt.Errorf("model: %s: the base URL must be http:// or https://", o.Provider)
		}
		if u.User != nil {
			return provider{}, fmt.Errorf("model: %s: the base URL must not hold a user or password", o.Provider)
		}
	}
	client := &http.Client{}
	if o.HTTP != nil {
		c := *o.HTTP
		client = &c
	}
	// The answer to a redirect would be a second server that reads the key and the code; Go strips only Authorization.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.HTTP = client
	if o.FirstByte <= 0 {
		o.FirstByte = 5 * time.Minute
	}
	if o.Stall <= 0 {
		o.Stall = 3 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	o.Retry = o.Retry.withDefaults()
	return provider{o: o}, nil
}

// Name is provider/model-id.
func (p provider) Name() string { return p.o.Provider + "/" + p.o.Model }

// generate makes one call until it succeeds, cannot succeed, or the time for retries is over.
func (p provider) generate(ctx context.Context, once func(ctx context.Context, touch *watch) (Reply, error)) (Reply, error) {
	reply, err := p.o.Retry.do(ctx, p.o.Log.With("model", p.Name()), func() (Reply, error) {
		inner, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		w := &watch{stall: p.o.Stall, timer: time.AfterFunc(p.o.FirstByte, func() { cancel(errStall) })}
		defer w.timer.Stop()
		reply, err := once(inner, w)
		if err != nil {
			if ctx.Err() != nil {
				return Reply{}, fmt.Errorf("model: %w", context.Cause(ctx))
			}
			if errors.Is(context.Cause(inner), errStall) {
				return Reply{}, &failure{e: &Error{Kind: ErrNetwork, Message: "the provider fell silent", Err: errStall}, retry: true}
			}
			return Reply{}, p.classify(err)
		}
		return reply, nil
	})
	if err != nil {
		if f, ok := errors.AsType[*failure](err); ok {
			f.e.Message = p.clean(f.e.Message)
			return Reply{}, f.e
		}
		return Reply{}, err
	}
	reply.Message.V, reply.Message.Role, reply.Message.Provider = Version, Assistant, p.o.Provider
	if price, ok := p.o.Prices[p.Name()]; ok {
		cost := price.Cost(reply.Usage)
		reply.Cost = &cost
	}
	return reply, nil
}

// watch ends a call whose provider says nothing, and bounds what is read.
type watch struct {
	timer *time.Timer
	stall time.Duration
	// refusal reads an error's body where the SDK cannot read every server's; may be nil.
	refusal func(status int, header http.Header, body []byte) *failure
}

// maxRefusal bounds what is read of an error's body, in bytes.
const maxRefusal = 1 << 20

// middleware watches a response's body. Both SDKs take it.
func (w *watch) middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := next(req)
	if err != nil {
		return resp, err
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		return nil, &failure{e: &Error{Kind: ErrInvalid, Status: resp.StatusCode, Message: "the provider sends us elsewhere, which is not followed; check the base URL"}}
	}
	if resp.StatusCode >= 400 && w.refusal != nil {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		_ = resp.Body.Close()
		if err != nil && len(body) == 0 {
			return nil, err
		}
		return nil, w.refusal(resp.StatusCode, resp.Header, body)
	}
	if resp.Body != nil {
		resp.Body = &watchedBody{ReadCloser: resp.Body, w: w, left: maxReply}
	}
	return resp, nil
}

type watchedBody struct {
	io.ReadCloser
	w    *watch
	left int64
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if n > 0 {
		b.w.timer.Reset(b.w.stall)
	}
	return n, err
}

// classify makes a failure of what an SDK returned.
func (p provider) classify(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	if f = anthropicFailure(err); f != nil {
		return f
	}
	if f = openaiFailure(err); f != nil {
		return f
	}
	if errors.Is(err, errTooLarge) {
		return &failure{e: &Error{Kind: ErrInvalid, Message: "the answer is too large", Err: errTooLarge}}
	}
	// A URL can hold what should not be in a log; its own error says enough.
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return &failure{e: &Error{Kind: ErrNetwork, Message: err.Error(), Err: err}, retry: !untrusted(err), few: unreachable(err)}
}

// keyShapes are what keys look like, and what providers make of them in their messages.
var keyShapes = regexp.MustCompile(`\b(sk|key|gsk|xai|ghs|ghp|github_pat)[-_][A-Za-z0-9_*.-]{6,}|\bAIza[A-Za-z0-9_-]{20,}` +
	`|\b(AKIA|ASIA)[A-Z0-9]{12,}|\bya29\.[A-Za-z0-9_.-]+|(?i)\bx-amz-security-token\s*[:=]\s*\S+`)

// clean takes keys out of a provider's words and bounds them.
func (p provider) clean(s string) string {
	if len(p.o.Key) >= 8 {
		s = strings.ReplaceAll(s, p.o.Key, "[key]")
	}
	s = keyShapes.ReplaceAllString(s, "[key]")
	s = strings.Join(strings.Fields(s), " ")
	const most = 500
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
