package codetool

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/librarian-app/librarian/librarian/sandbox"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Time limits of bash, in seconds.
const (
	defaultSeconds = 30
	maxSeconds     = 120
)

// BashArgs are the arguments of bash.
type BashArgs struct {
	Command string `json:"command" jsonschema:"A bash command line of at most 32 KiB, for inspection: it runs in the checkout's root, may read the run's checkouts, and write only in $TMPDIR, which is emptied after each command."`
	Repo    string `json:"repo,omitempty" jsonschema:"The checkout to run in, as checkout_repo named it. Default: the only one there is."`
	Timeout *int   `json:"timeout,omitempty" jsonschema:"Seconds until it is killed, at most 120. Default 30."`
}

// BashData is what bash gives to programs.
type BashData struct {
	Code   int    `json:"code"`
	Killed string `json:"killed,omitempty"` // the bound that was met
	Lines  int    `json:"lines"`            // of output, in all
}

func (s *Session) bash() tool.Tool {
	return tool.New(tool.Definition[BashArgs]{
		Name: "bash",
		Description: "Runs a command in a sandbox over the checkouts: no network, nothing outside them can be read, nothing in them changed. Shows the last 2000 " +
			"lines or 50 KiB of its output. For counting and combining; its output is not evidence, so read lines before you cite them. The run's other checkouts are below /checkouts too " +
			"(where that does not exist, name one in repo). git works on the checkout of repo and on what was fetched of its history: use git_log, git_show, git_blame and git_diff, which fetch what they need.",
		Effect: tool.Read,
		Verb:   "bash",
		Subject: func(a BashArgs) string {
			return tool.OneLine(tool.Clip(strings.Join(strings.Fields(a.Command), " "), 120))
		},
		Run: s.runBash,
		Refine: func(schema *jsonschema.Schema) {
			least, most := 1.0, float64(maxSeconds)
			schema.Properties["timeout"].Minimum, schema.Properties["timeout"].Maximum = &least, &most
		},
	})
}

func (s *Session) runBash(ctx context.Context, a BashArgs) (tool.Result, error) {
	seconds := defaultSeconds
	if a.Timeout != nil {
		if seconds = min(*a.Timeout, maxSeconds); seconds < 1 {
			return tool.Errorf("timeout must be greater than or equal to 1."), nil
		}
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return tool.Errorf("command must not be empty."), nil
	case len(a.Command) > 32<<10:
		return tool.Errorf("command must be at most 32 KiB."), nil
	case strings.ContainsRune(a.Command, 0):
		return tool.Errorf("command must not contain NUL."), nil
	}
	h, no := s.find(a.Repo)
	if no != "" {
		return refused(no), nil
	}
	dirs := s.dirs()
	c := sandbox.Command{Line: a.Command, Dir: h.Checkout.Dir(), As: viewNames(dirs), Timeout: time.Duration(seconds) * time.Second}
	for dir := range dirs {
		c.Read = append(c.Read, dir)
	}
	cut, plain := -1, c
	if usesGit.MatchString(a.Command) {
		var err error
		if c, cut, err = s.withGit(ctx, c, h); err != nil {
			return tool.Result{}, fmt.Errorf("codetool: bash: %w", err)
		}
	}
	out, err := s.opts.Sandbox.Run(ctx, c)
	if err != nil && len(c.Files) > 0 && ctx.Err() == nil { // the store is gone or damaged; the tree is there
		out, err = s.opts.Sandbox.Run(ctx, plain)
	}
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		return tool.Result{}, fmt.Errorf("codetool: bash: %w", err)
	}
	dirs[h.Checkout.Dir()] = "."
	if out.View {
		dirs = nil // it saw its own names only
	}
	return bashResult(out, seconds, dirs, cut), nil
}

// dirs are the folders of all checkouts, with the keys they are shown as.
func (s *Session) dirs() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	dirs := map[string]string{}
	for _, h := range s.held {
		dirs[h.Checkout.Dir()] = h.key
	}
	return dirs
}

// viewNames says where a command sees the checkouts: below /checkouts by their keys. A ref's slashes make no folders, nor do those
// of a key that lies below another, as some hosts allow.
func viewNames(dirs map[string]string) map[string]string {
	flat := strings.NewReplacer("/", "%2F", "%", "%25")
	names := map[string]string{}
	for dir, key := range dirs {
		base, ref, at := strings.Cut(key, "@")
		for _, other := range dirs {
			if strings.HasPrefix(key, other+"/") {
				base = flat.Replace(base)
				break
			}
		}
		if at {
			base += "@" + flat.Replace(ref)
		}
		names[dir] = "/checkouts/" + base
	}
	return names
}

