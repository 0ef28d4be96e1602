package shell

import (
	"slices"
	"strconv"
	"strings"
)

// program is what is known of a program: how its arguments could make it do
// more than look.
type program struct {
	// reads: it only looks, unless its arguments say otherwise; then it needs
	// no rule of the user.
	reads bool
	// short are the letters of options that make it do more, long the names of
	// such options. Any abbreviation of a long one counts.
	short string
	long  []string
	// operands is how many arguments that are no options it only looks at; 0
	// means any number.
	operands int
	// texts is how many of the first operands are texts, not files; all is
	// every one.
	texts int
	// names: it prints names and figures of files, not what is in them.
	names bool
	// tree reports whether it reads what is in a directory, with all below.
	tree func(args []Word) bool
	// own looks at the arguments in a way that the fields above don't
	// describe, and says what is wrong with them.
	own func(args []Word) string
	// look says what, without a rule of the user, makes it do more than look.
	look func(args []Word) string
	// never: no rule can allow it by its name alone, since its arguments are a
	// program in themselves.
	never string
}

// all as the number of operands that are texts.
const all = 1 << 10

var programs = map[string]program{
	"awk": {reads: true, texts: 1, own: awkScript}, "gawk": {reads: true, texts: 1, own: awkScript}, "mawk": {reads: true, texts: 1, own: awkScript}, "nawk": {reads: true, texts: 1, own: awkScript},
	"basename": {reads: true, names: true}, "cal": {reads: true}, "cat": {reads: true}, "cksum": {reads: true, names: true}, "cmp": {reads: true}, "column": {reads: true},
	"comm": {reads: true}, "cut": {reads: true}, "df": {reads: true, names: true}, "dirname": {reads: true, names: true}, "du": {reads: true, names: true}, "echo": {reads: true, texts: all},
	"egrep": {reads: true, texts: 1, tree: grepTree}, "expand": {reads: true}, "expr": {reads: true, texts: all}, "factor": {reads: true, texts: all}, "false": {reads: true}, "fgrep": {reads: true, texts: 1, tree: grepTree},
	"fold": {reads: true}, "free": {reads: true}, "grep": {reads: true, texts: 1, tree: grepTree}, "head": {reads: true}, "hexdump": {reads: true}, "id": {reads: true},
	"jq": {reads: true, texts: 1}, "join": {reads: true}, "ls": {reads: true, names: true}, "md5sum": {reads: true, names: true}, "nl": {reads: true}, "nm": {reads: true, own: noPlugin},
	"nproc": {reads: true}, "numfmt": {reads: true, texts: all}, "od": {reads: true}, "paste": {reads: true}, "pwd": {reads: true, names: true}, "readelf": {reads: true, own: noPlugin},
	"readlink": {reads: true, names: true}, "realpath": {reads: true, names: true}, "rev": {reads: true}, "seq": {reads: true, texts: all}, "sha1sum": {reads: true, names: true},
	"sha256sum": {reads: true, names: true}, "sha512sum": {reads: true, names: true}, "size": {reads: true, names: true, own: noPlugin}, "sleep": {reads: true, texts: all}, "stat": {reads: true, names: true},
	"strings": {reads: true, own: noPlugin}, "tac": {reads: true}, "tail": {reads: true}, "tr": {reads: true, texts: all}, "true": {reads: true}, ":": {reads: true},
	"tsort": {reads: true}, "tty": {reads: true}, "type": {reads: true, texts: all}, "uname": {reads: true, texts: all}, "unexpand": {reads: true}, "uptime": {reads: true},
	"wc": {reads: true, names: true}, "which": {reads: true, texts: all}, "whoami": {reads: true},

	"[":        {reads: true, names: true, own: testBuiltin},
	"bat":      {reads: true, long: []string{"pager", "diff-pager", "generate-config-file", "lessopen", "build", "clear", "source", "target"}, own: batPages},
	"cd":       {reads: true, names: true, short: "e@", operands: 1},
	"command":  {reads: true, own: commandLooksUp},
	"date":     {reads: true, texts: all, short: "s", long: []string{"set"}, own: dateOperands},
	"diff":     {reads: true, tree: diffTree, short: "l", long: []string{"paginate"}},
	"export":   {reads: true, own: plainNames},
	"fd":       {reads: true, names: true, short: "xX", long: []string{"exec", "exec-batch"}},
	"fdfind":   {reads: true, names: true, short: "xX", long: []string{"exec", "exec-batch"}},
	"file":     {reads: true, names: true, short: "Cm", long: []string{"compile", "magic-file"}},
	"find":     {reads: true, names: true, own: findActions},
	"git":      {reads: true, texts: 1, tree: gitTree, own: gitOptions, look: gitLooksOnly},
	"go":       {reads: true, texts: 1, own: goOptions, look: goLooksOnly},
	"hostname": {reads: true, short: "Fb", long: []string{"file", "boot"}, own: noOperands},
	"objdump":  {reads: true, own: noPlugin},
	"printf":   {reads: true, texts: all, own: printfBuiltin},
	"read":     {own: variableNames},
	"rg":       {reads: true, texts: 1, tree: anyTree, short: "z", long: []string{"pre", "hostname-bin", "search-zip"}},
	"rsync":    {never: "rsync's options name programs, and it writes"},
	"sed":      {reads: true, texts: 1, own: sedScript},
	"sort":     {reads: true, short: "oT", long: []string{"output", "compress-program", "temporary-directory"}},
	"split":    {long: []string{"filter"}},
	"tar":      {short: "IF", long: []string{"to-command", "checkpoint-action", "use-compress-program", "rsh-command", "rmt-command", "info-script", "new-volume-script"}},
	"tee":      {never: "tee writes files"},
	"test":     {reads: true, names: true, own: testBuiltin},
	"tree":     {reads: true, names: true, short: "oR", long: []string{"output"}},
	"uniq":     {reads: true, operands: 1},
	"unset":    {own: variableNames},
	"xxd":      {reads: true, short: "r", long: []string{"revert"}, operands: 1},
	"yq":       {reads: true, short: "is", long: []string{"inplace", "in-place", "split-exp-file", "security-enable-system-operator"}},
	"make":     {short: "fEIC", long: []string{"file", "makefile", "eval", "directory", "include-dir"}, own: makeVariables},
	"npm":      {long: []string{"script-shell", "prefix", "node-options", "userconfig", "globalconfig", "git", "editor", "shell"}},

	"less": {never: "less runs other programs"}, "more": {never: "more runs other programs"}, "man": {never: "man runs other programs"},
	"mapfile": {never: "it runs what its options say"}, "readarray": {never: "it runs what its options say"},
	"alias": {never: "it changes what later commands mean"}, "shopt": {never: "it changes how the shell reads"}, "set": {never: "it changes how the shell reads"},
	"enable": {never: "it changes what later commands mean"}, "hash": {never: "it changes what later commands mean"}, "bind": {never: "it runs what its options say"},
	"complete": {never: "it runs what its options say"}, "compgen": {never: "it runs what its options say"}, "fc": {never: "it runs commands of the past"},
	"history": {never: "it reads and writes the shell's history"}, "source": {never: "it runs a script"}, ".": {never: "it runs a script"},
	"eval": {never: "it runs what its arguments become"}, "trap": {never: "it runs a command later"}, "exec": {never: "it changes the shell itself"},
	"sudo": {never: "it runs as somebody else"}, "doas": {never: "it runs as somebody else"}, "su": {never: "it runs as somebody else"},
	"ssh": {never: "it runs on another machine"}, "scp": {never: "it copies to another machine"}, "sftp": {never: "it copies to another machine"},
	"vi": {never: "an editor runs anything"}, "vim": {never: "an editor runs anything"}, "nvim": {never: "an editor runs anything"},
	"ed": {never: "an editor runs anything"}, "emacs": {never: "an editor runs anything"}, "gdb": {never: "a debugger runs anything"},
	"unshare": {never: "it changes what the command sees"}, "chroot": {never: "it changes what the command sees"}, "nsenter": {never: "it changes what the command sees"},
	"strace": {never: "it can write files and change what runs"}, "ltrace": {never: "it can write files and change what runs"},
	"wait": {own: noOperands}, "getopts": {never: "it sets variables"}, "let": {never: "arithmetic can run commands"}, "coproc": {never: "it starts a coprocess"},
}

