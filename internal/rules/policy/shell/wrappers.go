package shell

import (
	"cmp"
	"slices"
	"strings"
)

// unwrapped is what a program that runs others would run.
type unwrapped struct {
	commands [][]Word // argument vectors
	lines    []string // texts for a shell
	env      []Assign
	doubts   []string
}

// wrapper says where, in the arguments of a program, another command stands.
type wrapper struct {
	// flags are the options that take a value as the next argument, long ones
	// with their dashes.
	flags []string
	// skip is how many arguments that are no options come before the command.
	skip int
	// assigns: NAME=value may stand before the command.
	assigns bool
	// fed: the command gets more arguments, of which the line says nothing.
	fed bool
	// own reads the arguments in a way that the fields above don't describe.
	own func(args []Word) unwrapped
}

var wrappers = map[string]wrapper{
	"env":      {flags: []string{"-u", "--unset", "-C", "--chdir"}, assigns: true},
	"nice":     {flags: []string{"-n", "--adjustment"}},
	"ionice":   {flags: []string{"-c", "--class", "-n", "--classdata"}},
	"nohup":    {},
	"setsid":   {},
	"chrt":     {skip: 1},
	"taskset":  {skip: 1},
	"stdbuf":   {flags: []string{"-i", "--input", "-o", "--output", "-e", "--error"}},
	"timeout":  {flags: []string{"-s", "--signal", "-k", "--kill-after"}, skip: 1},
	"time":     {flags: []string{"-f", "--format", "-o", "--output"}},
	"builtin":  {},
	"exec":     {flags: []string{"-a"}},
	"sudo":     {flags: []string{"-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-r", "-t", "-T", "-U", "-D", "-R"}, assigns: true},
	"doas":     {flags: []string{"-u", "-C"}},
	"xargs":    {flags: []string{"-I", "-L", "-n", "-P", "-s", "-d", "-E", "-a", "--max-args", "--max-procs", "--max-lines", "--max-chars", "--delimiter", "--arg-file"}, fed: true},
	"busybox":  {},
	"toybox":   {},
	"strace":   {flags: []string{"-e", "-o", "-p", "-s", "-u", "-E", "-a", "-b", "-I", "-O", "-S", "-P", "-X"}},
	"ltrace":   {flags: []string{"-e", "-o", "-p", "-s", "-u", "-a", "-n", "-A"}},
	"flock":    {flags: []string{"-w", "--timeout", "-E"}, skip: 1},
	"unshare":  {},
	"command":  {own: commandBuiltin},
	"find":     {own: find},
	"bash":     {own: shellProgram},
	"sh":       {own: shellProgram},
	"dash":     {own: shellProgram},
	"zsh":      {own: foreign},
	"ksh":      {own: shellProgram},
	"mksh":     {own: shellProgram},
	"ash":      {own: shellProgram},
	"fish":     {own: foreign},
	"eval":     {own: joined},
	"watch":    {own: watch},
	"trap":     {own: trap},
	"su":       {own: foreign},
	"script":   {own: foreign},
	"parallel": {own: parallel},
	"git":      {own: gitAlias},
}

// unwrap finds the commands in the arguments of c. ok is false for a program
// that runs none.
func unwrap(c Command) (u unwrapped, ok bool) {
	w, ok := wrappers[c.Program()]
	if !ok {
		return unwrapped{}, false
	}
	args := c.Words[1:]
	if w.own != nil {
		return w.own(args), true
	}
	rest := args
	if w.fed {
		defer func() { u = feed(u, args[:len(args)-len(rest)]) }()
	}
	for len(rest) > 0 {
		a := rest[0]
		if !a.Known {
			u.doubts = append(u.doubts, "what "+c.Program()+" runs is not known before it runs")
			return u, true
		}
		name, value, assigned := strings.Cut(a.Text, "=")
		switch {
		case a.Text == "--":
			rest = rest[1:]
			return w.command(u, rest), true
		case c.Program() == "env" && (a.Text == "-S" || strings.HasPrefix(a.Text, "-S") || strings.HasPrefix(a.Text, "--split")):
			u.doubts = append(u.doubts, "env splits a text into a command")
			return u, true
		case strings.HasPrefix(a.Text, "-") && a.Text != "-":
			n := 1
			if slices.Contains(w.flags, a.Text) {
				n = 2
			}
			rest = rest[min(n, len(rest)):]
			continue
		case w.assigns && assigned && validVariable(name):
			u.env = append(u.env, Assign{name, Word{Text: value, Known: true}})
			rest = rest[1:]
			continue
		}
		break
	}
	return w.command(u, rest), true
}

