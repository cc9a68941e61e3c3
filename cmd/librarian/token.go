package main

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// githubToken is the person's token for GitHub: GITHUB_TOKEN, GH_TOKEN, or what the gh command knows; empty: none. It is
// never printed.
func githubToken(ctx context.Context, getenv func(string) string) string {
	for _, name := range []string{"GITHUB_TOKEN", "GH_TOKEN"} {
		if t := strings.TrimSpace(getenv(name)); t != "" {
			return t
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "gh", "auth", "token").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
