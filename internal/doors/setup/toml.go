package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlDocument is TOML as it is written. It is changed by lines, and read anew
// after each change.
type tomlDocument struct {
	data  string
	parts []tomlPart
	said  map[string]any
	line  string // how lines end
}

// tomlPart is the header of a table, or a key with its value: whole lines.
type tomlPart struct {
	header bool
	table  []string // the table that it is in, or begins
	path   []string
	from   int // where its first line begins
	end    int // behind its last letter, before a comment
	to     int // behind its last line, line end included
}

func openTOML(text []byte) (*tomlDocument, error) {
	d := &tomlDocument{data: string(text), line: "\n"}
	if strings.Contains(d.data, "\r\n") {
		d.line = "\r\n"
	}
	return d, d.read()
}

func (d *tomlDocument) read() error {
	d.said, d.parts = map[string]any{}, nil
	if err := toml.Unmarshal([]byte(d.data), &d.said); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, col := at.Position()
			return fmt.Errorf("line %d, column %d: %s", row, col, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return err
	}
	var p unstable.Parser
	p.Reset([]byte(d.data))
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		part := tomlPart{header: e.Kind != unstable.KeyValue}
		start, end := -1, 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			part.path = append(part.path, string(n.Data))
			if start < 0 {
				start = int(n.Raw.Offset)
			}
			end = int(n.Raw.Offset + n.Raw.Length)
		}
		if part.header {
			table = part.path
		} else {
			part.path = append(slices.Clone(table), part.path...)
			end = int(e.Raw.Offset + e.Raw.Length)
		}
		part.table = table
		part.from = strings.LastIndexByte(d.data[:start], '\n') + 1
		part.end, part.to = end, d.lineEnd(end)
		d.parts = append(d.parts, part)
	}
	return p.Error()
}

