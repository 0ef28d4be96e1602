package workspace

import (
	"bytes"
	"strings"
)

// Ignore files follow gitignore(5), as git reads it. The rules of one file are
// compiled once; how they apply in a directory is derived step by step on the
// way down, so that for a name only the last element of a path rule is left to
// compare, and only in directories where its other elements have matched.

// ruleKind is where a rule comes from. An earlier kind beats a later one,
// wherever their files are.
type ruleKind int

const (
	sidecarRules ruleKind = iota // .sidecarignore
	plainRules                   // .ignore
	gitRules                     // .gitignore
	excludeRules                 // .git/info/exclude
	userRules                    // the user's git/ignore
	ruleKinds
)

// ignoreFiles are the names of ignore files that a directory can have.
var ignoreFiles = [...]struct {
	name string
	kind ruleKind
}{
	{".sidecarignore", sidecarRules},
	{".ignore", plainRules},
	{".gitignore", gitRules},
}

// maxIgnoreFile bounds an ignore file, in bytes; the rest of it is not read.
const maxIgnoreFile = 1 << 20

// verdict is what the rules say about a name.
type verdict int8

const (
	noRule   verdict = iota
	excluded         // left out of a walk
	included         // taken back in by a rule with "!", even if hidden
)

// rule is one line of an ignore file.
type rule struct {
	path    []element // the elements of a path rule, nil for a rule on names
	negate  bool
	dirOnly bool
}

// ruleSet is one ignore file.
type ruleSet struct {
	rules []rule // a later rule beats an earlier one
	names nameIndex
	start []pathState // of the path rules, in the file's own directory
}

// parseRules compiles an ignore file. It returns nil when it has no rules.
func parseRules(text []byte) *ruleSet {
	if len(text) > maxIgnoreFile {
		text = text[:bytes.LastIndexByte(text[:maxIgnoreFile], '\n')+1]
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	s := &ruleSet{}
	for line := range strings.Lines(string(text)) {
		s.add(line)
	}
	if len(s.rules) == 0 {
		return nil
	}
	s.names.sort()
	return s
}

// add compiles one line.
func (s *ruleSet) add(line string) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if strings.HasPrefix(line, "#") {
		return
	}
	line = trimSpaces(line)
	var r rule
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		r.negate, line = true, rest
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly, line = true, rest
	}
	if line == "" {
		return
	}
	elems := splitPattern(strings.TrimPrefix(line, "/"))
	anchored := strings.HasPrefix(line, "/") || len(elems) > 1
	if len(elems) == 2 && isDoubleStar(elems[0]) && !isDoubleStar(elems[1]) {
		elems, anchored = elems[1:], false
	}
	n := int32(len(s.rules))
	if !anchored {
		if seg, ok := compileElement(elems[0]); ok {
			s.names.add(seg, n)
			s.rules = append(s.rules, r)
		}
		return
	}
	for _, e := range elems {
		seg, ok := compileElement(e)
		if !ok {
			return
		}
		if isDoubleStar(e) {
			seg.class = doubleStar
		}
		r.path = append(r.path, seg)
	}
	s.rules = append(s.rules, r)
	s.start = s.push(s.start, pathState{n, 0})
}

// trimSpaces cuts trailing spaces but not one that is escaped.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
		case '\\':
			i++
			fallthrough
		default:
			end = i + 1
		}
	}
	return line[:min(end, len(line))]
}

// splitPattern cuts a pattern at its slashes, leaving character classes whole.
func splitPattern(p string) []string {
	var elems []string
	from := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; i < len(p) && p[i] == '/' {
				elems = append(elems, p[from:i-1])
				from = i + 1
			}
		case '[':
			if n := classLen(p[i:]); n > 0 {
				i += n - 1
			}
		case '/':
			elems = append(elems, p[from:i])
			from = i + 1
		}
	}
	return append(elems, p[from:])
}

func isDoubleStar(elem string) bool {
	return len(elem) >= 2 && strings.Trim(elem, "*") == ""
}

// pathState says that the elements of a path rule before next have matched the way
// to a directory.
type pathState struct{ rule, next int32 }

// push adds a state, and those that it implies because ** may match nothing.
func (s *ruleSet) push(to []pathState, st pathState) []pathState {
	for {
		for i := len(to) - 1; i >= 0 && to[i].rule == st.rule; i-- {
			if to[i] == st {
				return to
			}
		}
		to = append(to, st)
		path := s.rules[st.rule].path
		if path[st.next].class != doubleStar || int(st.next) == len(path)-1 {
			return to
		}
		st.next++
	}
}

// scope is one ignore file as it applies in one directory at or below its own,
// followed by those of the same kind in directories further up.
type scope struct {
	set    *ruleSet
	states []pathState
	up     *scope
}

// enter returns the scope as it applies in the directory name. A scope without
// path rules that can still match is shared by all directories below.
func (s *scope) enter(name []byte) *scope {
	if s == nil {
		return nil
	}
	up := s.up.enter(name)
	if len(s.states) == 0 && up == s.up {
		return s
	}
	var states []pathState
	for _, st := range s.states {
		path := s.set.rules[st.rule].path
		switch seg := &path[st.next]; {
		case seg.class == doubleStar:
			states = s.set.push(states, st)
		case int(st.next) < len(path)-1 && seg.match(name):
			states = s.set.push(states, pathState{st.rule, st.next + 1})
		}
	}
	if up == s.up && equalStates(states, s.states) {
		return s
	}
	return &scope{s.set, states, up}
}

func equalStates(a, b []pathState) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// match says what the nearest file with a rule for name says.
func (s *scope) match(name []byte, dir bool) verdict {
	for ; s != nil; s = s.up {
		rules := s.set.rules
		best := s.set.names.last(name, dir, rules)
		for i := len(s.states) - 1; i >= 0; i-- {
			st := s.states[i]
			if st.rule <= best {
				break
			}
			r := &rules[st.rule]
			if int(st.next) == len(r.path)-1 && (dir || !r.dirOnly) && r.path[st.next].match(name) {
				best = st.rule
			}
		}
		if best >= 0 {
			if rules[best].negate {
				return included
			}
			return excluded
		}
	}
	return noRule
}

// dirRules are all rules as they apply in one directory.
type dirRules [ruleKinds]*scope

// enter returns the rules as they apply in the directory name, without those
// of its own ignore files.
func (d *dirRules) enter(name []byte) dirRules {
	var sub dirRules
	for k, s := range d {
		sub[k] = s.enter(name)
	}
	return sub
}

// add puts an ignore file of the directory in force.
func (d *dirRules) add(kind ruleKind, text []byte) {
	if set := parseRules(text); set != nil {
		d[kind] = &scope{set, set.start, d[kind]}
	}
}

// match says what the rules say about a name in the directory.
func (d *dirRules) match(name []byte, dir bool) verdict {
	for _, s := range d {
		if s == nil {
			continue
		}
		if v := s.match(name, dir); v != noRule {
			return v
		}
	}
	return noRule
}
