// Package report turns what a run read and what its model said into an answer that can be trusted, and shows it.
//
// It owns the [Ledger] (what was really shown to the model, at which commit), the tool provide_results ([Results]), which
// checks every location and every path:line in prose against ledger and tree, and all text that people see of a run:
// comments ([Comment]), trace lines ([TraceLine]), and the terminal's plain text ([Plain]). It promises that a link it
// builds names a full commit and lines that exist and were read, that whatever a model wrote goes through [Sanitize], and
// that no comment is longer than GitHub takes. It needs a [Tree] and [Sources] from app, and does no I/O but through them.
package report
