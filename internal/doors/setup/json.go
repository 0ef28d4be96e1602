package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonDocument is JSON as it is written, with its comments and white space.
type jsonDocument struct {
	root  hujson.Value
	mark  bool   // a byte order mark comes first
	line  string // how lines end
	unit  string // one level of indentation
	dense bool   // all is in one line
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func openJSON(text []byte, comments bool) (*jsonDocument, error) {
	d := &jsonDocument{line: "\n", unit: "  "}
	text, d.mark = bytes.CutPrefix(text, byteOrderMark)
	if bytes.Contains(text, []byte("\r\n")) {
		d.line = "\r\n"
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}" + d.line)
	} else {
		d.dense = !bytes.Contains(bytes.TrimSpace(text), []byte("\n"))
	}
	root, err := hujson.Parse(slices.Clone(text)) // values are parts of the text they are parsed from
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if !comments && !root.IsStandard() {
		return nil, fmt.Errorf("%s, which the program that reads it does not understand", nonStandard(&root, text))
	}
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("line 1: the file does not hold an object")
	}
	if err := singular(top, nil); err != nil {
		return nil, err
	}
	if len(top.Members) == 0 {
		d.dense = false
	} else if unit := indentation(top.Members[0].Name.BeforeExtra); unit != "" {
		d.unit = unit
	}
	d.root = root
	return d, nil
}

// nonStandard names the first comment or comma that plain JSON does not have.
func nonStandard(root *hujson.Value, text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	var v any
	err := dec.Decode(&v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Sprintf("line %d: there is a comment", bytes.Count(text[:root.EndOffset], []byte("\n"))+1)
	}
	return fmt.Sprintf("line %d: there is a comment or a comma too many", bytes.Count(text[:max(0, syntax.Offset-1)], []byte("\n"))+1)
}

// singular fails where a name is there twice: programs differ in which of the
// two counts.
func singular(o *hujson.Object, path []string) error {
	seen := map[string]bool{}
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		here := append(slices.Clone(path), name)
		if seen[name] {
			return fmt.Errorf("%s is there twice; take one of them out", shown(here))
		}
		seen[name] = true
		if inner, ok := m.Value.Value.(*hujson.Object); ok {
			if err := singular(inner, here); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *jsonDocument) tree() map[string]any {
	out, _ := read(d.root).(map[string]any)
	return out
}

// read is a part of a document as it is read.
func read(v hujson.Value) (out any) {
	v = v.Clone()
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		return nil // it was parsed when it was opened
	}
	return out
}

func (d *jsonDocument) text() []byte {
	out := d.root.Pack()
	if d.mark {
		out = append(slices.Clone(byteOrderMark), out...)
	}
	return out
}

// find is the value at a path, and the indentation of the line that it is in.
func (d *jsonDocument) find(path []string) (v *hujson.Value, indent string) {
	v = &d.root
	for _, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, ""
		}
		i := index(o, name)
		if i < 0 {
			return nil, ""
		}
		indent = d.memberIndent(o, indent)
		v = &o.Members[i].Value
	}
	return v, indent
}

func index(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name })
}

// memberIndent is the indentation of an object's members; outer is that of the
// line it begins in.
func (d *jsonDocument) memberIndent(o *hujson.Object, outer string) string {
	for _, m := range o.Members {
		if bytes.Contains(m.Name.BeforeExtra, []byte("\n")) {
			return indentation(m.Name.BeforeExtra)
		}
	}
	if len(o.Members) > 0 {
		return outer // in one line
	}
	return outer + d.unit
}

// indentation is the white space after the last line end.
func indentation(e hujson.Extra) string {
	s := string(e[bytes.LastIndexByte(e, '\n')+1:])
	if !bytes.Contains(e, []byte("\n")) || strings.TrimSpace(s) != "" {
		return ""
	}
	return s
}

func (d *jsonDocument) set(path []string, v any) error {
	return d.write(path, func(indent string, dense bool) string { return d.encode(v, indent, dense) })
}

