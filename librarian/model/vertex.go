package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/vertex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// vertexScope is what a token must allow (https://cloud.google.com/vertex-ai/docs/authentication).
const vertexScope = "https://www.googleapis.com/auth/cloud-platform"

// NewVertex makes the adapter for Claude on Google's Vertex AI; the model is its id there. Credentials are Google's
// Application Default Credentials (https://cloud.google.com/docs/authentication/application-default-credentials); the
// project is GOOGLE_CLOUD_PROJECT, else the credentials' own; the location GOOGLE_CLOUD_LOCATION, else global. They are
// looked for at the first call.
func NewVertex(o Options) (*Anthropic, error) {
	var tokens oauth2.TokenSource
	return newAnthropicOn(o, &cloud{
		open: func(ctx context.Context, o Options) (opts []option.RequestOption, err error) {
			// Tokens are renewed long after this call, so they outlive its context, and go where our client's proxy says.
			client := *o.HTTP
			client.Timeout = credentialTimeout
			ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &client)
			creds, err := google.FindDefaultCredentials(ctx, vertexScope)
			if err != nil {
				return nil, err
			}
			project, location := os.Getenv("GOOGLE_CLOUD_PROJECT"), os.Getenv("GOOGLE_CLOUD_LOCATION")
			if project == "" {
				project = creds.ProjectID
			}
			if project == "" {
				return nil, &failure{e: &Error{Kind: ErrAuth, Message: "the project of Vertex is not known: set GOOGLE_CLOUD_PROJECT"}}
			}
			if location == "" {
				location = "global"
			}
			tokens = oauth2.ReuseTokenSource(nil, creds.TokenSource)
			creds.TokenSource = tokens
			defer func() { // the SDK panics where Google's library returns an error
				if r := recover(); r != nil {
					err = fmt.Errorf("vertex: %v", r)
				}
			}()
			return []option.RequestOption{option.WithHTTPClient(o.HTTP), vertex.WithCredentials(ctx, location, project, creds)}, nil
		},
		ready: func() error {
			_, err := tokens.Token()
			return tokenFailure(err)
		},
	})
}

// tokenFailure tells a token that is refused from a token server that fails.
func tokenFailure(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case err == nil:
		return nil
	case ok && refused.Response != nil && refused.Response.StatusCode < http.StatusInternalServerError:
		return noCredentials("vertex", err)
	}
	return &failure{e: &Error{Kind: ErrNetwork, Message: "the token server of Vertex failed", Err: err}, retry: !untrusted(err), few: unreachable(err)}
}
