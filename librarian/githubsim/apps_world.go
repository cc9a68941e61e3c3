package githubsim

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// AppOptions describes a GitHub App to be made.
type AppOptions struct {
	PrivateKeyPEM []byte            // RSA, PKCS #1 or #8; nil makes a new key of 2048 bits
	WebhookSecret string            // "" makes a random one
	WebhookURL    string            // "" sends no webhooks until SetWebhookURL
	Permissions   map[string]string // name → "read" or "write"; nil means DefaultPermissions
	Events        []string          // nil means DefaultEvents
}

// App is a GitHub App with what its owner knows of it.
type App struct {
	ID            int64
	ClientID      string
	Slug          string
	BotUserID     int64
	BotLogin      string // slug[bot]
	PrivateKeyPEM []byte
	WebhookSecret string
}

type app struct {
	App
	owner       *account
	bot         *account
	key         *rsa.PublicKey
	hookURL     string
	hookID      int64
	permissions map[string]string
	events      []string
	created     time.Time
}

// DefaultPermissions are an App's permissions when none are named: what librarian asks for.
func DefaultPermissions() map[string]string {
	return map[string]string{"metadata": "read", "contents": "read", "issues": "write", "pull_requests": "write", "checks": "write",
		"discussions": "write"}
}

// DefaultEvents are an App's events when none are named. Installation events reach every App.
func DefaultEvents() []string {
	return []string{"discussion", "discussion_comment", "issue_comment", "issues", "pull_request", "pull_request_review",
		"pull_request_review_comment", "repository", "repository_dispatch"}
}

// CreateApp registers a GitHub App of an account, with its bot user.
func (s *Server) CreateApp(slug, owner string, o AppOptions) (*App, error) {
	if o.PrivateKeyPEM == nil {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, fmt.Errorf("githubsim: create app: %w", err)
		}
		o.PrivateKeyPEM = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	}
	public, err := publicKey(o.PrivateKeyPEM)
	if err != nil {
		return nil, fmt.Errorf("githubsim: create app: %w", err)
	}
	if o.WebhookSecret == "" {
		o.WebhookSecret = randomText(32)
	}
	if o.Permissions == nil {
		o.Permissions = DefaultPermissions()
	}
	if o.Events == nil {
		o.Events = DefaultEvents()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own, err := s.account(owner)
	if err != nil {
		return nil, fmt.Errorf("githubsim: create app: %w", err)
	}
	if slug != strings.ToLower(slug) || s.world.apps[slug] != nil {
		return nil, fmt.Errorf("githubsim: create app: %q: not a slug, or taken", slug)
	}
	bot, err := s.addAccount(slug+"[bot]", "Bot")
	if err != nil {
		return nil, fmt.Errorf("githubsim: create app: %w", err)
	}
	a := &app{App: App{ID: s.world.id(), ClientID: "Iv23li" + randomText(14), Slug: slug, BotUserID: bot.ID, BotLogin: bot.Login,
		PrivateKeyPEM: o.PrivateKeyPEM, WebhookSecret: o.WebhookSecret}, owner: own, bot: bot, key: public, hookURL: o.WebhookURL,
		hookID: s.world.id(), permissions: maps.Clone(o.Permissions), events: slices.Clone(o.Events), created: s.now()}
	bot.app = a
	s.world.apps[slug] = a
	handle := a.App
	return &handle, nil
}

func publicKey(text []byte) (*rsa.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("private key: no PEM block")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return &key.PublicKey, nil
	}
	any8, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	key, ok := any8.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("private key: not RSA")
	}
	return &key.PublicKey, nil
}

func (s *Server) app(a *App) (*app, error) {
	if a != nil {
		if x := s.world.apps[a.Slug]; x != nil {
			return x, nil
		}
	}
	return nil, fmt.Errorf("app: %w", ErrUnknown)
}

// SetWebhookURL says where the App's webhooks go from now on, and sends a ping there.
func (s *Server) SetWebhookURL(a *App, url string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.app(a)
	if err != nil {
		return fmt.Errorf("githubsim: set webhook: %w", err)
	}
	x.hookURL = url
	s.send(x, nil, nil, "ping", object{"zen": "Design for failure.", "hook_id": x.hookID, "hook": object{
		"type": "App", "id": x.hookID, "name": "web", "active": true, "events": x.events, "app_id": x.ID,
		"config": object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": url}, "created_at": stamp(x.created),
		"updated_at": stamp(s.now()), "deliveries_url": s.base + apiPrefix + "/app/hook/deliveries"}})
	return nil
}

// Installation is an App on an account, as it was when it was read.
type Installation struct {
	ID        int64
	Account   string
	Suspended bool
}

type installation struct {
	id          int64
	app         *app
	account     *account
	selected    map[int64]bool // nil means all repositories of the account
	permissions map[string]string
	events      []string
	created     time.Time
	updated     time.Time
	suspended   time.Time // zero when it is not
}

// covers tells whether the installation reaches a repository.
func (in *installation) covers(r *repo) bool {
	return r.owner == in.account && !r.deleted && (in.selected == nil || in.selected[r.id])
}