// lineEnd is where the line ends that an offset is in.
func (d *tomlDocument) lineEnd(offset int) int {
	if i := strings.IndexByte(d.data[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(d.data)
}

func (d *tomlDocument) text() []byte { return []byte(d.data) }

func (d *tomlDocument) tree() map[string]any {
	out := map[string]any{}
	_ = toml.Unmarshal([]byte(d.data), &out) // as it was when it was read
	return out
}

// within reports whether a path is that of outer or below it.
func within(path, outer []string) bool {
	return len(path) >= len(outer) && slices.Equal(path[:len(outer)], outer)
}

func (d *tomlDocument) set(path []string, v any) error {
	if o, ok := v.(object); ok {
		if err := d.remove(path); err != nil {
			return err
		}
		block := "[" + tomlKey(path) + "]" + d.line
		for _, m := range o {
			block += tomlKey([]string{m.name}) + " = " + tomlValue(m.value) + d.line
		}
		return d.append(block)
	}
	return d.assign(path, tomlKey(path[len(path)-1:])+" = "+tomlValue(v)+d.line, true)
}

// assign puts a line with a key into its table, in the place of the one that is
// there. comment: what is behind the value stays.
func (d *tomlDocument) assign(path []string, line string, comment bool) error {
	for _, p := range d.parts {
		switch {
		case p.header || !slices.Equal(p.path, path):
		case !comment:
			return d.splice(p.from, p.to, line)
		default:
			line = strings.TrimRight(strings.TrimPrefix(line, tomlKey(path[len(path)-1:])), "\r\n")
			return d.splice(p.from, p.end, tomlKey(path[len(p.table):])+line)
		}
	}
	return d.place(path[:len(path)-1], line)
}

// place puts lines at the end of a table.
func (d *tomlDocument) place(table []string, lines string) error {
	here := -1
	for _, p := range d.parts {
		if slices.Equal(p.table, table) && (len(table) > 0 || !p.header) {
			here = p.to
		}
	}
	switch _, there := at(d.said, table); {
	case here >= 0:
		return d.splice(here, here, lines)
	case len(table) == 0:
		return d.first(lines)
	case there && !slices.ContainsFunc(d.parts, func(p tomlPart) bool { return p.header && within(p.path, table) }):
		return fmt.Errorf("%s is written in one line; put %s into it by hand", shown(table), strings.TrimSpace(lines))
	}
	return d.append("[" + tomlKey(table) + "]" + d.line + lines)
}

// first puts a line before all tables, and before the comment of the first.
func (d *tomlDocument) first(line string) error {
	if len(d.parts) == 0 {
		return d.splice(len(d.data), len(d.data), line)
	}
	from := d.parts[0].from
	for from > 0 {
		above := strings.LastIndexByte(d.data[:from-1], '\n') + 1
		if !strings.HasPrefix(strings.TrimSpace(d.data[above:from]), "#") {
			break
		}
		from = above
	}
	return d.splice(from, from, line+d.line)
}

// append adds a table at the end.
func (d *tomlDocument) append(block string) error {
	if d.data != "" && !strings.HasSuffix(d.data, d.line+d.line) {
		block = d.line + block
	}
	return d.splice(len(d.data), len(d.data), block)
}

// splice changes the text, and reads it.
func (d *tomlDocument) splice(from, to int, with string) error {
	if before := d.data[:from]; before != "" && with != "" && !strings.HasSuffix(before, "\n") {
		with = d.line + with
	}
	d.data = d.data[:from] + with + d.data[to:]
	return d.read()
}

func (d *tomlDocument) remove(path []string) error {
	if _, ok := at(d.said, path); !ok {
		return nil
	}
	found := false
	for i := len(d.parts) - 1; i >= 0; i-- {
		p := d.parts[i]
		if !within(p.path, path) {
			continue
		}
		found = true
		from := p.from
		if blank := d.data[:from]; p.header && (p.to == len(d.data) || strings.HasPrefix(d.data[p.to:], d.line)) && strings.HasSuffix(blank, d.line+d.line) {
			from -= len(d.line) // the empty line that sets the table apart
		}
		d.data = d.data[:from] + d.data[p.to:]
	}
	if !found {
		return fmt.Errorf("%s is written within another value; take it out by hand", shown(path))
	}
	return d.read()
}

func (d *tomlDocument) source(path []string) string {
	var out []string
	for _, p := range d.parts {
		if within(p.path, path) {
			out = append(out, d.data[p.from:p.to])
		}
	}
	return strings.Join(out, "")
}

func (d *tomlDocument) restore(path []string, source string) error {
	if !strings.HasSuffix(source, "\n") {
		source += d.line
	}
	was, err := openTOML([]byte(source))
	if err != nil || len(was.parts) == 0 {
		return fmt.Errorf("%s can't be put back; do it by hand: %s", shown(path), strings.TrimSpace(source))
	}
	first := was.parts[0]
	if !first.header && slices.ContainsFunc(d.parts, func(p tomlPart) bool { return !p.header && slices.Equal(p.path, path) }) {
		return d.assign(path, source, false)
	}
	if err := d.remove(path); err != nil {
		return err
	}
	if first.header {
		return d.append(source)
	}
	for i := range path { // its key is written from some table on
		if within(first.path, path[i:]) {
			return d.place(path[:i], source)
		}
	}
	return fmt.Errorf("%s can't be put back; do it by hand: %s", shown(path), strings.TrimSpace(source))
}

func (d *tomlDocument) add(path []string, element any) error {
	return d.set(path, append(d.list(path), element.(string))) // setup puts no object into a list of TOML
}

func (d *tomlDocument) take(path []string, element any) error {
	return d.set(path, slices.DeleteFunc(d.list(path), func(s string) bool { return s == element }))
}

func (d *tomlDocument) list(path []string) (out []string) {
	v, _ := at(d.said, path)
	list, _ := v.([]any)
	for _, e := range list {
		s, _ := e.(string)
		out = append(out, s)
	}
	return out
}

func tomlKey(path []string) string {
	var out []string
	for _, name := range path {
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			name = quoted(name)
		}
		out = append(out, name)
	}
	return strings.Join(out, ".")
}

func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case []string:
		var parts []string
		for _, s := range v {
			parts = append(parts, quoted(s))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case object:
		var parts []string
		for _, m := range v {
			parts = append(parts, tomlKey([]string{m.name})+" = "+tomlValue(m.value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return fmt.Sprint(v)
}
