package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// member does something with a string of a JSON value; name is that of the nearest member
// that it is in, "" for names themselves.
type member func(name, s string) string

// redactedArguments hides secrets in a call's arguments, which stay JSON. then is done
// with each string besides; nil leaves them as they are.
func redactedArguments(args json.RawMessage, hide func(string) string, then member) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	clean, ok := hideJSON(args, hide, then)
	if !ok {
		return json.RawMessage("{}")
	}
	return clean
}

// hideJSON hides secrets in a JSON text: first in each string as its reader has
// it, because the escapes of the encoding are part of no secret, then in the text
// as a whole, where a value has its name before it. ok is false when it is no
// JSON, or would be none any more.
func hideJSON(data []byte, hide func(string) string, then member) (clean json.RawMessage, ok bool) {
	text := data
	if then != nil || bytes.IndexByte(data, '\\') >= 0 {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return nil, false
		}
		changed := false
		v = eachString(v, "", func(name, s string) string {
			out := hide(s)
			if then != nil {
				out = then(name, out)
			}
			changed = changed || out != s
			return out
		})
		if changed {
			var err error
			if text, err = json.Marshal(v); err != nil {
				return nil, false
			}
		}
	}
	whole := hide(string(text))
	if whole == string(text) {
		return text, json.Valid(text)
	}
	return json.RawMessage(whole), json.Valid([]byte(whole)) // a marker may have broken it
}

// eachString changes the strings of a JSON value, names of members, too.
func eachString(v any, name string, f member) any {
	switch v := v.(type) {
	case string:
		return f(name, v)
	case []any:
		for i := range v {
			v[i] = eachString(v[i], name, f)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[f("", k)] = eachString(v[k], k, f)
		}
		return out
	}
	return v
}

// redactValue hides secrets in structured data, and leaves out what is too
// much.
func (c *call) redactValue(v any) any {
	if v == nil {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		c.d.o.Log.Error("structured result", "tool", c.res.Tool, "error", err)
		return nil
	}
	if most := c.structuredBytes(); len(data) > most {
		c.notes = append(c.notes, fmt.Sprintf("The structured form of this result is left out: it has %d bytes, and at most %d are given.", len(data), most))
		return nil
	}
	clean, ok := hideJSON(data, c.d.o.Redact.Text, nil)
	if !ok {
		return nil // the text says all that may be said
	}
	return clean
}

// texts are the members in which tools get the text of a file.
var texts = map[string]bool{
	"content": true, "text": true, "search": true, "replace": true, "old_string": true, "new_string": true, "old_str": true, "new_str": true,
	"insert_text": true, "file_text": true, "patch": true, "diff": true,
}

// recorded is what is kept of arguments, besides that secrets are hidden in them: a value
// that stands where one does is none that a record needs, nor is the text of a file
// that may hold them.
func recorded(args json.RawMessage, r Redactor) member {
	var v any
	secret := false
	if json.Unmarshal(args, &v) == nil {
		eachString(v, "", func(name, s string) string {
			secret = secret || name != "" && !texts[name] && workspace.Sensitive(filepath.ToSlash(s))
			return s
		})
	}
	return func(name, s string) string {
		if secret && texts[name] && s != "" {
			return "[REDACTED:file]"
		}
		return r.Record(name, s)
	}
}
