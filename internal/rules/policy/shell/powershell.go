package shell

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// Lines of PowerShell are read by PowerShell's own parser; here is what is made of
// what it says. Its commands have other names and its words other rules than those of
// bash, so none of the tables for bash lets one pass.

// ParsesSafely reports whether PowerShell's parser may be given a line: what these
// words begin has it load modules while it parses. why is for people.
func ParsesSafely(line string) (why string, ok bool) {
	if err := readable(strings.ReplaceAll(line, "\r\n", "\n"), 0); err != nil {
		return err.Error(), false
	}
	if word := loading.FindString(line); word != "" {
		return "PowerShell may load programs to read a line with " + quote(word), false
	}
	return "", true
}

var loading = regexp.MustCompile(`(?i)\b(using|configuration)\b`)

// FromPowerShell makes a Line of what PowerShell's parser says.
func FromPowerShell(parsed []byte) *Line {
	var said struct {
		Errors   []string
		Doubts   []string
		Commands []struct {
			Text  string
			Words []Word
		}
		Writes []Word
	}
	l := &Line{PowerShell: true}
	switch err := json.Unmarshal(parsed, &said); {
	case err != nil:
		return Unread(fmt.Sprintf("what PowerShell's parser says can't be read (%v)", err))
	case len(said.Errors) > 0:
		return Unread("PowerShell would not understand it (" + said.Errors[0] + ")")
	case len(said.Commands) > maxCommands:
		return Unread(fmt.Sprintf("it has more than %d commands", maxCommands))
	}
	l.Writes, l.Doubts = said.Writes, said.Doubts
	for _, c := range said.Commands {
		if len(c.Words) == 0 {
			return Unread("PowerShell's parser names a command without words")
		}
		l.Commands = append(l.Commands, Command{Words: c.Words, Text: c.Text})
	}
	return l
}

// Unread is a line of PowerShell of which nothing is known, and why.
func Unread(why string) *Line { return &Line{PowerShell: true, Unread: why} }

// unread decides on a line of which nothing is known: no rule allows it, and one that
// denies a program denies whatever names that.
func (j *Judge) unread(text, why string) Part {
	p := Part{Text: quote(text)}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	})
	for _, r := range j.all(policy.Deny) {
		if slices.ContainsFunc(words, func(w string) bool { return cmdlet(w) == cmdlet(r.Prefix[0]) }) {
			return p.by(policy.Deny, "command.rule", "a rule denies "+r.String()+", and "+why)
		}
	}
	return p.by(policy.Ask, "command.unclear", why)
}

