package shell

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// Rule is what a user decided about commands that begin with Prefix: words of
// the argument vector, the program without its directory.
type Rule struct {
	Prefix   []string
	Decision policy.Outcome
	Known    bool // of an allow: the words that follow must be such as are known for these first words; see known.go

	// Packages, of an allow, is the digest of the packages that the command must install; "":
	// the rule is about no install.
	Packages string
}

// Installs says what a command installs by the lock file that it would read.
type Installs interface {
	// Digest is that of the list of packages; "" where that is not known for sure.
	Digest(words []string) string
}

// deny reports whether a rule denies anything.
func (r Rules) deny() bool {
	for _, list := range r {
		if slices.ContainsFunc(list, func(r Rule) bool { return r.Decision == policy.Deny }) {
			return true
		}
	}
	return false
}

// String is the words that the rule is about.
func (r Rule) String() string { return strings.Join(r.Prefix, " ") }

// Rules are rules, found by the program that they speak about.
type Rules map[string][]Rule

// MakeRules sorts a user's rules; those without words are left out.
func MakeRules(list []Rule) Rules {
	rules := Rules{}
	for _, r := range list {
		if len(r.Prefix) > 0 {
			program := r.Prefix[0][strings.LastIndexByte(r.Prefix[0], '/')+1:]
			rules[program] = append(rules[program], r)
		}
	}
	return rules
}

// Zone is where a path lies, as far as deciding is concerned.
type Zone int

// The places, from the most harmless.
const (
	Inside    Zone = iota // of the workspace
	Outside               // of it
	Sensitive             // may hold secrets
	Guarded               // run or obeyed by other programs: a person is asked
	Forbidden             // nobody writes it
)

// Judge decides on command lines. Its zero value knows no rules and takes
// every path to be inside.
type Judge struct {
	Rules      Rules
	Zone       func(path string) Zone // where a path leads, links followed; relative ones start at the command's directory
	Remembered func(part string) bool // a person allowed this part for the session

	// Kept, set where what commands delete can come back, reports whether a path is such.
	Kept func(path string) bool

	// Secret, set where commands can read what is hidden from tools, names a file
	// of the workspace that may hold secrets; "" when there is none.
	Secret func() string

	// Installs, set where lock files can be read, is asked about the only command of a line.
	Installs Installs
}

// Part is what was decided about one piece of a line.
type Part struct {
	Text    string         // the command, or what it does
	Outcome policy.Outcome // "": no rule speaks, so the mode decides
	Rule    string         // stable name, such as "command.rule" or "command.read"
	Reason  string
	Key     string // stands for exactly this command in Judge.Remembered; "": it can't be remembered
	Pattern string // how the commands begin that a person may allow with this one; "": none can be

	Packages string // the digest of what it may install; it must be run so that it installs nothing else
}

// Verdict is what was decided about a line: the strictest of its parts.
type Verdict struct {
	Part
	Irrecoverable string // what can't be undone, else ""
	Parts         []Part
	Line          *Line
}

// zoneOfBoth is where a file lies that the shell calls name, and that is called path
// here. It is outside, unless that is a file to be careful with.
func zoneOfBoth(zone func(string) Zone, name, path string) Zone {
	if path != name {
		if z := zone(path); z != Inside && z != Outside {
			return z
		}
	}
	return zone(name)
}

// OnlyLooks reports whether nothing of the line does more than look, without
// any rule of the user.
func (v Verdict) OnlyLooks() bool {
	return v.Outcome == policy.Allow && !slices.ContainsFunc(v.Parts, func(p Part) bool { return p.Rule == "command.rule" || p.Rule == "allowed-for-session" })
}

// strictness orders outcomes: the mode's decision is stricter than an allow,
// because the mode may ask.
var strictness = map[policy.Outcome]int{policy.Allow: 0, "": 1, policy.Ask: 2, policy.Deny: 3}

// Judge reads a line for bash and decides on each part of it; the strictest wins.
func (j *Judge) Judge(text string) Verdict { return j.Decide(text, Read(text)) }

