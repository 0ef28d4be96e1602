package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// The marks around a call in the text of a model without native calling.
const (
	TextCallOpen  = "<tool_call>"
	TextCallClose = "</tool_call>"
)

// Text describes list for models without native calling. All of it comes from
// the schemas.
func Text(list []*Tool) string {
	if len(list) == 0 {
		return "There are no tools.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "You can call the tools below. To call one, write on a line of its own:\n\n%s{\"name\": \"<tool>\", \"arguments\": {<JSON object>}}%s\n\n"+
		"Write several such lines for several calls, then stop and wait for the results. Give every required argument, and no argument that is not listed.\n",
		TextCallOpen, TextCallClose)
	for _, t := range list {
		fmt.Fprintf(&b, "\n## %s\n%s\n", t.Name, t.Description)
		if n, _ := compile(t.schema); len(n.props) == 0 {
			b.WriteString("No arguments.\n")
		} else {
			b.WriteString("Arguments:\n")
			writeArguments(&b, t.schema, "")
		}
		fmt.Fprintf(&b, "Example: %s\n", TextCall(t.Name, Example(t)))
	}
	return b.String()
}

// TextCall is a call as Text asks for it.
func TextCall(name string, args json.RawMessage) string {
	return fmt.Sprintf(`%s{"name": %q, "arguments": %s}%s`, TextCallOpen, name, args, TextCallClose)
}

func writeArguments(b *strings.Builder, s *jsonschema.Schema, indent string) {
	n, _ := compile(s)
	for _, p := range n.props {
		sub := s.Properties[p.name]
		if sub == nil {
			sub = &jsonschema.Schema{}
		}
		fmt.Fprintf(b, "%s- %s (%s)", indent, p.name, note(p.node.expected, p.required, sub.Default))
		if sub.Description != "" {
			b.WriteString(": " + sub.Description)
		}
		b.WriteByte('\n')
		if sub.Items != nil {
			sub = sub.Items
		}
		if len(indent) < 6 { // deeper is for nobody
			writeArguments(b, sub, indent+"  ")
		}
	}
}

// note is what kind of value an argument is, and whether it may be missing.
func note(kind string, required bool, missing json.RawMessage) string {
	if kind == "" {
		kind = "any value"
	}
	if required {
		kind += ", required"
	}
	if missing != nil {
		kind += ", default " + string(missing)
	}
	return kind
}

// Example is the arguments of a call of t: its own, or an object with what is
// required.
func Example(t *Tool) json.RawMessage {
	if t.Example != "" {
		return json.RawMessage(t.Example)
	}
	return exampleObject(t.schema)
}

func exampleObject(s *jsonschema.Schema) json.RawMessage {
	n, _ := compile(s)
	var b strings.Builder
	b.WriteByte('{')
	for _, p := range n.props {
		if !p.required {
			continue
		}
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q: %s", p.name, exampleValue(s.Properties[p.name], p.name))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

func exampleValue(s *jsonschema.Schema, name string) string {
	if s == nil {
		return `"…"`
	}
	n, _ := compile(s)
	switch {
	case s.Default != nil:
		return string(s.Default)
	case n.enum != nil:
		return n.enum[0]
	case n.allows(kindString):
		return fmt.Sprintf("%q", name+strings.Repeat("…", max(deref(n.minLen)-len(name), 0)))
	case n.allows(kindInteger | kindNumber):
		if n.min != nil {
			return strings.TrimSpace(strings.TrimPrefix(span(n.min, nil, ""), " ≥"))
		}
		return "1"
	case n.allows(kindBool):
		return "true"
	case n.allows(kindArray):
		items := make([]string, max(deref(n.minItems), 1))
		for i := range items {
			items[i] = exampleValue(s.Items, name)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case n.allows(kindObject):
		return string(exampleObject(s))
	}
	return "null"
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
