package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// probe refuses a git that is too old or that fetches objects behind our back.
// GIT_NO_LAZY_FETCH came with git 2.45 and, as a security fix, 2.39.4 and its
// like; without it a read of a partial clone may talk to its host.
func (s *Store) probe(ctx context.Context) error {
	out, err := s.git.output(ctx, gitCommand{args: []string{"version"}}, 1<<10)
	if err != nil {
		return err
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "git version %d.%d", &major, &minor); err != nil {
		return fmt.Errorf("git says its version is %q", strings.TrimSpace(string(out)))
	}
	if major < 2 || major == 2 && minor < 39 {
		return fmt.Errorf("git %d.%d is too old: 2.39.4 or newer is needed", major, minor)
	}
	dir, _, done, err := s.staging()
	if err != nil {
		return err
	}
	defer done()
	if err := s.probeLazy(ctx, dir); err != nil {
		return err
	}
	s.git.backfill = (major > 2 || minor >= 49) && s.probeBackfill(ctx, dir) == nil
	return nil
}

// probeLazy makes a partial clone that lacks the one object its remote, a folder
// beside it, has. With GIT_NO_LAZY_FETCH that must stay away.
func (s *Store) probeLazy(ctx context.Context, dir string) error {
	full, part := filepath.Join(dir, "full"), filepath.Join(dir, "part")
	for d, config := range map[string]string{
		full: storeConfig + "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n",
		part: "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n",
	} {
		if err := makeStore(d); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(d, "config"), []byte(config), 0o600); err != nil {
			return err
		}
	}
	out, err := s.git.output(ctx, gitCommand{dir: full, args: []string{"hash-object", "-w", "--stdin"}, input: "probe"}, 1<<10)
	if err != nil {
		return err
	}
	blob := strings.TrimSpace(string(out))
	ask := gitCommand{dir: part, args: []string{"cat-file", "-e", blob}, config: probeRemote(full)}
	if err := s.git.run(ctx, ask); err == nil {
		return errors.New("this git fetches objects in spite of GIT_NO_LAZY_FETCH=1: install git 2.39.4, 2.45 or newer")
	}
	// The probe itself must be able to fail: without the variable, git fetches.
	ask.lazy = true
	ask.stdout = func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }
	if err := s.git.run(ctx, ask); err != nil {
		return fmt.Errorf("the probe for GIT_NO_LAZY_FETCH is blind: %w", err)
	}
	return nil
}

func probeRemote(full string) []string {
	return append([]string{"protocol.file.allow=always", "remote.origin.url=" + full}, promisorConfig...)
}

// probeBackfill sees whether "git backfill" brings what a commit that is no
// ref's leads to. dir is where probeLazy was.
func (s *Store) probeBackfill(ctx context.Context, dir string) error {
	full, part := filepath.Join(dir, "full"), filepath.Join(dir, "part")
	say := func(in string, args ...string) (string, error) {
		out, err := s.git.output(ctx, gitCommand{dir: full, args: args, input: in, config: []string{"user.name=probe", "user.email=probe"}}, 1<<10)
		return strings.TrimSpace(string(out)), err
	}
	blob, err := say("another", "hash-object", "-w", "--stdin")
	if err != nil {
		return err
	}
	tree, err := say("100644 blob "+blob+"\tname\n", "mktree")
	if err != nil {
		return err
	}
	commit, err := say("", "commit-tree", "-m", "probe", tree)
	if err != nil {
		return err
	}
	for _, oid := range []string{tree, commit} {
		file := filepath.Join("objects", oid[:2], oid[2:])
		if err := os.MkdirAll(filepath.Join(part, filepath.Dir(file)), 0o700); err != nil {
			return err
		}
		if err := os.Link(filepath.Join(full, file), filepath.Join(part, file)); err != nil {
			return err
		}
	}
	fill := gitCommand{dir: part, args: backfillArgs, input: commit + "\n", config: probeRemote(full), lazy: true}
	if err := s.git.run(ctx, fill); err != nil {
		return err
	}
	return s.git.run(ctx, gitCommand{dir: part, args: []string{"cat-file", "-e", blob}, config: probeRemote(full)})
}
