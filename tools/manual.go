package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Manual is a tool as people read of it, and what it takes to write a call of it
// as words of a command line.
type Manual struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Access      Access          `json:"access"`
	Arguments   []Argument      `json:"arguments"`
	Open        bool            `json:"open,omitempty"` // other arguments are taken, too
	Example     json.RawMessage `json:"example"`        // arguments of a call that is valid
	Results     []ResultForm    `json:"results,omitempty"`
	Errors      []Failure       `json:"errors,omitempty"`
}

// ResultForm is one form of a tool's structured result.
type ResultForm struct {
	When    string     `json:"when,omitempty"` // "": of a call that works
	Members []Argument `json:"members"`
}

// Argument is one argument of a tool.
type Argument struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"` // integer 1…200, one of "a", "b"
	Required bool            `json:"required,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"`
	Meaning  string          `json:"meaning,omitempty"`
	Members  []Argument      `json:"members,omitempty"` // of the object that it is, or of each object in the list
	Values   []string        `json:"values,omitempty"`  // the only ones there are, as words

	Kinds []string `json:"kinds,omitempty"` // types of JSON; nil means any
	Items []string `json:"items,omitempty"` // types of JSON in the list; nil means any
}

// Manual describes t for people.
func (t *Tool) Manual() Manual {
	n, _ := compile(t.schema)
	m := Manual{
		Name: t.Name, Title: t.Title, Description: t.Description, Access: t.Access,
		Arguments: Arguments(t.schema), Open: !n.closed, Example: Example(t),
	}
	for _, o := range t.Outputs() {
		m.Results = append(m.Results, ResultForm{o.When, Arguments(o.Schema)})
	}
	m.Errors = t.failures(m.Arguments)
	return m
}

// deepest bounds the objects in objects that are described: deeper is for nobody.
const deepest = 3

// Arguments are the members of an object that s is of, as people read of them.
func Arguments(s *jsonschema.Schema) []Argument { return arguments(s, 0) }

// Note is `integer 1…200, required` or `one of "a", "b", default "a"`.
func (a Argument) Note() string { return note(a.Type, a.Required, a.Default) }

func arguments(s *jsonschema.Schema, depth int) []Argument {
	n, _ := compile(s)
	var out []Argument
	for _, p := range n.props {
		sub := s.Properties[p.name]
		if sub == nil {
			sub = &jsonschema.Schema{}
		}
		a := Argument{Name: p.name, Type: p.node.expected, Required: p.required, Default: sub.Default, Meaning: sub.Description, Kinds: p.node.kinds.names()}
		if a.Type == "" {
			a.Type = "any value"
		}
		values := p.node.enum
		if items := p.node.items; items != nil {
			a.Items = items.kinds.names()
			values = slices.Concat(values, items.enum)
		}
		for _, v := range values {
			a.Values = append(a.Values, word(json.RawMessage(v)))
		}
		if sub.Items != nil {
			sub = sub.Items
		}
		if depth < deepest {
			a.Members = arguments(sub, depth+1)
		}
		out = append(out, a)
	}
	return out
}

func (k kinds) names() []string {
	var out []string
	for _, one := range kindNames {
		if k&one.kind != 0 {
			out = append(out, one.name)
		}
	}
	return out
}

// word is a value as a word of a command line: a string without its quotes.
func word(value json.RawMessage) string {
	if len(value) > 0 && value[0] == '"' {
		return string(unquote(value))
	}
	return string(value)
}

// FromWords reads arguments that are written as NAME=VALUE. The value of a
// string is taken as it stands, that of anything else as JSON. What is a list is
// given once for each of its elements, or once as JSON.
func (m *Manual) FromWords(words []string) (json.RawMessage, error) {
	given := map[string][]string{}
	var order []string
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not NAME=VALUE; %s", Clip(w), m.usage())
		}
		if m.argument(name) == nil && !m.Open {
			near := ""
			if found := Near(name, m.names(), 1); found != nil {
				near = "did you mean " + found[0] + "? "
			}
			return nil, fmt.Errorf("%s: there is no such argument; %s%s", Clip(name), near, m.usage())
		}
		if given[name] == nil {
			order = append(order, name)
		}
		given[name] = append(given[name], value)
	}
	var b bytes.Buffer
	for i, name := range order {
		a := m.argument(name)
		if a == nil {
			a = &Argument{Name: name}
		}
		value, err := a.value(given[name])
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(quoted(name))
		b.WriteByte(':')
		b.Write(value)
	}
	if b.Len() == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (m *Manual) argument(name string) *Argument {
	for i := range m.Arguments {
		if m.Arguments[i].Name == name {
			return &m.Arguments[i]
		}
	}
	return nil
}

