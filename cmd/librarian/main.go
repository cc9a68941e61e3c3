// Command librarian answers questions about code: as a GitHub App (serve), on the terminal (ask), and by itself to be
// looked at (demo). This package owns the sub-commands, their flags and exit codes; what they do is in package app.
//
// Exit codes: 0 done; 1 it did not work out; 2 a mistake of whoever called it, said in one line; 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/librarian-app/librarian/app"
)

func main() {
	app.Child()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// cli is every sub-command with its flags.
type cli struct {
	Demo      demoCmd      `cmd:"" help:"Show it working: a simulated GitHub, the App, a question and its answer. No network, no key."`
	Ask       askCmd       `cmd:"" help:"Ask a question on the terminal."`
	Runs      runsCmd      `cmd:"" help:"Look at the runs that are kept."`
	Tool      toolCmd      `cmd:"" help:"Call one of the agent's tools by hand, without a model."`
	Serve     serveCmd     `cmd:"" help:"Run the App."`
	Githubsim githubsimCmd `cmd:"" help:"Run a simulated GitHub to point a server at."`
	Bench     benchCmd     `cmd:"" help:"Benchmarks."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

// streams are where commands write.
type streams struct{ out, err io.Writer }

// exit is a panic that kong's exits become, so that run returns a code.
type exit int

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(exit)
			if !ok {
				panic(p)
			}
			code = int(e)
		}
	}()
	var c cli
	parser, err := kong.New(&c, kong.Name("librarian"), kong.Description("Answers questions about code, with links to the lines it read."),
		kong.Writers(stdout, stderr), kong.UsageOnError(), kong.Exit(func(n int) { panic(exit(n)) }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(&streams{stdout, stderr}), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return complain(stderr, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if err != nil {
		hint := "librarian --help lists commands and flags"
		if args[0] == "ask" && strings.Contains(err.Error(), "unknown flag") {
			hint = "a question that begins with a dash goes behind --: librarian ask -- '-…'"
		}
		return complain(stderr, &app.UsageError{Message: err.Error(), Hint: hint})
	}
	return complain(stderr, k.Run())
}

// complain prints an error in one line and gives the exit code for it.
func complain(stderr io.Writer, err error) int {
	var usage *app.UsageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return 130
	case errors.Is(err, errNoAnswer):
		return 1
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "librarian: "+oneLine(usage.Error()))
		return 2
	}
	fmt.Fprintln(stderr, "librarian: "+oneLine(err.Error()))
	return 1
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