// powerShell decides on one command of a line of PowerShell.
func (j *Judge) powerShell(c Command) Part {
	p := Part{Text: c.Text}
	name := cmdlet(c.Words[0].Text)
	if !c.Words[0].Known {
		return j.mayHide(p.by("", "command.unclear", "the program of "+quote(c.Text)+" is not known before it runs"), "")
	}
	about := false // a rule that denies something speaks about the program
	for _, r := range j.all(policy.Deny) {
		if cmdlet(r.Prefix[0]) == name {
			if folded(c, r.Prefix) {
				return p.by(policy.Deny, "command.rule", "a rule denies "+r.String())
			}
			about = about || len(r.Prefix) > 1
		}
		about = about || c.names(r)
	}
	for _, r := range j.all(policy.Ask) {
		if cmdlet(r.Prefix[0]) == name && folded(c, r.Prefix) {
			return p.by(policy.Ask, "command.rule", "a rule asks about "+r.String())
		}
	}
	switch {
	case about:
		return p.by(policy.Ask, "command.unclear", "a rule denies what may be this, in other words")
	case slices.Contains(interpreters, name) || slices.Contains(runners, name):
		p = j.mayHide(p, quote(name)+" runs what its arguments say")
		if p.Outcome != "" {
			return p
		}
	}
	for _, w := range c.Words[1:] {
		if _, value, is := strings.Cut(w.Text, ":"); is && strings.HasPrefix(w.Text, "-") { // -Path:value
			w.Text = value
		}
		if bad, ok := j.path(w, false); ok && bad.Outcome != "" {
			bad.Text = c.Text
			return bad
		}
	}
	why := j.notPlain(c, name)
	if why == "" {
		for _, r := range j.all(policy.Allow) {
			if strings.EqualFold(c.Words[0].Text, r.Prefix[0]) && cmdlet(r.Prefix[0]) == bare(r.Prefix[0]) && exactly(c, r.Prefix) {
				named := c // the tables know programs by their bare names
				named.Words = slices.Clone(c.Words)
				named.Words[0].Text = name
				if r.Known && !j.goesOnAsKnown(r, named, nil) {
					continue
				}
				bad := guard(named, len(r.Prefix))
				if bad == "" {
					bad = obeyed(c.Words[0].Text, c.Words[len(r.Prefix):])
				}
				if bad != "" {
					return p.by("", "command.arguments", "a rule allows "+r.String()+", but not so: "+bad)
				}
				return p.by(policy.Allow, "command.rule", "a rule allows "+r.String())
			}
		}
		if exact := key(c, nil); exact != "" {
			p.Key = "powershell " + exact
		}
		if p.Key != "" && j.Remembered != nil && j.Remembered(p.Key) {
			return p.by(policy.Allow, "allowed-for-session", "a person allowed this command for the session")
		}
	}
	switch {
	case !slices.Contains(looking, name) || !isCmdlet(c.Words[0].Text):
		return p.by("", "command.unknown", "no rule speaks about "+quote(c.Words[0].Text))
	case why != "":
		return p.by("", "command.arguments", why)
	}
	return p.by(policy.Allow, "command.read", "it only looks")
}

// obeyed says which of the words that a rule does not name a batch file may obey, or "".
// PowerShell hands them over without quotes, and cmd.exe has operators and variables.
func obeyed(program string, words []Word) string {
	if slices.Contains(noBatchFiles, strings.TrimSuffix(strings.ToLower(program), ".exe")) {
		return ""
	}
	for _, w := range words {
		if strings.ContainsAny(w.Text, "&|<>^%\"\r\n") {
			return quote(program) + " may be a batch file, which would take a part of " + quote(w.Text) + " for a command"
		}
	}
	return ""
}

// noBatchFiles are programs that Windows has as such, and not behind a batch file: by
// these names alone, as ./go and go.cmd may be files of the workspace.
var noBatchFiles = []string{"go", "git", "cargo", "rustc", "dotnet", "node", "deno"}

// notPlain says what in the words of a command is not what it says, or leads out of
// the workspace, or "".
func (j *Judge) notPlain(c Command, name string) string {
	for _, w := range c.Words[1:] {
		switch {
		case !w.Known:
			return "the argument " + quote(w.Text) + " is not known before it runs"
		case name == "get-content" && strings.ContainsAny(w.Text, "*?["): // in quotes, too
			return "the names that " + quote(w.Text) + " stands for may be those of secrets"
		case slices.Contains(looking, name) && strings.Contains(w.Text, ":"):
			return quote(w.Text) + " may be something else than a file of the workspace"
		}
		if bad, ok := j.path(w, false); ok && !strings.HasPrefix(w.Text, "-") {
			return bad.Reason
		}
	}
	return ""
}

