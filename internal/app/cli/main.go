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
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/worker"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/agenthook"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// commands is every sub-command, in the order of the help.
func commands() []command {
	return []command{
		{"serve", "[--stdio] [--log-level LEVEL] [--log-file FILE]", "speak LSP on standard input and output, for an editor; sidecar-ls alone does so, too, but at a terminal prints an overview", serveLSP, nil},
		{"tools", "[--root DIR] [--format info|mcp|openai|anthropic|text] [--strict] [--json] [TOOL]", "list the tools, or say what one does and takes", listTools, toolNames},
		{"call", "[--root DIR] [--mode MODE] [--session NAME] [--json] TOOL [--help | NAME=VALUE ... | JSON | -]", "call a tool; its arguments are words or a JSON object, - reads that from standard input", callTool, toolWords},
		{"review", "[--root DIR] [--json] list|diff|verify|accept|reject|undo|redo|history [--reason TEXT] [--all] [--command LINE] [PATH|HUNK|ENTRY ...] | output [list|accept|drop] [--all] [--build LINE] [SESSION]", "look at pending edits, decide on them, and take edits back", reviewCommand, reviewCandidates},
		{"shadow", "[--root DIR] [--json] create [--base COMMIT] [--include-uncommitted] [--lazy] [ID]|setup ID|setup --take NAME [--yes]|fill ID|list|diff ID|merge [--into review|tree] ID|discard ID", "work with shadow workspaces: working trees for agents", shadowCommand, shadowCandidates},
		{"knowledge", "[--root DIR] [--json] [--max N] search QUESTION | status", "ask the project index, or say what is in it", knowledgeCommand, verbs("search", "status")},
		{"policy", "[--root DIR] [--mode MODE] [--json] explain TOOL [NAME=VALUE ... | JSON | -] | [--expect DECISION] test LINE...|-|FILE | suggest [--days N]", "say what would be decided about a call, or about lines for run_command, where nothing is run; check the examples of command rules; or suggest rules by what you were asked", policyCommand, policyWords},
		{"skill", "[--root DIR] [--json] list | show NAME", "list the skills that agents have here, or show one", skillCommand, skillCandidates},
		{"run", "[--root DIR] [--session NAME] [--profile NAME] [--mode MODE] [--yes] [--json] -- PROGRAM [ARGUMENT ...]", "run a program that sees what is pending, and whose changes wait for review", runProgram, nil},
		{"agent", "[--root DIR] [--json] list | sessions [--yes] AGENT [CURSOR] | run [--mode MODE] [--session NAME] [--model MODEL] [--resume ID] [--yes] AGENT PROMPT|- | runs [--all] | attach RUN | resume RUN [PROMPT] | fork RUN | answer [QUESTION [ANSWER]] [--reason TEXT] | stop RUN | close RUN | prompt [--mode MODE] [--model PROFILE] | eval [--model PROFILE] [--n N] [--only NAME,...] [--budget-tokens N] [--keep] [DIR]", "have an agent of yours work, with its changes waiting for review", agentCommand, verbs("list", "sessions", "run", "runs", "attach", "resume", "fork", "answer", "stop", "close", "prompt", "eval")},
		{"port", "[--root DIR] [--json] list [SESSION] | open [--yes] SESSION PORT | close SESSION PORT", "list the ports that programs of sessions listen on, and open one in your browser", portCommand, portCandidates},
		{"audit", "[--root DIR] [--json] list|verify|effects [--tool NAME] [--session ID] [--path PATH] [--since DURATION] [--limit N]", "look at what tools did, or check that nobody changed that record", audit, verbs("list", "verify", "effects")},
		{"mcp", "[--root DIR] [--mode MODE] [--strict] [--tools FAMILIES] [--log-level LEVEL] [--log-file FILE] [sign-in SERVER]", "serve an agent over MCP on standard input and output; or sign in to an MCP server of the settings", serveMCP, verbs("sign-in")},
		{"acp", "[--root DIR] [--mode MODE] [--model MODEL] [--log-level LEVEL] [--log-file FILE]", "serve an editor with our own agent over the Agent Client Protocol, on standard input and output", serveACP, nil},
		{"trust", "[--root DIR] [--json] [yes [--hash H]|no|forget]", "say whether you trust a workspace, so that what its project names may run, or look at what you said and what has changed since", trustFolder, verbs("yes", "no", "forget")},
		{"mode", "[--root DIR] [--json] [MODE]", "show what agents may do without asking and where their edits go, or choose it", modeCommand, modeNames},
		{"setup", "[--root DIR] [--json] [CLIENT [--via INTEGRATION,...] [--tools FAMILY,...] [--project] [--review | --no-review | --only-ours] [--yes] [--dry-run] [--undo] | model [PROVIDER|URL [MODEL]] | --all]", "list the agents and editors that are here, or put sidecar-ls into one of them, with a way back; or choose a language model for our own agent", setUp, setupClients},
		{"plugin", "[--root DIR] [--json] list | trust [--mine] [--override TOOL,...] ID | distrust ID | enable ID | disable ID | reload ID | add PATH | remove ID | new LANGUAGE DIR", "look at plugins, say which you trust, and make one", pluginCommand, verbs(pluginVerbs()...)},
		{"hook", "[--root DIR] [--json] list | test EVENT [TOOL [JSON]] | claude | codex | gemini", "list the hooks, or run those of an event on an example; or be a hook of another agent, which puts the policy behind its own tools", hookCommand, verbs(append([]string{"list", "test"}, agenthook.Names()...)...)},
		{"uninstall", "[--root DIR] [--json] [--list | [--purge] [--yes]]", "list what sidecar-ls has left on this machine, or take it out", uninstall, nil},
		{"doctor", "[--root DIR] [--json]", "check this machine and workspace", doctor, nil},
		{"completion", "bash|zsh|fish", "print what lets that shell complete commands, tools and arguments", completion, verbs("bash", "zsh", "fish")},
	}
}

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
		page := "help"
		if cmd := named(args); cmd != nil {
			page = cmd.name + " --help"
		}
		fmt.Fprintf(onTerminal(s.Err), "sidecar-ls: %s\nTry sidecar-ls %s.\n", said(), page)
		return exitUsage
	case !errors.Is(err, errReported):
		fmt.Fprintf(onTerminal(s.Err), "sidecar-ls: %s\n", said())
	}
	return exitError
}

