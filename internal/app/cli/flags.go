package cli

import (
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/always"
)

// define names the flags of a command.
func (c *cli) define(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	switch name {
	case "serve":
		f.BoolVar(&c.stdio, "stdio", false, "speak on standard input and output, as always; editors pass this")
		f.StringVar(&c.logLevel, "log-level", "", "debug, info, warn or error; stronger than the setting log.level")
		f.StringVar(&c.logFile, "log-file", "", "log to this file, not to standard error")
		return f
	case "completion":
		return f
	}
	of := "the current directory"
	if name == "acp" {
		of = "the directory of the first session"
	}
	f.Var(&c.roots, "root", "a `DIR` of the workspace, or a .code-workspace file with its folders; several times for several, of which the first has the queue; by default the project around "+of)
	if name != "mcp" && name != "acp" {
		f.BoolVar(&c.json, "json", false, "print JSON")
	}
	switch name {
	case "tools":
		f.StringVar(&c.format, "format", "", "info, mcp, openai, anthropic or text, as JSON; by default a table for people")
		strictFlag(f, &c.strict, "with --format openai, anthropic or mcp: strict schemas")
	case "mcp":
		f.StringVar(&c.mode, "mode", "", "a mode for the agent, stricter than that of the settings")
		strictFlag(f, &c.strict, "schemas in the form that strict modes of providers need")
		f.StringVar(&c.tools, "tools", "", "families of tools that the agent is listed at first, with commas between them, such as core,git,agents; all lists every tool; by default as sidecar.mcp.tools says")
		f.StringVar(&c.logLevel, "log-level", "", "debug, info, warn or error")
		f.StringVar(&c.logFile, "log-file", "", "log to this file, not to standard error")
	case "acp":
		f.StringVar(&c.mode, "mode", "", "a mode for new sessions, stricter than that of the settings; by default review")
		f.StringVar(&c.model, "model", "", "a profile of backend.profiles for new sessions; by default the one that is used")
		f.StringVar(&c.logLevel, "log-level", "", "debug, info, warn or error")
		f.StringVar(&c.logFile, "log-file", "", "log to this file, not to standard error")
	case "call":
		f.StringVar(&c.mode, "mode", "", "the mode of this call; by default that of the settings")
		f.StringVar(&c.session, "session", "", "beside a running server: go on with a session of this name, not with the one of all shells")
	case "run":
		f.StringVar(&c.mode, "mode", "", "the mode of the program's session; by default review")
		f.StringVar(&c.session, "session", "", "its name; by default that of the program")
		f.StringVar(&c.profile, "profile", "", "what of yours the program sees: the name of an agent, or none; by default the agent whose program it is")
		f.BoolVar(&c.yes, "yes", false, "allow what the profile says, without being asked")
	case "agent":
		f.StringVar(&c.mode, "mode", "", "with run and prompt: the mode of the agent's session; by default review")
		f.StringVar(&c.session, "session", "", "with run: its name; by default one after the agent")
		f.StringVar(&c.model, "model", "", "with run: a model that the agent has; with prompt and eval: a profile of sidecar.backend.profiles")
		f.StringVar(&c.resume, "resume", "", "with run: go on with this conversation, which the agent had before; agent sessions lists them")
		f.BoolVar(&c.yes, "yes", false, "with run and sessions: allow what the agent sees of yours, without being asked")
		f.BoolVar(&c.all, "all", false, "with runs: those too that have ended")
		f.StringVar(&c.reason, "reason", "", "with answer: why not, for the agent")
		c.eval.define(f)
	case "port":
		f.BoolVar(&c.yes, "yes", false, "with open: don't ask")
	case "trust":
		f.StringVar(&c.hash, "hash", "", "with yes: take what has this hash, which sidecar-ls trust prints, and nothing else")
	case "plugin":
		f.BoolVar(&c.mine, "mine", false, "with trust: it is your own work, and loaded again whenever it changes")
		f.StringVar(&c.override, "override", "", "with trust: built-in tools that it may stand in for, with commas between them")
	case "policy":
		f.StringVar(&c.mode, "mode", "", "the mode of the call; by default that of the settings")
		f.StringVar(&c.expect, "expect", "", "with test: allow, ask or deny; fail when a line is decided otherwise")
		f.IntVar(&c.days, "days", always.DefaultDays, "with suggest: how many days of the audit log are looked at")
	case "audit":
		f.StringVar(&c.query.Tool, "tool", "", "with list: calls of this tool alone")
		f.StringVar(&c.query.Session, "session", "", "with list: calls of this session alone")
		f.StringVar(&c.query.Path, "path", "", "with list: calls that changed this file alone")
		f.StringVar(&c.query.Outcome, "outcome", "", "with list: allow or deny alone")
		f.DurationVar(&c.since, "since", 0, "with list: calls of the last hours, such as 2h30m")
		f.IntVar(&c.query.Limit, "limit", 100, "with list: the newest so many")
	case "shadow":
		f.StringVar(&c.base, "base", "HEAD", "with create: the commit to begin with")
		f.BoolVar(&c.uncommitted, "include-uncommitted", false, "with create: begin with what is not committed too")
		f.BoolVar(&c.lazy, "lazy", false, "with create: make no files until a command needs them")
		f.StringVar(&c.into, "into", "", "with merge: review, which is the default, or tree")
		f.StringVar(&c.take, "take", "", "with setup: take over the setup that the project has for another program: cursor or codex")
		f.BoolVar(&c.yes, "yes", false, "with setup --take: don't ask")
	case "uninstall":
		f.BoolVar(&c.list, "list", false, "only say what there is, and what takes it away")
		f.BoolVar(&c.purge, "purge", false, "your settings and plugins too")
		f.BoolVar(&c.yes, "yes", false, "don't ask")
	case "setup":
		c.setup.define(f)
	case "knowledge":
		f.IntVar(&c.max, "max", 10, "with search: most hits, up to 50")
	case "review":
		f.StringVar(&c.reason, "reason", "", "with reject: the reason for the agent")
		f.StringVar(&c.line, "command", "", "with verify: the command that tests; by default what the project's files say")
		f.StringVar(&c.build, "build", "", "with output: the command that builds it again from the accepted text; what that makes is taken instead")
		f.BoolVar(&c.all, "all", false, "with reject and output drop: all that waits, without being asked")
	}
	return f
}