// usesGit is a command that might call git.
var usesGit = regexp.MustCompile(`\bgit\b`)

// withGit gives a command a git directory of its own over the objects of its checkout's store. cut is how often the history that is
// there breaks off.
func (s *Session) withGit(ctx context.Context, c sandbox.Command, h *held) (sandbox.Command, int, error) {
	objects, seen := h.Checkout.Objects(), "/checkouts/.objects"
	if s.opts.Sandbox.Hidden(ctx) != nil {
		seen = objects
	}
	files, err := h.Checkout.GitDir(seen)
	if err != nil {
		return c, 0, err
	}
	c.As = maps.Clone(c.As)
	c.As[objects] = "/checkouts/.objects"
	c.Read = append(slices.Clone(c.Read), objects)
	c.Files = map[string][]byte{}
	for name, content := range files {
		c.Files[".git/"+name] = content
	}
	tree := h.Checkout.Dir()
	if seen != objects {
		tree = c.As[tree]
	}
	c.Env = append(slices.Clone(c.Env), "GIT_DIR=$SCRATCH/.git", "GIT_WORK_TREE="+tree)
	return c, len(h.Checkout.CutOff()), nil
}

// bashResult makes the tool's result. Of dirs the folders are shown as the keys; cut is how often git's history breaks off, below 0
// if git was not called.
func bashResult(out sandbox.Output, seconds int, dirs map[string]string, cut int) tool.Result {
	text := out.Text
	for dir, shown := range dirs { // where things lie on this machine is nobody's business
		text = strings.ReplaceAll(text, dir, shown)
	}
	text = plainText(text)
	if text == "" {
		text = "(no output)"
	}
	var said []string
	if out.Shown < out.Lines {
		note := fmt.Sprintf("[Showing lines %d-%d of %d", out.Lines-out.Shown+1, out.Lines, out.Lines)
		if out.Shown < tool.MaxLines {
			note += " (" + tool.Size(tool.MaxBytes) + " limit)"
		}
		said = append(said, note+".]")
	} else if out.Bytes > int64(len(out.Text))+1 {
		said = append(said, fmt.Sprintf("[Showing the last %s of %s.]", tool.Size(int64(len(out.Text))), tool.Size(out.Bytes)))
	}
	summary := "exit 0"
	switch {
	case out.Killed == sandbox.TimedOut:
		said = append(said, fmt.Sprintf("[Killed after %d seconds. Use timeout=N for up to %d, or a narrower command.]", seconds, maxSeconds))
		summary = "killed: time"
	case out.Killed != "":
		said = append(said, fmt.Sprintf("[Killed: the limit of %s was reached. Use a narrower command.]", out.Killed))
		summary = "killed: " + string(out.Killed)
	case out.Code != 0:
		said = append(said, fmt.Sprintf("[Exit code %d.]", out.Code))
		summary = fmt.Sprintf("exit %d", out.Code)
	}
	switch {
	case cut >= 0 && wantsHistory.MatchString(text):
		said = append(said, "[Something was not fetched; use git_log and git_show, which fetch what they need.]")
	case cut > 0:
		said = append(said, "[git saw only the newest history here; use git_log, git_show and git_blame, which fetch what they need.]")
	}
	return tool.Result{Text: tool.Notices(text, said...), IsError: out.Killed != "", Summary: summary,
		Data: tool.JSON(BashData{Code: out.Code, Killed: string(out.Killed), Lines: out.Lines})}
}

// wantsHistory is what git says where it misses objects, refs or a repository.
var wantsHistory = regexp.MustCompile(`not a git repository|promisor remote|lazy fetching disabled|missing (?:blob|tree|commit) object|` +
	`(?:unable to read|[Cc]ould not read|bad object|not a valid object name:?|Not a valid object name|invalid object) '?\S|unknown revision or path|bad revision '|invalid upstream|no such ref`)

// escapes are terminal sequences (ECMA-48): control sequences, strings such as titles and links, and single ones.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]")

// plainText takes out of a program's output what only a terminal understands; of a line that was overwritten the last state stays.
func plainText(s string) string {
	s = escapes.ReplaceAllString(s, "")
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		lines[i] = tool.OneLine(l[strings.LastIndexByte(l, '\r')+1:])
	}
	return strings.Join(lines, "\n")
}
