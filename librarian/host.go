package librarian

// GitHubHost is where GitHub itself is. No other file names that host (a test sees to it): every part is told which
// GitHub it works with, so that an Enterprise host is like any other.
const GitHubHost = "github.com"
