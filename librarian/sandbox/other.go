//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
)

var errSystem = errors.New("sandbox: only Linux on amd64 and arm64 can confine a command")

// Child does nothing here.
func Child() {}

type (
	views   struct{}
	cgroups struct{}
)

// Bounded fails as Probe does.
func (s *Sandbox) Bounded() error { return errSystem }

// Hidden fails as Probe does.
func (s *Sandbox) Hidden(context.Context) error { return errSystem }

// Probe fails: there are no walls to be had.
func (s *Sandbox) Probe(context.Context) error { return errSystem }

func (s *Sandbox) begin() {}

func (s *Sandbox) run(context.Context, Command, int, string) (Output, error) {
	return Output{}, errSystem
}