// all are the rules with a decision.
func (j *Judge) all(d policy.Outcome) (list []Rule) {
	for _, rules := range j.Rules {
		for _, r := range rules {
			if r.Decision == d {
				list = append(list, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b Rule) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// folded reports whether a command begins with the words of a rule behind its
// program, whatever their case.
func folded(c Command, prefix []string) bool {
	if len(prefix) > len(c.Words) {
		return false
	}
	for i, want := range prefix[1:] {
		if w := c.Words[i+1]; !w.Known || !strings.EqualFold(w.Text, want) {
			return false
		}
	}
	return true
}

// exactly reports whether it begins with these words as they are.
func exactly(c Command, prefix []string) bool {
	if len(prefix) > len(c.Words) {
		return false
	}
	for i, want := range prefix[1:] {
		if w := c.Words[i+1]; !w.Known || w.Glob || w.Text != want {
			return false
		}
	}
	return true
}

// bare is a program without its directory, its case, and what Windows adds to names.
func bare(program string) string {
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	for _, end := range []string{".exe", ".cmd", ".bat", ".com", ".ps1"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// cmdlet is bare, and what it is short for.
func cmdlet(program string) string {
	name := bare(program)
	if long := aliases[name]; long != "" {
		return long
	}
	return name
}

// isCmdlet reports whether a word is the name of a cmdlet or its alias, and not
// a file: with a directory or an ending it is a program that only has that name.
func isCmdlet(word string) bool { return strings.ToLower(word) == bare(word) }

// aliases are those that PowerShell for Windows begins with, as far as they delete,
// write, run or look.
var aliases = map[string]string{
	"rm": "remove-item", "del": "remove-item", "erase": "remove-item", "rd": "remove-item", "rmdir": "remove-item", "ri": "remove-item",
	"cp": "copy-item", "copy": "copy-item", "cpi": "copy-item", "mv": "move-item", "move": "move-item", "mi": "move-item",
	"ren": "rename-item", "rni": "rename-item", "ni": "new-item", "md": "mkdir", "sc": "set-content", "ac": "add-content", "clc": "clear-content", "cli": "clear-item",
	"si": "set-item", "sp": "set-itemproperty", "rp": "remove-itemproperty", "tee": "tee-object",
	"kill": "stop-process", "spps": "stop-process", "saps": "start-process", "start": "start-process", "sasv": "start-service", "spsv": "stop-service",
	"iex": "invoke-expression", "icm": "invoke-command", "ii": "invoke-item", "sajb": "start-job", "ipmo": "import-module",
	"iwr": "invoke-webrequest", "curl": "invoke-webrequest", "wget": "invoke-webrequest", "irm": "invoke-restmethod",
	"sal": "set-alias", "nal": "new-alias", "sv": "set-variable", "set": "set-variable", "nv": "new-variable",
	"ls": "get-childitem", "dir": "get-childitem", "gci": "get-childitem", "cat": "get-content", "gc": "get-content", "type": "get-content",
	"pwd": "get-location", "gl": "get-location", "cd": "set-location", "chdir": "set-location", "sl": "set-location",
	"echo": "write-output", "write": "write-output", "measure": "measure-object", "sort": "sort-object", "ft": "format-table", "fl": "format-list",
	"%": "foreach-object", "foreach": "foreach-object", "?": "where-object", "where": "where-object", "select": "select-object", "sls": "select-string",
}

// looking are commands that only look at what they name.
var looking = []string{"get-childitem", "get-content", "get-location", "test-path", "write-output", "measure-object", "sort-object",
	"format-table", "format-list", "out-string", "get-date", "split-path", "join-path", "select-object"}

// runners run what their arguments say, besides interpreters.
var runners = []string{"invoke-expression", "invoke-command", "invoke-item", "start-process", "start-job", "foreach-object", "where-object", "cmd", "wsl", "set-alias", "new-alias", "import-module"}

// lostByPowerShell says what of a command can't be undone, or "".
func lostByPowerShell(c Command) string {
	name := cmdlet(c.Words[0].Text)
	switch name {
	case "remove-item":
		for _, w := range c.Words[1:] {
			if lower := strings.ToLower(w.Text); strings.HasPrefix(lower, "-r") || strings.HasPrefix(lower, "-fo") {
				return "Remove-Item deletes without a way back"
			}
		}
	case "format-volume", "clear-disk", "remove-partition":
		return name + " destroys what is on a disk"
	case "stop-computer", "restart-computer":
		return "it stops the machine"
	case bare(c.Words[0].Text): // no alias: a program of its own
		named := c
		named.Words = slices.Clone(c.Words)
		named.Words[0].Text = name
		return Irrecoverable(named)
	}
	return ""
}
