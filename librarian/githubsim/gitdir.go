package githubsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// gitDir is a git repository on disk. Everything but setHead and setRef only reads it.
type gitDir struct {
	git  string
	dir  string   // the git directory, absolute
	safe []string // what safe.directory must name: the git directory and, where there is one, the work tree
}

// openGitDir finds the git directory of path, which is bare, a work tree, or a linked work tree.
func openGitDir(ctx context.Context, git, path string) (*gitDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	g := &gitDir{git: git, safe: []string{abs}}
	// Of a linked work tree its own directory, which has the HEAD that is checked out there, and shares the rest.
	out, err := g.runIn(ctx, abs, 4096, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return nil, fmt.Errorf("%s is not a git repository", path)
	}
	g.dir = strings.TrimRight(string(out), "\n")
	// git looks upwards for a repository; only this very folder is meant.
	if g.dir != abs && filepath.Dir(g.dir) != abs {
		if info, err := os.Lstat(filepath.Join(abs, ".git")); err != nil || info.IsDir() {
			return nil, fmt.Errorf("%s is not a git repository", path)
		}
	}
	// upload-pack changes into the repository before it asks who owns it, and then calls it "." (seen with git 2.39.5).
	g.safe = append(g.safe, g.dir, ".")
	return g, nil
}

// env is what git gets to see: none of the user's or the machine's configuration, and no way to ask or to fetch.
func (g *gitDir) env(config ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1"}
	pairs := append([]string{"protocol.allow=never"}, config...)
	for _, dir := range g.safe {
		pairs = append(pairs, "safe.directory="+dir)
	}
	for i, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(pairs)))
}

var errTooBig = errors.New("git said too much")

// run gives git's output, at most limit bytes of it; more is errTooBig.
func (g *gitDir) run(ctx context.Context, limit int64, args ...string) ([]byte, error) {
	return g.runIn(ctx, g.dir, limit, append([]string{"--git-dir=" + g.dir}, args...)...)
}

func (g *gitDir) runIn(ctx context.Context, dir string, limit int64, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.git, args...)
	cmd.Dir, cmd.Env = dir, g.env()
	ownGroup(cmd)
	var complaint limitedBuffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	text, readErr := io.ReadAll(io.LimitReader(out, limit+1))
	if int64(len(text)) > limit {
		cancel()
		_ = cmd.Wait() // it was killed
		return nil, errTooBig
	}
	if err := cmd.Wait(); err != nil {
		return text, fmt.Errorf("git %s: %w: %s", args[len(args)-1], err, complaint.String())
	}
	return text, readErr
}

// ownGroup has the command and what it starts killed together.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
}

// limitedBuffer keeps the first 4 KiB.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := 4096 - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// head is the branch that HEAD points to, or "".
func (g *gitDir) head(ctx context.Context) string {
	out, err := g.run(ctx, 4096, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "refs/heads/")
}

func (g *gitDir) setHead(ctx context.Context, branch string) error {
	if !cleanRef(branch) {
		return fmt.Errorf("branch %q: %w", branch, ErrUnknown)
	}
	if _, err := g.resolve(ctx, "refs/heads/"+branch, "commit"); err != nil {
		return fmt.Errorf("branch %s: %w", branch, ErrUnknown)
	}
	if out, err := g.run(ctx, 4096, "rev-parse", "--is-bare-repository"); err != nil || strings.TrimSpace(string(out)) != "true" {
		return errors.New("it is somebody's work tree, whose HEAD is not ours to move")
	}
	_, err := g.run(ctx, 4096, "symbolic-ref", "HEAD", "refs/heads/"+branch)
	return err
}

func (g *gitDir) setRef(ctx context.Context, ref, sha string) error {
	_, err := g.run(ctx, 4096, "update-ref", ref, sha)
	return err
}

// cleanRef refuses what git would read as more than a name: revision syntax, options, control characters.
func cleanRef(ref string) bool {
	return ref != "" && len(ref) < 1024 && !strings.HasPrefix(ref, "-") && !strings.Contains(ref, "..") && !strings.ContainsAny(ref, "^~:?*[\\ @{}\x7f") &&
		strings.IndexFunc(ref, func(r rune) bool { return r < 32 }) < 0
}

// isSHA tells whether text can be an object's name, whole or cut short.
func isSHA(text string) bool {
	return len(text) >= 4 && len(text) <= 64 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// resolve finds the object of a full ref name or of a hexadecimal name, peeled to a kind ("commit", "tree", or "" for as it is).
func (g *gitDir) resolve(ctx context.Context, name, kind string) (string, error) {
	if !cleanRef(name) {
		return "", ErrUnknown
	}
	arg := name
	if kind != "" {
		arg += "^{" + kind + "}"
	}
	out, err := g.run(ctx, 4096, "rev-parse", "--verify", "--quiet", "--end-of-options", arg)
	if err != nil {
		return "", ErrUnknown
	}
	lines := strings.Fields(string(out)) // --end-of-options itself is echoed by some versions
	return lines[len(lines)-1], nil
}

// commit resolves what the API calls a ref: a branch, a tag, heads/… or tags/…, a full ref, a sha; "" or HEAD is the default branch.
func (g *gitDir) commit(ctx context.Context, ref, defaultBranch string) (string, error) {
	if ref == "" || ref == "HEAD" {
		ref = "refs/heads/" + defaultBranch
	}
	var tries []string
	switch {
	case strings.HasPrefix(ref, "refs/"):
		tries = []string{ref}
	default:
		tries = []string{"refs/heads/" + ref, "refs/tags/" + ref, "refs/" + ref}
		if isSHA(ref) {
			tries = append(tries, ref)
		}
	}
	for _, t := range tries {
		if sha, err := g.resolve(ctx, t, "commit"); err == nil {
			return sha, nil
		}
	}
	return "", ErrUnknown
}

// entry is one line of a tree.
type entry struct {
	mode, kind, sha string
	size            int64
	path            string
}

// tree lists a tree-ish; with path only that entry, with deep everything below, files only unless trees is set.
func (g *gitDir) tree(ctx context.Context, treeish, path string, deep bool) ([]entry, error) {
	args := []string{"ls-tree", "-z", "-l", "--full-tree"}
	if deep {
		args = append(args, "-r", "-t")
	}
	args = append(args, treeish)
	if path != "" {
		args = append(args, "--", path)
	}
	out, err := g.run(ctx, 64<<20, args...)
	if err != nil {
		return nil, err
	}
	var list []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		meta, name, found := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if !found || len(f) != 4 {
			continue
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			size = 0 // "-" for what is no blob
		}
		list = append(list, entry{mode: f[0], kind: f[1], sha: f[2], size: size, path: name})
	}
	return list, nil
}

// submoduleURL is where .gitmodules says that the submodule at a path comes from, or "".
func (g *gitDir) submoduleURL(ctx context.Context, commit, path string) string {
	out, err := g.run(ctx, 1<<20, "config", "--blob", commit+":.gitmodules", "-z", "--list")
	if err != nil {
		return "" // there is none
	}
	paths, urls := map[string]string{}, map[string]string{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if name, found := strings.CutSuffix(key, ".path"); found {
			paths[value] = name
		}
		if name, found := strings.CutSuffix(key, ".url"); found {
			urls[name] = value
		}
	}
	return urls[paths[path]]
}

func (g *gitDir) blob(ctx context.Context, sha string, limit int64) ([]byte, error) {
	return g.run(ctx, limit, "cat-file", "blob", sha)
}
