package trust

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is read of a line. What is beyond them is not compared, and said.
const (
	maxNested = 3  // lines in words of lines: sh -c "…"
	maxValues = 32 // that a word may have
	maxDirs   = 16 // in which a line may be when it names a file
)

// place is a file that a line names, or a pattern for such: below the root where the
// line runs, or in the trusted folder by its whole path.
type place struct {
	pattern string // relative, as of path.Match
	here    bool   // in the trusted folder
}

// line is what a hook's line may run: each of its words may name a file, wherever the
// line may have gone before. A word too many does no harm: a file that nothing runs
// only asks when it changes.
type line struct {
	places []place
	loose  []string // words of which nobody knows which files they name
}

// reader reads a line as a shell would, in a root, for the trusted folder dir.
type reader struct {
	root, dir string
	line      *line
	known     *known
	text      string
	depth     int
	inner     bool // a word of another command, which need not be a line at all
}

// known is what a line may have said: all that stands anywhere in it, in any order.
type known struct {
	vars map[string]value
	dirs []string // whole paths, as patterns
	path []string // directories that it puts into PATH, likewise
}

// value is what a word may stand for, as patterns: what is no pattern is escaped.
type value struct {
	texts   []string
	unknown bool // it may be something else
}

// readLine reads a line that runs in root. It reads it twice: a function, or a loop,
// uses what comes later.
func readLine(text, root, dir string) *line {
	root, dir = realPath(root), realPath(dir)
	k := &known{vars: map[string]value{}, dirs: []string{escape(filepath.ToSlash(root))}}
	var l *line
	for range 2 {
		l = &line{}
		r := &reader{root: root, dir: dir, line: l, known: k, text: text}
		r.read()
	}
	return l
}

// fallback is what may be the name of a file in a line that no shell understands.
var fallback = regexp.MustCompile("[^\\s\"'`;&|<>()=]+")

func (r *reader) read() {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(r.text), "")
	if err != nil {
		if !r.inner {
			r.loose(r.text)
		}
		for _, w := range fallback.FindAllString(r.text, -1) {
			r.name(escape(w))
		}
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			r.call(n)
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				r.assign(n.Name.Value, r.value(n.Value))
			}
			r.words(ordinary, n.Value)
		case *syntax.WordIter:
			for _, w := range n.Items {
				r.assign(n.Name.Value, r.value(w))
			}
			r.words(ordinary, n.Items...)
		case *syntax.Redirect:
			r.words(ordinary, n.Word)
			r.words(runsLine, n.Hdoc)
		}
		return true
	})
}

// loose notes a word, as it is written.
func (r *reader) loose(text string) {
	if text = strings.Join(strings.Fields(text), " "); !r.inner && !slices.Contains(r.line.loose, text) {
		r.line.loose = append(r.line.loose, text)
	}
}

func (r *reader) written(n syntax.Node) string {
	return r.text[n.Pos().Offset():min(n.End().Offset(), uint(len(r.text)))]
}

// kind is what a command does with its words.
type kind int

const (
	ordinary kind = iota
	prints        // it runs none of them
	runsLine      // one of them may be a line
)

// kinds are the programs that are no ordinary ones.
var kinds = map[string]kind{
	"echo": prints, "printf": prints, "test": prints, "[": prints, "jq": prints, "grep": prints, "exit": prints, "return": prints, "read": prints, "kill": prints, "sleep": prints,
	"sh": runsLine, "bash": runsLine, "dash": runsLine, "zsh": runsLine, "ksh": runsLine, "ash": runsLine, "eval": runsLine, "trap": runsLine,
}

func (r *reader) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return // assignments
	}
	program := ""
	if v := r.value(n.Args[0]); len(v.texts) == 1 && !v.unknown {
		program = path.Base(unescape(v.texts[0]))
	}
	kind := kinds[program]
	switch {
	case program == "cd" || program == "pushd":
		r.cd(n)
	case kind == runsLine && !slices.ContainsFunc(n.Args[1:], func(w *syntax.Word) bool { return !strings.HasPrefix(w.Lit(), "-") }):
		r.loose(r.written(n)) // it runs what it reads
	}
	r.words(ordinary, n.Args[0])
	r.words(kind, n.Args[1:]...)
}

