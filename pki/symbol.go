// Package pki holds what is known about the code of a project: the named parts
// of its files. It reads no files and knows neither parsers, tools nor LSP.
package pki

// Kind says what a symbol is, in words that all languages share.
type Kind string

// The kinds. What a language calls otherwise has the nearest one: a trait or a
// protocol is an interface, a macro with parameters a function, one without a
// constant, a record or an object a class, a package or namespace a module.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Class     Kind = "class"
	Interface Kind = "interface"
	Struct    Kind = "struct"
	Enum      Kind = "enum"
	Type      Kind = "type"
	Constant  Kind = "constant"
	Variable  Kind = "variable"
	Field     Kind = "field"
	Module    Kind = "module"
	Extension Kind = "extension" // a block that adds to a type defined elsewhere: impl, extension
	Heading   Kind = "heading"
	Key       Kind = "key"
)

// Symbol is a named part of a file.
type Symbol struct {
	Name      string // as in the source, without qualification
	Qualified string // Container and Name joined by a dot, in every language
	Kind      Kind
	Signature string // the declaration up to its body, on one line, at most 200 characters
	Doc       string // the comment above or the docstring, without its marks, at most 400 characters

	StartLine, EndLine int // counted from one; both belong to the symbol. \n, \r\n and \r end a line.
	StartByte, EndByte int // offsets into the source, half open
	NameByte           int // where the name begins
	BodyByte           int // where the declaration ends and its body begins; EndByte where there is none
	DocStart, DocEnd   int // of the comment as it is written; equal where there is none

	Container string // the qualified name of what it belongs to, "" at the top
	Depth     int    // how many symbols of the same file enclose it
}

// Definition says where a symbol of a project is defined.
type Definition struct {
	Path      string // name in the view
	Name      string
	Container string // what it belongs to, "" at the top
	Kind      Kind
	Line      int // counted from one
}