// command takes what is left of the arguments as the command.
func (w wrapper) command(u unwrapped, rest []Word) unwrapped {
	if len(rest) > w.skip {
		u.commands = append(u.commands, rest[w.skip:])
	}
	return u
}

// feed gives the commands of xargs the arguments that it reads: behind the
// others, or where an option says.
func feed(u unwrapped, options []Word) unwrapped {
	at := ""
	for i, o := range options {
		switch name, value, _ := strings.Cut(o.Text, "="); {
		case o.Text == "-I" && i+1 < len(options):
			at = options[i+1].Text
		case strings.HasPrefix(o.Text, "-I"):
			at = o.Text[2:]
		case strings.HasPrefix(o.Text, "-i"):
			at = cmp.Or(o.Text[2:], "{}")
		case strings.HasPrefix(name, "--") && abbreviates(name[2:], []string{"replace"}) != "" && len(name) > 2:
			at = cmp.Or(value, "{}")
		}
	}
	for k, words := range u.commands {
		words = slices.Clone(words)
		if at == "" {
			words = append(words, anything)
		}
		for i := range words {
			if at == "" || !strings.Contains(words[i].Text, at) {
				continue
			}
			words[i].Known, words[i].Glob = false, true
			if strings.HasPrefix(words[i].Text, at) {
				words[i].Text = anything.Text
			}
		}
		u.commands[k] = words
	}
	return u
}

// anything is in the place of words that come from elsewhere, of which any may
// be an option.
var anything = Word{Text: "*", Glob: true}

func parallel([]Word) unwrapped {
	return unwrapped{doubts: []string{"parallel makes commands of what it reads"}}
}

func validVariable(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// commandBuiltin is `command`, which with -v only looks a name up.
func commandBuiltin(args []Word) unwrapped {
	for len(args) > 0 && args[0].Known && strings.HasPrefix(args[0].Text, "-") {
		if strings.ContainsAny(args[0].Text, "vV") {
			return unwrapped{}
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return unwrapped{}
	}
	return unwrapped{commands: [][]Word{args}}
}

// find takes the commands of -exec and its like.
func find(args []Word) unwrapped {
	var u unwrapped
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && args[end].Text != "+" {
				end++
			}
			if end > i+1 {
				words := slices.Clone(args[i+1 : end])
				if strings.Contains(words[0].Text, "{}") { // the program is a file that is found
					words[0].Known, words[0].Glob = false, true
				}
				u.commands = append(u.commands, words)
			}
			i = end
		}
	}
	return u
}

// shellProgram reads the text after -c; any other use reads a script from
// somewhere.
func shellProgram(args []Word) unwrapped {
	for i, a := range args {
		if !a.Known {
			break
		}
		if strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "c") {
			if i+1 < len(args) && args[i+1].Known {
				return unwrapped{lines: []string{args[i+1].Text}, doubts: extra(args[i+2:])}
			}
			break
		}
		if !strings.HasPrefix(a.Text, "-") {
			return unwrapped{doubts: []string{"it runs the script " + quote(a.Text)}}
		}
		if a.Text == "--version" || a.Text == "--help" {
			return unwrapped{}
		}
	}
	return unwrapped{doubts: []string{"a shell runs what it reads"}}
}

// foreign is a shell whose language is another, or one that changes who runs.
func foreign(args []Word) unwrapped {
	u := shellProgram(args)
	u.doubts = append(u.doubts, "its language, or who runs it, is not that of this shell")
	return u
}

func extra(args []Word) []string {
	if _, known := texts(args); !known {
		return []string{"a shell gets arguments that are not known before it runs"}
	}
	return nil
}

// joined reads all arguments as one line.
func joined(args []Word) unwrapped {
	words, known := texts(args)
	if !known {
		return unwrapped{doubts: []string{"a text that is not known before it runs is run as a command"}}
	}
	return unwrapped{lines: []string{strings.Join(words, " ")}}
}

func watch(args []Word) unwrapped {
	for len(args) > 0 && args[0].Known && strings.HasPrefix(args[0].Text, "-") {
		n := 1
		if args[0].Text == "-n" || args[0].Text == "--interval" || args[0].Text == "-q" {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return joined(args)
}

func trap(args []Word) unwrapped {
	if len(args) < 2 {
		return unwrapped{}
	}
	return joined(args[:1])
}

// gitAlias finds the shell commands that `git -c` can smuggle in. What else
// git may do is for its own row among the programs.
func gitAlias(args []Word) unwrapped {
	var u unwrapped
	for i, a := range args {
		if a.Text == "-c" && i+1 < len(args) {
			if _, line, ok := strings.Cut(args[i+1].Text, "=!"); ok {
				u.lines = append(u.lines, line)
			}
		}
	}
	return u
}
