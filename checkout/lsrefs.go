package checkout

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// lsRefs asks a host for the refs that begin with one of prefixes, in one
// request of git's protocol version 2 (gitprotocol-v2(5)), which needs no
// question what the host can do. "git ls-remote" has no way to name what it
// wants: of a busy repository it is sent a hundred thousand refs of pull
// requests. It stops after max refs (0 is all). errNotV2 says that the host does
// not speak that version.
func (s *Store) lsRefs(ctx context.Context, req Request, prefixes []string, max int) (refs map[string]string, head string, err error) {
	if err := s.ready(); err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.Budget.Time, errTime)
	defer cancel()
	p, err := s.relay.admit(ctx, req.Repo, req.Credentials, maxRefBytes)
	if err != nil {
		return nil, "", err
	}
	defer p.end()
	began := time.Now()
	defer func() {
		s.count(p)
		s.stats.nanos.Add(int64(time.Since(began)))
	}()
	var body bytes.Buffer
	pkt := func(text string) { fmt.Fprintf(&body, "%04x%s\n", len(text)+5, text) }
	pkt("command=ls-refs")
	body.WriteString("0001")
	pkt("peel")
	pkt("symrefs")
	for _, prefix := range prefixes {
		pkt("ref-prefix " + prefix)
	}
	body.WriteString("0000")
	refs = map[string]string{}
	err = p.post(ctx, &body, func(r io.Reader) error {
		return readRefs(r, func(name, oid, peeled, target string) error {
			refs[name] = oid
			if peeled != "" {
				refs[name+"^{}"] = peeled
			}
			if name == "HEAD" {
				head = target
			}
			if max > 0 && len(refs) >= max {
				return errEnough
			}
			return nil
		})
	})
	if errors.Is(err, errTime) {
		err = &UpstreamError{Repo: req.Repo.Name, Reason: "the host did not answer in time"}
	}
	return refs, head, err
}

var (
	errEnough = errors.New("enough")
	errNotV2  = errors.New("the host does not speak git's protocol version 2")
)

// post sends one request of the protocol to the host, without git.
func (p *pass) post(ctx context.Context, body io.Reader, read func(io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(p.repo.URL, "/")+"/git-upload-pack", body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Accept", uploadPackResult)
	req.Header.Set("Git-Protocol", "version=2")
	resp, err := p.send(req, uploadPackResult)
	if ue, ok := errors.AsType[*UpstreamError](err); ok && ue.RetryAfter == 0 &&
		(ue.Status == http.StatusOK || ue.Status >= 400 && ue.Status < 500 && ue.Status != http.StatusTooManyRequests) {
		return errNotV2
	}
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	silent := time.AfterFunc(p.relay.stall, func() { cancel(errStall) })
	defer silent.Stop()
	lim := &io.LimitedReader{R: resp.Body, N: p.limit}
	err = read(readerFunc(func(b []byte) (int, error) {
		n, err := lim.Read(b)
		p.bytes += int64(n)
		silent.Reset(p.relay.stall)
		return n, err
	}))
	switch {
	case errors.Is(err, errEnough):
		return nil
	case lim.N == 0:
		return &BudgetError{Repo: p.repo.Name, What: "has too many refs to list", Limit: p.limit}
	case err != nil && p.ctx.Err() != nil:
		return context.Cause(p.ctx)
	}
	return err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// readRefs reads the answer to ls-refs: "<oid> <name>[ symref-target:<name>][ peeled:<oid>]" each.
func readRefs(r io.Reader, each func(name, oid, peeled, target string) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		var size [4]byte
		if _, err := io.ReadFull(br, size[:]); err != nil {
			return errNotV2
		}
		n, err := strconv.ParseUint(string(size[:]), 16, 16)
		if err != nil || n > 0 && n < 4 {
			return errNotV2
		}
		if n == 0 {
			return nil
		}
		line := make([]byte, n-4)
		if _, err := io.ReadFull(br, line); err != nil {
			return errNotV2
		}
		f := strings.Fields(string(line))
		if len(f) < 2 || len(f[0]) != 40 && len(f[0]) != 64 {
			return errNotV2 // an ERR packet among them: git will say it better
		}
		var peeled, target string
		for _, attr := range f[2:] {
			if v, ok := strings.CutPrefix(attr, "peeled:"); ok {
				peeled = v
			}
			if v, ok := strings.CutPrefix(attr, "symref-target:"); ok {
				target = v
			}
		}
		if err := each(f[1], f[0], peeled, target); err != nil {
			return err
		}
	}
}
