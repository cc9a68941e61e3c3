package checkout

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Before each fetch git asks what the host can do. In version 2 of the protocol
// the answer holds no refs (gitprotocol-v2(5), "Capability Advertisement") and is
// the same for a long time, so the relay gives it to git again for a while, and
// of a repository that is fetched for the first time it asks for it while the
// ref is still being resolved. Whether somebody may read the repository is decided by
// the fetch itself, which is never answered from here.

const (
	advertType = "application/x-git-upload-pack-advertisement"
	advertPath = "info/refs"
	advertLife = 10 * time.Minute
	maxAdvert  = 8 << 10
	maxAdverts = 1000
)

// advert is what a host says it can do. ready is closed when body is set; an empty
// body is one that cannot be given again.
type advert struct {
	ready chan struct{}
	body  []byte
	until time.Time
}

func advertKey(r Repo) string { return r.Class + " " + r.URL }

// advert gives what is known, or being found out, of what a host can do. If it
// is neither, mine says that the caller finds out now, and must call learnt.
func (r *relay) advert(repo Repo) (a *advert, mine bool) {
	k := advertKey(repo)
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.adverts[k]; a != nil && time.Now().Before(a.until) {
		return a, false
	}
	if len(r.adverts) >= maxAdverts {
		clear(r.adverts)
	}
	a = &advert{ready: make(chan struct{}), until: time.Now().Add(advertLife)}
	r.adverts[k] = a
	return a, true
}

// learnt notes what a host said. What is not of version 2, or not whole, is forgotten.
func (r *relay) learnt(repo Repo, a *advert, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.Contains(body, []byte("000eversion 2\n")) && bytes.HasSuffix(body, []byte("0000")) && len(body) <= maxAdvert {
		a.body = body
	} else if k := advertKey(repo); r.adverts[k] == a {
		delete(r.adverts, k)
	}
	close(a.ready)
}

// unlearn forgets what a host said: what was built on it failed.
func (r *relay) unlearn(repo Repo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.adverts[advertKey(repo)]; a != nil {
		select {
		case <-a.ready:
			delete(r.adverts, advertKey(repo))
		default:
		}
	}
}

// advertise answers git's question what the host can do.
func (p *pass) advertise(w http.ResponseWriter, req *http.Request) error {
	a, mine := p.relay.advert(p.repo)
	if mine {
		keep := &keeping{ResponseWriter: w}
		err := p.forward(keep, req, advertPath, advertType)
		if err != nil {
			keep.b = nil
		}
		p.relay.learnt(p.repo, a, keep.b)
		return err
	}
	select {
	case <-a.ready:
	case <-req.Context().Done():
		return context.Cause(req.Context())
	}
	if len(a.body) == 0 {
		return p.forward(w, req, advertPath, advertType)
	}
	w.Header().Set("Content-Type", advertType)
	_, _ = w.Write(a.body)
	return nil
}

// keeping is a ResponseWriter that keeps the beginning of what is written.
type keeping struct {
	http.ResponseWriter
	b []byte
}

func (k *keeping) Write(b []byte) (int, error) {
	if len(k.b) <= maxAdvert {
		k.b = append(k.b, b...)
	}
	return k.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (k *keeping) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// askAhead asks a host what it can do, where there is no store yet, so that a
// fetch is near. Nothing hangs on it: what it does not learn git asks itself.
func (s *Store) askAhead(ctx context.Context, k storeKey, req Request) {
	if _, err := os.Stat(s.gitDir(k)); err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	a, mine := s.relay.advert(req.Repo)
	if !mine {
		return
	}
	s.background.Go(func() {
		var body []byte
		defer func() { s.relay.learnt(req.Repo, a, body) }()
		ctx, cancel := context.WithTimeout(ctx, s.opt.Budget.Stall)
		defer cancel()
		defer context.AfterFunc(s.life, cancel)()
		p, err := s.relay.admit(ctx, req.Repo, req.Credentials, maxAdvert)
		if err != nil {
			return
		}
		defer p.end()
		defer s.count(p)
		body = p.capabilities(ctx)
	})
}

// capabilities asks a host what it can do; nil if it does not say.
func (p *pass) capabilities(ctx context.Context) []byte {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(p.repo.URL, "/")+"/"+advertPath+"?service=git-upload-pack", nil)
	if err != nil {
		return nil
	}
	req.Header.Set("Git-Protocol", "version=2")
	resp, err := p.send(req, advertType)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(resp.Body, maxAdvert+1))
	p.mu.Lock()
	p.bytes += n
	p.mu.Unlock()
	if err != nil {
		return nil
	}
	return b.Bytes()
}

// count adds what a pass took to the counters.
func (s *Store) count(p *pass) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.stats.bytes.Add(p.bytes)
	s.stats.requests.Add(p.requests)
}