func (d *jsonDocument) restore(path []string, source string) error {
	return d.write(path, func(string, bool) string { return source })
}

// write puts a value at a path; encode makes its text.
func (d *jsonDocument) write(path []string, encode func(indent string, dense bool) string) error {
	value := &d.root
	outer := ""
	for i, name := range path {
		o, ok := value.Value.(*hujson.Object)
		if !ok {
			return fmt.Errorf("%s is not an object", shown(path[:i]))
		}
		dense := d.dense || len(o.Members) > 0 && !bytes.Contains(o.Members[0].Name.BeforeExtra, []byte("\n"))
		indent := d.memberIndent(o, outer)
		at := index(o, name)
		if at < 0 || i == len(path)-1 {
			inner := indent + strings.Repeat(d.unit, len(path)-1-i)
			text := encode(inner, dense)
			for j := len(path) - 1; j > i; j-- { // what is around it is not there yet
				inner = strings.TrimSuffix(inner, d.unit)
				text = d.around(path[j], text, inner, dense)
			}
			parsed, err := hujson.Parse([]byte(text))
			if err != nil {
				return err
			}
			if at >= 0 {
				o.Members[at].Value.Value = parsed.Value
				return nil
			}
			d.insert(o, name, parsed.Value, dense, indent, outer)
			return nil
		}
		value, outer = &o.Members[at].Value, indent
	}
	return nil
}

// around is an object with one member.
func (d *jsonDocument) around(name, text, indent string, dense bool) string {
	if dense {
		return "{" + quoted(name) + ": " + text + "}"
	}
	return "{" + d.line + indent + d.unit + quoted(name) + ": " + text + d.line + indent + "}"
}

// insert adds a member at the end of an object.
func (d *jsonDocument) insert(o *hujson.Object, name string, v hujson.ValueTrimmed, dense bool, indent, outer string) {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{Value: v, BeforeExtra: hujson.Extra(" ")}}
	var last *hujson.Value
	if n := len(o.Members); n > 0 {
		last = &o.Members[n-1].Value
	}
	m.Name.BeforeExtra, o.AfterExtra = d.between(last, o.AfterExtra, dense, indent, outer)
	if last != nil && last.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // a comma at the end stays one
	}
	o.Members = append(o.Members, m)
}

// between shares what stands before a closing bracket out to what comes before a
// new last part, and what comes after it.
func (d *jsonDocument) between(last *hujson.Value, tail hujson.Extra, dense bool, indent, outer string) (before, after hujson.Extra) {
	comments := bytes.TrimRight(tail, " \t\r\n")
	rest := tail[len(comments):]
	dense = dense && !bytes.Contains(tail, []byte("\n")) // a comment may need its line end
	switch {
	case dense && last == nil && len(comments) == 0:
		return nil, tail
	case dense:
		return append(slices.Clone(comments), ' '), rest
	}
	if !bytes.Contains(rest, []byte("\n")) {
		rest = hujson.Extra(d.line + outer)
	}
	return append(slices.Clone(comments), d.line+indent...), rest
}

// encode writes a value.
func (d *jsonDocument) encode(v any, indent string, dense bool) string {
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			return "{}"
		}
		open, sep, end := "{"+d.line+indent+d.unit, ","+d.line+indent+d.unit, d.line+indent+"}"
		if dense {
			open, sep, end = "{", ", ", "}"
		}
		var parts []string
		for _, m := range v {
			parts = append(parts, quoted(m.name)+": "+d.encode(m.value, indent+d.unit, dense))
		}
		return open + strings.Join(parts, sep) + end
	case []string:
		var parts []string
		for _, s := range v {
			parts = append(parts, quoted(s))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []object:
		sep, end := ","+d.line+indent+d.unit, d.line+indent+"]"
		if dense {
			sep, end = ", ", "]"
		}
		var parts []string
		for _, o := range v {
			parts = append(parts, d.encode(o, indent+d.unit, dense))
		}
		return "[" + strings.TrimPrefix(sep, ",") + strings.Join(parts, sep) + end
	case string:
		return quoted(v)
	}
	return fmt.Sprint(v)
}