// Decide decides on each part of a line that was read; the strictest wins.
func (j *Judge) Decide(text string, l *Line) Verdict {
	v := Verdict{Line: l}
	j = j.at(l)
	if _, alone := l.Alone(text); !alone && j.Installs != nil { // another command could change the lock file
		without := *j
		without.Installs = nil
		j = &without
	}
	add := func(p Part) { v.Parts = append(v.Parts, p) }
	if l.Unread != "" {
		add(j.unread(text, l.Unread))
	}
	for _, c := range l.Commands {
		decide, lost := j.powerShell, lostByPowerShell
		if !l.PowerShell {
			decide, lost = func(c Command) Part { return j.command(c, l.Assigns) }, Irrecoverable
		}
		add(decide(c))
		if v.Irrecoverable == "" && !j.comesBack(c, l) {
			v.Irrecoverable = lost(c)
		}
	}
	for _, w := range l.Writes {
		add(j.write(w))
	}
	for _, w := range l.Reads {
		if p, bad := j.path(w, false); bad {
			add(p)
		}
	}
	for _, a := range l.Assigns {
		if Harmful(a.Name) {
			p := Part{Text: a.Name + "=" + a.Value.Text, Rule: "command.variable", Reason: "the variable " + a.Name + " can change what later commands run"}
			add(j.mayHide(p, p.Reason))
		}
	}
	for _, why := range l.Doubts {
		add(j.mayHide(Part{Text: quote(text), Rule: "command.unclear", Reason: why}, ""))
	}
	if j.Secret != nil && !l.PowerShell {
		if part, why := broad(l); why != "" {
			if name := j.Secret(); name != "" {
				add(Part{Text: part, Outcome: policy.Ask, Rule: "path.sensitive", Reason: why + "; " + quote(name) + " may hold secrets, and nothing hides it from commands here"})
			}
		}
	}
	if len(v.Parts) == 0 {
		add(Part{Text: quote(text), Outcome: policy.Allow, Rule: "command.nothing", Reason: "it runs nothing"})
	}
	v.Part = v.Parts[0]
	for _, p := range v.Parts[1:] {
		if strictness[p.Outcome] > strictness[v.Outcome] {
			v.Part = p
		}
	}
	return v
}

// command decides on one simple command of a line that sets those variables.
func (j *Judge) command(c Command, set []Assign) Part {
	p := j.rules(c, set)
	if p.Outcome != "" {
		return p
	}
	if !p.memorable() {
		return j.mayHide(p, j.couldRun(c, p))
	}
	p.Key = key(c, set)
	if p.Key != "" && j.Remembered != nil && j.Remembered(p.Key) {
		return p.by(policy.Allow, "allowed-for-session", "a person allowed this command for the session")
	}
	why := j.couldRun(c, p)
	if why == "" || !j.Rules.deny() {
		p.Pattern = j.pattern(c, set)
	}
	if p.Pattern != "" && j.Remembered != nil && j.Remembered(PatternKey(p.Pattern)) {
		return p.by(policy.Allow, "allowed-for-session", "a person allowed "+quote(p.Pattern+" *")+" for the session")
	}
	return j.mayHide(p, why)
}

// mayHide turns a part of which it isn't known what it runs into a question,
// where a rule denies something: a deny would hold for its plain spelling only.
// why says so of a part whose rule doesn't.
func (j *Judge) mayHide(p Part, why string) Part {
	if why == "" && p.Rule == "command.unclear" {
		why = p.Reason
	}
	if p.Outcome != "" || why == "" || !j.Rules.deny() {
		return p
	}
	return p.by(policy.Ask, "command.unclear", why+"; so it is not known whether a rule denies it")
}

