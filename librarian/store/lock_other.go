//go:build !unix

package store

import "errors"

// Lock is not available on this system: it has no lock that ends with the process.
func Lock(string) (func() error, error) {
	return nil, errors.New("store: lock: not available on this system; use PostgreSQL")
}
