package githubsim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Visibilities of a repository.
const (
	Public   = "public"
	Private  = "private"
	Internal = "internal" // seen by the organisation's members
)

// RepoOptions describes a repository to be made.
type RepoOptions struct {
	// Path is a local git repository, bare or with a work tree, to be served as it is. "" makes a repository without code.
	Path          string
	Visibility    string // "" means Public
	DefaultBranch string // "" means what HEAD of Path points to, else "main"
	Archived      bool
	Description   string
	Language      string
	Topics        []string
	Stars         int
	Fork          bool
}

// Repo is a repository as it was when it was read.
type Repo struct {
	ID            int64
	NodeID        string
	CategoryID    string // node id of the one category of its discussions
	Owner, Name   string
	Visibility    string
	DefaultBranch string
	Archived      bool
	Description   string
	Language      string
	Topics        []string
	Stars         int
	Fork          bool
	CloneURL      string
}

// FullName is owner/name.
func (r Repo) FullName() string { return r.Owner + "/" + r.Name }

type repo struct {
	id            int64
	owner         *account
	name          string
	dir           *gitDir // nil without code
	visibility    string
	defaultBranch string
	archived      bool
	description   string
	language      string
	topics        []string
	stars         int
	fork          bool
	deleted       bool
	created       time.Time
	updated       time.Time
	grants        map[int64]grant  // by user id
	issues        []*issue         // pull requests among them, by number
	discussions   []*discussion    // by number
	lastNumber    int              // of issues, pull requests and discussions
	gone          map[int64]bool   // numbers of deleted issues
	moved         map[int64]*issue // issues that were transferred, by the numbers they had
	checks        []*checkRun      // oldest first
}

// grant is what a collaborator was given.
type grant struct{ permission, role string }

func (r *repo) fullName() string { return r.owner.Login + "/" + r.name }
func (r *repo) private() bool    { return r.visibility != Public }

func (s *Server) snapshot(r *repo) Repo {
	return Repo{ID: r.id, NodeID: nodeID("R", r.id), CategoryID: nodeID("DIC", r.id), Owner: r.owner.Login, Name: r.name, Visibility: r.visibility, DefaultBranch: r.defaultBranch, Archived: r.archived,
		Description: r.description, Language: r.language, Topics: slices.Clone(r.topics), Stars: r.stars, Fork: r.fork,
		CloneURL: s.base + "/" + r.fullName() + ".git"}
}

// CreateRepo makes a repository of owner, which must exist. With a Path, git is asked there for its folder and default branch.
func (s *Server) CreateRepo(owner, name string, o RepoOptions) (Repo, error) {
	if o.Visibility == "" {
		o.Visibility = Public
	}
	if !slices.Contains([]string{Public, Private, Internal}, o.Visibility) || !validName(name) {
		return Repo{}, fmt.Errorf("githubsim: create repository: bad name %q or visibility %q", name, o.Visibility)
	}
	var dir *gitDir
	if o.Path != "" {
		var err error
		if dir, err = openGitDir(context.Background(), s.opts.Git, o.Path); err != nil {
			return Repo{}, fmt.Errorf("githubsim: create repository: %w", err)
		}
		if o.DefaultBranch == "" {
			o.DefaultBranch = dir.head(context.Background())
		}
	}
	if o.DefaultBranch == "" {
		o.DefaultBranch = "main"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.account(owner)
	if err != nil {
		return Repo{}, fmt.Errorf("githubsim: create repository: %w", err)
	}
	key := strings.ToLower(owner + "/" + name)
	if s.nameTaken(key) {
		return Repo{}, fmt.Errorf("githubsim: create repository %s/%s: %w", owner, name, ErrTaken)
	}
	r := &repo{id: s.world.id(), owner: a, name: name, dir: dir, visibility: o.Visibility, defaultBranch: o.DefaultBranch, archived: o.Archived,
		description: o.Description, language: o.Language, topics: o.Topics, stars: o.Stars, fork: o.Fork, created: s.now(), updated: s.now(),
		grants: map[int64]grant{}}
	s.world.repos[r.id] = r
	s.world.names[key] = r.id
	s.emitRepo(r, actor{user: a}, "created", nil)
	return s.snapshot(r), nil
}

// nameTaken tells whether a repository goes by this name now; an old name of a renamed one is free.
func (s *Server) nameTaken(key string) bool {
	r := s.world.repos[s.world.names[key]]
	return r != nil && strings.ToLower(r.fullName()) == key
}

// Repo looks a repository up by its full name, present or past.
func (s *Server) Repo(fullName string) (Repo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return Repo{}, fmt.Errorf("githubsim: repository: %w", err)
	}
	return s.snapshot(r), nil
}

func (s *Server) repo(fullName string) (*repo, error) {
	if r := s.world.repos[s.world.names[strings.ToLower(fullName)]]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("repository %s: %w", fullName, ErrUnknown)
}

