package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/hub"
	"github.com/librarian-app/librarian/librarian/run"
)

// TerminalOptions are what every command on the terminal that reads repositories needs.
type TerminalOptions struct {
	Repos    []string // owner/name, a URL, or a path to a local git repository
	Config   Config
	Token    string // a person's GitHub token; empty: anonymous
	CacheDir string // checkouts and indexes; disposable
	Log      *slog.Logger
	Now      func() time.Time
}

// terminal is what the terminal's commands work with: a person's view of GitHub, checkouts, and the local repositories that
// were named.
type terminal struct {
	local     *localRepos
	github    *hub.Hub
	checkouts *checkout.Store
	shop      *workshop
	o         TerminalOptions
}

func openTerminal(ctx context.Context, o TerminalOptions) (t *terminal, err error) {
	if len(o.Repos) > librarian.MaxScope {
		return nil, &UsageError{Message: fmt.Sprintf("%d repositories are too many", len(o.Repos)), Hint: fmt.Sprintf("name at most %d", librarian.MaxScope)}
	}
	t = &terminal{o: o}
	if t.local, err = serveLocal(ctx, o.Repos, o.Log); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.local.close()
		}
	}()
	tr, err := transport(o.Config.GitHub.CAFile)
	if err != nil {
		return nil, err
	}
	t.github, err = hub.New(hub.Options{APIURL: o.Config.GitHub.APIURL, WebURL: o.Config.GitHub.WebURL, UserToken: o.Token, Transport: tr, Now: o.Now, Log: o.Log})
	if err != nil {
		return nil, &UsageError{Message: err.Error(), Hint: "check github in the configuration", Err: err}
	}
	t.checkouts, err = openCheckouts(ctx, checkoutOptions{
		cfg: o.Config, dir: filepath.Join(o.CacheDir, "checkouts"), github: t.github, local: t.local.hosts(), now: o.Now, log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	t.shop = &workshop{
		index: codesearch.NewCache(filepath.Join(o.CacheDir, "indexes"), codesearch.CacheOptions{}),
		box:   openSandbox(ctx, o.CacheDir, o.Config.Tools, o.Log), hub: t.github, grep: o.Config.Tools.GrepApp, now: o.Now,
	}
	return t, nil
}

// run is what a runner on the terminal has, whatever it is for.
func (t *terminal) run(secrets func() []string) run.Options {
	return run.Options{
		Facts: t.github, Poster: nowhere{}, Tokens: tokens{t.github}, Checkouts: t.checkouts, Toolbox: t.shop.kit, Slug: "librarian", Host: t.github.Host(),
		GitHosts: t.o.Config.Checkout.Hosts, Local: t.local.find, LocalByID: t.local.byID, Secrets: secrets, Now: t.o.Now, Logger: t.o.Log,
	}
}

// asker is the person at the terminal, and where that is.
func (t *terminal) asker() librarian.Request {
	return librarian.Request{Principal: librarian.Principal{Login: "you", Local: true},
		Place: librarian.Place{Kind: librarian.PlaceTerminal, Trigger: librarian.TriggerTerminal}, Repos: t.local.rename(t.o.Repos), AskedAt: t.o.Now()}
}

func (t *terminal) close() error {
	t.local.close()
	return t.checkouts.Close()
}