// Install puts an App on an account: on the named repositories ("name" or "owner/name"), or on all of them when none is named.
// It gets the App's permissions and events of this moment.
func (s *Server) Install(a *App, owner string, repos ...string) (Installation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.app(a)
	if err != nil {
		return Installation{}, fmt.Errorf("githubsim: install: %w", err)
	}
	acc, err := s.account(owner)
	if err != nil {
		return Installation{}, fmt.Errorf("githubsim: install: %w", err)
	}
	for _, in := range s.world.installs {
		if in.app == x && in.account == acc {
			return Installation{}, fmt.Errorf("githubsim: install on %s: %w", owner, ErrTaken)
		}
	}
	in := &installation{id: s.world.id(), app: x, account: acc, permissions: maps.Clone(x.permissions), events: slices.Clone(x.events),
		created: s.now(), updated: s.now()}
	chosen, err := s.reposOf(acc, repos)
	if err != nil {
		return Installation{}, fmt.Errorf("githubsim: install: %w", err)
	}
	if len(repos) > 0 {
		in.selected = map[int64]bool{}
		for _, r := range chosen {
			in.selected[r.id] = true
		}
	}
	s.world.installs[in.id] = in
	s.emitInstallation(in, "created")
	return in.snapshot(), nil
}

func (in *installation) snapshot() Installation {
	return Installation{ID: in.id, Account: in.account.Login, Suspended: !in.suspended.IsZero()}
}

// reposOf resolves names of an account's repositories.
func (s *Server) reposOf(acc *account, names []string) ([]*repo, error) {
	var list []*repo
	for _, name := range names {
		if !strings.Contains(name, "/") {
			name = acc.Login + "/" + name
		}
		r, err := s.repo(name)
		if err != nil {
			return nil, err
		}
		if r.owner != acc {
			return nil, fmt.Errorf("repository %s: not of %s", name, acc.Login)
		}
		list = append(list, r)
	}
	return list, nil
}

// installed lists the repositories that an installation covers, by id.
func (s *Server) installed(in *installation) []*repo {
	var list []*repo
	for _, r := range s.world.repos {
		if in.covers(r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *repo) int { return int(a.id - b.id) })
	return list
}

func (s *Server) changeInstallation(id int64, what string, f func(*installation) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.world.installs[id]
	if in == nil {
		return fmt.Errorf("githubsim: %s installation %d: %w", what, id, ErrUnknown)
	}
	in.updated = s.now()
	if err := f(in); err != nil {
		return fmt.Errorf("githubsim: %s installation %d: %w", what, id, err)
	}
	return nil
}

// SuspendInstallation stops an installation: its tokens are refused and no webhooks follow.
func (s *Server) SuspendInstallation(id int64) error {
	return s.changeInstallation(id, "suspend", func(in *installation) error {
		in.suspended = s.now()
		s.emitInstallation(in, "suspend")
		return nil
	})
}

// UnsuspendInstallation lets a suspended installation work again.
func (s *Server) UnsuspendInstallation(id int64) error {
	return s.changeInstallation(id, "unsuspend", func(in *installation) error {
		in.suspended = time.Time{}
		s.emitInstallation(in, "unsuspend")
		return nil
	})
}

// RemoveInstallation uninstalls the App; its tokens end at once.
func (s *Server) RemoveInstallation(id int64) error {
	return s.changeInstallation(id, "remove", func(in *installation) error {
		s.removeInstallation(in)
		return nil
	})
}

func (s *Server) removeInstallation(in *installation) {
	s.emitInstallation(in, "deleted")
	delete(s.world.installs, in.id)
	for k, t := range s.world.tokens {
		if t.inst == in {
			delete(s.world.tokens, k)
		}
	}
}

// AcceptPermissions gives an installation other permissions, as when its owner accepts a request for more.
func (s *Server) AcceptPermissions(id int64, permissions map[string]string) error {
	return s.changeInstallation(id, "change permissions of", func(in *installation) error {
		in.permissions = maps.Clone(permissions)
		s.emitInstallation(in, "new_permissions_accepted")
		return nil
	})
}

// AddRepositories adds repositories to an installation that has selected ones.
func (s *Server) AddRepositories(id int64, names ...string) error {
	return s.changeInstallation(id, "add repositories to", func(in *installation) error {
		list, err := s.reposOf(in.account, names)
		if err != nil {
			return err
		}
		if in.selected == nil {
			return errors.New("it has all repositories")
		}
		for _, r := range list {
			in.selected[r.id] = true
		}
		s.emitInstallationRepos(in, list, nil)
		return nil
	})
}

// RemoveRepositories takes repositories out of an installation; one that had all of them keeps the others as selected ones.
func (s *Server) RemoveRepositories(id int64, names ...string) error {
	return s.changeInstallation(id, "remove repositories from", func(in *installation) error {
		list, err := s.reposOf(in.account, names)
		if err != nil {
			return err
		}
		if in.selected == nil {
			in.selected = map[int64]bool{}
			for _, r := range s.world.repos {
				if r.owner == in.account {
					in.selected[r.id] = true
				}
			}
		}
		for _, r := range list {
			delete(in.selected, r.id)
		}
		s.emitInstallationRepos(in, nil, list)
		return nil
	})
}
