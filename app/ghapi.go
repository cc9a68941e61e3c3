package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/hub"
	"github.com/librarian-app/librarian/librarian/run"
	"github.com/librarian-app/librarian/librarian/tool"
	"github.com/librarian-app/librarian/librarian/tool/codetool"
	"github.com/librarian-app/librarian/librarian/tool/ghtool"
)

// api is one run's way to GitHub's API, behind its gate.
type api struct {
	*run.Gate
	hub *hub.Hub
}

// Get implements ghtool.API. Without a repository the credential reads the thread's own one and what is public.
func (a api) Get(ctx context.Context, repo *librarian.Repo, path string, query url.Values, header http.Header) (*http.Response, error) {
	if repo == nil {
		own := a.Own()
		repo = &own
	}
	return a.hub.Get(ctx, a.Place().Installation, *repo, path, query, header)
}

// githubTools are the tools that ask services instead of checkouts.
func githubTools(g *run.Gate, h *hub.Hub, pace *ghtool.Pace, grepApp string, now func() time.Time, reads *apiReads, s *codetool.Session) []tool.Tool {
	tools := ghtool.Tools(ghtool.Options{API: api{g, h}, Host: h.Host(), Run: string(g.Run), Pace: pace, Now: now, Keep: reads.keep, Big: s.View,
		Discussion: func(ctx context.Context, repo librarian.Repo, number int) (librarian.Thread, error) {
			return h.Discussion(ctx, g.Place().Installation, repo, number)
		}})
	if t := ghtool.SearchCode(ghtool.GrepApp{URL: grepApp}); grepApp != "" && (!g.MayHoldPrivate() || g.Egress(t.Spec().Name)) {
		tools = append(tools, publicOnly{t, g})
	}
	return tools
}

// publicOnly is a tool that sends what a model writes to a third party. It ends for a run that has come to know something
// private.
type publicOnly struct {
	tool.Tool
	gate *run.Gate
}

func (p publicOnly) Call(ctx context.Context, args json.RawMessage) (tool.Result, error) {
	if name := p.Spec().Name; p.gate.MayHoldPrivate() && !p.gate.Egress(name) {
		return tool.Errorf("%s sends its pattern to a third party, and this run has read private code. Use search_github_code or grep instead.", name), nil
	}
	return p.Tool.Call(ctx, args)
}
