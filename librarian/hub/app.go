package hub

import (
	"context"
	"errors"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// App is what GitHub says of the App whose key we hold.
type App struct {
	ID       int64
	Slug     string // how it is mentioned
	BotID    int64  // user id of the account that writes its comments
	BotLogin string // slug[bot]
}

// App asks who we are.
func (h *Hub) App(ctx context.Context) (App, error) {
	if h.app == nil {
		return App{}, errNoApp("app")
	}
	got, _, err := h.app.Apps.Get(ctx, "")
	if err != nil {
		return App{}, failed("app", err)
	}
	if got.GetID() != h.opts.AppID || got.GetSlug() == "" {
		return App{}, errors.New("hub: app: GitHub knows the key under another App id")
	}
	app := App{ID: got.GetID(), Slug: got.GetSlug(), BotLogin: got.GetSlug() + "[bot]"}
	bot, _, err := h.anyone.Users.Get(ctx, app.BotLogin)
	if err != nil && errors.Is(failed("app", err), librarian.ErrNotFound) || unauthorized(err) {
		bot, err = h.botAsInstallation(ctx, app.BotLogin)
	}
	if err != nil {
		return App{}, failed("app: bot account", err)
	}
	if bot.GetID() <= 0 || bot.GetType() != "Bot" {
		return App{}, errors.New("hub: app: bot account: GitHub answered with another account")
	}
	app.BotID = bot.GetID()
	return app, nil
}

// botAsInstallation asks for the account where GitHub answers nobody who is not signed in, as Enterprise Servers in private
// mode do. A JWT cannot read accounts.
func (h *Hub) botAsInstallation(ctx context.Context, login string) (*github.User, error) {
	all, _, err := h.app.Apps.ListInstallations(ctx, &github.ListOptions{PerPage: 1})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("the App is not installed anywhere, and GitHub shows accounts only to who is signed in")
	}
	bot, _, err := h.client(tokenKey{class: classFacts, installation: all[0].GetID()}).Users.Get(ctx, login)
	return bot, err
}

func unauthorized(err error) bool {
	e, ok := errors.AsType[*github.ErrorResponse](err)
	return ok && e.Response != nil && e.Response.StatusCode == 401
}
