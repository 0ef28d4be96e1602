// Package shell reads a command line as bash would and says what it would run:
// every simple command with its arguments, wherever it stands, what is written
// besides, and whether something in it keeps the reader from knowing. Judge
// decides on what was found. Nothing is run and no file is opened.
package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a line that is read at all. What is longer or deeper is not
// understood, and so asked about.
const (
	maxBytes    = 16 << 10
	maxCommands = 50
	maxNested   = 4  // lines inside of lines: bash -c "bash -c …"
	maxBrackets = 40 // of one line; the parser is recursive
)

// Line is what a command line would do.
type Line struct {
	Commands []Command // in the order in which they stand, those inside of others after them
	Writes   []Word    // files that redirections make, change or cut
	Reads    []Word    // files that redirections read
	Assigns  []Assign  // variables that stay set in the shell
	Doubts   []string  // why it can't be known what runs

	PowerShell bool   // it is one of PowerShell
	Unread     string // why nothing is known of it; "": it was read

	// Path, when set, is what a file is called here that the shell calls name.
	Path func(name string) string
}

// Command is one simple command.
type Command struct {
	Words []Word   // the program and its arguments; never empty
	Env   []Assign // variables set for it alone
	Text  string   // as it was written
	Via   []string // the programs that would run it: env, xargs, …
}

// Word is one word of a command.
type Word struct {
	Text  string // its value; as it was written when it is not Known
	Known bool   // its value does not depend on anything outside of the line
	Glob  bool   // it may become several words: names of files
}

// Assign sets a variable.
type Assign struct {
	Name  string
	Value Word
}

// Program is the command's program without its directory, or "" when it can't
// be known.
func (c Command) Program() string {
	if !c.Words[0].Known || c.Words[0].Glob {
		return ""
	}
	name := c.Words[0].Text
	return name[strings.LastIndexByte(name, '/')+1:]
}

// errTooMuch is the reason why a line is not read.
var errTooMuch = errors.New("it is too long or too deep to be understood")

// Read reads a command line. It never fails: what it does not understand is a
// doubt.
func Read(line string) *Line {
	l := &Line{}
	l.read(line, nil, 0)
	if len(l.Commands) > maxCommands {
		l.doubt("it has more than %d commands", maxCommands)
	}
	return l
}

func (l *Line) doubt(format string, args ...any) {
	l.Doubts = append(l.Doubts, fmt.Sprintf(format, args...))
}

// read adds what text does to l.
func (l *Line) read(text string, via []string, depth int) {
	if err := readable(text, depth); err != nil {
		l.doubt("%v", err)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		l.doubt("bash would not understand it (%v)", err)
		return
	}
	r := &reader{line: l, text: text, via: via, depth: depth}
	syntax.Walk(file, r.visit)
}

// readable refuses what nobody could judge: characters that a person does not
// see, and more than a line should hold.
func readable(text string, depth int) error {
	brackets := 0
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case r == unicode.ReplacementChar:
			return errors.New("it is not valid UTF-8")
		case !unicode.IsPrint(r):
			return fmt.Errorf("it has the invisible character %U", r)
		case r == '(' || r == '{':
			brackets++
		}
	}
	if len(text) > maxBytes || depth > maxNested || brackets > maxBrackets+len(text)/64 || strings.Count(text, "$(") > maxBrackets || strings.Count(text, "`") > 2*maxBrackets {
		return errTooMuch
	}
	return nil
}

// reader walks over one parsed line.
type reader struct {
	line  *Line
	text  string
	via   []string
	depth int
}

func (r *reader) written(n syntax.Node) string {
	return r.text[n.Pos().Offset():min(n.End().Offset(), uint(len(r.text)))]
}

// visit looks at one node. It returns whether the nodes below it are to be
// visited: almost always, because commands stand in all kinds of places.
func (r *reader) visit(n syntax.Node) bool {
	l := r.line
	switch n := n.(type) {
	case *syntax.CallExpr:
		r.call(n)
	case *syntax.DeclClause:
		r.declare(n)
	case *syntax.Redirect:
		r.redirect(n)
	case *syntax.FuncDecl:
		l.doubt("it defines a function, which other commands may then run")
	case *syntax.CoprocClause:
		l.doubt("it starts a coprocess")
	case *syntax.LetClause, *syntax.ArithmCmd, *syntax.CStyleLoop:
		l.doubt("arithmetic can run commands that stand in variables")
	case *syntax.ArithmExp:
		if !constant(n.X) {
			l.doubt("arithmetic can run commands that stand in variables")
		}
	case *syntax.UnaryTest:
		switch n.Op {
		case syntax.TsVarSet, syntax.TsRefVar:
			l.doubt("testing a variable can run commands that stand in its index")
		}
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			l.doubt("arithmetic can run commands that stand in variables")
		}
	case *syntax.ParamExp:
		r.expansion(n)
	case *syntax.WordIter:
		r.loop(n)
	case nil, *syntax.File, *syntax.Comment, *syntax.Stmt, *syntax.Assign, *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.BinaryCmd,
		*syntax.CaseClause, *syntax.CaseItem, *syntax.TestClause, *syntax.TimeClause, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ExtGlob,
		*syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, *syntax.ParenTest, *syntax.ArrayExpr, *syntax.ArrayElem: // they set and run nothing besides what is in them
	default:
		l.doubt("it has %s, of which nothing is known", quote(r.written(n)))
	}
	return true
}

