package scan

import (
	"bytes"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// plain keeps definitions that have no braces.
func (s *braces) plain(from, end int) {
	l := s.behindComments(lead{doc: Range{from, from}, start: from}, end)
	if l.start >= end || len(s.out) >= MaxUnits {
		return
	}
	w := wordAt(s.src, l.start, min(end, l.start+64))
	var kind pki.Kind
	for n := 0; n < 5; n++ {
		switch w.Of(s.src) {
		case "export", "declare", "pub", "default", "public", "private", "internal", "unsafe", "fileprivate", "override", "final", "abstract":
			if w.End < end && s.src[w.End] == '(' {
				w.End = balanced(s.src, w.End, end)
			}
			w = wordAt(s.src, w.End, end)
			continue
		case "const", "static":
			kind = pki.Constant
		case "let", "var", "val":
			kind = pki.Variable
		case "type", "typedef", "struct":
			kind = pki.Type
		case "fn", "fun", "func", "def":
			kind = pki.Method
			if s.lang == "kotlin" || s.lang == "scala" {
				kind = pki.Function
			}
		}
		break
	}
	f := s.top()
	switch {
	case kind == "", s.lang == "java", s.lang == "csharp", s.lang == "php":
		return
	case s.lang == "c" || s.lang == "cpp":
		if w.Of(s.src) != "typedef" {
			return
		}
		u := Unit{Kind: pki.Type, Name: lastWord(s.src, l.start, end), Start: l.start, Doc: l.doc, Body: end, End: end, Parent: s.parent()}
		if bytes.IndexByte(s.src[l.start:end], '(') < 0 && u.Name.Len() > 0 {
			s.out = append(s.out, u)
		}
		return
	case f.kind == typeBody && kind != pki.Method && kind != pki.Function:
		return
	}
	name := wordAt(s.src, w.End, end)
	for n := name.Of(s.src); n == "mut" || n == "ref" || n == "enum"; n = name.Of(s.src) {
		name = wordAt(s.src, name.End, end)
	}
	if name.Len() == 0 {
		return
	}
	e := end
	for e > name.End && (s.src[e-1] == '\n' || s.src[e-1] == '\r') {
		e--
	}
	u := Unit{Kind: kind, Name: name, Start: l.start, Doc: l.doc, Body: name.End, End: e, Parent: s.parent()}
	if s.js && kind == pki.Constant {
		if n := bytes.Index(s.src[name.End:e], []byte("=>")); n >= 0 {
			u.Kind, u.Body = pki.Function, name.End+n
		}
	}
	s.out = append(s.out, u)
}

// define keeps a macro that takes arguments.
func (s *braces) define(i, end int) {
	f := s.top()
	w := wordAt(s.src, i+1, end)
	if w.Of(s.src) != "define" || f.kind == funcBody || len(s.out) >= MaxUnits {
		return
	}
	name := wordAt(s.src, w.End, end)
	if name.Len() == 0 {
		return
	}
	u := Unit{Kind: pki.Constant, Name: name, Start: i, Body: name.End, End: end, Parent: -1}
	if name.End < end && s.src[name.End] == '(' {
		u.Kind = pki.Function
		u.Body = balanced(s.src, name.End, end)
	} else if s.constants++; s.constants > maxConstants {
		return
	}
	if l := s.lead(f, i); f.kind == outer && l.start == i {
		u.Doc = l.doc
	}
	s.out = append(s.out, u)
}