// couldRun says why a command, on which no rule has decided, may run something
// else than its words say, or "".
func (j *Judge) couldRun(c Command, p Part) string {
	name := c.Program()
	known, listed := programs[name]
	args := c.Words[1:]
	switch {
	case p.Rule == "command.variable":
		return p.Reason
	case slices.Contains(interpreters, name):
		return quote(name) + " runs what its arguments say"
	case listed && known.wrong(args) != "":
		return known.wrong(args)
	case name == "git" && strings.HasPrefix(p.Reason, "the option "):
		return p.Reason
	}
	for _, rules := range j.Rules {
		for _, r := range rules {
			if r.Decision == policy.Deny && c.names(r) {
				return "a rule denies " + quote(r.String()) + ", whose words are among its arguments"
			}
		}
	}
	return ""
}

// names reports whether a rule's words are among those of c, in their order: a
// program of which nothing is known may run them.
func (c Command) names(r Rule) bool {
	at := 0
	for _, w := range c.Words {
		want := r.Prefix[at]
		if at == 0 {
			want = want[strings.LastIndexByte(want, '/')+1:]
		}
		isPart := func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.+", r)
		}
		if w.Text == want || slices.Contains(strings.FieldsFunc(w.Text, isPart), want) {
			if at++; at == len(r.Prefix) {
				return true
			}
		}
	}
	return false
}

// memorable reports whether a person's yes may hold for the same command
// again.
func (p Part) memorable() bool { return p.Rule != "command.variable" }

// rules decides on a command by itself, in a line that sets those variables.
func (j *Judge) rules(c Command, set []Assign) Part {
	p := Part{Text: c.Text}
	if r, n := j.rule(c, set, policy.Deny); n > 0 {
		return p.by(policy.Deny, "command.rule", "a rule denies "+r.String())
	}
	if r, n := j.rule(c, set, policy.Ask); n > 0 {
		return p.by(policy.Ask, "command.rule", "a rule asks about "+r.String())
	}
	named := files(c)
	if j.itself(c) && onlyNames(c) { // of a secret, too: its name is none
		named = slices.DeleteFunc(slices.Clone(named), func(w Word) bool {
			bad, ok := j.path(w, true)
			return ok && bad.Rule == "path.sensitive"
		})
	}
	for _, w := range named {
		if bad, ok := j.path(w, true); ok && bad.Outcome != "" {
			bad.Text = c.Text
			return bad
		}
	}
	for _, a := range c.Env {
		if Harmful(a.Name) || !a.Value.Known {
			return p.by("", "command.variable", "the variable "+a.Name+" can change what it runs")
		}
	}
	why, looked := "", false
	own := j.itself(c)
	if own {
		why, looked = sideEffect(c)
	}
	if r, n := j.rule(c, set, policy.Allow); n > 0 {
		if bad := guard(c, n); bad != "" {
			return p.by("", "command.arguments", "a rule allows "+r.String()+", but not so: "+bad)
		}
		if p.Packages = r.Packages; p.Packages != "" {
			return p.by(policy.Allow, "command.rule", "a rule allows "+r.String()+" with just the packages of this lock file")
		}
		return p.by(policy.Allow, "command.rule", "a rule allows "+r.String())
	}
	if w, wraps := wrappers[c.Program()]; own && wraps && !looked && programs[c.Program()].never == "" {
		u, _ := unwrap(c)
		if bad := cmp.Or(u.writes, w.makes); bad != "" {
			return p.by("", "command.arguments", bad)
		}
		return p.by(policy.Allow, "command.wrapper", "the command it runs is decided on separately")
	}
	switch {
	case !looked:
		return p.by("", "command.unknown", "no rule speaks about "+quote(c.Words[0].Text))
	case why != "":
		return p.by("", "command.arguments", why)
	}
	for _, w := range named {
		if bad, ok := j.path(w, true); ok {
			bad.Text = c.Text
			return bad
		}
	}
	return p.by(policy.Allow, "command.read", "it only looks")
}

// systemDirs hold the programs of the system alone. Others, such as
// /usr/local/bin, belong to a user on some machines.
var systemDirs = []string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"}

