package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
)

// maxKept bounds how many statements a connection keeps. Ours and the queue's are fewer; those that are put together for one
// search make room for each other.
const maxKept = 128

// keeper opens SQLite connections that keep their statements prepared by their text: to parse an insert takes SQLite longer
// than to do it, and neither this package nor the queue's library prepares by itself.
type keeper struct{ driver.Connector }

// Connect implements driver.Connector.
func (k keeper) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := c.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver's connections have changed"), c.Close())
	}
	return &keptConn{sqliteConn: whole, kept: map[string]*keptStmt{}}, nil
}

// sqliteConn is what database/sql asks of a connection, all of which the driver promises.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// keptConn is one connection. database/sql lets one goroutine at a time use it.
type keptConn struct {
	sqliteConn
	kept  map[string]*keptStmt
	clock int64
}

type keptStmt struct {
	whole sqliteStmt
	used  int64 // by the connection's clock
	busy  bool  // its rows are being read
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// Unwrap lets the driver's own functions find the connection.
func (c *keptConn) Unwrap() driver.Conn { return c.sqliteConn }

// Close implements driver.Conn.
func (c *keptConn) Close() error {
	var errs []error
	for query := range c.kept {
		errs = append(errs, c.drop(query))
	}
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

// ExecContext implements driver.ExecerContext.
func (c *keptConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	res, err := s.whole.ExecContext(ctx, args)
	if err != nil {
		_ = c.drop(query) // whose error is the same one again
		return nil, err
	}
	return res, nil
}

// QueryContext implements driver.QueryerContext.
func (c *keptConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	rows, err := s.whole.QueryContext(ctx, args)
	if err != nil {
		_ = c.drop(query)
		return nil, err
	}
	s.busy = true
	return &keptRows{Rows: rows, conn: c, stmt: s, query: query}, nil
}

// statement is the kept statement of a text, prepared if it is new; nil while somebody reads its rows.
func (c *keptConn) statement(ctx context.Context, query string) (*keptStmt, error) {
	c.clock++
	if s := c.kept[query]; s != nil {
		if s.busy {
			return nil, nil //nolint:nilnil // as documented
		}
		s.used = c.clock
		return s, nil
	}
	if len(c.kept) >= maxKept && !c.makeRoom() {
		return nil, nil //nolint:nilnil // all are being read
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	whole, ok := prepared.(sqliteStmt)
	if !ok {
		return nil, prepared.Close()
	}
	s := &keptStmt{whole: whole, used: c.clock}
	c.kept[query] = s
	return s, nil
}

// makeRoom drops the statement that was not used for longest.
func (c *keptConn) makeRoom() bool {
	oldest := ""
	for query, s := range c.kept {
		if !s.busy && (oldest == "" || s.used < c.kept[oldest].used) {
			oldest = query
		}
	}
	if oldest == "" {
		return false
	}
	_ = c.drop(oldest) // its last use had no error, so that this has none
	return true
}

func (c *keptConn) drop(query string) error {
	s := c.kept[query]
	delete(c.kept, query)
	return s.whole.Close()
}

// keptRows frees its statement when it is closed.
type keptRows struct {
	driver.Rows
	conn  *keptConn
	stmt  *keptStmt
	query string
	bad   bool
}

// Next implements driver.Rows.
func (r *keptRows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	r.bad = r.bad || err != nil && !errors.Is(err, io.EOF)
	return err
}

// Close implements driver.Rows. A statement that failed is not used again.
func (r *keptRows) Close() error {
	err := r.Rows.Close()
	r.stmt.busy = false
	if (r.bad || err != nil) && r.conn.kept[r.query] == r.stmt {
		err = errors.Join(err, r.conn.drop(r.query))
	}
	return err
}
