package app

import (
	"context"
	"net/url"
	"strings"

	"github.com/librarian-app/librarian/librarian/store"
)

// EnvDatabaseURL is the environment variable that the database's URL may come in. It holds a password.
const EnvDatabaseURL = "LIBRARIAN_DATABASE_URL" //nolint:gosec // the name of a variable, not a secret

// DatabaseURL reads where the database is, from the file that the configuration names, else from the environment: none means
// SQLite in the data directory.
func DatabaseURL(c Config, getenv func(string) string) ([]byte, error) {
	if c.Database.URLFile == "" && getenv(EnvDatabaseURL) == "" {
		return nil, nil
	}
	raw, err := secret(c.Database.URLFile, EnvDatabaseURL, "the database's URL", "database.url_file", getenv)
	if err != nil {
		return nil, err
	}
	if u, err := url.Parse(string(raw)); err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Host == "" {
		return nil, &UsageError{Message: "the database's URL is not one of PostgreSQL", Hint: "write postgres://user:password@host:5432/name into " + EnvDatabaseURL + ", or a file named in database.url_file"}
	}
	return raw, nil
}

// openStore opens the database that serves: PostgreSQL where there is a URL, else SQLite in the data directory. What goes wrong is
// told without the URL.
func (s *Server) openStore(ctx context.Context) (*store.Store, error) {
	o := store.Options{Dir: s.cfg.Server.Data, URL: string(s.secrets.DatabaseURL), Now: s.now, Clean: keepClean(&s.held)}
	return openDatabase(ctx, o)
}

func openDatabase(ctx context.Context, o store.Options) (*store.Store, error) {
	runs, err := store.Open(ctx, o)
	switch {
	case err == nil:
		return runs, nil
	case o.URL == "":
		return nil, &UsageError{Message: "the database in " + o.Dir + " cannot be opened: " + err.Error(), Hint: "check server.data, who may write there, and that there is room", Err: err}
	}
	why := err.Error()
	for _, held := range passwords(o.URL) {
		why = strings.ReplaceAll(why, held, "[password]")
	}
	return nil, &UsageError{Message: "the database cannot be opened: " + why, Hint: "check " + EnvDatabaseURL + " or database.url_file, and that its user may make tables"}
}

// shortestHidden is the length from which on a database's password is taken out of answers, too: a shorter one may be a word.
const shortestHidden = 12

// passwords are what of a database's URL must not be seen.
func passwords(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil {
		return []string{raw}
	}
	out := []string{raw}
	if p, ok := u.User.Password(); ok && p != "" {
		out = append(out, p)
	}
	if p := u.Query().Get("password"); p != "" {
		out = append(out, p)
	}
	return out
}
