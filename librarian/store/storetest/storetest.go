// Package storetest gives tests empty stores, on SQLite and on PostgreSQL. A test of whoever uses a store runs on both by
// [Each].
package storetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
)

// PostgresEnv names the variable that holds the URL of a PostgreSQL database that tests may make schemas in, for example
// postgres://root@127.0.0.1:5432/test.
const PostgresEnv = "LIBRARIAN_TEST_POSTGRES"

// Each runs f once for each kind of database, with options for a store that is empty. Opening them again opens the same.
// Without [PostgresEnv] PostgreSQL is skipped.
func Each(t *testing.T, f func(t *testing.T, o store.Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, store.Options{Dir: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, store.Options{URL: Postgres(t)})
	})
}

// Postgres makes an empty schema and returns the URL that leads to it; it is dropped when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	base := os.Getenv(PostgresEnv)
	if base == "" {
		t.Skip("no PostgreSQL: " + PostgresEnv + " is not set")
	}
	u, err := url.Parse(base)
	require.NoError(t, err)
	c, err := pgx.ParseConfig(base)
	require.NoError(t, err)
	db := stdlib.OpenDB(*c)
	schema := "t_" + strings.ReplaceAll(string(librarian.NewRunID()), "-", "")
	_, err = db.ExecContext(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "DROP SCHEMA "+schema+" CASCADE")
		require.NoError(t, err)
		require.NoError(t, db.Close())
	})
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// Open opens a store and closes it when the test ends.
func Open(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// Question is a request by comment number n of issue 7.
func Question(n int64) librarian.Request {
	return librarian.Request{
		Kind:      librarian.KindQuestion,
		Question:  fmt.Sprintf("where is part %d?", n),
		Principal: librarian.Principal{ID: 42, Login: "asker"},
		Place: librarian.Place{
			Kind: librarian.PlaceIssue, Repo: librarian.GitHubRepo("github.example", 99), Installation: 5, Number: 7,
			RepoName: librarian.RepoName{Owner: "acme", Name: "shop"}, Trigger: librarian.TriggerIssueComment, TriggerID: n,
		},
	}
}
