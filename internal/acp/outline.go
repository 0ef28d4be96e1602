package acp

import (
	"bytes"
	"encoding/json"
)

// maxKept bounds what an outline keeps of a member's name or value, in bytes.
const maxKept = 256

// outline finds the id and the method of a message without keeping it, so that a
// line that is too long can be answered all the same.
type outline struct {
	depth         int
	inString, esc bool
	isName        bool // the string that is read is a name at the first level
	atValue       bool // behind a colon at the first level
	name, value   []byte
	id, method    json.RawMessage
	replies       bool // it has a result or an error
}

func (o *outline) write(p []byte) {
	for len(p) > 0 {
		if o.inString && !o.esc && !o.isName && (!o.atValue || len(o.value) >= maxKept) {
			i := bytes.IndexAny(p, `"\\`) // most of a long line is one string
			if i < 0 {
				return
			}
			p = p[i:]
		}
		o.next(p[0])
		p = p[1:]
	}
}

func (o *outline) next(c byte) {
	if o.atValue && len(o.value) < maxKept && (o.inString || o.depth > 1 || c != ',' && c != '}') {
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
	case '}', ']':
		o.depth--
		if o.depth == 0 {
			o.member()
		}
	case ':':
		if o.depth == 1 && !o.atValue {
			o.atValue, o.value = true, nil
			o.replies = o.replies || string(o.name) == "result" || string(o.name) == "error"
		}
	case ',':
		if o.depth == 1 {
			o.member()
		}
	}
}

// member is called at the end of a member of the first level.
func (o *outline) member() {
	if !o.atValue {
		return
	}
	o.atValue = false
	if !json.Valid(o.value) {
		return // it was cut
	}
	switch string(o.name) {
	case "id":
		o.id = trimmed(o.value)
	case "method":
		o.method = trimmed(o.value)
	}
}

// message is what could be told of the message.
func (o *outline) message() message {
	m := message{id: o.id, reply: o.replies && o.method == nil}
	_ = json.Unmarshal(o.method, &m.method)
	return m
}