// interpreters run what their arguments say. A rule must name more than them.
var interpreters = []string{"python", "python2", "python3", "pypy", "perl", "ruby", "node", "deno", "bun", "php", "lua", "luajit", "tclsh", "expect", "osascript",
	"Rscript", "julia", "guile", "racket", "sqlite3", "psql", "mysql", "bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "pwsh", "powershell"}

// versioned are programs that only say their version when they are asked so, by
// what asks them. Others take version for a file to run, a page to get or a goal,
// and some start what a file of the project names even to say --version: yarn,
// pnpm, mvn, dotnet and the programs of rustup.
var versioned = map[string][]string{
	"--version": append([]string{"npm", "npx", "pip", "pip3", "go", "java", "javac", "gradle", "gcc", "g++", "cc", "clang", "make", "cmake", "docker", "kubectl", "helm",
		"terraform", "gem", "composer", "git", "tsc", "swift", "kotlinc", "scala", "ghc", "rg", "fd", "jq", "curl", "wget"}, interpreters...),
	"-V":      {"pip", "pip3", "python", "python2", "python3", "rg", "fd", "curl", "wget"},
	"version": {"docker", "git", "go", "helm", "kubectl", "terraform"},
}

// sideEffect reports why c does more than look at things, or "" when it does not.
// known is false for a program of which nothing is known.
func sideEffect(c Command) (why string, known bool) {
	name := c.Program()
	args := c.Words[1:]
	if len(args) == 1 && args[0].Known && slices.Contains(versioned[args[0].Text], name) {
		return "", true
	}
	p, known := programs[name]
	if !known || !p.reads {
		return "", false
	}
	why = p.wrong(args)
	if why == "" && p.look != nil {
		why = p.look(args)
	}
	return why, true
}

// guard reports why a rule that allows c by its first words must not hold for
// the arguments that come after them, or "". A rule that names more than the
// program is taken at its word.
func guard(c Command, ruleWords int) string {
	for _, w := range c.Words {
		if !w.Known && !w.Glob {
			return "the argument " + quote(w.Text) + " is not known before it runs"
		}
	}
	name := c.Program()
	p := programs[name]
	if ruleWords > 1 {
		p.never = ""
	} else if slices.Contains(interpreters, name) {
		return name + " runs what its arguments say; a rule must name them"
	} else if u, _ := unwrap(c); u.writes != "" {
		return u.writes
	} else if p.look != nil && len(c.Words) > 1 && strings.HasPrefix(c.Words[1].Text, "-") && !slices.Contains(gitGlobal, c.Words[1].Text) {
		return "the option " + quote(c.Words[1].Text) + " of " + name + " itself"
	}
	return p.wrong(c.Words[max(ruleWords, 1):])
}

// wrong says what in args makes p do more than look.
func (p program) wrong(args []Word) string {
	if p.never != "" {
		return p.never
	}
	guarded := p.short != "" || len(p.long) > 0 || p.own != nil
	operands, options := 0, true
	for _, a := range args {
		switch {
		case !a.Known && !a.Glob:
			return "the argument " + quote(a.Text) + " is not known before it runs"
		case a.Glob && guarded && strings.IndexByte("*?[-", a.Text[0]) >= 0:
			return "the names that " + quote(a.Text) + " stands for could be options"
		case options && a.Text == "--":
			options = false
		case options && strings.HasPrefix(a.Text, "--"):
			if bad := abbreviates(a.Text[2:], p.long); bad != "" {
				return "the option --" + bad
			}
		case options && len(a.Text) > 1 && a.Text[0] == '-':
			if i := strings.IndexAny(a.Text[1:], p.short); i >= 0 && p.short != "" {
				return "the option -" + a.Text[1+i:2+i]
			}
		case a.Glob:
			operands = p.operands + 1 // however many it stands for
		default:
			operands++
		}
	}
	if p.operands > 0 && operands > p.operands {
		return "it would write its last argument"
	}
	if p.own != nil {
		return p.own(args)
	}
	return ""
}

// abbreviates returns the long option that s, without its dashes, may stand
// for.
func abbreviates(s string, long []string) string {
	name, _, _ := strings.Cut(s, "=")
	for _, l := range long {
		if strings.HasPrefix(l, name) {
			return l
		}
	}
	return ""
}

// noPlugin refuses what has a program for binaries load a library, and files
// with more options.
func noPlugin(args []Word) string {
	for _, a := range args {
		name := strings.TrimLeft(a.Text, "-")
		switch {
		case strings.HasPrefix(a.Text, "@"):
			return quote(a.Text) + " is a file with more options"
		case strings.HasPrefix(a.Text, "--") && abbreviates(name, []string{"plugin"}) != "" && name != "", strings.HasPrefix(a.Text, "-plugin"):
			return "the option --plugin"
		}
	}
	return ""
}

// batPages refuses what makes bat page without a terminal, or write its cache.
func batPages(args []Word) string {
	for i, a := range args {
		if a.Text == "cache" || a.Text == "--paging=always" || a.Text == "always" && args[max(i-1, 0)].Text == "--paging" {
			return "the argument " + quote(a.Text)
		}
	}
	return ""
}

func noOperands(args []Word) string {
	for _, a := range args {
		if !strings.HasPrefix(a.Text, "-") {
			return "the argument " + quote(a.Text)
		}
	}
	return ""
}

func testBuiltin(args []Word) string {
	for _, a := range args {
		if a.Text == "-v" || a.Text == "-R" {
			return "testing a variable can run commands that stand in its index"
		}
	}
	return ""
}

func printfBuiltin(args []Word) string {
	if len(args) > 0 && strings.HasPrefix(args[0].Text, "-v") {
		return "printf -v sets a variable, and can run commands that stand in its index"
	}
	return ""
}

// variableNames allows arguments that are plain names.
func variableNames(args []Word) string {
	for _, a := range args {
		if !validVariable(strings.TrimLeft(a.Text, "-")) || Harmful(a.Text) {
			return "the variable " + quote(a.Text)
		}
	}
	return ""
}

// plainNames allows words that don't become others.
func plainNames(args []Word) string {
	for _, a := range args {
		if !a.Known {
			return "the names that " + quote(a.Text) + " stands for"
		}
	}
	return ""
}

func commandLooksUp(args []Word) string {
	if len(args) > 0 && (args[0].Text == "-v" || args[0].Text == "-V") {
		return ""
	}
	return "command runs its arguments"
}

func dateOperands(args []Word) string {
	for i, a := range args {
		takesValue := i > 0 && slices.Contains([]string{"-d", "--date", "-r", "--reference", "-f", "--file"}, args[i-1].Text)
		if !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+") && !takesValue {
			return "date with a time sets the clock"
		}
	}
	return ""
}

