package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// redactedArguments hides secrets in a call's arguments, which stay JSON. short
// is done with each string besides; nil leaves them as long as they are.
func redactedArguments(args json.RawMessage, hide, short func(string) string) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	clean, ok := hideJSON(args, hide, short)
	if !ok {
		return json.RawMessage("{}")
	}
	return clean
}

// hideJSON hides secrets in a JSON text: first in each string as its reader has
// it, because the escapes of the encoding are part of no secret, then in the text
// as a whole, where a value has its name before it. ok is false when it is no
// JSON, or would be none any more.
func hideJSON(data []byte, hide, short func(string) string) (clean json.RawMessage, ok bool) {
	text := data
	if short != nil || bytes.IndexByte(data, '\\') >= 0 {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return nil, false
		}
		changed := false
		v = eachString(v, func(s string) string {
			out := hide(s)
			if short != nil {
				out = short(out)
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
func eachString(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			v[i] = eachString(v[i], f)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[f(k)] = eachString(v[k], f)
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
