package handlers

import "context"

// ping answers GitHub's greeting of a new webhook with 200.
type ping struct{}

// Handles implements githubapp.EventHandler.
func (ping) Handles() []string { return []string{"ping"} }

// Handle implements githubapp.EventHandler.
func (ping) Handle(context.Context, string, string, []byte) error { return nil }
