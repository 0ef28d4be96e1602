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
	writes   string // the option by which the program itself writes a file
}

// wrapper says where, in the arguments of a program, another command stands.
// What runs is known only if each option before it is: one that is not could
// take the next word as its value.
type wrapper struct {
	// alone are the options that take no value as the next argument, flags those
	// that do; long ones with their dashes, as they are written out.
	alone, flags string
	// writes are options of these that name a file to write.
	writes string
	// makes says what it does itself, besides running the command.
	makes string
	// skip is how many arguments that are no options come before the command.
	skip int
	// assigns: NAME=value may stand before the command.
	assigns bool
	// fed: the command gets more arguments, of which the line says nothing.
	fed bool
	// line: the command is a text for a shell, in as many words as it has.
	line bool
	// own reads the arguments in a way that the fields above don't describe.
	own func(args []Word) unwrapped
}

var wrappers = map[string]wrapper{
	"env":      {alone: "- -i --ignore-environment -0 --null -v --debug --list-signal-handling --block-signal --default-signal --ignore-signal", flags: "-u --unset -C --chdir", assigns: true},
	"nice":     {alone: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9", flags: "-n --adjustment"},
	"ionice":   {alone: "-t --ignore", flags: "-c --class -n --classdata"},
	"nohup":    {},
	"setsid":   {alone: "-c --ctty -f --fork -w --wait"},
	"chrt":     {alone: "-b --batch -f --fifo -i --idle -o --other -r --rr -R --reset-on-fork -v --verbose", flags: "-T --sched-runtime -P --sched-period -D --sched-deadline", skip: 1},
	"taskset":  {alone: "-c --cpu-list", skip: 1},
	"stdbuf":   {flags: "-i --input -o --output -e --error"},
	"timeout":  {alone: "-f --foreground -p --preserve-status -v --verbose", flags: "-s --signal -k --kill-after", skip: 1},
	"time":     {alone: "-a --append -h -l -p --portability -q --quiet -v --verbose", flags: "-f --format -o --output", writes: "-o --output"},
	"builtin":  {},
	"exec":     {alone: "-c -l", flags: "-a"},
	"sudo":     {alone: "-A -b -E -H -i -K -k -n -P -S -s", flags: "-u --user -g --group -h --host -p --prompt -C -r -t -T -U -D -R", assigns: true},
	"doas":     {alone: "-n -s", flags: "-u -C"},
	"xargs":    {alone: "-0 --null -e --eof -i -l --max-lines -r --no-run-if-empty --replace -t --verbose -x --exit", flags: "-I -L -n -P -s -d -E -a --max-args --max-procs --max-chars --delimiter --arg-file", fed: true},
	"busybox":  {alone: "--list --list-full"},
	"toybox":   {},
	"strace":   {flags: "-e -o -p -s -u -E -a -b -I -O -S -P -X"},
	"ltrace":   {flags: "-e -o -p -s -u -a -n -A"},
	"flock":    {alone: "-e -F -n --nonblock --nb -o --close -s --shared -u --unlock -x --exclusive --verbose", flags: "-w --wait --timeout -E --conflict-exit-code", skip: 1, makes: "flock makes the file that it locks"},
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
	"watch":    {alone: "-b --beep -c --color -C --no-color -d --differences -e --errexit -g --chgexit -p --precise -r --no-rerun -t --no-title -w --no-wrap -x --exec", flags: "-n --interval -q --equexit", line: true},
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
		case strings.HasPrefix(a.Text, "-") && (a.Text != "-" || strings.HasPrefix(w.alone, "- ")):
			names, n := w.option(a.Text)
			if n == 0 && programs[c.Program()].never == "" {
				u.doubts = append(u.doubts, "what "+c.Program()+" runs is not known with the option "+quote(a.Text))
			}
			for _, name := range names {
				if slices.Contains(strings.Fields(w.writes), name) {
					u.writes = "the option " + name + " of " + c.Program() + " writes a file"
				}
			}
			rest = rest[min(max(n, 1), len(rest)):]
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

// option reads one argument of a wrapper: the options in it, and how many
// arguments they take with their values; none when one of them is not known.
func (w wrapper) option(arg string) (names []string, n int) {
	alone, flags := strings.Fields(w.alone), strings.Fields(w.flags)
	name, _, joined := strings.Cut(arg, "=")
	switch {
	case arg == "-" || arg == "--help" || arg == "--version":
		return nil, 1
	case strings.HasPrefix(arg, "--") && slices.Contains(flags, name):
		if joined {
			return []string{name}, 1
		}
		return []string{name}, 2
	case strings.HasPrefix(arg, "--") && slices.Contains(alone, name):
		return []string{name}, 1
	case strings.HasPrefix(arg, "--"):
		return nil, 0
	}
	for i, letter := range arg[1:] {
		name, last := "-"+string(letter), i+2 == len(arg)
		switch {
		case slices.Contains(flags, name) && last:
			return append(names, name), 2
		case slices.Contains(flags, name), w.fed && strings.ContainsRune("eil", letter): // the rest is its value
			return append(names, name), 1
		case !slices.Contains(alone, name):
			return nil, 0
		}
		names = append(names, name)
	}
	return names, 1
}

// command takes what is left of the arguments as the command.
func (w wrapper) command(u unwrapped, rest []Word) unwrapped {
	switch {
	case w.line && len(rest) > 0:
		of := joined(rest)
		u.lines, u.doubts = append(u.lines, of.lines...), append(u.doubts, of.doubts...)
	case len(rest) > w.skip:
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
