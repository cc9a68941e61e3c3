package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// credentialTimeout bounds one look for credentials, and one request for a token.
const credentialTimeout = 30 * time.Second

// cloud is how Claude is reached by the service of a cloud. Its credentials come as that cloud's own programs find them,
// from its environment variables, files and machines; [Options].Key is not used.
type cloud struct {
	// open finds the credentials, with file and network access; the options are those that its SDK makes of them.
	open func(ctx context.Context, o Options) ([]option.RequestOption, error)
	// ready, where it is not nil, waits for what the options would wait for without a context.
	ready func() error

	mu   sync.Mutex
	opts []option.RequestOption // of the first call that found credentials
}

// newAnthropicOn makes the adapter for a cloud. It reads no environment and connects to nothing.
func newAnthropicOn(o Options, c *cloud) (*Anthropic, error) {
	p, err := newProvider(o)
	if err != nil {
		return nil, err
	}
	a := &Anthropic{provider: p, cloud: c}
	a.mode, a.levels = claude(o.Model)
	a.messages = anthropic.NewMessageService(option.WithHTTPClient(p.o.HTTP), option.WithMaxRetries(0), option.WithoutOpenTelemetry())
	return a, nil
}

// reach is what a request needs to get to the cloud. It returns when ctx ends; the clouds' libraries, which do not, are left
// to their time-outs.
func (c *cloud) reach(ctx context.Context, o Options) ([]option.RequestOption, error) {
	type found struct {
		opts []option.RequestOption
		err  error
	}
	done := make(chan found, 1)
	go func() {
		opts, err := c.find(context.WithoutCancel(ctx), o)
		if err == nil && c.ready != nil {
			err = c.ready()
		}
		done <- found{opts, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case f := <-done:
		return slices.Clip(f.opts), f.err
	}
}

// find looks for the credentials until it has found some; the SDKs renew what expires.
func (c *cloud) find(ctx context.Context, o Options) ([]option.RequestOption, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts != nil {
		return c.opts, nil
	}
	ctx, cancel := context.WithTimeout(ctx, credentialTimeout)
	defer cancel()
	opts, err := c.open(ctx, o)
	if f, ok := errors.AsType[*failure](err); ok {
		return nil, f
	}
	if err != nil {
		return nil, noCredentials(o.Provider, err)
	}
	if o.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(o.BaseURL))
	}
	c.opts = opts
	return opts, nil
}

// noCredentials is what is said when a cloud's credentials cannot be had. The cause is not said: it can hold what a token
// server answered.
func noCredentials(provider string, err error) *failure {
	return &failure{e: &Error{Kind: ErrAuth, Message: "no credentials for " + provider + " were found where its own programs look for them", Err: err}}
}

// cloudException reads the type of an error in Bedrock's streams
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html).
func cloudException(f *failure, kind string) {
	switch strings.ToLower(kind) {
	case "throttlingexception":
		f.e.Kind, f.retry = ErrRateLimited, true
	case "internalserverexception", "modelstreamerrorexception", "modeltimeoutexception", "serviceunavailableexception":
		f.e.Kind, f.retry = ErrOverloaded, true
	}
}

// cloudRefusal reads an error's body: the model's own, Amazon's {"message": …}, Google's {"error": {"message": …}}, which
// can stand in a list.
func cloudRefusal(status int, header http.Header, body []byte) *failure {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var said struct {
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &said)
	message := said.Message
	if message == "" {
		message = said.Error.Message
	}
	if message == "" {
		message = http.StatusText(status)
	}
	return statusFailure(status, message, header).claude()
}
