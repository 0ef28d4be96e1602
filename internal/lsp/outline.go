package lsp

import (
	"cmp"
	"encoding/json"
	"io"

	"go.lsp.dev/jsonrpc2"
)

// maxDepth is how deep arrays and objects of a message may be nested. The
// decoder has the same bound.
const maxDepth = 10_000

// maxKept bounds what is kept of a member's name or value, in bytes.
const maxKept = 256

// outline is what can be told of a message without having it: whose it is and
// what it was to be. It reads any number of bytes in little memory, so that a
// message that is too long, or nested too deep, can be answered all the same.
type outline struct {
	depth, deepest int
	inString, esc  bool
	closed         bool // it is over
	isName         bool // the string that is read is a name at the first level
	atValue        bool // behind a colon at the first level
	name           []byte
	value          []byte
	members        map[string]string // at the first level: the beginnings of their values
}

// Write looks at the next bytes. It never fails.
func (o *outline) Write(p []byte) (int, error) {
	for _, c := range p {
		o.next(c)
	}
	return len(p), nil
}

var _ io.Writer = (*outline)(nil)

func (o *outline) next(c byte) {
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
func (o *outline) end() {
	o.atValue = false
	if o.members == nil {
		o.members = map[string]string{}
	}
	if name := string(o.name); len(o.members) < maxHeaderLines {
		if _, twice := o.members[name]; twice {
			o.members[name] = "" // which of them is meant can't be told
			return
		}
		o.members[name] = string(o.value)
	}
}

// message is the message of which only this is known.
func (o *outline) message() message {
	m := malformed([]byte(`{"id":` + orNull(o.members["id"]) + `}`))
	_, asks := o.members["method"]
	_, result := o.members["result"]
	_, failed := o.members["error"]
	if !asks && (result || failed) {
		m.kind = jsonrpc2.MessageViewResponseError
	}
	if Unmarshal([]byte(orNull(o.members["method"])), &m.method) != nil {
		m.method = ""
	}
	m.params = json.RawMessage(o.members["params"])
	return m
}

func orNull(value string) string {
	if value == "" || len(value) == maxKept {
		return "null"
	}
	return value
}

// called says which message it was, for people.
func (o *outline) called() string {
	return cmp.Or(o.message().method, "a message")
}