// loop reads the variable of for and select, which stays set after the loop.
func (r *reader) loop(n *syntax.WordIter) {
	set := Assign{Name: n.Name.Value, Value: Word{Known: n.InPos.IsValid()}}
	var values []string
	for _, item := range n.Items {
		w := r.word(item)
		values = append(values, w.Text)
		set.Value.Known = set.Value.Known && w.Known
	}
	set.Value.Text = strings.Join(values, " ")
	r.line.Assigns = append(r.line.Assigns, set)
}

// expansion doubts the expansions that evaluate what a variable holds.
func (r *reader) expansion(p *syntax.ParamExp) {
	switch {
	case p.Excl || p.Names != 0:
		r.line.doubt("${!…} takes the name of a variable from another one")
	case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps:
		r.line.doubt("${…@…} can run commands that stand in a variable")
	case p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull):
		r.line.doubt("${…=…} sets a variable")
	case !constant(p.Index), p.Slice != nil && (!constant(p.Slice.Offset) || !constant(p.Slice.Length)):
		r.line.doubt("an index is arithmetic, which can run commands that stand in variables")
	}
}

// constant reports whether an arithmetic expression has numbers only.
func constant(x syntax.ArithmExpr) bool {
	if x == nil {
		return true
	}
	ok := true
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			ok = ok && strings.Trim(n.Value, "0123456789") == "" || n.Value == "@" || n.Value == "*"
		case *syntax.Word, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, nil:
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// call adds a simple command, and what it would run in its turn.
func (r *reader) call(n *syntax.CallExpr) {
	c := Command{Text: r.written(n), Via: r.via, Words: make([]Word, 0, len(n.Args))}
	for _, w := range n.Args {
		c.Words = append(c.Words, r.word(w))
	}
	assigns := r.assigns(n.Assigns)
	if len(c.Words) == 0 {
		r.line.Assigns = append(r.line.Assigns, assigns...)
		return
	}
	c.Env = assigns
	r.add(c)
}

// add adds a command and those that stand in its arguments.
func (r *reader) add(c Command) {
	if len(r.line.Commands) > maxCommands {
		return
	}
	r.line.Commands = append(r.line.Commands, c)
	if c.Program() == "export" {
		r.line.Assigns = append(r.line.Assigns, exports(c.Words[1:])...)
	}
	if c.Program() == "" {
		r.line.doubt("the program of %s is not known before it runs", quote(c.Text))
		return
	}
	if u, ok := unwrap(c); ok {
		r.inner(c, u)
	}
}

// inner adds what a command that runs others would run.
func (r *reader) inner(c Command, u unwrapped) {
	via := slices.Concat(r.via, []string{c.Program()})
	if len(via) > 8 {
		r.line.doubt("it has too many commands inside of commands")
		return
	}
	for _, why := range u.doubts {
		r.line.doubt("%s", why)
	}
	for _, text := range u.lines {
		r.line.read(text, via, r.depth+1)
	}
	for _, words := range u.commands {
		sub := &reader{line: r.line, text: r.text, via: via, depth: r.depth}
		sub.add(Command{Words: words, Env: slices.Concat(c.Env, u.env), Text: spell(words), Via: via})
	}
}

func (r *reader) assigns(list []*syntax.Assign) []Assign {
	var out []Assign
	for _, a := range list {
		if a.Name == nil || a.Index != nil || a.Array != nil || a.Naked {
			r.line.doubt("it sets %s, which bash may evaluate", quote(r.written(a)))
			continue
		}
		set := Assign{Name: a.Name.Value, Value: Word{Known: true}}
		if a.Value != nil {
			set.Value = r.word(a.Value)
		}
		out = append(out, set)
	}
	return out
}

// declare reads export, declare and the like: plain assignments stay in the
// shell, everything else is a doubt.
func (r *reader) declare(n *syntax.DeclClause) {
	if v := n.Variant.Value; v != "export" && v != "readonly" {
		r.line.doubt("%s changes how the shell reads variables", v)
		return
	}
	for _, a := range n.Args {
		if a.Naked && a.Name != nil && a.Index == nil {
			continue // export NAME
		}
		if a.Name == nil {
			r.line.doubt("it exports %s, which is not known before it runs", quote(r.written(a)))
			continue
		}
		r.line.Assigns = append(r.line.Assigns, r.assigns([]*syntax.Assign{a})...)
	}
}

// exports are the variables that export sets where it is a plain command, as it
// is behind a backslash or builtin.
func exports(args []Word) (set []Assign) {
	for _, a := range args {
		if name, value, ok := strings.Cut(a.Text, "="); ok {
			set = append(set, Assign{strings.TrimSuffix(name, "+"), Word{Text: value, Known: a.Known}})
		}
	}
	return set
}

func (r *reader) redirect(n *syntax.Redirect) {
	if n.N != nil && strings.Trim(n.N.Value, "0123456789") != "" {
		r.line.doubt("it puts a descriptor into a variable")
	}
	if n.Word == nil {
		return
	}
	w := r.word(n.Word)
	switch n.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	case syntax.DplIn, syntax.DplOut:
		if w.Known && strings.Trim(strings.TrimSuffix(w.Text, "-"), "0123456789") == "" {
			return
		}
	}
	if strings.HasPrefix(w.Text, "/dev/tcp/") || strings.HasPrefix(w.Text, "/dev/udp/") {
		r.line.doubt("it opens a connection to %s", w.Text)
		return
	}
	switch {
	case n.Op == syntax.RdrIn:
		r.line.Reads = append(r.line.Reads, w)
	case w.Known && harmlessTarget[w.Text]:
	default:
		r.line.Writes = append(r.line.Writes, w)
	}
}

// harmlessTarget are files that nothing is lost in.
var harmlessTarget = map[string]bool{"/dev/null": true, "/dev/stdout": true, "/dev/stderr": true, "/dev/tty": true}
