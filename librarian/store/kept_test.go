package store_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

// One text may be asked again while its rows are read, after it failed, after the tables changed below it, and when many others
// were asked in between.
func TestStatementsAreKept(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	ctx := t.Context()
	exec := func(query string, args ...any) error {
		_, err := s.DB().ExecContext(ctx, query, args...)
		return err
	}
	require.NoError(t, exec("CREATE TABLE kept (n INTEGER PRIMARY KEY, word TEXT NOT NULL)"))
	const insert = "INSERT INTO kept (n, word) VALUES (?, ?)"
	for n := range 3 {
		require.NoError(t, exec(insert, n, "a"))
	}
	require.ErrorContains(t, exec(insert, 2, "b"), "UNIQUE")
	require.ErrorContains(t, exec(insert, 3, nil), "NOT NULL")
	require.NoError(t, exec(insert, 3, "b"))

	const numbers = "SELECT n FROM kept WHERE word >= ? ORDER BY n"
	conn, err := s.DB().Conn(ctx)
	require.NoError(t, err)
	var got []string
	outer, err := conn.QueryContext(ctx, numbers, "a")
	require.NoError(t, err)
	for outer.Next() {
		var n, m int
		require.NoError(t, outer.Scan(&n))
		require.NoError(t, conn.QueryRowContext(ctx, numbers, "b").Scan(&m))
		got = append(got, fmt.Sprint(n, m))
	}
	require.NoError(t, outer.Err())
	require.NoError(t, outer.Close())
	require.NoError(t, conn.Close())
	require.Equal(t, []string{"0 3", "1 3", "2 3", "3 3"}, got)

	require.NoError(t, exec("ALTER TABLE kept RENAME COLUMN word TO name"))
	require.ErrorContains(t, exec(insert, 4, "c"), "word")
	require.NoError(t, exec("ALTER TABLE kept RENAME COLUMN name TO word"))
	require.NoError(t, exec(insert, 4, "c"))
	for i := range 300 {
		var n int
		require.NoError(t, s.DB().QueryRowContext(ctx, fmt.Sprintf("SELECT n + %d FROM kept WHERE n = 4", i)).Scan(&n))
		require.Equal(t, 4+i, n)
	}
	require.NoError(t, exec(insert, 5, "c"))
	require.NoError(t, exec("DROP TABLE kept"), "no statement holds a lock")
}

// Readers share no statement across connections.
func TestStatementsOfManyReaders(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	id := create(t, s, storetest.Question(1))
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				if r, err := s.Run(t.Context(), id); err != nil || r.ID != id {
					t.Errorf("%v: %v", r.ID, err)
				}
			}
		})
	}
	all.Wait()
}
