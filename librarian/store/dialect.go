package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	sqlite3 "modernc.org/sqlite"
)

// dialect is what differs between the two databases. Statements are written once, with ? for parameters.
type dialect int

const (
	sqlite dialect = iota
	postgres
)

// rebind writes a statement's parameters the way the database wants them. No statement here has a ? in a string.
func (d dialect) rebind(query string) string {
	if d == sqlite {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 16)
	n := 0
	for {
		before, after, ok := strings.Cut(query, "?")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		query = after
	}
}

// schema adapts a schema file.
func (d dialect) schema(text string) string {
	if d == sqlite {
		return text
	}
	return strings.ReplaceAll(text, " BLOB ", " BYTEA ")
}

// readers is the number of connections that only read. Reads never wait for the writer in WAL mode.
const readers = 4

// File is the name of the SQLite database in a data directory.
const File = "librarian.db"

// openSQLite opens the file in dir twice: one connection that writes, so that SQLite's single writer is waited for in Go
// and not by its busy handler, and a pool that cannot write.
func openSQLite(dir string) (write, read *sql.DB, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	path, err := filepath.Abs(filepath.Join(dir, File))
	if err != nil {
		return nil, nil, err
	}
	// Made here for its mode: SQLite gives its -wal and -shm files the mode of the database.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, nil, err
	}
	// FULL: a committed run must survive a power cut, since GitHub was told 2xx. secure_delete: forgotten is overwritten.
	common := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)"}
	writer, err := sqlite3.NewConnector(sqliteDSN(path, common, "immediate"))
	if err != nil {
		return nil, nil, err
	}
	reader, err := sqlite3.NewConnector(sqliteDSN(path, append(common, "query_only(1)"), "deferred"))
	if err != nil {
		return nil, nil, err
	}
	write, read = sql.OpenDB(keeper{writer}), sql.OpenDB(keeper{reader})
	write.SetMaxOpenConns(1)
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	return write, read, nil
}

func sqliteDSN(path string, pragmas []string, txlock string) string {
	q := url.Values{"_pragma": pragmas, "_txlock": {txlock}}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

func openPostgres(dsn string) (*sql.DB, error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL does not parse") // pgx's error can hold the password
	}
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	return db, nil
}

// placeholders is "?, ?, ?" for n parameters.
func placeholders(n int) string {
	return strings.TrimSuffix(strings.Repeat("?, ", n), ", ")
}

// checkRows reports what a statement changed: exactly one row or none.
func checkRows(n int64) (bool, error) {
	if n > 1 {
		return false, fmt.Errorf("%d rows changed where one was meant", n)
	}
	return n == 1, nil
}
