package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian/hub"
)

// identityTime bounds how long a start waits for GitHub to say who we are.
const identityTime = 20 * time.Second

// identity asks GitHub which App we are. An answer is kept, so that a restart while GitHub is away still takes deliveries. A key that
// GitHub knows no more is not that: whoever asked would wait for ever.
func (s *Server) identity(ctx context.Context, h *hub.Hub) (hub.App, error) {
	file := filepath.Join(s.cfg.Server.Data, "app.json")
	asking, stop := context.WithTimeout(ctx, identityTime)
	defer stop()
	me, err := h.App(asking)
	if err == nil {
		if raw, err := json.Marshal(me); err == nil {
			if err := os.WriteFile(file, raw, 0o600); err != nil {
				s.log.WarnContext(ctx, "the App's identity could not be kept", "error", err)
			}
		}
		return me, nil
	}
	if ctx.Err() != nil {
		return hub.App{}, ctx.Err()
	}
	var kept hub.App
	if raw, readErr := os.ReadFile(file); !disowned(err) && readErr == nil && json.Unmarshal(raw, &kept) == nil && kept.ID == s.cfg.GitHub.AppID && kept.Slug != "" {
		s.log.WarnContext(ctx, "GitHub could not be asked who we are; going by the last answer", "error", err)
		return kept, nil
	}
	return hub.App{}, &UsageError{
		Message: "GitHub did not say which App this is: " + err.Error(),
		Hint:    "check github.app_id, the private key, and that github.api_url can be reached", Err: err,
	}
}

// disowned reports whether GitHub answered that we are no App of its.
func disowned(err error) bool {
	e, ok := errors.AsType[*github.ErrorResponse](err)
	return ok && e.Response != nil && (e.Response.StatusCode == http.StatusUnauthorized || e.Response.StatusCode == http.StatusNotFound)
}
