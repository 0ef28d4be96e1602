package cli

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/evals"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed completion/bash completion/zsh completion/fish
var completionScripts embed.FS

// completion prints what lets a shell ask completeCommand.
func completion(_ context.Context, c *cli) error {
	if len(c.args) != 1 {
		return usagef("completion takes the name of a shell: bash, zsh or fish")
	}
	script, err := completionScripts.ReadFile("completion/" + c.args[0])
	if err != nil {
		return usagef("completion knows bash, zsh and fish, not %q", c.args[0])
	}
	_, err = c.Out.Write(script)
	return err
}

// completeCommand is what the scripts run: the name of the shell and the words
// of the line, of which the last is the one to complete. It prints a word and
// what that means on each line.
const completeCommand = "__complete"

// candidate is a word that may stand there. One that ends with = or / is only
// the beginning of one.
type candidate struct{ word, meaning string }

// completer offers what may follow the words of a command that are no flags.
type completer func(ctx context.Context, c *cli, done []string, begun string) []candidate

// complete answers a shell. What goes wrong offers nothing: there is nobody to
// tell.
func complete(ctx context.Context, args []string, s Streams) error {
	if len(args) == 0 {
		return usagef("%s is for the scripts of sidecar-ls completion", completeCommand)
	}
	words, cut := args[1:], 0
	if args[0] == "bash" {
		words, cut = joined(words)
	}
	if len(words) == 0 {
		words = []string{""}
	}
	last := len(words) - 1
	c := &cli{Streams: Streams{In: s.In, Out: s.Out, Err: io.Discard, Self: s.Self}}
	for _, offer := range c.offers(ctx, words[:last], words[last]) {
		if strings.HasPrefix(offer.word, words[last]) && !strings.ContainsFunc(offer.word, unicode.IsControl) { // an answer is lines
			line, _, _ := strings.Cut(offer.meaning, "\n")
			fmt.Fprintf(s.Out, "%s\t%s\n", offer.word[cut:], line)
		}
	}
	return nil
}

// joined puts words together that bash has split at = and :, and says how much
// of the last one bash keeps.
func joined(words []string) (out []string, cut int) {
	glue := false
	for _, w := range words {
		sign := w == "=" || w == ":"
		switch {
		case (sign || glue) && len(out) > 0:
			if !sign {
				cut = len(out[len(out)-1])
			}
			out[len(out)-1] += w
			if sign {
				cut = len(out[len(out)-1])
			}
		default:
			out, cut = append(out, w), 0
		}
		glue = sign
	}
	return out, cut
}

// offers are the candidates for the word that was begun.
func (c *cli) offers(ctx context.Context, done []string, begun string) []candidate {
	if len(done) == 0 {
		out := []candidate{{"--help", "show the commands"}, {"--version", "print the version"}}
		for _, cmd := range commands() {
			out = append(out, candidate{cmd.name, cmd.help})
		}
		return out
	}
	i := slices.IndexFunc(commands(), func(cmd command) bool { return cmd.name == done[0] })
	if i < 0 {
		return nil
	}
	cmd := commands()[i]
	f := c.define(cmd.name)
	args, waits := setFlags(f, done[1:])
	if waits != "" {
		return c.values(waits, "", begun)
	}
	if name, value, ok := strings.Cut(begun, "="); ok && isFlag(begun) {
		return c.values(strings.TrimLeft(name, "-"), name+"=", value)
	}
	if isFlag(begun) || begun == "-" {
		out := []candidate{{"--help", "show what it takes"}}
		f.VisitAll(func(fl *flag.Flag) { out = append(out, candidate{"--" + fl.Name, fl.Usage}) })
		return out
	}
	if cmd.words == nil {
		return nil
	}
	return cmd.words(ctx, c, args, begun)
}

