package hooks

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf16"
)

// members are those by which an object among words is known as an answer.
var members = []string{"continue", "decision", "hookSpecificOutput", "stopReason", "systemMessage"}

// maxTries bounds the places in the output at which an answer is looked for.
const maxTries = 200

// split finds the answers in what a hook wrote: a shell's profile or a program that
// the hook runs may say something around them. One that is cut or misspelt is an
// error, since nobody knows what it was to hold back.
func split(out []byte) (answers []json.RawMessage, words string, err error) {
	out = bytes.TrimSpace(unmarked(out))
	if len(out) == 0 {
		return nil, "", nil
	}
	if out[0] == '{' {
		var whole json.RawMessage
		if err = json.Unmarshal(out, &whole); err == nil {
			return []json.RawMessage{whole}, "", nil
		}
	}
	whole := err // of an output that begins as an answer does
	var b strings.Builder
	broken := false
	for tries := 0; len(out) > 0; {
		at := bytes.IndexByte(out, '{')
		if at < 0 || tries == maxTries {
			break
		}
		tries++
		dec := json.NewDecoder(bytes.NewReader(out[at:]))
		var object json.RawMessage
		failed := dec.Decode(&object)
		b.Write(out[:at])
		switch before := bytes.TrimSpace(out[:at]); {
		case failed != nil:
			broken = true
			b.WriteByte('{')
			out = out[at+1:]
			continue
		case !isAnswer(object) || broken && len(before) > 0 && bytes.IndexByte([]byte(":,["), before[len(before)-1]) >= 0: // a part of one that is broken
			b.Write(object)
		default:
			answers = append(answers, object)
		}
		out = out[at+int(dec.InputOffset()):]
	}
	b.Write(out)
	words = strings.TrimSpace(b.String())
	switch {
	case len(answers) > 0:
		return answers, words, nil
	case whole != nil:
		return nil, "", whole
	case broken && slices.ContainsFunc(members, func(m string) bool { return strings.Contains(words, `"`+m+`"`) }):
		return nil, "", errors.New("it stands among words, and is cut or misspelt; write the JSON alone")
	}
	return nil, words, nil
}

// isAnswer reports whether an object has a member of an answer.
func isAnswer(object json.RawMessage) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil {
		return false
	}
	return slices.ContainsFunc(members, func(name string) bool { _, ok := m[name]; return ok })
}

// unmarked is a text without the mark of its encoding, in UTF-8.
func unmarked(out []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(out, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(out, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return bytes.TrimPrefix(out, []byte("\ufeff"))
	}
	var units []uint16
	for i := 2; i+1 < len(out); i += 2 {
		units = append(units, order.Uint16(out[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}