// cd notes where the line may be from then on.
func (r *reader) cd(n *syntax.CallExpr) {
	for _, w := range n.Args[1:] {
		if strings.HasPrefix(w.Lit(), "-") && w.Lit() != "-" {
			continue
		}
		v := r.value(w)
		for _, text := range v.texts {
			for _, to := range r.whole(text) {
				if !slices.Contains(r.known.dirs, to) && len(r.known.dirs) < maxDirs {
					r.known.dirs = append(r.known.dirs, to)
				} else if !slices.Contains(r.known.dirs, to) {
					r.loose(r.written(n))
				}
			}
		}
		if v.unknown || w.Lit() == "-" {
			r.loose(r.written(n))
		}
		return
	}
	r.loose(r.written(n)) // to the home
}

func (r *reader) assign(name string, v value) {
	if name == "PATH" {
		for _, text := range v.texts {
			r.addPath(text)
		}
	}
	if old, ok := r.known.vars[name]; ok {
		v = value{union(old.texts, v.texts), old.unknown || v.unknown}
	}
	r.known.vars[name] = v
}

func (r *reader) addPath(text string) {
	for _, dir := range strings.Split(text, ":") {
		if dir != "" && !slices.Contains(r.known.path, dir) && len(r.known.path) < maxDirs {
			r.known.path = append(r.known.path, dir)
		}
	}
}

// words notes the files that words may name.
func (r *reader) words(k kind, words ...*syntax.Word) {
	for _, w := range words {
		if w == nil {
			continue
		}
		v := r.value(w)
		if v.unknown && k != prints {
			r.loose(r.written(w))
		}
		for _, text := range v.texts {
			r.name(text)
			bare := unescape(text)
			if r.depth < maxNested && strings.ContainsAny(bare, " \t\n;&|<>($`") {
				in := *r
				in.text, in.depth, in.inner = bare, r.depth+1, r.inner || k != runsLine
				in.read()
			}
		}
	}
}

// name notes the files that a text may name, also as the value of an option or a list.
func (r *reader) name(text string) {
	if dirs, ok := strings.CutPrefix(text, "PATH="); ok {
		r.addPath(dirs)
	}
	for _, name := range append(strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("=:,", c) }), text) {
		if !strings.Contains(name, "/") {
			for _, dir := range r.known.path {
				r.file(dir + "/" + name)
			}
		}
		r.file(name)
	}
}

func (r *reader) file(name string) {
	for _, whole := range r.whole(name) {
		r.place(whole)
		if strings.Contains(name, "/../") && !isPattern(whole) { // a link on the way leads elsewhere
			if !path.IsAbs(name) {
				whole = r.known.dirs[0] + "/" + name
			}
			if real, err := filepath.EvalSymlinks(unescape(whole)); err == nil {
				r.place(escape(filepath.ToSlash(real)))
			}
		}
	}
}

// whole are the whole paths of a name, wherever the line may be.
func (r *reader) whole(name string) (paths []string) {
	switch {
	case name == "":
	case path.IsAbs(name) || filepath.IsAbs(filepath.FromSlash(unescape(name))):
		paths = []string{path.Clean(name)}
	default:
		for _, dir := range r.known.dirs {
			paths = append(paths, path.Clean(dir+"/"+name))
		}
	}
	return paths
}

// place notes a file by its whole path if it is in the root or in the trusted folder,
// of which one may be in the other, as a shadow is: then it is a file of the inner one.
func (r *reader) place(whole string) {
	rest, in := below(whole, r.root)
	p := place{pattern: rest}
	if rest, here := below(whole, r.dir); here && (!in || len(r.dir) > len(r.root)) {
		p, in = place{rest, true}, true
	}
	switch {
	case !in || slices.Contains(r.line.places, p):
	case len(r.line.places) == maxPrograms:
		r.loose(unescape(p.pattern))
	default:
		r.line.places = append(r.line.places, p)
	}
}

// below is what is left of a whole path below a directory.
func below(whole, dir string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(whole, strings.TrimSuffix(escape(filepath.ToSlash(dir)), "/")+"/")
	return rest, ok && rest != ""
}

// value is what a word may stand for.
func (r *reader) value(w *syntax.Word) (v value) {
	n := 0
	for one, err := range braced(w) {
		if n++; err != nil || n > maxValues {
			v.unknown = true
			break
		}
		more := r.parts(one.Parts, false)
		v = value{union(v.texts, more.texts), v.unknown || more.unknown}
	}
	for i, text := range v.texts {
		if text == "~" || strings.HasPrefix(text, "~") && strings.HasPrefix(w.Lit(), "~") {
			v.unknown = true // whose home that is
			if home, err := os.UserHomeDir(); err == nil && (text == "~" || text[1] == '/') {
				v.texts[i] = escape(filepath.ToSlash(home)) + text[1:]
			}
		}
	}
	return v
}

