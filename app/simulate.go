package app

import (
	"cmp"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
)

// SimOptions is a simulated GitHub as a process of its own.
type SimOptions struct {
	Listen  string
	Repos   []string // owner/name=PATH[,private]
	Webhook string   // where deliveries go
	Dir     string   // the App's key and webhook secret are kept there, so that a restart keeps them
	Out     io.Writer
	Log     *slog.Logger
}

// simRepo is one --repo.
type simRepo struct {
	name    librarian.RepoName
	path    string
	private bool
}

func parseSimRepo(arg string) (simRepo, error) {
	name, path, ok := strings.Cut(arg, "=")
	n, err := librarian.ParseRepoName(name)
	if !ok || err != nil || path == "" {
		return simRepo{}, &UsageError{Message: fmt.Sprintf("--repo %q is not understood", arg), Hint: "write owner/name=PATH, or owner/name=PATH,private"}
	}
	path, private := strings.CutSuffix(path, ",private")
	return simRepo{n, path, private}, nil
}

// Names in the simulated world.
const (
	simApp   = "librarian"
	simUser  = "ada" // may write everywhere
	simReads = "ned" // may only read
)

// Simulate runs a GitHub on this machine until ctx ends, with the App installed on every owner and one issue per repository.
func Simulate(ctx context.Context, o SimOptions) error {
	if len(o.Repos) == 0 {
		return &UsageError{Message: "no repository is named", Hint: "give at least one --repo owner/name=PATH"}
	}
	var repos []simRepo
	for _, arg := range o.Repos {
		r, err := parseSimRepo(arg)
		if err != nil {
			return err
		}
		repos = append(repos, r)
	}
	listen, err := hookListen(o.Webhook)
	if err != nil {
		return err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil { // serve may be started elsewhere
		return fmt.Errorf("app: %w", err)
	}
	sim := githubsim.New(githubsim.Options{Log: o.Log})
	if err := sim.Start(ctx, o.Listen); err != nil {
		return &UsageError{Message: "cannot listen on " + o.Listen + ": " + cause(err), Hint: "give a free loopback address to --listen", Err: err}
	}
	defer sim.Close()
	key, secret, err := simSecrets(o.Dir)
	if err != nil {
		return err
	}
	w, err := buildWorld(sim, repos, githubsim.AppOptions{PrivateKeyPEM: key, WebhookSecret: secret})
	if err != nil {
		return err
	}
	if err := keepSimSecrets(o.Dir, w.app); err != nil {
		return err
	}
	if o.Webhook != "" {
		if err := sim.SetWebhookURL(w.app, o.Webhook); err != nil {
			return fmt.Errorf("app: %w", err)
		}
	}
	first := repos[0].name
	r, err := sim.Repo(first.String())
	if err != nil {
		return fmt.Errorf("app: %w", err)
	}
	fmt.Fprintf(o.Out, `A GitHub is running at %[1]s (stop it with Ctrl-C).

To point a server at it, put this into a file, say sim.yml, and run librarian serve --config sim.yml:

server:
  listen: %[13]s
github:
  api_url: %[2]s
  web_url: %[1]s
  app_id: %[3]d
  private_key_file: %[4]s
  webhook_secret_file: %[5]s

Deliveries go to %[6]s.

To ask as %[7]s, who may write, and to see the thread:

T='Authorization: Bearer %[8]s' A=%[2]srepos/%[9]s
curl -sS -H "$T" $A/issues/1/comments -d '{"body":"@%[10]s where does it begin?"}'
curl -sS -H "$T" $A/issues/1/comments

Other ways, in which words in capitals are yours to fill in (make a BRANCH where the repository lies; nothing is pushed here):

%[14]s
%[11]s, who may only read, has the token %[12]s
`, sim.URL(), sim.APIURL(), w.app.ID, filepath.Join(o.Dir, simKeyFile), filepath.Join(o.Dir, simSecretFile), orNone(o.Webhook), simUser, w.token, first, w.app.Slug, simReads, w.readToken, listen, curls(simWays(r, w.app.Slug), sim.GraphQLURL()))
	<-ctx.Done()
	return nil
}

// hookListen is the address at which a server takes what is sent to hook.
func hookListen(hook string) (string, error) {
	if hook == "" {
		return Default().Server.Listen, nil
	}
	u, err := url.Parse(hook)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", &UsageError{Message: fmt.Sprintf("--webhook %q is not a URL that a delivery can go to", hook), Hint: "write http://127.0.0.1:8080/webhook"}
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])), nil
}

