package githubsim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// Commit is one commit of a repository to be made: the files that it adds or changes, by path.
type Commit struct {
	Message string
	When    time.Time
	Files   map[string]string
}

// NewGitRepo makes a bare git repository in dir, which must not exist, with commits on the branch main, for a world that
// needs code of its own. git names the binary; "" means the one on PATH.
func NewGitRepo(ctx context.Context, git, dir string, commits ...Commit) error {
	if git == "" {
		git = "git"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // served to whoever asks
		return fmt.Errorf("githubsim: new repository: %w", err)
	}
	var stream bytes.Buffer
	for i, c := range commits {
		when := fmt.Sprintf("%d +0000", c.When.Unix())
		fmt.Fprintf(&stream, "commit refs/heads/main\nauthor Demo <demo@example.com> %s\ncommitter Demo <demo@example.com> %s\ndata %d\n%s\n", when, when, len(c.Message), c.Message)
		if i == 0 {
			stream.WriteString("deleteall\n")
		}
		paths := make([]string, 0, len(c.Files))
		for p := range c.Files {
			paths = append(paths, p)
		}
		slices.Sort(paths)
		for _, p := range paths {
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", p, len(c.Files[p]), c.Files[p])
		}
		stream.WriteString("\n")
	}
	g := &gitDir{git: git, dir: dir, safe: []string{dir}}
	for _, step := range []struct {
		in   []byte
		args []string
	}{
		{nil, []string{"init", "--bare", "--quiet", "--initial-branch=main", "--template=", dir}},
		{stream.Bytes(), []string{"--git-dir=" + dir, "fast-import", "--quiet", "--done"}},
	} {
		if step.in != nil {
			step.in = append(step.in, "done\n"...)
		}
		cmd := exec.CommandContext(ctx, g.git, step.args...) //nolint:gosec // fixed arguments
		cmd.Env, cmd.Stdin = g.env(), bytes.NewReader(step.in)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("githubsim: new repository: git: %w: %s", err, out)
		}
	}
	return nil
}
