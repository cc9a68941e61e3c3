package app

import (
	"context"
	"io/fs"
	"strings"
	"sync"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/tool"
)

// maxKept bounds what is kept of files read through the API, in bytes of one run. What is beyond can be cited only as a whole.
const maxKept = 32 << 20

// apiReads is what a run read through GitHub's API, without a checkout: it can be cited as well, and is checked against what
// was read. A repository goes by "owner/repo", and by "owner/repo@" and twelve digits where it was read at several commits.
type apiReads struct {
	mu      sync.Mutex
	sources []report.Source
	files   map[apiFile]apiText
	kept    int
}

type apiFile struct {
	repo librarian.RepoID
	sha  string
	path string
}

type apiText struct {
	info  report.FileInfo
	lines []string // of text
}

func newAPIReads() *apiReads { return &apiReads{files: map[apiFile]apiText{}} }

// keep implements ghtool's Options.Keep.
func (a *apiReads) keep(repo librarian.Repo, sha, path, kind string, content []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := (apiFile{repo.ID, sha, path}); a.files[f].lines == nil {
		a.files[f] = a.text(kind, content)
	}
	key, known := repo.FullName(), false
	for _, s := range a.sources {
		if s.Repo.ID == repo.ID {
			if s.SHA == sha {
				return
			}
			known = true
		}
	}
	if known {
		key += "@" + sha[:12]
	}
	a.sources = append(a.sources, report.Source{Key: key, Repo: repo, SHA: sha})
}

// text is what is kept of a file. a.mu is held.
func (a *apiReads) text(kind string, content []byte) apiText {
	if kind != "file" {
		return apiText{info: report.FileInfo{Kind: report.Kind(kind)}}
	}
	text := tool.ReadText(content).Body
	if a.kept += len(text); a.kept > maxKept {
		a.kept -= len(text)
		return apiText{info: report.FileInfo{Kind: "large"}}
	}
	t := apiText{lines: tool.SplitLines([]byte(text)), info: report.FileInfo{Kind: report.KindText, Lines: tool.CountLines(content)}}
	if _, pointer := tool.LFSPointer(text); pointer {
		t.info.Kind = report.KindLFS
	}
	return t
}

// all are the commits that were read.
func (a *apiReads) all() []report.Source {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]report.Source(nil), a.sources...)
}

// source finds a commit by its key, or by the repository's name and the beginning of its sha.
func (a *apiReads) source(key string) (report.Source, bool) {
	name, ref, hasRef := strings.Cut(key, "@")
	for _, s := range a.all() {
		if strings.EqualFold(s.Key, key) || hasRef && len(ref) >= 7 && strings.EqualFold(s.Repo.FullName(), name) && strings.HasPrefix(s.SHA, ref) {
			return s, true
		}
	}
	return report.Source{}, false
}

// has reports whether anything was read of a commit.
func (a *apiReads) has(repo librarian.RepoID, sha string) bool {
	for _, s := range a.all() {
		if s.Repo.ID == repo && s.SHA == sha {
			return true
		}
	}
	return false
}

// Stat implements report.Tree for what was read.
func (a *apiReads) Stat(_ context.Context, repo librarian.RepoID, sha, path string) (report.FileInfo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.files[apiFile{repo, sha, path}]
	if !ok {
		return report.FileInfo{}, fs.ErrNotExist
	}
	return t.info, nil
}

// Nearest implements report.Tree: the files read of that commit that have the name.
func (a *apiReads) Nearest(_ context.Context, repo librarian.RepoID, sha, path string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	base := path[strings.LastIndexByte(path, '/')+1:]
	for f := range a.files {
		if f.repo == repo && f.sha == sha && strings.EqualFold(f.path[strings.LastIndexByte(f.path, '/')+1:], base) {
			out = append(out, f.path)
		}
	}
	return out
}

// Lines implements report.Tree for what was read.
func (a *apiReads) Lines(_ context.Context, repo librarian.RepoID, sha, path string, start, end int) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.files[apiFile{repo, sha, path}]
	if !ok {
		return nil, fs.ErrNotExist
	}
	start, end = max(start, 1), min(end, len(t.lines))
	if start > end {
		return nil, nil
	}
	return t.lines[start-1 : end], nil
}
