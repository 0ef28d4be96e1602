// Package outline tells what can be told of a JSON message without having it: whose
// it is and what it was to be. So one that is too long, or nested too deep, can be
// answered all the same.
package outline

import (
	"bytes"
	"encoding/json"
)

// maxKept bounds what is kept of a member's name or value, in bytes, and maxMembers
// how many are.
const (
	maxKept    = 256
	maxMembers = 32
)

// Outline reads any number of bytes of a message in little memory.
type Outline struct {
	depth, deepest int
	inString, esc  bool
	closed         bool // the message is over
	isName         bool // the string that is read is a name at the first level
	atValue        bool // behind a colon at the first level
	name           []byte
	value          []byte
	members        map[string]string // at the first level: the beginnings of their values
}

// Write looks at the next bytes. It never fails.
func (o *Outline) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if o.inString && !o.esc && !o.isName && (!o.atValue || len(o.value) >= maxKept) {
			i := bytes.IndexAny(p, `"\`) // most of a long message is one string
			if i < 0 {
				return n, nil
			}
			p = p[i:]
		}
		o.next(p[0])
		p = p[1:]
	}
	return n, nil
}

func (o *Outline) next(c byte) {
	if o.closed {
		return
	}
	if o.atValue && len(o.value) < maxKept && (o.depth > 1 || o.inString || c != ',' && c != '}') {
		o.value = append(o.value, c)
	}
	if o.inString {
		switch {
		case o.esc:
			o.esc = false
		case c == '\\':
			o.esc = true
		case c == '"':
			o.inString = false
			return
		}
		if o.isName && len(o.name) < maxKept {
			o.name = append(o.name, c)
		}
		return
	}
	switch c {
	case '"':
		o.inString = true
		if o.isName = o.depth == 1 && !o.atValue; o.isName {
			o.name = o.name[:0]
		}
	case '{', '[':
		o.depth++
		o.deepest = max(o.deepest, o.depth)
	case ':':
		if o.depth == 1 && !o.atValue {
			o.atValue, o.value = true, o.value[:0]
		}
	case ',', '}', ']':
		if o.depth == 1 && o.atValue {
			o.end()
		}
		if c != ',' {
			o.depth--
			o.closed = o.depth <= 0
		}
	}
}

// end notes a member of the first level.
func (o *Outline) end() {
	o.atValue = false
	if o.members == nil {
		o.members = map[string]string{}
	}
	if name := string(o.name); len(o.members) < maxMembers {
		if _, twice := o.members[name]; twice {
			o.members[name] = "" // which of them is meant can't be told
			return
		}
		o.members[name] = string(o.value)
	}
}

// Depth is how deep arrays and objects are nested.
func (o *Outline) Depth() int { return o.deepest }

// Has reports whether the message has a member at its first level.
func (o *Outline) Has(name string) bool {
	_, ok := o.members[name]
	return ok
}

// Beginning is the beginning of a member's value.
func (o *Outline) Beginning(name string) json.RawMessage { return json.RawMessage(o.members[name]) }

// Member is a member's value; null when there is none, or none that could be kept.
func (o *Outline) Member(name string) json.RawMessage {
	value := o.members[name]
	if value == "" || len(value) == maxKept {
		return json.RawMessage("null")
	}
	return json.RawMessage(value)
}

// Replies reports whether the message answers a request.
func (o *Outline) Replies() bool { return !o.Has("method") && (o.Has("result") || o.Has("error")) }
