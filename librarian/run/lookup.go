package run

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/settings"
	"github.com/librarian-app/librarian/librarian/tool"
)

// lookUp calls one tool by hand, behind the same gate as a run's tools, and shows its result.
func (r *Runner) lookUp(ctx context.Context, run librarian.Run, own librarian.Repo, set settings.Settings) ([]string, error) {
	c := r.comment(run)
	repo, name, args, ok := lookUpCall(run.Request.Command, run.Request.Question)
	if !ok {
		return []string{c.Notice(fmt.Sprintf("I do not know how to read `%s`.", commandLine(run.Request)))}, nil
	}
	gate := r.gate(run, own, set)
	kit := r.o.Toolbox(gate)
	defer kit.Close()
	tools, err := tool.NewCatalog(kit.Tools...)
	if err != nil {
		return nil, err
	}
	out := report.Lookup{Call: commandLine(run.Request)}
	if repo != "" {
		res, err := callByName(ctx, tools, "checkout_repo", map[string]any{"repo": repo})
		if err != nil {
			return nil, r.lookUpError(ctx, err)
		}
		if res.IsError {
			out.Text, out.Failed = res.Text, true
			return c.Lookup(out), nil
		}
	}
	res, err := callByName(ctx, tools, name, args)
	if err != nil {
		return nil, r.lookUpError(ctx, err)
	}
	out.Text, out.Failed = res.Text, res.IsError
	out.Locations = places(append(res.Evidence, candidates(res.Data, kit.Sources)...), kit.Sources)
	if name == "search_github_code" {
		out.Locations = hits(ctx, gate, res.Data)
	}
	return c.Lookup(out), nil
}

// Tool calls one tool by hand for the person at the terminal, behind the gate of a run there. The repositories of q are opened first;
// one that cannot be is the result.
func (r *Runner) Tool(ctx context.Context, q librarian.Request, name string, args json.RawMessage) (tool.Result, error) {
	kit := r.o.Toolbox(r.gate(librarian.Run{Request: q}, librarian.Repo{}, r.o.Base))
	defer kit.Close()
	tools, err := tool.NewCatalog(kit.Tools...)
	if err != nil {
		return tool.Result{}, err
	}
	for _, repo := range q.Repos {
		if res, err := callByName(ctx, tools, "checkout_repo", map[string]any{"repo": repo}); err != nil || res.IsError {
			return res, err
		}
	}
	t, ok := tools.Get(name)
	if !ok {
		return tool.Errorf("%s is not available here.", name), nil
	}
	return t.Call(ctx, args)
}

// Tools lists what [Runner.Tool] can call.
func (r *Runner) Tools(q librarian.Request) []tool.Spec {
	kit := r.o.Toolbox(r.gate(librarian.Run{Request: q}, librarian.Repo{}, r.o.Base))
	defer kit.Close()
	specs := make([]tool.Spec, len(kit.Tools))
	for i, t := range kit.Tools {
		specs[i] = t.Spec()
	}
	return specs
}

// lookUpError keeps a look-up from being tried forever: only a stop of the process is worth another try.
func (r *Runner) lookUpError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// callByName calls a tool of the catalogue; one that is not there is a result that says so.
func callByName(ctx context.Context, tools *tool.Catalog, name string, args map[string]any) (tool.Result, error) {
	t, ok := tools.Get(name)
	if !ok {
		return tool.Errorf("%s is not available here.", name), nil
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return tool.Result{}, fmt.Errorf("run: look up: %w", err)
	}
	return t.Call(ctx, raw)
}

// candidates are the places that find_code named. It showed none of their lines, so they are nobody's evidence; but who asked by
// hand wants to go there.
func candidates(data json.RawMessage, sources report.Sources) []tool.Evidence {
	var found struct {
		Repo, SHA  string
		Candidates []struct {
			Path       string
			Start, End int
		}
	}
	if json.Unmarshal(data, &found) != nil {
		return nil // of another tool
	}
	src, ok := sources.Source(found.Repo)
	if !ok || src.SHA != found.SHA {
		return nil
	}
	var out []tool.Evidence
	for _, c := range found.Candidates {
		out = append(out, tool.Evidence{Repo: string(src.Repo.ID), SHA: src.SHA, Path: c.Path, Start: c.Start, End: c.End})
	}
	return out
}

// maxHitLinks is how many files of a search are linked; of each one's repository GitHub may have to be asked.
const maxHitLinks = 20

// pinned finds the commit in the address of a file on GitHub.
var pinned = regexp.MustCompile(`/blob/([0-9a-f]{40})/`)

// hits are the files that GitHub's code search named, at the commits that it has searched.
func hits(ctx context.Context, gate *Gate, data json.RawMessage) []librarian.Location {
	var found struct {
		Hits []struct{ Repo, Path, URL string }
	}
	if json.Unmarshal(data, &found) != nil {
		return nil
	}
	var out []librarian.Location
	for _, h := range found.Hits[:min(len(found.Hits), maxHitLinks)] {
		name, err := librarian.ParseRepoName(h.Repo)
		at := pinned.FindStringSubmatch(h.URL)
		if err != nil || at == nil {
			continue
		}
		repo, err := gate.Repo(ctx, name)
		if err != nil {
			continue
		}
		out = append(out, librarian.Location{Repo: repo.ID, Name: repo.FullName(), SHA: at[1], Path: h.Path, Web: repo.WebURL, Private: repo.Private()})
	}
	return out
}

// places turns evidence into locations that can be linked.
func places(evidence []tool.Evidence, sources report.Sources) []librarian.Location {
	var out []librarian.Location
	all := sources.Sources()
	for _, e := range evidence {
		for _, s := range all {
			if string(s.Repo.ID) == e.Repo && s.SHA == e.SHA {
				out = append(out, librarian.Location{
					Repo: s.Repo.ID, Name: s.Repo.FullName(), SHA: e.SHA, Path: e.Path, Start: e.Start, End: e.End, Web: s.Repo.WebURL, Private: s.Repo.Private(),
				})
				break
			}
		}
	}
	return out
}

// lookUpCall reads a look-up: the repository to open first, the tool and its arguments. The handlers have seen to its form.
func lookUpCall(command, rest string) (repo, name string, args map[string]any, ok bool) {
	rest = strings.TrimSpace(rest)
	first, more, _ := strings.Cut(rest, " ")
	more = librarian.CodeSpan(strings.TrimSpace(more))
	switch command {
	case "read":
		t, ok := librarian.ParseReadTarget(rest)
		if !ok {
			return "", "", nil, false
		}
		repo = t.Repo.String()
		args = map[string]any{"repo": repo, "path": t.Path}
		if t.Start > 0 {
			args["offset"], args["limit"] = t.Start, t.End-t.Start+1
		}
		return repo, "read", args, true
	case "grep":
		return first, "grep", map[string]any{"repo": first, "pattern": more}, more != ""
	case "find_code":
		return first, "find_code", map[string]any{"repo": first, "question": more}, more != ""
	case "search_repos":
		return "", command, map[string]any{"query": rest}, rest != ""
	case "search_code", "search_github_code":
		return "", command, map[string]any{"pattern": librarian.CodeSpan(rest)}, rest != ""
	}
	return "", "", nil, false
}