// findActions allows the actions of find that print to the output.
func findActions(args []Word) string {
	for _, a := range args {
		switch {
		case slices.Contains([]string{"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}, a.Text):
			return "find " + a.Text + " changes files"
		case slices.Contains([]string{"-ok", "-okdir", "-files0-from"}, a.Text):
			return "find " + a.Text
		}
	}
	return ""
}

// sedScript allows sed to print and to substitute to its output.
func sedScript(args []Word) string {
	scripts, given := []string{}, false
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		switch {
		case a == "-n" || a == "-E" || a == "-r" || a == "-s" || a == "-u" || a == "-z" || a == "-nE" || a == "-En" || a == "-nr":
		case (a == "-e" || a == "-ne") && i+1 < len(args):
			i++
			scripts, given = append(scripts, args[i].Text), true
		case strings.HasPrefix(a, "-"):
			return "the option " + quote(a)
		case !given:
			scripts, given = append(scripts, a), true
		}
	}
	for _, s := range scripts {
		if !harmlessSed(s) {
			return "the sed script " + quote(s) + " may run commands or write files"
		}
	}
	return ""
}

// harmlessSed knows addresses with p, d, q and =, and s with the flags g, p, i
// and numbers. Everything else is not harmless.
func harmlessSed(script string) bool {
	for _, cmd := range strings.Split(script, ";") {
		cmd = strings.TrimSpace(cmd)
		rest := strings.TrimLeft(cmd, "0123456789,$+~ ")
		if strings.HasPrefix(rest, "/") {
			end := strings.IndexByte(rest[1:], '/')
			if end < 0 {
				return false
			}
			rest = strings.TrimLeft(rest[end+2:], "I, $0123456789+")
			if strings.HasPrefix(rest, "/") {
				if end = strings.IndexByte(rest[1:], '/'); end < 0 {
					return false
				}
				rest = rest[end+2:]
			}
		}
		rest = strings.TrimLeft(rest, " !")
		switch {
		case rest == "p" || rest == "d" || rest == "q" || rest == "=" || rest == "":
		case strings.HasPrefix(rest, "s") && len(rest) > 3:
			parts := strings.Split(rest[2:], rest[1:2])
			if len(parts) != 3 || strings.ContainsAny(rest[1:2], "\\\n") || strings.Trim(parts[2], "gpiI0123456789") != "" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// goOptions finds the options of go that run programs or write elsewhere.
func goOptions(args []Word) string {
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a.Text, "-"), "=")
		if strings.HasPrefix(a.Text, "-") && slices.Contains(goBad, name) {
			return "the option " + quote(a.Text)
		}
	}
	return ""
}

var goBad = []string{"exec", "toolexec", "vettool", "fixtool", "o", "overlay", "C", "ldflags", "gcflags", "asmflags", "gccgoflags", "modfile", "mod", "pkgdir", "w", "u", "outputdir", "export", "compiled", "http", "debug-actiongraph", "debug-trace", "debug-runtime-trace"}

func goLooksOnly(args []Word) string {
	if len(args) == 0 || slices.Contains([]string{"version", "env", "list", "doc", "help"}, args[0].Text) {
		return ""
	}
	return "go " + args[0].Text + " does more than look"
}

func makeVariables(args []Word) string {
	for _, a := range args {
		if name, _, ok := strings.Cut(a.Text, "="); ok && (Harmful(strings.TrimRight(name, ":+?!")) || strings.HasSuffix(name, "!")) {
			return "the variable " + quote(a.Text)
		}
	}
	return ""
}

// files returns the words of c that may name files.
func files(c Command) []Word {
	args := own(c)
	skip := programs[c.Program()].texts
	if skip == all || len(args) == 0 {
		return nil
	}
	out := make([]Word, 0, len(args))
	for _, a := range args {
		option := strings.HasPrefix(a.Text, "-") && len(a.Text) > 1
		if option && !strings.HasPrefix(a.Text, "--") && strings.ContainsAny(a.Text, "ef") || strings.HasPrefix(a.Text, "--regexp") || strings.HasPrefix(a.Text, "--expression") || strings.HasPrefix(a.Text, "--file") {
			skip = 0 // the text was given by an option
		}
		if !option && skip > 0 {
			skip--
			continue
		}
		out = append(out, a)
	}
	return out
}

// number reports whether s is one.
func number(s string) bool { _, err := strconv.Atoi(s); return err == nil }