// braced are the words that bash makes of one with braces, and the word itself, which
// other shells see.
func braced(w *syntax.Word) func(func(*syntax.Word, error) bool) {
	return func(yield func(*syntax.Word, error) bool) {
		split := &syntax.Word{Parts: slices.Clone(w.Parts)}
		if !yield(w, nil) || !syntax.SplitBraces(split) {
			return
		}
		for one, err := range expand.BracesSeq(nil, split) {
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// parts is what parts of a word may stand for together.
func (r *reader) parts(parts []syntax.WordPart, quoted bool) value {
	v := value{texts: []string{""}}
	for _, part := range parts {
		p := r.part(part, quoted)
		v.unknown = v.unknown || p.unknown
		var texts []string
		for _, a := range v.texts {
			for _, b := range p.texts {
				if len(texts) == maxValues {
					v.unknown = true
					break
				}
				texts = append(texts, a+b)
			}
		}
		v.texts = texts
	}
	return v
}

func (r *reader) part(part syntax.WordPart, quoted bool) value {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			return value{texts: []string{escape(unquote(p.Value, "$`\"\\"))}}
		}
		return value{texts: []string{unquoted(p.Value)}}
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			made, _, err := expand.Format(nil, text, nil)
			if err != nil {
				return value{unknown: true}
			}
			text, _, _ = strings.Cut(made, "\x00")
		}
		return value{texts: []string{escape(text)}}
	case *syntax.DblQuoted:
		return r.parts(p.Parts, true)
	case *syntax.ParamExp:
		return r.param(p)
	case *syntax.CmdSubst:
		return r.output(p)
	}
	return value{unknown: true}
}

// variable is what a variable may be.
func (r *reader) variable(name string) value {
	v, set := r.known.vars[name]
	switch name {
	case "CLAUDE_PROJECT_DIR":
		v.texts = union([]string{escape(filepath.ToSlash(r.root))}, v.texts)
	case "PWD":
		v.texts = union(r.known.dirs, v.texts)
	case "PATH":
		v.texts = union([]string{""}, v.texts) // the rest of it is of the system's
	case "HOME":
		v.unknown = true
		if home, err := os.UserHomeDir(); err == nil {
			v.texts = union(v.texts, []string{escape(filepath.ToSlash(home))})
		}
	default:
		v.unknown = v.unknown || !set
	}
	return v
}

// param is what an expansion of a variable may be.
func (r *reader) param(p *syntax.ParamExp) value {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Names != 0 {
		return value{unknown: true}
	}
	v := r.variable(p.Param.Value)
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			return v.or(r.operand(p))
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			return value{texts: []string{""}}.or(r.operand(p))
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			return v
		}
	}
	if p.Exp == nil && p.Slice == nil && p.Repl == nil {
		return v
	}
	for i, text := range v.texts { // a part of it is cut off, or replaced
		text, err := expand.Literal(&expand.Config{NoUnset: true, Env: expand.FuncEnviron(func(name string) string {
			if name == p.Param.Value {
				return unescape(text)
			}
			return ""
		})}, &syntax.Word{Parts: []syntax.WordPart{p}})
		if err != nil {
			return value{unknown: true}
		}
		v.texts[i] = escape(text)
	}
	return v
}

func (r *reader) operand(p *syntax.ParamExp) value {
	if p.Exp.Word == nil {
		return value{texts: []string{""}}
	}
	return r.value(p.Exp.Word)
}

// output is what a command prints that says where the line is, or where it begins.
func (r *reader) output(p *syntax.CmdSubst) value {
	if len(p.Stmts) == 1 {
		switch strings.Join(strings.Fields(r.written(p.Stmts[0])), " ") {
		case "pwd", "pwd -P", "pwd -L":
			return value{texts: slices.Clone(r.known.dirs)}
		case "git rev-parse --show-toplevel":
			return value{texts: []string{escape(filepath.ToSlash(r.root))}, unknown: true} // a folder may be a part of a repository
		}
	}
	return value{unknown: true}
}