func quoted(s string) string { return string(hujson.String(s)) }

func (d *jsonDocument) source(path []string) string {
	v, _ := d.find(path)
	if v == nil {
		return ""
	}
	return string(bytes.TrimSpace(hujson.Value{Value: v.Value}.Pack()))
}

func (d *jsonDocument) remove(path []string) error {
	v, _ := d.find(path[:len(path)-1])
	if v == nil {
		return nil
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	i := index(o, path[len(path)-1])
	if i < 0 {
		return nil
	}
	lead := o.Members[i].Name.BeforeExtra
	var next, before *hujson.Extra
	if i+1 < len(o.Members) {
		next = &o.Members[i+1].Name.BeforeExtra
	}
	if i > 0 {
		before = &o.Members[i-1].Value.AfterExtra
	}
	o.AfterExtra = closeGap(lead, o.Members[i].Value.AfterExtra, next, before, o.AfterExtra)
	o.Members = slices.Delete(o.Members, i, i+1)
	return nil
}

// closeGap mends what is around a part that is taken out. The user's comments
// before it stay. It returns what stands before the closing bracket.
func closeGap(lead, behind hujson.Extra, next, before *hujson.Extra, tail hujson.Extra) hujson.Extra {
	comments := bytes.TrimRight(lead, " \t\r\n")
	if next != nil {
		*next = append(slices.Clone(comments), *next...)
		return tail
	}
	switch { // it was the last one: whether a comma ends the list stays as it is
	case before == nil:
		if len(comments) == 0 {
			return hujson.Extra(bytes.Trim(tail, " \t\r\n"))
		}
	case behind == nil && *before != nil:
		comments = append(slices.Clone([]byte(*before)), comments...)
		*before = nil
	case behind != nil && *before == nil:
		*before = hujson.Extra{}
	}
	return append(slices.Clone(comments), tail...)
}

func (d *jsonDocument) add(path []string, element any) error {
	v, indent := d.find(path)
	if v == nil {
		if o, ok := element.(object); ok {
			return d.set(path, []object{o})
		}
		return d.set(path, []string{element.(string)})
	}
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("%s is not a list", shown(path))
	}
	n := len(a.Elements)
	dense, inner := true, indent
	if n > 0 {
		dense = !bytes.Contains(a.Elements[n-1].BeforeExtra, []byte("\n"))
		inner = indentation(a.Elements[n-1].BeforeExtra)
	}
	e, err := hujson.Parse([]byte(d.encode(element, inner, dense)))
	if err != nil {
		return err
	}
	if n == 0 {
		a.Elements = append(a.Elements, e)
		return nil
	}
	last := &a.Elements[n-1]
	e.BeforeExtra, a.AfterExtra = d.between(last, a.AfterExtra, dense, inner, indent)
	if last.AfterExtra != nil {
		e.AfterExtra = hujson.Extra{}
	}
	a.Elements = append(a.Elements, e)
	return nil
}

func (d *jsonDocument) take(path []string, element any) error {
	v, _ := d.find(path)
	if v == nil {
		return nil
	}
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(a.Elements, func(e hujson.Value) bool { return reflect.DeepEqual(read(e), element) })
	if i < 0 {
		return nil
	}
	var next, before *hujson.Extra
	if i+1 < len(a.Elements) {
		next = &a.Elements[i+1].BeforeExtra
		if i == 0 && len(bytes.TrimSpace(*next)) == 0 {
			*next = nil // its white space is that of the one taken out
			*next = append(*next, a.Elements[0].BeforeExtra...)
			a.Elements = slices.Delete(a.Elements, 0, 1)
			return nil
		}
	}
	if i > 0 {
		before = &a.Elements[i-1].AfterExtra
	}
	a.AfterExtra = closeGap(a.Elements[i].BeforeExtra, a.Elements[i].AfterExtra, next, before, a.AfterExtra)
	a.Elements = slices.Delete(a.Elements, i, i+1)
	return nil
}