func orNone(s string) string {
	if s == "" {
		return "nowhere yet; give --webhook URL"
	}
	return s
}

const (
	simKeyFile    = "app.pem"
	simSecretFile = "webhook-secret" //nolint:gosec // a file's name
)

func simSecrets(dir string) (key []byte, secret string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", &UsageError{Message: dir + " cannot be made", Hint: "give --dir a directory that can be written", Err: err}
	}
	key, err = os.ReadFile(filepath.Join(dir, simKeyFile)) //nolint:gosec // the user names the directory
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("app: %w", err)
	}
	if block, _ := pem.Decode(key); block == nil {
		return nil, "", &UsageError{Message: filepath.Join(dir, simKeyFile) + " is not a PEM file", Hint: "remove it"}
	}
	raw, err := os.ReadFile(filepath.Join(dir, simSecretFile)) //nolint:gosec // likewise
	if err != nil {
		return nil, "", fmt.Errorf("app: %w", err)
	}
	return key, strings.TrimSpace(string(raw)), nil
}

func keepSimSecrets(dir string, a *githubsim.App) error {
	for name, data := range map[string][]byte{simKeyFile: a.PrivateKeyPEM, simSecretFile: []byte(a.WebhookSecret)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return &UsageError{Message: filepath.Join(dir, name) + " cannot be written", Hint: "give --dir a directory that can be written", Err: err}
		}
	}
	return nil
}

// world is what buildWorld made.
type world struct {
	app       *githubsim.App
	token     string // of simUser
	readToken string // of simReads
}

// buildWorld makes owners, people, repositories, the App on all of it, and issue 1 in each repository.
func buildWorld(sim *githubsim.Server, repos []simRepo, o githubsim.AppOptions) (w world, err error) {
	for _, login := range []string{simUser, simReads} {
		if _, err := sim.CreateUser(login); err != nil {
			return w, fmt.Errorf("app: %w", err)
		}
	}
	owners := map[string][]string{}
	for _, r := range repos {
		owner := strings.ToLower(r.name.Owner)
		if owners[owner] == nil {
			if _, err := sim.CreateOrg(r.name.Owner); err != nil {
				return w, &UsageError{Message: "owner " + r.name.Owner + ": " + err.Error(), Hint: "use another name"}
			}
		}
		owners[owner] = append(owners[owner], r.name.Name)
		visibility := githubsim.Public
		if r.private {
			visibility = githubsim.Private
		}
		if _, err := sim.CreateRepo(r.name.Owner, r.name.Name, githubsim.RepoOptions{Path: r.path, Visibility: visibility}); err != nil {
			if errors.Is(err, githubsim.ErrTaken) {
				return w, &UsageError{Message: r.name.String() + " is named twice", Hint: "name each --repo once", Err: err}
			}
			return w, &UsageError{Message: err.Error(), Hint: "name a local git repository, bare or with a work tree", Err: err}
		}
		for login, level := range map[string]string{simUser: "write", simReads: "read"} {
			if err := sim.SetPermission(r.name.String(), login, level, ""); err != nil {
				return w, fmt.Errorf("app: %w", err)
			}
		}
	}
	first := repos[0].name.Owner
	if w.app, err = sim.CreateApp(simApp, first, o); err != nil {
		return w, fmt.Errorf("app: %w", err)
	}
	for owner := range owners {
		if _, err := sim.Install(w.app, owner); err != nil {
			return w, fmt.Errorf("app: %w", err)
		}
	}
	for _, r := range repos {
		if _, err := sim.OpenIssue(r.name.String(), simUser, "Questions about the code", "A place to ask."); err != nil {
			return w, fmt.Errorf("app: %w", err)
		}
	}
	if w.token, err = sim.CreateUserToken(simUser); err != nil {
		return w, fmt.Errorf("app: %w", err)
	}
	if w.readToken, err = sim.CreateUserToken(simReads); err != nil {
		return w, fmt.Errorf("app: %w", err)
	}
	return w, nil
}

// SimEndpoints lists what the simulated GitHub answers.
func SimEndpoints() []string { return githubsim.Endpoints() }
