// Package scan finds the units of a source file: its functions, types and
// other definitions, by their lines and braces alone. It is a hundred times as
// fast as a parser and takes any text: what it gets wrong is where something
// begins or ends, and a parser can say so later.
package scan

import (
	"bytes"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// Range is a part of a source, half open, in bytes.
type Range struct{ Start, End int }

// Of returns the text of a range.
func (r Range) Of(src []byte) string { return string(src[r.Start:r.End]) }

// Len returns its length in bytes.
func (r Range) Len() int { return r.End - r.Start }

// Unit is one definition.
type Unit struct {
	Kind   pki.Kind
	Name   Range
	Owner  Range // what it is defined on where nothing encloses it: a receiver, a qualifier
	Doc    Range // its comment or docstring
	Start  int   // of its own text, behind a comment above
	Body   int   // where the header ends
	End    int
	Parent int // index of the unit that encloses it, -1 for none

	// Called and In are what a parser says: the unit's name and, dotted, what it
	// belongs to. They are empty where only lines were read.
	Called, In string
}

// Block reports whether the unit only lends its name to what is inside: an
// impl, an extension, a namespace.
func (u *Unit) Block() bool { return u.Kind == pki.Extension || u.Kind == pki.Module }

// Callable reports whether the unit is a function or a method.
func (u *Unit) Callable() bool { return u.Kind == pki.Function || u.Kind == pki.Method }

// MaxUnits bounds the units of one file.
const MaxUnits = 20000

// LongBody is the number of lines above which the functions inside of a
// function are units of their own.
const LongBody = 150

// Units returns the units of src in the order of their beginnings, outer ones
// first. It appends to out[:0]. lang is a name as treesitter.Language gives it.
func Units(lang string, src []byte, out []Unit) []Unit {
	out = out[:0]
	switch lang {
	case "go":
		out = goUnits(src, out)
	case "python":
		out = pythonUnits(src, out)
	case "ruby", "lua", "bash":
		out = keywordUnits(lang, src, out)
	case "markdown":
		out = headings(src, out)
	default:
		if f, ok := flavours[lang]; ok {
			s := braces{flavour: f, src: src, out: out}
			s.run()
			out = s.out
		}
	}
	return prune(src, out)
}

// prune drops what is defined inside of functions, but for the functions in
// long ones.
func prune(src []byte, units []Unit) []Unit {
	moved := make([]int, len(units)) // new index; -1: dropped
	kept := units[:0]
	for i, u := range units {
		if u.Parent >= 0 {
			u.Parent = moved[u.Parent]
			if u.Parent < 0 || u.Name.Len() == 0 || inFunction(src, kept, &u) {
				moved[i] = -1
				continue
			}
		} else if u.Name.Len() == 0 {
			moved[i] = -1
			continue
		}
		moved[i] = len(kept)
		kept = append(kept, u)
	}
	return kept
}

// inFunction reports whether a unit is part of a function around it.
func inFunction(src []byte, units []Unit, u *Unit) bool {
	for p := u.Parent; p >= 0; p = units[p].Parent {
		if units[p].Callable() && (!u.Callable() || units[p].lines(src) <= LongBody) {
			return true
		}
	}
	return false
}

func (u *Unit) lines(src []byte) int {
	end := min(u.End, len(src))
	return bytes.Count(src[min(u.Start, end):end], []byte{'\n'}) + 1
}

// line returns the range of the line that begins at i, without its end, and
// where the next one begins.
func line(src []byte, i int) (end, next int) {
	n := bytes.IndexByte(src[i:], '\n')
	if n < 0 {
		return len(src), len(src)
	}
	end = i + n
	if end > i && src[end-1] == '\r' {
		return end - 1, i + n + 1
	}
	return end, i + n + 1
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// wordAt returns the word that begins at or after i, behind white space only.
func wordAt(src []byte, i, end int) Range {
	for i < end && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	j := i
	for j < end && isWord(src[j]) {
		j++
	}
	return Range{i, j}
}

// commentAbove returns the block of lines above start that begin with marker.
func commentAbove(src []byte, start int, marker string) Range {
	r := Range{start, start}
	for at := start; at > 0; {
		from := bytes.LastIndexByte(src[:at-1], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimLeft(src[from:at], " \t"), []byte(marker)) {
			break
		}
		if r.End == start && r.Start == start {
			r.End = at
		}
		r.Start = from
		at = from
	}
	return r
}
