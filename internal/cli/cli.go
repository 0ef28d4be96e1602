// Package cli is the command line: a file for each sub-command, with its printing
// and its exit codes. What a sub-command asks of a workspace is asked of the
// process that serves it, if there is one, else of a workspace opened for it; see
// query.go.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/worker"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// Streams are the standard streams of a run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	// Self is the path of this program, which starts itself to parse what may
	// bring a parser down; "" parses in this process.
	Self string

	// Exit ends the process when its work does not end in time after the editor
	// has left; nil waits for it.
	Exit func(code int)
}

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // what was asked for failed; standard error says why
	exitUsage = 2 // the command line is wrong
)

// command is one sub-command.
type command struct {
	name  string
	usage string // what follows the name
	help  string
	run   func(ctx context.Context, c *cli) error
	words completer // offers what may come next besides flags; nil offers nothing
}

// commands is every sub-command, in the order of the help.
func commands() []command {
	return []command{
		{"serve", "[--stdio] [--log-level LEVEL] [--log-file FILE]", "speak LSP on standard input and output (the default)", serve, nil},
		{"tools", "[--root DIR] [--format info|mcp|openai|anthropic|text] [--strict] [--json] [TOOL]", "list the tools, or say what one does and takes", listTools, toolNames},
		{"call", "[--root DIR] [--mode MODE] [--session NAME] [--json] TOOL [--help | NAME=VALUE ... | JSON | -]", "call a tool; its arguments are words or a JSON object, - reads that from standard input", callTool, toolWords},
		{"review", "[--root DIR] [--json] list|diff|accept|reject|undo [--reason TEXT] [PATH|HUNK ...]", "look at pending edits and decide on them", reviewEdits, reviewCandidates},
		{"shadow", "[--root DIR] [--json] create [--base COMMIT] [--include-uncommitted] [--lazy] [ID]|fill ID|list|diff ID|merge [--into review|tree] ID|discard ID", "work with shadow workspaces: working trees for agents", shadowWork, shadowCandidates},
		{"knowledge", "[--root DIR] [--json] [--max N] search QUESTION | status", "ask the project index, or say what is in it", useKnowledge, verbs("search", "status")},
		{"policy", "[--root DIR] [--mode MODE] [--json] explain TOOL [NAME=VALUE ... | JSON | -] | [--expect DECISION] test LINE...|-", "say what would be decided about a call, or about lines for run_command; nothing is run", lookAtPolicy, policyWords},
		{"audit", "[--root DIR] [--json] list|verify [--tool NAME] [--session ID] [--path PATH] [--since DURATION] [--limit N]", "look at what tools did, or check that nobody changed that record", audit, verbs("list", "verify")},
		{"mcp", "[--root DIR] [--mode MODE] [--log-level LEVEL] [--log-file FILE]", "serve an agent over MCP on standard input and output", serveMCP, nil},
		{"trust", "[--root DIR] [--json] [yes|no|forget]", "say whether you trust a workspace, so that what its project names may run, or look at what you said", trust, verbs("yes", "no", "forget")},
		{"doctor", "[--root DIR] [--json]", "check this machine and workspace", doctor, nil},
		{"completion", "bash|zsh|fish", "print what lets that shell complete commands, tools and arguments", completion, verbs("bash", "zsh", "fish")},
	}
}

// cli is one run of a sub-command.
type cli struct {
	Streams
	flags *flag.FlagSet
	args  []string // what is left after the flags
	help  bool

	root    string
	mode    string
	session string
	json    bool
	stdio   bool

	format   string
	strict   *bool // nil: as the settings say
	logLevel string
	logFile  string
	expect   string
	reason   string
	query    auditlog.Query
	since    time.Duration

	base        string
	into        string
	uncommitted bool
	lazy        bool
	max         int
}

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errSaid ends a run whose failure has been told already.
var errSaid = errors.New("failed")

// exitCode is the end of a process that stands in for another program.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, args []string, s Streams) int {
	err := run(ctx, args, s)
	var usage *usageError
	var code exitCode
	said := func() string { return redact.OfEnvironment().Text(err.Error()) } // it may quote an argument
	switch {
	case errors.As(err, &code):
		return int(code)
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(onTerminal(s.Err), "sidecar-ls: %s\nTry sidecar-ls --help.\n", said())
		return exitUsage
	case !errors.Is(err, errSaid):
		fmt.Fprintf(onTerminal(s.Err), "sidecar-ls: %s\n", said())
	}
	return exitError
}

func run(ctx context.Context, args []string, s Streams) error {
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	} else if len(args) == 1 {
		switch args[0] {
		case "--version", "-version", "-v":
			fmt.Fprintln(s.Out, "sidecar-ls", app.Version())
			return nil
		case "--help", "-help", "-h":
			help(s.Out)
			return nil
		}
	}
	if len(args) == 0 {
		if is, err := worker.Run(name, s.In, s.Out); is {
			return err
		}
	}
	if name == completeCommand {
		return complete(ctx, args, s)
	}
	if name == sandbox.InitCommand {
		return exitCode(sandbox.Init(args, s.Out, s.Err, confine.SettleRecord))
	}
	if name == "help" {
		help(s.Out)
		return nil
	}
	for _, cmd := range commands() {
		if cmd.name == name {
			c := &cli{Streams: s}
			if name != "serve" && name != "mcp" { // these two speak a protocol
				c.Out, c.Err = onTerminal(s.Out), onTerminal(s.Err)
			}
			if err := c.parse(cmd, args); err != nil {
				return err
			}
			return cmd.run(ctx, c)
		}
	}
	return usagef("there is no command %q", name)
}

func help(w io.Writer) {
	fmt.Fprint(w, "sidecar-ls is the tool layer of a coding agent as a language server.\n\nUsage:\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cmd := range commands() {
		fmt.Fprintf(t, "  sidecar-ls %s\t%s\n", cmd.name, cmd.help)
	}
	fmt.Fprint(t, "  sidecar-ls --version\tprint the version\n")
	_ = t.Flush() // as with Fprint, there is nobody left to tell
	fmt.Fprint(w, "\nsidecar-ls COMMAND --help shows the flags of a command.\n")
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// folder is the workspace that a sub-command works in: --root, else the
// nearest directory around the current one that is a project, else that.
func (c *cli) folder() (workspace.Folder, error) {
	dir := c.root
	if dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return workspace.Folder{}, err
		}
		dir = projectAround(here)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return workspace.Folder{}, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return workspace.Folder{}, err
	}
	if !info.IsDir() {
		return workspace.Folder{}, fmt.Errorf("%s is not a directory", dir)
	}
	return workspace.Folder{Name: filepath.Base(dir), Dir: dir}, nil
}

func projectAround(here string) string {
	for dir := here; ; dir = filepath.Dir(dir) {
		for _, mark := range []string{".sidecar", ".git"} {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			return here
		}
	}
}
