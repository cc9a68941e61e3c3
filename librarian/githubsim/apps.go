package githubsim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

func currentApp(c *call) (reply, error) {
	o := c.appJSON(c.caller.app)
	n := 0
	for _, in := range c.world.installs {
		if in.app == c.caller.app {
			n++
		}
	}
	o["installations_count"] = n
	return ok(o)
}

func appInstallations(c *call) (reply, error) {
	var list []*installation
	for _, in := range c.world.installs {
		if in.app == c.caller.app {
			list = append(list, in)
		}
	}
	slices.SortFunc(list, func(a, b *installation) int { return int(a.id - b.id) })
	part, h := pageOf(c, list)
	out := []object{}
	for _, in := range part {
		out = append(out, c.installationJSON(in))
	}
	return reply{body: out, header: h}, nil
}

// ownInstallation finds the installation of the path among those of the calling App.
func (c *call) ownInstallation() (*installation, error) {
	id, err := c.id("id")
	if err != nil {
		return nil, err
	}
	in := c.world.installs[id]
	if in == nil || in.app != c.caller.app {
		return nil, notFound()
	}
	return in, nil
}

func appInstallation(c *call) (reply, error) {
	in, err := c.ownInstallation()
	if err != nil {
		return reply{}, err
	}
	return ok(c.installationJSON(in))
}

func deleteInstallation(c *call) (reply, error) {
	in, err := c.ownInstallation()
	if err != nil {
		return reply{}, err
	}
	c.removeInstallation(in)
	return reply{status: http.StatusNoContent}, nil
}

func accountInstallation(c *call) (reply, error) {
	for _, in := range c.world.installs {
		if in.app == c.caller.app && strings.EqualFold(in.account.Login, c.params["login"]) {
			return ok(c.installationJSON(in))
		}
	}
	return reply{}, notFound()
}

func repoInstallation(c *call) (reply, error) {
	r, err := c.findRepo()
	if err != nil {
		return reply{}, err
	}
	for _, in := range c.world.installs {
		if in.app == c.caller.app && in.covers(r) {
			if err := c.redirect(r); err != nil {
				return reply{}, err
			}
			return ok(c.installationJSON(in))
		}
	}
	return reply{}, notFound()
}

// createToken makes an installation token, narrowed to repositories and permissions where the request names them.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func createToken(c *call) (reply, error) {
	in, err := c.ownInstallation()
	if err != nil {
		return reply{}, err
	}
	if !in.suspended.IsZero() {
		return reply{}, &apiError{status: http.StatusForbidden, message: "This installation has been suspended"}
	}
	var ask struct {
		Repositories  []string          `json:"repositories"`
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	if err := c.input(&ask); err != nil {
		return reply{}, err
	}
	t := &token{inst: in, permissions: maps.Clone(in.permissions), expires: c.now().Add(tokenLife)}
	if len(ask.Permissions) > 0 {
		for name, want := range ask.Permissions {
			if level(want) == 0 || level(want) > level(in.permissions[name]) {
				return reply{}, &apiError{status: http.StatusUnprocessableEntity, message: "The permissions requested are not granted to this installation."}
			}
		}
		t.permissions = maps.Clone(ask.Permissions)
	}
	t.permissions["metadata"] = "read"
	var chosen []*repo
	if len(ask.Repositories)+len(ask.RepositoryIDs) > 0 {
		if chosen, err = c.narrow(in, ask.Repositories, ask.RepositoryIDs); err != nil {
			return reply{}, err
		}
		t.repos = map[int64]bool{}
		for _, r := range chosen {
			t.repos[r.id] = true
		}
	}
	secret := "ghs_" + randomText(36)
	c.world.tokens[secret] = t
	out := object{"token": secret, "expires_at": stamp(t.expires), "permissions": t.permissions, "repository_selection": "all"}
	if in.selected != nil || t.repos != nil {
		out["repository_selection"] = "selected"
	}
	if t.repos != nil {
		list := []object{}
		for _, r := range chosen {
			list = append(list, c.repoJSON(r, nil))
		}
		out["repositories"] = list
	}
	return reply{status: http.StatusCreated, body: out}, nil
}

// narrow finds the repositories that a token is asked for; one that the installation lacks spoils the whole request.
func (c *call) narrow(in *installation, names []string, ids []int64) ([]*repo, error) {
	var chosen []*repo
	for _, r := range c.installed(in) {
		byName := slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, r.name) })
		if byName || slices.Contains(ids, r.id) {
			chosen = append(chosen, r)
		}
	}
	want := map[string]bool{}
	for _, n := range names {
		want[strings.ToLower(n)] = true
	}
	for _, r := range chosen {
		delete(want, strings.ToLower(r.name))
		ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id == r.id })
	}
	if len(want)+len(ids) > 0 {
		return nil, &apiError{status: http.StatusUnprocessableEntity,
			message: "There is at least one repository that does not exist or is not accessible to the parent installation."}
	}
	if len(chosen) > 500 {
		return nil, &apiError{status: http.StatusUnprocessableEntity, message: "Up to 500 repositories can be listed in this manner."}
	}
	return chosen, nil
}

// installationToken is the caller's token, if it is one of an installation.
func (c *call) installationToken() (*token, error) {
	switch c.caller.kind {
	case InstallationToken:
		return c.caller.token, nil
	case Anonymous:
		return nil, &apiError{status: http.StatusUnauthorized, message: "Requires authentication"}
	}
	return nil, &apiError{status: http.StatusForbidden, message: "You must authenticate with an installation access token in order to list repositories for an installation."}
}

func installationRepositories(c *call) (reply, error) {
	t, err := c.installationToken()
	if err != nil {
		return reply{}, err
	}
	all := slices.DeleteFunc(c.installed(t.inst), func(r *repo) bool { return !tokenCovers(t, r) })
	part, h := pageOf(c, all)
	list := []object{}
	for _, r := range part {
		list = append(list, c.repoJSON(r, &c.caller))
	}
	selection := "all"
	if t.inst.selected != nil || t.repos != nil {
		selection = "selected"
	}
	return reply{body: object{"total_count": len(all), "repository_selection": selection, "repositories": list}, header: h}, nil
}

func revokeToken(c *call) (reply, error) {
	t, err := c.installationToken()
	if err != nil {
		return reply{}, err
	}
	for k, x := range c.world.tokens {
		if x == t {
			delete(c.world.tokens, k)
		}
	}
	return reply{status: http.StatusNoContent}, nil
}
