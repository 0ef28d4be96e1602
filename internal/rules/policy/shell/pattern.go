package shell

import (
	"slices"
	"strings"
)

// beginning is how commands begin that a person may allow together, and how
// they may go on so that they are still what the person meant. What is not named
// here does not fit: an option can name a program to run or a file to write.
type beginning struct {
	words   string // behind the program; * is one plain word, such as a target
	options string
	passed  string // options behind --, for what the command runs in its turn
	alone   bool   // no operands: each would be one thing more to do, as a target of make is
	plain   bool   // operands are read as code, of another shell or by eval (-k of old pytest), so that only plain words fit
}

const (
	goBuildOptions = "-a -n -p -race -tags -trimpath -v -x"
	goTestOptions  = goBuildOptions + " -bench -benchmem -benchtime -count -cover -covermode -coverpkg -cpu -failfast -fullpath -fuzz -fuzztime -json -list -parallel -run -short -shuffle -skip -timeout"
	cargoOptions   = "-p --package --workspace --all --exclude --lib --bin --bins --example --examples --test --tests --bench --benches --all-targets --doc -F --features --all-features --no-default-features -r --release -j --jobs --keep-going --no-fail-fast --no-run -v --verbose -q --quiet --locked --offline --frozen"
	cargoPassed    = "--nocapture --no-capture --show-output --test-threads --ignored --include-ignored --exact --skip -A -D -W"
	npmOptions     = "-s --silent --if-present"
)

// beginnings are the programs of which commands can be allowed by how they
// begin. Programs that run what their arguments say have no place here, nor have
// those that delete, overwrite what they are told, or reach other machines.
var beginnings = map[string][]beginning{
	"cargo": {
		{words: "test", options: cargoOptions, passed: cargoPassed}, {words: "build", options: cargoOptions}, {words: "check", options: cargoOptions},
		{words: "clippy", options: cargoOptions, passed: cargoPassed}, {words: "fmt", options: "--all --check", passed: "--check"},
	},
	"eslint": {{options: "--cache --ext --fix --max-warnings --quiet"}},
	"git": {
		{words: "add", options: "-A --all -n --dry-run -u --update -v --verbose"},
		{words: "commit", options: "-a --all --allow-empty -m --message -q --quiet -s --signoff"},
	},
	"go": {
		{words: "build", options: goBuildOptions + " -cover"}, {words: "test", options: goTestOptions}, {words: "vet", options: "-json -n -tags -v -x"}, {words: "fmt", options: "-n -x"},
	},
	"gofmt":         {{options: "-d -e -l -s -w"}},
	"golangci-lint": {{words: "run", options: "--fast --fix --timeout -v --verbose"}},
	"gradle":        {{words: "build", options: "-q --quiet --offline --info", alone: true}, {words: "check", options: "-q --quiet --offline --info", alone: true}, {words: "test", options: "-q --quiet --offline --info", alone: true}},
	"make":          {{words: "*", options: "-B --always-make -j --jobs -k --keep-going -n --dry-run --no-print-directory -s --quiet --silent", alone: true}},
	"mkdir":         {{options: "-p --parents -v --verbose"}},
	"mvn":           {{words: "compile", options: "-B -e -o -q", alone: true}, {words: "package", options: "-B -e -o -q", alone: true}, {words: "test", options: "-B -e -o -q", alone: true}, {words: "verify", options: "-B -e -o -q", alone: true}},
	"npm":           {{words: "test", options: npmOptions, plain: true}, {words: "run *", options: npmOptions, plain: true}},
	"pnpm":          {{words: "test", options: npmOptions, plain: true}, {words: "run *", options: npmOptions, plain: true}},
	"prettier":      {{options: "-c --check -l --list-different -w --write"}},
	"pytest":        {{options: "--ff -k --lf -m --maxfail -q --quiet -rA -s --tb -v --verbose -x", plain: true}},
	"ruff":          {{words: "check", options: "--fix -q --quiet"}, {words: "format", options: "--check --diff -q --quiet"}},
	"touch":         {{options: "-c"}},
	"tsc":           {{options: "-b --build --noEmit -p --project --pretty"}},
	"yarn":          {{words: "test", plain: true}, {words: "run *", plain: true}},
}

// PatternKey stands in Judge.Remembered for all commands that fit a pattern.
func PatternKey(pattern string) string { return "pattern " + pattern }

// pattern is how c begins, if a person may allow all commands that begin so, and
// c goes on as those may. set are the variables of its line: with one, a command
// is not the one that it looks like.
func (j *Judge) pattern(c Command, set []Assign) string {
	if len(set)+len(c.Env)+len(c.Via) > 0 || Irrecoverable(c) != "" {
		return ""
	}
	for _, w := range c.Words {
		if !w.Known || w.Glob {
			return ""
		}
	}
	for _, b := range beginnings[c.Words[0].Text] { // a path to the program is another program
		if n := b.begins(c); n > 0 && guard(c, n) == "" && j.goesOn(b, c.Words[n:]) {
			words, _ := texts(c.Words[:n])
			return strings.Join(words, " ")
		}
	}
	return ""
}

// begins is how many words of c are its beginning, 0 when it begins otherwise.
func (b beginning) begins(c Command) int {
	n := 1
	for _, want := range strings.Fields(b.words) {
		if n == len(c.Words) {
			return 0
		}
		got := c.Words[n].Text
		if want != got && (want != "*" || !namesOne(got)) {
			return 0
		}
		n++
	}
	return n
}

// namesOne reports whether a word is the name of a target or a script, and not
// that of a program that runs others.
func namesOne(s string) bool {
	_, wraps := wrappers[s]
	const most = 64 // a person reads it
	return s != "" && len(s) <= most && s[0] != '-' && plainWord(s) && !strings.Contains(s, "=") && !wraps && programs[s].never == "" && !slices.Contains(interpreters, s)
}

// plainWord reports whether no shell makes anything of a word.
func plainWord(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=%") == ""
}

// goesOn reports whether the words behind the beginning are such as it may have.
func (j *Judge) goesOn(b beginning, rest []Word) bool {
	options := strings.Fields(b.options)
	for _, w := range rest {
		s := w.Text
		switch {
		case s == "--":
			options = strings.Fields(b.passed)
		case len(s) > 1 && s[0] == '-':
			if !anOption(s, options) {
				return false
			}
		case b.alone && !number(s), b.plain && !plainWord(s):
			return false
		case strings.HasPrefix(s, "@"): // a file with more arguments
			return false
		}
		if strings.Contains(s, "://") || !j.inside(s) {
			return false
		}
	}
	return true
}

// anOption reports whether a word is one of the options, with a value behind =,
// or some of one letter together, with a number behind them.
func anOption(s string, options []string) bool {
	name, _, _ := strings.Cut(s, "=")
	if slices.Contains(options, name) {
		return true
	}
	if strings.HasPrefix(s, "--") {
		return false
	}
	for _, letter := range strings.TrimRight(s[1:], "0123456789") {
		if !slices.Contains(options, "-"+string(letter)) {
			return false
		}
	}
	return !number(s[1:])
}

// inside reports whether a word, and the value of an option, name nothing that a
// person is asked about by itself.
func (j *Judge) inside(s string) bool {
	if j.Zone == nil {
		return true
	}
	_, value, _ := strings.Cut(s, "=")
	for _, name := range []string{s, value} {
		if name != "" && j.Zone(name) != Inside {
			return false
		}
	}
	return true
}
