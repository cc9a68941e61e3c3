package checkout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Repo names one repository to fetch.
type Repo struct {
	// ID is the stable name, for instance "github:github.com:123". It keys the
	// store and is compared without regard to case; it outlives renames.
	ID string
	// Name is "owner/name", for messages only.
	Name string
	// URL is where to clone from: https without user information. Plain http
	// is taken for loopback hosts named in Options.PrivateHosts.
	URL string
	// Class is the access class: "public", or "private-" and the installation's
	// id. Classes share nothing on disk.
	Class string
}

// Public is the access class of what everybody may read.
const Public = "public"

// Options configure a Store. Dir and Hosts are required.
type Options struct {
	Dir string // the cache; made if it is missing. Everything in it is disposable
	// Hosts are the git hosts that may be spoken to, as "host" or "host:port".
	Hosts []string
	// PrivateHosts may be spoken to as well, and may be at loopback or private
	// addresses: a GitHub server of one's own, a simulator.
	PrivateHosts []string
	CAFile       string // PEM file with further certificate authorities
	// Proxy says by way of which proxy a host is spoken to; nil is
	// http.ProxyFromEnvironment (HTTPS_PROXY, NO_PROXY). The allowed hosts stay
	// the same; their addresses are then the proxy's to resolve.
	Proxy  func(*http.Request) (*url.URL, error)
	Budget Budget // zero fields take their defaults
	// Ahead is how long a tree must be held before its history is fetched in the
	// background; 0 is never. See ahead.go.
	Ahead    time.Duration
	Debounce time.Duration // how long upstream's answer for a ref stays good; 0 means 15 minutes
	Now      func() time.Time
	Log      *slog.Logger
	Git      string // the git program; "" means the one on PATH
}

// Budget bounds what repositories may cost. Zero fields take their defaults.
type Budget struct {
	FetchBytes int64         // from the host, one git command. 1 GiB
	History    int64         // from the host, for one history that is fetched ahead. 32 MiB
	TreeBytes  int64         // of one working tree. 4 GiB
	FileBytes  int64         // of one file. 512 MiB
	Entries    int           // of one tree, files and folders. 400,000
	Depth      int           // folders within folders. 200
	StoreBytes int64         // on disk, one repository. 8 GiB
	DiskBytes  int64         // on disk, in all. 40 GiB
	FreeBytes  int64         // to be left free on the disk. 512 MiB
	Fetches    int           // git commands that talk to hosts, at a time, those in the background apart. 8
	Packs      int           // of one store, before it is repacked. 24
	Memory     int64         // address space of one git process. 2 GiB
	Time       time.Duration // of one git command. 5 minutes
	Stall      time.Duration // of a host's silence. 60 seconds
}

func (b *Budget) defaults() {
	def := func(p *int64, v int64) {
		if *p == 0 {
			*p = v
		}
	}
	def(&b.FetchBytes, 1<<30)
	def(&b.History, 32<<20)
	def(&b.TreeBytes, 4<<30)
	def(&b.FileBytes, 512<<20)
	def(&b.StoreBytes, 8<<30)
	def(&b.DiskBytes, 40<<30)
	def(&b.FreeBytes, 512<<20)
	def(&b.Memory, 2<<30)
	def((*int64)(&b.Time), int64(5*time.Minute))
	def((*int64)(&b.Stall), int64(time.Minute))
	if b.Entries == 0 {
		b.Entries = 400_000
	}
	if b.Fetches == 0 {
		b.Fetches = 8
	}
	if b.Packs == 0 {
		b.Packs = 24
	}
	if b.Depth == 0 {
		b.Depth = 200
	}
}

// Store keeps repositories on disk. It is safe for concurrent use, by several
// processes on one folder too.
type Store struct {
	opt   Options
	hosts hostRules
	git   *git
	locks *locks
	stats counters

	mu      sync.Mutex
	relay   *relay
	trees   map[string]*sharedTree // held trees by key and sha
	wants   map[storeKey]*wants
	used    map[storeKey]usage         // see disk.go
	running map[storeKey]chan struct{} // histories being fetched ahead; closed when that is over
	started bool
	closed  bool

	indexing bool         // an index is being made, see indexing.go; guarded by mu
	searches atomic.Int32 // that are going on

	evicting sync.Mutex

	kick       chan struct{}   // asks for maintenance
	life       context.Context // ends with Close
	stop       context.CancelFunc
	fetching   chan struct{} // as many as may talk to hosts at a time
	aheads     chan struct{} // as many as may be fetched ahead at a time
	background sync.WaitGroup
}