func run(ctx context.Context, args []string, s Streams) error {
	if s.Programs == nil {
		s.Programs = lookup.New(lookup.Options{})
	}
	if s.Exit != nil {
		peers.Name() // what descends from it is known by that
	}
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	} else if len(args) == 1 {
		switch args[0] {
		case "--version", "-version", "-v":
			fmt.Fprintln(s.Out, "sidecar-ls", build())
			return nil
		case "--help", "-help", "-h":
			help(s.Out)
			return nil
		}
	} else if len(args) == 0 && onlyTerminal(s) {
		return welcome(ctx, &cli{Streams: s})
	}
	if len(args) == 0 {
		if is, err := worker.Run(name, s.In, s.Out); is {
			return err
		}
	}
	if name == completeCommand {
		return complete(ctx, args, s)
	}
	if name == child.InitCommand {
		return exitCode(sandbox.Init(args, s.Out, s.Err, confine.SettleRecord))
	}
	switch name {
	case "help":
		return helpOn(args, s)
	case "version":
		fmt.Fprintln(s.Out, "sidecar-ls", build())
		return nil
	}
	cmd := named([]string{name})
	if cmd == nil {
		return usagef("there is no command %q%s", name, didYouMean(name, commandNames()))
	}
	c := &cli{Streams: s}
	if name != "serve" && name != "mcp" && name != "acp" && name != "run" { // these speak a protocol, or leave their streams to a program
		c.Out, c.Err = onTerminal(s.Out), onTerminal(s.Err)
	}
	if err := c.parse(*cmd, args); err != nil {
		return err
	}
	if err := c.may(name); err != nil {
		return err
	}
	return cmd.run(ctx, c)
}

// may finds out for whom this process acts, and fails when a command is not theirs:
// with a server or without one, whose state it could open itself.
func (c *cli) may(name string) error {
	switch {
	case sandbox.Inside():
		c.who = peers.Sandboxed()
	case c.detached:
		c.who = peers.Handed()
	default:
		c.who = peers.Self()
	}
	if c.help {
		return nil
	}
	if len(c.args) > 0 && peers.Known(name+" "+c.args[0]) {
		name += " " + c.args[0]
	}
	return c.who.May(name)
}

// build names the build, and what it lacks.
func build() string {
	if !treesitter.Parsers {
		return version.Long() + ", without parsers"
	}
	return version.Long()
}
