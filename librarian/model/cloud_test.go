package model_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// cloudEnvironment gives the whole process the credentials of the clouds, which their SDKs read from the environment alone,
// and starts the server that gives tokens for Google's.
func cloudEnvironment() (end func(), err error) {
	tokens := httptest.NewServer(http.HandlerFunc(modeltest.GoogleTokens))
	dir, err := os.MkdirTemp("", "librarian-model")
	if err != nil {
		return nil, err
	}
	account, err := modeltest.GoogleAccount(tokens.URL)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "account.json")
	if err := os.WriteFile(file, account, 0o600); err != nil {
		return nil, err
	}
	for k, v := range map[string]string{
		"AWS_ACCESS_KEY_ID": modeltest.AWSAccessKeyID, "AWS_SECRET_ACCESS_KEY": modeltest.AWSSecretAccessKey, "AWS_REGION": modeltest.AWSRegion,
		"AWS_CONFIG_FILE": filepath.Join(dir, "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "none"), "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_BEARER_TOKEN_BEDROCK": "", "AWS_CA_BUNDLE": "",
		"GOOGLE_APPLICATION_CREDENTIALS": file, "GOOGLE_CLOUD_PROJECT": "", "GOOGLE_CLOUD_LOCATION": modeltest.GoogleLocation,
		"ANTHROPIC_API_KEY": "sk-not-for-clouds", // and must not be sent to them
	} {
		if err := os.Setenv(k, v); err != nil {
			return nil, err
		}
	}
	return func() { tokens.Close(); _ = os.RemoveAll(dir) }, nil
}

func askCloud(ctx context.Context, m model.Model) error {
	_, err := m.Generate(ctx, model.Call{Messages: []model.Message{model.UserText("?")}})
	return err
}

// Credentials that cannot be had are an error that says where they were looked for, after one attempt and without a word of
// what was found there. This test changes the environment, so it is not parallel.
func TestCloudCredentials(t *testing.T) {
	silent := make(chan struct{})
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			select {
			case <-silent:
			case <-r.Context().Done():
			}
			return
		}
		modeltest.GoogleTokens(w, r)
	}))
	defer tokens.Close()
	defer close(silent)
	account := func(path string) string {
		raw, err := modeltest.GoogleAccount(tokens.URL + path)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "account.json")
		require.NoError(t, os.WriteFile(file, raw, 0o600))
		return file
	}
	for name, tc := range map[string]struct {
		provider string
		env      map[string]string
		says     string
	}{
		"no keys":           {"bedrock", map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "no credentials for bedrock"},
		"no region":         {"bedrock", map[string]string{"AWS_REGION": ""}, "AWS_REGION"},
		"no such profile":   {"bedrock", map[string]string{"AWS_PROFILE": "nobody"}, "no credentials for bedrock"},
		"no file":           {"vertex", map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/nowhere"}, "no credentials for vertex"},
		"a refused account": {"vertex", map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": account("/refuse")}, "no credentials for vertex"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			nobody := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked without credentials") }))
			defer nobody.Close()
			m, err := model.New(model.Options{Provider: tc.provider, Model: "m", BaseURL: nobody.URL, Retry: model.Retry{First: time.Hour}, Log: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			var e *model.Error
			require.ErrorAs(t, askCloud(t.Context(), m), &e)
			require.Equal(t, model.ErrAuth, e.Kind)
			require.Contains(t, e.Message, tc.says)
			require.NotContains(t, e.Error(), "account not found")
		})
	}

	t.Run("a silent token server", func(t *testing.T) {
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", account("/silent"))
		m, err := model.New(model.Options{Provider: "vertex", Model: "m", BaseURL: tokens.URL, Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, askCloud(ctx, m), context.DeadlineExceeded)
		require.Less(t, time.Since(began), 10*time.Second)
	})

	t.Run("later they are there", func(t *testing.T) {
		w := modeltest.NewBedrock(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Yes."}}})
		m := provider{"bedrock", "anthropic.claude-opus-5-5-v1:0", modeltest.NewBedrock, ""}.open(t, w)
		t.Setenv("AWS_REGION", "")
		require.Error(t, askCloud(t.Context(), m))
		t.Setenv("AWS_REGION", modeltest.AWSRegion)
		require.NoError(t, askCloud(t.Context(), m))
	})
}

// The ids of the clouds tell as much of a model as Anthropic's own do.
func TestCloudModelIDs(t *testing.T) {
	t.Parallel()
	for _, p := range []provider{
		{"vertex", "claude-opus-4@20250514", modeltest.NewVertex, ""},
		{"bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", modeltest.NewBedrock, ""},
	} {
		w := p.serve(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Yes."}}})
		_, err := p.open(t, w).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}, Thinking: model.High})
		require.NoError(t, err)
		require.Contains(t, string(w.Bodies()[0]), `"budget_tokens":16384`, p.model)
	}
	arn := "arn:aws:bedrock:eu-test-1:123456789012:application-inference-profile/abc"
	w := modeltest.NewBedrock(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Yes."}}})
	require.NoError(t, askCloud(t.Context(), provider{"bedrock", arn, modeltest.NewBedrock, ""}.open(t, w)))
}

// What a cloud says of a request that it refuses can hold parts of what the request was signed with.
func TestCloudRefusalsAreCleaned(t *testing.T) {
	t.Parallel()
	for _, p := range providers[len(providers)-2:] {
		w := p.serve(t, modeltest.Answer{Status: 403, Type: "SignatureDoesNotMatch",
			Message: "The canonical request should have been x-amz-security-token:FwoGZXIvYXdzEXAMPLE of " + modeltest.AWSAccessKeyID + " or ya29.a0AbCdEf"})
		_, err := p.open(t, w).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
		var e *model.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, model.ErrAuth, e.Kind)
		require.Equal(t, "The canonical request should have been [key] of [key] or [key]", e.Message)
	}
}