// unlisted adds the flags that neither help nor completion has: an earlier name, and those
// that only sidecar-ls itself passes.
func unlisted(c *cli, name string, f *flag.FlagSet) {
	switch name {
	case "setup":
		f.StringVar(&c.setup.via, "road", "", "")
	case "mcp":
		f.StringVar(&c.door, "door", "", "") // the socket by which an agent of ours reaches its session
	case "serve":
		f.BoolVar(&c.detached, detachedFlag, false, "") // the editor is handed over
	}
}

// strictFlag adds a flag that is left out, true or false.
func strictFlag(f *flag.FlagSet, to **bool, usage string) {
	f.BoolFunc("strict", usage, func(s string) error {
		on, err := strconv.ParseBool(s)
		*to = &on
		return err
	})
}

// parse reads the flags, which may stand before, between and after the other
// arguments; after -- everything is an argument.
func (c *cli) parse(cmd command, args []string) error {
	f := c.define(cmd.name)
	c.flags = f
	f.BoolVar(&c.help, "help", false, "")
	f.BoolVar(&c.help, "h", false, "")
	unlisted(c, cmd.name, f)
	for {
		if err := f.Parse(args); err != nil {
			return usagef("%s: %v", cmd.name, err)
		}
		rest := f.Args()
		if len(rest) == 0 {
			break
		}
		if done := len(args) - len(rest); done > 0 && args[done-1] == "--" {
			c.args = append(c.args, rest...)
			break
		}
		if cmd.name == "run" { // the flags behind the program are its own
			c.args = rest
			break
		}
		c.args, args = append(c.args, rest[0]), rest[1:]
	}
	if !c.help || cmd.name == "call" && len(c.args) > 0 { // there it is a tool that help is asked about
		return nil
	}
	fmt.Fprintf(c.Out, "Usage: sidecar-ls %s %s\n\n%s.\n\n", cmd.name, cmd.usage, upperFirst(cmd.help))
	shown := new(cli).define(cmd.name)
	shown.SetOutput(c.Out)
	shown.PrintDefaults()
	return flag.ErrHelp
}

// isFlag reports whether a word is a flag; a lone - is none.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }
