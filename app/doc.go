// Package app puts the house together: configuration, secrets, wiring, and what the sub-commands do. It is the one package
// that imports all others. This page is the tour.
//
// librarian answers questions about code. Somebody mentions the App in a thread; the delivery becomes a run; an agent
// researches on real checkouts; what it found is verified against what it really read, and posted.
//
//	GitHub ──webhook──▶ handlers ──Request──▶ queue ──RunID──▶ run ──▶ agent ──▶ tool/* ──▶ checkout
//	                                            │               │ ▲      │          │
//	                                          store ◀──events───┤ hub  model     report (ledger, verify)
//	                                                            └──────▶ report ──▶ comment ──▶ GitHub
//
// From the bottom up:
//
//   - librarian: the vocabulary. Repositories by id, places, principals, requests, runs and their events, findings.
//   - checkout: git repositories on disk. One bare store for each repository and access class, one read-only tree for each
//     commit, shared by the runs that use it. Only git.go starts git.
//   - checkout/checkouttest: repositories for tests, from txtar, served as a host serves them.
//   - checkout/history: log, show, blame and diff, with what they need fetched in one batch beforehand.
//   - checkout/syntax: declarations of a file, and the one around a line.
//   - checkout/codesearch: a question in, ranked places in code out, without a key or a network.
//   - librarian/access: who may ask and what may be read; pure decisions over facts.
//   - librarian/hub: GitHub's facts, and tokens narrowed to one repository.
//   - librarian/store: runs, events and deliveries in SQL.
//   - librarian/queue: durable jobs that hold a run's id, leases, and the sweeper that takes up what a crash left.
//   - librarian/model: what a language model is here; builtin/scout is one.
//   - librarian/sandbox: a shell command confined by our own binary: it looks, and leaves nothing behind.
//   - librarian/tool, librarian/tool/codetool, librarian/tool/ghtool: what a tool is; the tools over checkouts; those that ask
//     GitHub and grep.app.
//   - librarian/agent: the loop of model and tools, its limits, and the prompt.
//   - librarian/report: the ledger of what was shown, the checks, and every text that people see of a run.
//   - librarian/comment: writing to GitHub, once, within its limits.
//   - librarian/run: the steps of a run, the one gate to repositories, and the words for failures.
//   - handlers: deliveries in, requests out.
//   - librarian/githubsim: a GitHub to run against.
//   - app: here. serve.go is the App, ask.go and tool.go the terminal, demo.go the demonstration, simulate.go the simulated GitHub.
//   - cmd/librarian: sub-commands, flags, exit codes.
//
// Who may import whom is a table in imports_test.go. Four things are worth knowing before changing anything. A run is its
// event log: comment, trace and ledger are views of it. A run and its job are written in one transaction before a delivery is
// acknowledged. Tools reach repositories through run's gate alone, and never see a credential. What is posted was
// verified, cleaned, and goes only to the place that the run's record names.
package app