// New checks opt and makes a Store. It does no I/O; Start does.
func New(opt Options) (*Store, error) {
	if opt.Dir == "" || !filepath.IsAbs(opt.Dir) {
		return nil, fmt.Errorf("checkout: Options.Dir must be an absolute path, not %q", opt.Dir)
	}
	allow, err := lowerAll(opt.Hosts)
	if err != nil {
		return nil, fmt.Errorf("checkout: Options.Hosts: %w", err)
	}
	private, err := lowerAll(opt.PrivateHosts)
	if err != nil {
		return nil, fmt.Errorf("checkout: Options.PrivateHosts: %w", err)
	}
	opt.Budget.defaults()
	if opt.Debounce == 0 {
		opt.Debounce = 15 * time.Minute
	}
	if opt.Proxy == nil {
		opt.Proxy = http.ProxyFromEnvironment
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{
		opt:      opt,
		hosts:    hostRules{allow: allow, private: private},
		git:      &git{path: opt.Git, timeout: opt.Budget.Time, memory: opt.Budget.Memory},
		locks:    newLocks(filepath.Join(opt.Dir, "locks")),
		trees:    map[string]*sharedTree{},
		wants:    map[storeKey]*wants{},
		used:     map[storeKey]usage{},
		running:  map[storeKey]chan struct{}{},
		fetching: make(chan struct{}, opt.Budget.Fetches),
		aheads:   make(chan struct{}, aheads),
		kick:     make(chan struct{}, 1),
	}, nil
}

// Start makes the folders, removes what a crash left behind, and checks that
// git is one that can be trusted with the job (see probe).
func (s *Store) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.closed {
		return errors.New("checkout: Store was started before")
	}
	if err := s.makeFolders(); err != nil {
		return fmt.Errorf("checkout: %w", err)
	}
	if s.git.path == "" {
		var err error
		if s.git.path, err = findGit(); err != nil {
			return fmt.Errorf("checkout: %w", err)
		}
	}
	if err := s.sweep(); err != nil {
		return fmt.Errorf("checkout: remove leftovers: %w", err)
	}
	if err := s.probe(ctx); err != nil {
		return fmt.Errorf("checkout: %w", err)
	}
	r, err := newRelay(ctx, s.hosts, s.opt.CAFile, s.opt.Proxy, s.opt.Budget.Stall)
	if err != nil {
		return fmt.Errorf("checkout: %w", err)
	}
	s.relay, s.started = r, true
	run, stop := context.WithCancel(context.WithoutCancel(ctx)) // until Close, not until the start is over
	s.life, s.stop = run, stop
	s.background.Go(func() { s.maintainer(run) })
	return nil
}

// makeFolders makes what the cache begins with. The folder is disposable, and somebody may delete it while it is in use.
func (s *Store) makeFolders() error {
	for _, d := range []string{"stores", "locks", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.opt.Dir, d), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Close ends what runs in the background and the relay, and so every command that still
// talks to a host. Checkouts that are held stay readable.
func (s *Store) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	if was || s.relay == nil {
		return nil
	}
	s.stop()
	s.background.Wait()
	return s.relay.close()
}

func (s *Store) ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started || s.closed {
		return errors.New("checkout: Store is not running")
	}
	return nil
}

// validate refuses what Acquire cannot work with.
func (s *Store) validate(req Request) error {
	r := req.Repo
	if r.ID == "" || r.Name == "" {
		return errors.New("checkout: Repo needs ID and Name")
	}
	if !classForm.MatchString(r.Class) {
		return fmt.Errorf("checkout: malformed access class %q", r.Class)
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return &RefusedError{Repo: r.Name, Reason: "has a malformed URL"}
	}
	for seg := range strings.SplitSeq(strings.Trim(u.Path, "/"), "/") {
		if strings.Trim(seg, ".") == "" {
			return &RefusedError{Repo: r.Name, Reason: "has a malformed URL"}
		}
	}
	if err := s.hosts.check(u); err != nil {
		return &RefusedError{Repo: r.Name, Reason: err.Error()}
	}
	if req.WantSHA != "" && !fullSHA.MatchString(req.WantSHA) {
		return &RefError{Repo: r.Name, Ref: req.WantSHA, Reason: "is not a full commit sha"}
	}
	if err := CheckRef(req.Ref); err != nil {
		return err
	}
	return nil
}
