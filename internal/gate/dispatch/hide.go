package dispatch

import (
	"bytes"
	"encoding/json"
	"slices"
)

// member does something with a string of a JSON value, or with a list of strings; name is that
// of the member that it is in, "" for names themselves. It returns as many.
type member func(name string, list []string) []string

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
		v = eachString(v, "", func(name string, list []string) []string {
			out := make([]string, len(list))
			for i, s := range list {
				out[i] = hide(s)
			}
			if then != nil {
				out = then(name, out)
			}
			changed = changed || !slices.Equal(out, list)
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

// eachString changes the strings of a JSON value, names of members, too. Strings in a list
// come together. name is that of the value's member.
func eachString(v any, name string, f member) any {
	switch v := v.(type) {
	case string:
		return f(name, []string{v})[0]
	case []any:
		if list, ok := stringsOf(v); ok {
			for i, s := range f(name, list) {
				v[i] = s
			}
			return v
		}
		for i := range v {
			v[i] = eachString(v[i], name, f)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[f("", []string{k})[0]] = eachString(v[k], meant(v, name, k), f)
		}
		return out
	}
	return v
}

func stringsOf(list []any) (texts []string, ok bool) {
	for _, v := range list {
		s, is := v.(string)
		if !is {
			return nil, false
		}
		texts = append(texts, s)
	}
	return texts, len(texts) > 0
}

// redactValue hides secrets in structured data, and leaves out what is too
// much.
func (r *record) redactValue(v any) any {
	if v == nil {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		r.o.Log.Error("structured result", "tool", r.res.Tool, "error", err)
		return nil
	}
	if most := r.bill.structuredBytes(); len(data) > most {
		r.notes.addf("The structured form of this result is left out: it has %d bytes, and at most %d are given.", len(data), most)
		return nil
	}
	clean, ok := hideJSON(data, r.o.Redact.Text, nil)
	if !ok {
		return nil // the text says all that may be said
	}
	return clean
}
