package checkout

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
)

// Verify reads the whole tree and compares every file with the blob that the
// commit names.
func (c *Checkout) Verify(ctx context.Context) error {
	if err := c.tree.verify(ctx); err != nil {
		return fmt.Errorf("checkout: verify %s: %w", c.tree.sha, err)
	}
	return nil
}

func (t *sharedTree) verify(ctx context.Context) error {
	tree, err := t.list()
	if err != nil {
		return err
	}
	for _, e := range tree.Entries {
		if e.Kind == Submodule {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		f, err := t.root.Open(e.Path)
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", e.Size)
		_, err = io.Copy(h, f)
		_ = f.Close()
		if err != nil {
			return err
		}
		if hex.EncodeToString(h.Sum(nil)) != e.OID {
			return fmt.Errorf("%w: %q", errDamaged, e.Path)
		}
	}
	return nil
}
