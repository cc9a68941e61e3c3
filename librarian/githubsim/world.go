package githubsim

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// world is everything that exists. Names are looked up in lower case, as GitHub does.
type world struct {
	nextID   int64
	accounts map[string]*account
	repos    map[int64]*repo
	names    map[string]int64 // "owner/name" → repository, old names included
	apps     map[string]*app  // by slug
	installs map[int64]*installation
	tokens   map[string]*token
	comments map[int64]*comment

	reviews        map[int64]*review
	reviewComments map[int64]*reviewComment

	discussions        map[int64]*discussion
	discussionComments map[int64]*discussionComment
}

func newWorld() world {
	return world{
		nextID: 1_000_000, accounts: map[string]*account{}, repos: map[int64]*repo{}, names: map[string]int64{}, apps: map[string]*app{},
		installs: map[int64]*installation{}, tokens: map[string]*token{}, comments: map[int64]*comment{},
		reviews: map[int64]*review{}, reviewComments: map[int64]*reviewComment{},
		discussions: map[int64]*discussion{}, discussionComments: map[int64]*discussionComment{},
	}
}

// id hands out the next number. One sequence for all kinds: an id taken for one of another kind is then never right by chance.
func (w *world) id() int64 {
	w.nextID++
	return w.nextID
}

// Account is a user, a bot or an organisation.
type Account struct {
	ID    int64
	Login string
	Type  string // "User", "Bot" or "Organization"
}

type account struct {
	Account
	app     *app            // for the bot of an App
	members map[string]bool // of an organisation: login in lower case → is an owner
	deleted bool
	created time.Time
}

// Errors of the methods that build the world.
var (
	ErrUnknown = errors.New("no such object")
	ErrTaken   = errors.New("name is taken")
)

// CreateUser makes a person's account.
func (s *Server) CreateUser(login string) (Account, error) { return s.createAccount(login, "User") }

// CreateOrg makes an organisation.
func (s *Server) CreateOrg(login string) (Account, error) {
	return s.createAccount(login, "Organization")
}

// CreateBot makes the account of a bot that belongs to no App of this world; its login gets "[bot]" at the end if it has none.
func (s *Server) CreateBot(login string) (Account, error) {
	return s.createAccount(strings.TrimSuffix(login, "[bot]")+"[bot]", "Bot")
}

func (s *Server) createAccount(login, kind string) (Account, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.addAccount(login, kind)
	if err != nil {
		return Account{}, fmt.Errorf("githubsim: create account: %w", err)
	}
	return a.Account, nil
}

func (s *Server) addAccount(login, kind string) (*account, error) {
	key := strings.ToLower(login)
	if !validName(strings.TrimSuffix(login, "[bot]")) {
		return nil, fmt.Errorf("%q is not a login", login)
	}
	if s.world.accounts[key] != nil {
		return nil, fmt.Errorf("%s: %w", login, ErrTaken)
	}
	a := &account{Account: Account{ID: s.world.id(), Login: login, Type: kind}, members: map[string]bool{}, created: s.now()}
	s.world.accounts[key] = a
	return a, nil
}

func validName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 100 {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r > 127 || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", r)
	}) < 0
}

// AddMember puts a user into an organisation, as an owner or a plain member.
func (s *Server) AddMember(org, login string, owner bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.account(org)
	if err != nil {
		return fmt.Errorf("githubsim: add member: %w", err)
	}
	u, err := s.account(login)
	if err != nil {
		return fmt.Errorf("githubsim: add member: %w", err)
	}
	o.members[strings.ToLower(u.Login)] = owner
	return nil
}

// DeleteUser deletes an account: what it wrote stays, with a null user, and its tokens end.
func (s *Server) DeleteUser(login string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.account(login)
	if err != nil {
		return fmt.Errorf("githubsim: delete user: %w", err)
	}
	a.deleted = true
	delete(s.world.accounts, strings.ToLower(login))
	for k, t := range s.world.tokens {
		if t.user == a {
			delete(s.world.tokens, k)
		}
	}
	return nil
}

// CreateUserToken makes a personal access token for a user, good for whatever the user may do.
func (s *Server) CreateUserToken(login string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.account(login)
	if err != nil {
		return "", fmt.Errorf("githubsim: create token: %w", err)
	}
	secret := "ghp_" + randomText(36)
	s.world.tokens[secret] = &token{user: a}
	return secret, nil
}

func (s *Server) account(login string) (*account, error) {
	if a := s.world.accounts[strings.ToLower(login)]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("account %s: %w", login, ErrUnknown)
}

func (s *Server) accountByID(id int64) *account {
	for _, a := range s.world.accounts {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// actor is who did something: a person, or an App through its bot.
type actor struct {
	user *account
	app  *app
}

// randomText gives n letters and digits from the system's random source.
func randomText(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand.Read never fails: it ends the program instead
	for i, c := range b {
		b[i] = letters[int(c)%len(letters)]
	}
	return string(b)
}

// nodeID makes an opaque id in the manner of GitHub's GraphQL ids.
func nodeID(prefix string, id int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(id))
	return prefix + "_kw" + base64.RawURLEncoding.EncodeToString(b[:])
}