// itself reports whether c's program is the one that the tables know by its
// name: a word that is looked up on the search path, or a path to a program of
// the system. Any other path leads to a file that only has the same name.
func (j *Judge) itself(c Command) bool {
	name := c.Words[0].Text
	dir, _ := path.Split(name)
	return dir == "" || slices.Contains(systemDirs, dir) && j.Zone != nil && j.Zone(name) == Outside
}

func (p Part) by(o policy.Outcome, rule, reason string) Part {
	p.Outcome, p.Rule, p.Reason = o, rule, reason
	return p
}

// rule returns the longest rule with that decision that c begins with, and
// how many words it has.
func (j *Judge) rule(c Command, set []Assign, d policy.Outcome) (best Rule, words int) {
	for _, r := range j.Rules[c.Program()] {
		if r.Decision == d && len(r.Prefix) > words && c.begins(r.Prefix, d) && (d != policy.Allow || j.allows(r, c, set)) {
			best, words = r, len(r.Prefix)
		}
	}
	return best, words
}

// begins reports whether c's words begin with prefix. To deny, the program
// counts wherever it lies; to allow, a path must be as the rule has it.
func (c Command) begins(prefix []string, d policy.Outcome) bool {
	if len(prefix) > len(c.Words) {
		return false
	}
	for i, want := range prefix {
		w := c.Words[i]
		if !w.Known || w.Glob {
			return false
		}
		if w.Text != want && (i > 0 || d == policy.Allow || c.Program() != want) {
			return false
		}
	}
	return true
}

// path judges a word that may name a file. ok is false when nothing is to be
// said about it.
func (j *Judge) path(w Word, option bool) (p Part, ok bool) {
	name, bundled := w.Text, false
	if option {
		name, bundled = value(w.Text)
	}
	if name == "" || j.Zone == nil || !w.Known && !w.Glob || harmlessTarget[name] {
		return p, false
	}
	p = Part{Text: name}
	switch zone := j.Zone(name); {
	case zone == Outside && !bundled: // most bundled values are no files
		return p.by("", "path.outside", quote(name)+" lies outside of the workspace"), true
	case zone == Sensitive:
		return p.by(policy.Ask, "path.sensitive", quote(name)+" may hold secrets"), true
	}
	return p, false
}

// value is what may be a file in an argument: of an option its value. bundled is one that
// stands at its letter, as in -fFILE.
func value(arg string) (name string, bundled bool) {
	if !strings.HasPrefix(arg, "-") {
		return arg, false
	}
	if _, value, has := strings.Cut(arg, "="); has {
		return value, false
	}
	if len(arg) > 2 && arg[1] != '-' {
		return arg[2:], true
	}
	return "", false
}

// write judges a file that a redirection would change.
func (j *Judge) write(w Word) Part {
	p := Part{Text: "write " + w.Text}
	if !w.Known {
		return p.by("", "command.write", "which file it writes is not known before it runs")
	}
	zone := Inside
	if j.Zone != nil {
		zone = j.Zone(w.Text)
	}
	switch zone {
	case Forbidden:
		return p.by(policy.Deny, "path.never", quote(w.Text)+" is never written by a tool")
	case Guarded, Sensitive:
		return p.by(policy.Ask, "path.protected", quote(w.Text)+" may hold secrets, or be run or obeyed by other programs")
	case Outside:
		return p.by("", "path.outside", quote(w.Text)+" lies outside of the workspace")
	}
	return p.by("", "command.write", "it writes "+quote(w.Text))
}

// key stands for exactly this command with its variables.
func key(c Command, set []Assign) string {
	if slices.ContainsFunc(set, func(a Assign) bool { return !a.Value.Known }) {
		return ""
	}
	if _, known := texts(c.Words); !known || slices.ContainsFunc(c.Words, func(w Word) bool { return w.Glob }) {
		return ""
	}
	var b []byte
	for _, a := range slices.Concat(set, c.Env) {
		b = append(append(b, a.Name...), '=')
		b = append(strconv.AppendQuote(b, a.Value.Text), ' ')
	}
	for _, w := range c.Words {
		b = append(strconv.AppendQuote(b, w.Text), ' ')
	}
	return string(b)
}
