package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Put returns the text of a source with another value, JSON, for key. All else
// stays as it is. It fails when the source can't be read, and nothing that it
// returns is anything but what was asked for.
func Put(src Source, key string, value []byte) ([]byte, error) {
	value = bytes.TrimSpace(value)
	if !jsontext.Value(value).IsValid() {
		return nil, fmt.Errorf("%s: the value is not valid JSON", key)
	}
	mark := []byte("\xef\xbb\xbf")
	data, marked := bytes.CutPrefix(src.Data, mark)
	d := read(&src)
	for _, p := range d.problems {
		if p.Key == "" {
			return nil, errors.New(p.String())
		}
	}
	var out []byte
	if e, ok := d.entries[key]; ok {
		from := e.end - int64(len(e.value))
		out = splice(data, from, e.end, append(commentsOf(data[from:e.end]), value...))
	} else if plain := bytes.TrimSpace(PlainJSON(data)); len(plain) == 0 || string(plain) == "null" {
		out = fmt.Appendf(commentsAlone(data), "{\n  %q: %s\n}\n", key, value)
	} else {
		out = addLast(data, key, value)
	}
	if marked {
		out = append(mark, out...)
	}
	check := read(&Source{Data: out})
	broken := slices.ContainsFunc(check.problems, func(p Problem) bool { return p.Key == "" })
	if got := check.entries[key]; broken || string(got.value) != string(value) && string(value) != "null" {
		return nil, fmt.Errorf("%s can't be changed in %s; change it there by hand", key, src.String())
	}
	return out, nil
}

// addLast adds a member at the end of an object, behind the comments there.
func addLast(data []byte, key string, value []byte) []byte {
	plain := PlainJSON(data)
	end := bytes.LastIndexByte(plain, '}')
	last := len(bytes.TrimRight(plain[:end], " \t\r\n"))
	comma := ","
	between := data[last:end]
	if plain[last-1] == '{' || hasComma(between) {
		comma = ""
	}
	between = bytes.TrimRight(between, " \t\r\n")
	return bytes.Join([][]byte{data[:last], []byte(comma), between, fmt.Appendf(nil, "\n  %q: %s\n", key, value), data[end:]}, nil)
}

// hasComma reports whether a comma stands among comments.
func hasComma(data []byte) bool {
	for i := 0; i < len(data); i++ {
		if data[i] == ',' {
			return true
		}
		if end := comment(data, i); data[i] == '/' && end > i {
			i = end - 1
		}
	}
	return false
}

// commentsAlone are those of a text that has nothing else, or null.
func commentsAlone(data []byte) []byte {
	all := bytes.TrimSpace(bytes.ReplaceAll(commentsOf(data), []byte("\n    "), []byte("\n")))
	if len(all) > 0 {
		all = append(all, '\n')
	}
	return all
}

func splice(data []byte, from, to int64, with []byte) []byte {
	return bytes.Join([][]byte{data[:from], with, data[to:]}, nil)
}