// roles are GitHub's repository roles, weakest first.
var roles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// SetPermission makes a user a collaborator with one of admin, maintain, write, triage, read, or none. customRole is the name
// of a custom role that is based on that permission, or "".
func (s *Server) SetPermission(fullName, login, permission, customRole string) error {
	if !slices.Contains(roles, permission) {
		return fmt.Errorf("githubsim: set permission: %q is not a permission", permission)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return fmt.Errorf("githubsim: set permission: %w", err)
	}
	a, err := s.account(login)
	if err != nil {
		return fmt.Errorf("githubsim: set permission: %w", err)
	}
	if r.grants = maps.Clone(r.grants); permission == "none" {
		delete(r.grants, a.ID)
		return nil
	}
	if customRole == "" {
		customRole = permission
	}
	r.grants[a.ID] = grant{permission: permission, role: customRole}
	return nil
}

// permission is what a user may do with a repository, the strongest of what ownership, membership, grants and visibility give.
func (s *Server) permission(r *repo, u *account) grant {
	best := grant{"none", "none"}
	raise := func(g grant) {
		if slices.Index(roles, g.permission) > slices.Index(roles, best.permission) {
			best = g
		}
	}
	if u == nil || u.deleted {
		return best
	}
	raise(r.grants[u.ID])
	if r.owner == u {
		raise(grant{"admin", "admin"})
	}
	if owner, member := r.owner.members[strings.ToLower(u.Login)]; member {
		raise(grant{"read", "read"})
		if owner {
			raise(grant{"admin", "admin"})
		}
	}
	if !r.private() {
		raise(grant{"read", "read"})
	}
	return best
}

// change finds a repository, lets f alter it and tells the Apps with a repository event. f returns the event's "changes".
func (s *Server) change(fullName, action string, f func(*repo) (object, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err == nil {
		var changes object
		if changes, err = f(r); err == nil {
			r.updated = s.now()
			s.emitRepo(r, actor{user: r.owner}, action, changes)
			return nil
		}
	}
	return fmt.Errorf("githubsim: %s repository: %w", action, err)
}

// RenameRepo gives a repository a new name; the old one redirects.
func (s *Server) RenameRepo(fullName, name string) error {
	return s.change(fullName, "renamed", func(r *repo) (object, error) {
		key := strings.ToLower(r.owner.Login + "/" + name)
		if !validName(name) || s.nameTaken(key) {
			return nil, fmt.Errorf("%s: %w", name, ErrTaken)
		}
		old := r.name
		r.name = name
		s.world.names[key] = r.id
		return object{"repository": object{"name": object{"from": old}}}, nil
	})
}

// TransferRepo gives a repository to another account; the old name redirects, and installations of the old owner lose it.
func (s *Server) TransferRepo(fullName, owner string) error {
	return s.change(fullName, "transferred", func(r *repo) (object, error) {
		to, err := s.account(owner)
		if err != nil {
			return nil, err
		}
		key := strings.ToLower(to.Login + "/" + r.name)
		if s.nameTaken(key) {
			return nil, fmt.Errorf("%s: %w", key, ErrTaken)
		}
		from := r.owner
		for _, in := range s.world.installs {
			if in.account == from {
				delete(in.selected, r.id)
			}
		}
		r.owner = to
		s.world.names[key] = r.id
		kind := "user"
		if from.Type == "Organization" {
			kind = "organization"
		}
		return object{"owner": object{"from": object{kind: s.userJSON(from)}}}, nil
	})
}

// SetVisibility makes a repository Public, Private or Internal.
func (s *Server) SetVisibility(fullName, visibility string) error {
	action := "privatized"
	if visibility == Public {
		action = "publicized"
	}
	return s.change(fullName, action, func(r *repo) (object, error) {
		if !slices.Contains([]string{Public, Private, Internal}, visibility) {
			return nil, fmt.Errorf("%q is not a visibility", visibility)
		}
		r.visibility = visibility
		return nil, nil
	})
}

// SetArchived archives a repository, or takes it out of the archive.
func (s *Server) SetArchived(fullName string, archived bool) error {
	action := "unarchived"
	if archived {
		action = "archived"
	}
	return s.change(fullName, action, func(r *repo) (object, error) {
		r.archived = archived
		return nil, nil
	})
}

// SetDefaultBranch changes the default branch, and HEAD of the git repository with it. The branch must exist and the repository be
// bare.
func (s *Server) SetDefaultBranch(fullName, branch string) error {
	return s.change(fullName, "edited", func(r *repo) (object, error) {
		if r.dir == nil {
			return nil, errors.New("it has no code")
		}
		if err := r.dir.setHead(context.Background(), branch); err != nil {
			return nil, err
		}
		old := r.defaultBranch
		r.defaultBranch = branch
		return object{"default_branch": object{"from": old}}, nil
	})
}

// DeleteRepo deletes a repository from the world; the git repository on disk stays.
func (s *Server) DeleteRepo(fullName string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return fmt.Errorf("githubsim: delete repository: %w", err)
	}
	s.emitRepo(r, actor{user: r.owner}, "deleted", nil)
	r.deleted = true
	delete(s.world.repos, r.id)
	for _, in := range s.world.installs {
		delete(in.selected, r.id)
	}
	return nil
}