func (m *Manual) names() []string {
	names := make([]string, len(m.Arguments))
	for i, a := range m.Arguments {
		names[i] = a.Name
	}
	return names
}

// usage says how a call is written.
func (m *Manual) usage() string {
	if len(m.Arguments) == 0 {
		return m.Name + " takes no arguments"
	}
	return fmt.Sprintf("%s takes %s, each as NAME=VALUE, or all of them as one JSON object", m.Name, strings.Join(m.names(), ", "))
}

func (a *Argument) value(words []string) (json.RawMessage, error) {
	if a.is("array") {
		if list := json.RawMessage(strings.TrimSpace(words[0])); len(words) == 1 && isJSON(list, "array") {
			return list, nil
		}
		if !slices.Contains(a.Kinds, "string") || len(words) > 1 {
			return a.list(words)
		}
	}
	if len(words) > 1 {
		return nil, fmt.Errorf("%s: given %d times, but it is not a list; give it once", a.Name, len(words))
	}
	value, ok := valueOf(a.Kinds, words[0])
	if !ok {
		return nil, a.wrong(words[0])
	}
	return value, nil
}

func (a *Argument) list(words []string) (json.RawMessage, error) {
	b := []byte{'['}
	for i, w := range words {
		value, ok := valueOf(a.Items, w)
		if !ok {
			return nil, a.wrong(w)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, value...)
	}
	return append(b, ']'), nil
}

func (a *Argument) is(kind string) bool { return slices.Contains(a.Kinds, kind) }

func (a *Argument) wrong(w string) error {
	how := ""
	if a.is("object") || slices.Contains(a.Items, "object") {
		names := make([]string, len(a.Members))
		for i, m := range a.Members {
			names[i] = fmt.Sprintf("%q: …", m.Name)
		}
		value := "{" + strings.Join(names, ", ") + "}"
		if a.is("array") {
			value = "[" + value + "]"
		}
		how = fmt.Sprintf("; write it as JSON: %s='%s'", a.Name, value)
	}
	return fmt.Errorf("%s: got %q, expected %s%s", a.Name, Clip(w), a.Type, how)
}

// valueOf is a word as a value of one of the types; all of them, if there are
// none. What may be a string is one, unless it is a value of another type.
func valueOf(types []string, w string) (json.RawMessage, bool) {
	value := json.RawMessage(strings.TrimSpace(w))
	if len(types) != 1 || types[0] != "string" {
		if types == nil && jsontext.Value(value).IsValid() {
			return value, true
		}
		for _, t := range types {
			if t != "string" && isJSON(value, t) {
				return value, true
			}
		}
	}
	if types == nil || slices.Contains(types, "string") {
		return quoted(w), true
	}
	return nil, false
}

// isJSON reports whether value is JSON of a type.
func isJSON(value json.RawMessage, t string) bool {
	if !jsontext.Value(value).IsValid() {
		return false
	}
	for _, k := range kindNames {
		if k.name == t {
			return kindOf(value)&k.kind != 0
		}
	}
	return false
}

func quoted(s string) []byte {
	out, err := jsontext.AppendQuote(nil, s)
	if err != nil { // not UTF-8
		out, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\ufffd"))
	}
	return out
}

// Words writes arguments as FromWords reads them; nil where that is not
// possible.
func (m *Manual) Words(args json.RawMessage) []string {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return nil
	}
	words := []string{}
	for _, a := range m.Arguments {
		value, ok := given[a.Name]
		if !ok {
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || len(list) == 0 || slices.Contains(a.Items, "object") {
			list = []json.RawMessage{value}
		}
		for _, v := range list {
			words = append(words, a.Name+"="+word(v))
		}
	}
	back, err := m.FromWords(words)
	if err != nil || !sameJSON(back, args) {
		return nil
	}
	return words
}

func sameJSON(a, b json.RawMessage) bool {
	x, y := jsontext.Value(slices.Clone(a)), jsontext.Value(slices.Clone(b))
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}
