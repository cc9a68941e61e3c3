package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed schema/*.sql
var schemaFS embed.FS

// migrationLock is the key of PostgreSQL's advisory lock under which replicas take turns to migrate.
const migrationLock = 0x6c696272 // "libr"

// migrate applies the files of schema/ that the database has not seen, in the order of their numbers, in one transaction.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Glob(schemaFS, "schema/*.sql")
	if err != nil {
		return err
	}
	return s.Tx(ctx, func(t *Tx) error {
		if s.d == postgres {
			if _, err := t.exec(ctx, "SELECT pg_advisory_xact_lock(?)", migrationLock); err != nil {
				return fmt.Errorf("migrate: %w", err)
			}
		}
		if _, err := t.exec(ctx, "CREATE TABLE IF NOT EXISTS librarian_schema (version BIGINT NOT NULL)"); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		var have int
		if err := t.row(ctx, "SELECT COALESCE(MAX(version), 0) FROM librarian_schema").Scan(&have); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		if have > len(files) {
			return fmt.Errorf("migrate: the database has schema %d, made by a newer librarian; this one knows %d", have, len(files))
		}
		for i, name := range files {
			version := i + 1
			if n, err := strconv.Atoi(strings.TrimPrefix(name, "schema/")[:4]); err != nil || n != version {
				return fmt.Errorf("migrate: %s is not number %d", name, version)
			}
			if version <= have {
				continue
			}
			text, err := schemaFS.ReadFile(name)
			if err != nil {
				return err
			}
			// Without parameters both drivers take several statements at once.
			if _, err := t.tx.ExecContext(ctx, s.d.schema(string(text))); err != nil {
				return fmt.Errorf("migrate: %s: %w", name, err)
			}
			if _, err := t.exec(ctx, "INSERT INTO librarian_schema (version) VALUES (?)", version); err != nil {
				return fmt.Errorf("migrate: %s: %w", name, err)
			}
		}
		return nil
	})
}