// setFlags sets the flags among words as far as they make sense, and returns the
// other words, and the flag whose value comes next.
func setFlags(f *flag.FlagSet, words []string) (args []string, waits string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "--" {
			return append(args, words[i+1:]...), ""
		}
		if !isFlag(w) {
			args = append(args, w)
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(w, "-"), "=")
		fl := f.Lookup(name)
		if fl == nil {
			continue
		}
		if b, ok := fl.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			value, given = "true", true
		}
		if !given {
			if i++; i == len(words) {
				return args, name
			}
			value = words[i]
		}
		_ = f.Set(name, value) // a wrong value is reported when the line is run
	}
	return args, ""
}

// values are those that a flag may have and that go on with begun, each after before.
func (c *cli) values(name, before, begun string) []candidate {
	var list []string
	switch name {
	case "mode":
		list = c.modes()
	case "root":
		list = rootsFrom(begun)
	case "format":
		list = []string{string(tools.FormatInfo), string(tools.FormatMCP), string(tools.FormatOpenAI), string(tools.FormatAnthropic), string(tools.FormatText)}
	case "log-level":
		list = []string{"debug", "info", "warn", "error"}
	case "via", "road":
		list = setup.Integrations()
	case "expect":
		list = []string{"allow", "ask", "deny"}
	case "outcome":
		list = []string{"allow", "deny"}
	case "only":
		tasks, _ := evals.Shipped() // there is nobody to tell
		for _, t := range tasks {
			list = append(list, t.Name)
		}
	case "into":
		list = []string{"review", shadow.IntoTree}
	}
	var out []candidate
	for _, word := range list {
		out = append(out, candidate{before + word, ""})
	}
	return out
}

