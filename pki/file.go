package pki

import (
	"cmp"
	"strings"
)

// File is what the syntax of one source file tells.
type File struct {
	Package    string // of Go and of languages with packages or namespaces, as declared
	Symbols    []Symbol
	Imports    []Import
	References []Reference
	Decls      []Decl
	Exact      bool // references know what they are looked up in; otherwise they are mere names
}

// Import is one name that a file has from elsewhere, or a whole module.
type Import struct {
	Path  string // the module as written: net/http, ./util, os.path, stdio.h
	Name  string // what of it: "" the module itself, "*" all its names, "default" what it exports so
	Alias string // the name in this file; "" when it binds none
	// Exported: other files can import it from here.
	Exported     bool
	Line, Column int // of the name, or of the path where there is none; both count from one, columns in bytes
	Offset       int
}

// ReferenceKind says what is done with a name.
type ReferenceKind string

// The kinds of reference. A call of a class is a call.
const (
	RefCall    ReferenceKind = "call"
	RefType    ReferenceKind = "type"
	RefExtends ReferenceKind = "extends" // a base class, an interface that is implemented, an embedded type
	RefRead    ReferenceKind = "read"
	RefWrite   ReferenceKind = "write"
	RefImport  ReferenceKind = "import"
)

// Reference is a use of a name that is not local to a function.
type Reference struct {
	Name   string
	Kind   ReferenceKind
	Scope  string // the qualified name of the innermost symbol around it
	In     Path   // what the name is looked up in; "" is the top of the file
	Key    bool   // Name: value in a literal of In; a plain name if In turns out to have no fields
	Line   int    // from one
	Column int    // from one, in bytes
	Offset int    // in bytes
}

// Path says in short how a value is reached from a name at the top of a file:
// as far as syntax tells, and without knowing any other file. It is a name and
// steps behind it:
//
//	.name  a member
//	()     the result of a call
//	!      a value of the type
//	[]     an element, or what a channel gives
//	[k]    a key
//	@2     the third of several values
//	^      a container of such values; ^<K> with keys K
//	~      a function that returns such a value
//	%      a generic with type arguments
//
// So store.New()@0.items[] is an element of the field items of the first
// result of New of the package store, and after var x []*store.Item the path
// of x is store.Item!^ . Pointers are what they point at.
type Path string

// Unknown is a path that syntax does not tell.
const Unknown Path = "?"

// Known reports whether anything is known of a path.
func (p Path) Known() bool { return p != Unknown }

// Nameless is the path of a value whose type has no name: its members are
// nobody's.
const Nameless Path = "{}"

// Then appends a step, or takes back the one that it undoes. What gets long is
// not known.
func (p Path) Then(step string) Path {
	const most = 200
	if p == Unknown || len(p)+len(step) > most {
		return Unknown
	}
	switch before, key := p.unwrap(); {
	case step == "[]" && before != "", step == "()" && strings.HasSuffix(string(p), "~"):
		return cmp.Or(before, p[:len(p)-1])
	case step == "[k]" && key != "":
		return key
	}
	return p + Path(step)
}

// Map is the path of a map of such values.
func (p Path) Map(key Path) Path {
	if key == Unknown {
		return p.Then("^")
	}
	return p.Then("^<" + string(key) + ">")
}

// unwrap takes a last ^ off, with the key of a map.
func (p Path) unwrap() (before, key Path) {
	if strings.HasSuffix(string(p), "^") {
		return p[:len(p)-1], ""
	}
	if !strings.HasSuffix(string(p), ">") {
		return "", ""
	}
	depth := 0
	for i := len(p) - 1; i > 0; i-- {
		switch p[i] {
		case '>':
			depth++
		case '<':
			if depth--; depth == 0 && p[i-1] == '^' {
				return p[:i-1], p[i+1 : len(p)-1]
			}
		}
	}
	return "", ""
}

// Decl says of what type a symbol of the file is.
type Decl struct {
	Name    string // qualified
	Results []Path // of a function; the one type of a variable or field
	Under   Path   // a type's own definition, where that is neither struct, class nor interface
	Alias   bool   // the type is the same as Under
	Getter  bool   // a function that is read as if it were its result
	Bases   []Path // what members come from besides its own: embedded types, base classes
}

// StepMarks are the bytes with which a step can begin.
const StepMarks = ".()![]@^~%"

// Root splits a path into its name and the steps.
func (p Path) Root() (name, steps string) {
	if i := strings.IndexAny(string(p), StepMarks); i >= 0 {
		return string(p[:i]), string(p[i:])
	}
	return string(p), ""
}
