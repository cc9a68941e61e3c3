package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// Count counts the questions since a time that were not declined, forgotten ones too: of one user in an installation, in one repository, in one
// thread of it. The run given, and what was asked after it, is left out of all three: of many that are asked at once the
// first ones are within a cap.
func (s *Store) Count(ctx context.Context, run librarian.Run, since time.Time) (user, repo, thread int, err error) {
	p := run.Request.Place
	err = s.read.QueryRowContext(ctx, s.d.rebind(`SELECT
		COUNT(CASE WHEN principal = ? AND installation = ? THEN 1 END),
		COUNT(CASE WHEN repo = ? THEN 1 END),
		COUNT(CASE WHEN repo = ? AND number = ? THEN 1 END)
		FROM runs WHERE kind = ? AND state <> ? AND created_at >= ? AND id <> ? AND (created_at < ? OR created_at = ? AND id < ?) AND (principal = ? OR repo = ?)`),
		run.Request.Principal.ID, p.Installation, string(p.Repo), string(p.Repo), p.Number,
		string(librarian.KindQuestion), string(librarian.StateDeclined), micros(since), string(run.ID),
		micros(run.CreatedAt), micros(run.CreatedAt), string(run.ID), run.Request.Principal.ID, string(p.Repo)).
		Scan(&user, &repo, &thread)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("store: count: %w", err)
	}
	var byUser, inRepo, inThread int
	err = s.read.QueryRowContext(ctx, s.d.rebind(`SELECT
		COUNT(CASE WHEN principal = ? AND installation = ? THEN 1 END),
		COUNT(CASE WHEN repo = ? THEN 1 END),
		COUNT(CASE WHEN repo = ? AND number = ? THEN 1 END)
		FROM forgotten WHERE created_at >= ? AND created_at <= ? AND (principal = ? OR repo = ?)`),
		run.Request.Principal.ID, p.Installation, string(p.Repo), string(p.Repo), p.Number, micros(since), micros(run.CreatedAt),
		run.Request.Principal.ID, string(p.Repo)).
		Scan(&byUser, &inRepo, &inThread)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("store: count: forgotten: %w", err)
	}
	return user + byUser, repo + inRepo, thread + inThread, nil
}

// Cost is what an installation's runs cost since a time, forgotten ones too, in US dollars.
func (s *Store) Cost(ctx context.Context, installation int64, since time.Time) (float64, error) {
	total := int64(0)
	for _, table := range []string{"runs", "forgotten"} {
		var sum int64
		err := s.read.QueryRowContext(ctx, s.d.rebind("SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM "+table+" WHERE installation = ? AND created_at >= ?"),
			installation, micros(since)).Scan(&sum)
		if err != nil {
			return 0, fmt.Errorf("store: cost: %w", err)
		}
		total += sum
	}
	return float64(total) / 1e6, nil
}

// addCost adds to what a run cost: a run that was begun twice was paid for twice.
func (t *Tx) addCost(ctx context.Context, id librarian.RunID, dollars float64) error {
	if dollars <= 0 || math.IsNaN(dollars) || dollars > 1e6 {
		return nil
	}
	if _, err := t.exec(ctx, "UPDATE runs SET cost = cost + ? WHERE id = ?", int64(math.Ceil(dollars*1e6)), string(id)); err != nil {
		return fmt.Errorf("store: cost: %w", err)
	}
	return nil
}