// modes are the names of the modes, also of the user's own.
func (c *cli) modes() []string {
	row, _ := config.Lookup("mode")
	list := slices.Clone(row.Enum)
	folders, err := c.folders()
	if err != nil {
		return list
	}
	s := live.New(live.Options{Machine: c.Machine})
	s.Open(workspace.Dirs(folders))
	for name := range s.Dispatch().Modes {
		list = append(list, name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// verbs offers the first word.
func verbs(list ...string) completer {
	return func(_ context.Context, _ *cli, done []string, _ string) []candidate {
		if len(done) > 0 {
			return nil
		}
		var out []candidate
		for _, v := range list {
			out = append(out, candidate{v, ""})
		}
		return out
	}
}

// toolNames offers the names of the tools.
func toolNames(ctx context.Context, c *cli, done []string, _ string) []candidate {
	if len(done) > 0 {
		return nil
	}
	list, err := ask(ctx, c, toolList, toolsQuery{})
	if err != nil {
		return nil
	}
	var out []candidate
	for _, t := range list.Tools {
		out = append(out, candidate{t.Name, t.Title})
	}
	return out
}

// toolWords offers a tool, then its arguments, and the values of those that
// have few.
func toolWords(ctx context.Context, c *cli, done []string, begun string) []candidate {
	if len(done) == 0 {
		return toolNames(ctx, c, nil, begun)
	}
	m, err := c.manual(ctx, done[0])
	if err != nil {
		return nil
	}
	var out []candidate
	name, value, valued := strings.Cut(begun, "=")
	for _, a := range m.Arguments {
		if valued && a.Name == name {
			return c.argumentValues(a, name+"=", value)
		}
		given := slices.ContainsFunc(done[1:], func(w string) bool { return strings.HasPrefix(w, a.Name+"=") })
		if !given || slices.Contains(a.Kinds, "array") {
			out = append(out, candidate{a.Name + "=", a.Meaning})
		}
	}
	return out
}

// reviewCandidates offers a verb, and what is pending where a server knows it;
// else the shell offers files.
func reviewCandidates(ctx context.Context, c *cli, done []string, begun string) []candidate {
	if len(done) == 0 {
		return verbs("list", "diff", "verify", "accept", "reject", "undo", "redo", "history", "output")(ctx, c, done, begun)
	}
	f, err := c.folder()
	if err == nil && done[0] == "output" {
		return outputCandidates(ctx, c, done[1:], begun)
	}
	if err != nil || slices.Contains([]string{"undo", "redo", "history"}, done[0]) {
		return nil
	}
	var list pendingedits.List
	if there, err := c.askThere(ctx, reviewList.name, reviewWords{Dir: f.Dir}, &list); !there || err != nil {
		return nil
	}
	var out []candidate
	for _, e := range list.Edits {
		out = append(out, candidate{e.Name, e.Kind + ", by " + e.Tool})
		for _, h := range e.Hunks {
			out = append(out, candidate{h.ID, fmt.Sprintf("%s, line %d", e.Name, max(h.OldStart, 1))})
		}
	}
	return out
}

// shadowCandidates offers a verb, and the shadow workspaces that there are.
func shadowCandidates(ctx context.Context, c *cli, done []string, begun string) []candidate {
	if len(done) == 0 {
		return verbs("create", "setup", "fill", "list", "diff", "merge", "discard")(ctx, c, done, begun)
	}
	if verb := shadowVerbs[done[0]]; len(done) > 1 || !verb.id && done[0] != "setup" {
		return nil
	}
	list, err := ask(ctx, c, shadowList, struct{}{})
	if err != nil {
		return nil
	}
	var out []candidate
	for _, s := range list.Shadows {
		out = append(out, candidate{s.ID, fmt.Sprintf("%d changed", s.Changed)})
	}
	return out
}

// policyWords offers a verb, and to explain what a call takes.
func policyWords(ctx context.Context, c *cli, done []string, begun string) []candidate {
	switch {
	case len(done) == 0:
		return verbs("explain", "test", "suggest")(ctx, c, done, begun)
	case done[0] == "explain":
		return toolWords(ctx, c, done[1:], begun)
	}
	return nil
}

// pathArguments are the names of arguments that are files of the workspace.
var pathArguments = []string{"path", "paths", "from", "to", "cwd"}

// argumentValues offers values of an argument, each after before.
func (c *cli) argumentValues(a tools.Argument, before, begun string) []candidate {
	list := a.Values
	switch {
	case slices.Contains(a.Kinds, "boolean"):
		list = []string{"true", "false"}
	case list == nil && slices.Contains(pathArguments, a.Name):
		list = c.filesFrom(begun)
	}
	var out []candidate
	for _, v := range list {
		out = append(out, candidate{before + v, ""})
	}
	return out
}

// rootsFrom are the directories, and the files that name some, in the directory that begun
// names.
func rootsFrom(begun string) (out []string) {
	for _, name := range namesFrom(".", begun) {
		if strings.HasSuffix(name, "/") || strings.EqualFold(filepath.Ext(name), workspaceFile) {
			out = append(out, name)
		}
	}
	return out
}

// filesFrom are the files of the workspace in the directory that begun names. Of several
// folders, their names come first.
func (c *cli) filesFrom(begun string) (out []string) {
	folders, err := c.folders()
	switch {
	case err != nil:
		return nil
	case len(folders) == 1:
		return namesFrom(folders[0].Dir, begun)
	}
	for _, f := range folders {
		below, within := strings.CutPrefix(begun, f.Name+"/")
		if !within {
			out = append(out, f.Name+"/")
			continue
		}
		for _, name := range namesFrom(f.Dir, below) {
			out = append(out, f.Name+"/"+name)
		}
	}
	return out
}

// namesFrom are the names in the directory of dir that begun names, as begun has it;
// directories end with a slash.
func namesFrom(dir, begun string) (out []string) {
	at := begun[:strings.LastIndexByte(begun, '/')+1]
	if filepath.IsAbs(at) {
		dir = ""
	}
	list, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(at)))
	if err != nil {
		return nil
	}
	for _, e := range list {
		name := at + e.Name()
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil && info.IsDir() {
			name += "/"
		}
		out = append(out, name)
	}
	return out
}
