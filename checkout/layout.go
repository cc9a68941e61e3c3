package checkout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// The folder of a Store:
//
//	stores/<class>/<repository>/repo.git   the bare store: objects, no configuration of anybody else's
//	stores/<class>/<repository>/refs.json  what upstream last said of each ref, and when
//	stores/<class>/<repository>/trees/<sha>/{tree/,list,meta.json,marks}
//	locks/                                 see locks
//	tmp/<name>/                            being made, or being removed
//
// repo.git and trees/<sha> come into being by one rename out of tmp. That they
// are there is the only proof that they are whole.

var classForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// storeKey is a store's place: access class and repository.
type storeKey struct{ class, repo string }

func keyOf(r Repo) storeKey {
	id := strings.ToLower(r.ID)
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, id)
	sum := sha256.Sum256([]byte(id))
	return storeKey{class: r.Class, repo: strings.TrimLeft(clip0(name, 80), ".-") + "-" + hex.EncodeToString(sum[:6])}
}

func clip0(s string, n int) string { return s[:min(n, len(s))] }

func (s *Store) storeDir(k storeKey) string {
	return filepath.Join(s.opt.Dir, "stores", k.class, k.repo)
}
func (s *Store) gitDir(k storeKey) string { return filepath.Join(s.storeDir(k), "repo.git") }
func (s *Store) treeDir(k storeKey, sha string) string {
	return filepath.Join(s.storeDir(k), "trees", sha)
}

func (k storeKey) lock(what string) string { return k.class + "." + k.repo + "." + what }

// refsFile is what a store knows of its upstream.
type refsFile struct {
	ID      string           `json:"id"`
	Default string           `json:"default"` // name of the default branch, "" when HEAD is detached
	Refs    map[string]stamp `json:"refs"`    // by the ref as asked for, "HEAD" for the default branch
	Depth   map[string]int   `json:"depth"`   // of the history of commits that it was fetched for, see Deepen
}

// stamp is one good answer of upstream.
type stamp struct {
	Name string    `json:"name"` // full name, or the sha
	SHA  string    `json:"sha"`
	At   time.Time `json:"at"`
}

// maxStamps bounds refs.json.
const maxStamps = 500

func (s *Store) readRefs(k storeKey) refsFile {
	r := refsFile{Refs: map[string]stamp{}}
	b, err := os.ReadFile(filepath.Join(s.storeDir(k), "refs.json"))
	if err != nil || json.Unmarshal(b, &r) != nil || r.Refs == nil {
		return refsFile{Refs: map[string]stamp{}}
	}
	return r
}

// changeRefs changes what a store knows of its upstream.
func (s *Store) changeRefs(ctx context.Context, k storeKey, change func(*refsFile)) error {
	lock, err := s.locks.exclusive(ctx, k.lock("refs"))
	if err != nil {
		return err
	}
	defer lock.unlock()
	r := s.readRefs(k)
	change(&r)
	for len(r.Refs) > maxStamps {
		oldest := ""
		for name, st := range r.Refs {
			if oldest == "" || st.At.Before(r.Refs[oldest].At) {
				oldest = name
			}
		}
		delete(r.Refs, oldest)
	}
	if len(r.Depth) > maxStamps {
		r.Depth = nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(s.storeDir(k), "refs.json"), b)
}

// writeFile replaces a file in one step.
func writeFile(path string, b []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// staging makes an empty folder below tmp. Its lock tells other processes that
// somebody is still working on it; git commands that write there inherit it.
func (s *Store) staging() (dir string, lock *fileLock, done func(), err error) {
	name := randomHex(8)
	fl, err := s.locks.try("tmp." + name)
	if err != nil {
		return "", nil, nil, err
	}
	dir = filepath.Join(s.opt.Dir, "tmp", name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		fl.remove()
		return "", nil, nil, err
	}
	return dir, fl, func() { _ = removeAll(dir); fl.remove() }, nil
}

// discard moves something out of the way in one step and then deletes it.
func (s *Store) discard(path string) error {
	dir, _, done, err := s.staging()
	if err != nil {
		return err
	}
	defer done()
	err = os.Rename(path, filepath.Join(dir, "gone"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sweep deletes what dead processes left in tmp.
func (s *Store) sweep() error {
	entries, err := os.ReadDir(filepath.Join(s.opt.Dir, "tmp"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		fl, err := s.locks.try("tmp." + e.Name())
		if err != nil {
			continue // at work
		}
		err = removeAll(filepath.Join(s.opt.Dir, "tmp", e.Name()))
		fl.remove()
		if err != nil {
			return err
		}
	}
	return nil
}

// removeAll deletes a folder even if what is in it is read-only.
func removeAll(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
