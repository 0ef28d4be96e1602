package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// kinds is a set of JSON types.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBool
	kindInteger
	kindNumber
	kindString
	kindArray
	kindObject
)

var kindNames = [...]struct {
	kind kinds
	name string
}{
	{kindString, "string"}, {kindInteger, "integer"}, {kindNumber, "number"}, {kindBool, "boolean"},
	{kindArray, "array"}, {kindObject, "object"}, {kindNull, "null"},
}

// node is a schema compiled to what check needs. Schemas are compiled once
// because a generic validator costs more than most calls.
type node struct {
	kinds          kinds // 0 means any
	enum           []string
	min, max       *float64
	minLen, maxLen *int
	minItems       *int
	maxItems       *int
	items          *node // of arrays; nil means any
	props          []prop
	closed         bool  // other members are refused
	others         *node // schema of other members; nil means any
	expected       string
}

type prop struct {
	name     string
	required bool
	node     *node
}

func (n *node) find(name []byte) int {
	for i := range n.props {
		if n.props[i].name == string(name) {
			return i
		}
	}
	return -1
}

func (n *node) names() []string {
	names := make([]string, len(n.props))
	for i, p := range n.props {
		names[i] = p.name
	}
	return names
}

// compile reports also whether the node says all that the schema does. What
// it leaves out (references, combinations, patterns, …) never makes it
// stricter than the schema.
func compile(s *jsonschema.Schema) (n *node, complete bool) {
	n = &node{}
	if s == nil || s.Ref != "" {
		return n, s == nil
	}
	complete = plain(s)
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	for _, t := range types {
		for _, k := range kindNames {
			if k.name == t {
				n.kinds |= k.kind
			}
		}
	}
	for _, e := range s.Enum {
		data, err := json.Marshal(e)
		if err != nil {
			complete = false
			continue
		}
		n.enum = append(n.enum, string(data))
	}
	n.min, n.max, n.minLen, n.maxLen, n.minItems, n.maxItems = s.Minimum, s.Maximum, s.MinLength, s.MaxLength, s.MinItems, s.MaxItems
	ok := true
	sub := func(s *jsonschema.Schema) *node {
		m, c := compile(s)
		ok = ok && c
		return m
	}
	if s.Items != nil && s.PrefixItems == nil {
		n.items = sub(s.Items)
	}
	order := slices.Clone(s.PropertyOrder)
	for _, name := range sortedKeys(s.Properties) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	for _, name := range order {
		if p := s.Properties[name]; p != nil {
			n.props = append(n.props, prop{name: name, required: slices.Contains(s.Required, name), node: sub(p)})
		}
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			n.props = append(n.props, prop{name: name, required: true, node: &node{}})
		}
	}
	if a := s.AdditionalProperties; a != nil && s.PatternProperties == nil {
		if n.closed = isFalse(a); !n.closed {
			n.others = sub(a)
		}
	}
	n.expected = n.describe()
	return n, complete && ok
}

// plain reports whether s has no keyword that a node ignores.
func plain(s *jsonschema.Schema) bool {
	return s.DynamicRef == "" && s.Const == nil && s.MultipleOf == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil &&
		s.Pattern == "" && s.PrefixItems == nil && s.ItemsArray == nil && s.AdditionalItems == nil && !s.UniqueItems && s.Contains == nil &&
		s.UnevaluatedItems == nil && s.MinProperties == nil && s.MaxProperties == nil && s.DependentRequired == nil &&
		s.DependencySchemas == nil && s.DependencyStrings == nil && s.PatternProperties == nil && s.PropertyNames == nil &&
		s.UnevaluatedProperties == nil && s.AllOf == nil && s.AnyOf == nil && s.OneOf == nil && s.Not == nil && s.If == nil &&
		s.DependentSchemas == nil
}

// isFalse reports whether s is the schema false, which decodes to not {}.
func isFalse(s *jsonschema.Schema) bool {
	if s.Not == nil || !reflect.ValueOf(s.Not).Elem().IsZero() {
		return false
	}
	all := reflect.ValueOf(s).Elem()
	for i := range all.NumField() {
		if f := all.Field(i); !f.IsZero() && all.Type().Field(i).Name != "Not" {
			return false
		}
	}
	return true
}

// describe says what is expected: `integer 1…200`, `one of "a", "b"`.
func (n *node) describe() string {
	if n.enum != nil {
		return "one of " + strings.Join(n.enum, ", ")
	}
	var names []string
	for _, k := range kindNames {
		if n.kinds&k.kind == 0 {
			continue
		}
		name := k.name
		switch k.kind {
		case kindString:
			name += span(intBound(n.minLen), intBound(n.maxLen), " characters")
			if n.minLen != nil && *n.minLen == 1 && n.maxLen == nil {
				name = "non-empty string"
			}
		case kindInteger, kindNumber:
			name += span(n.min, n.max, "")
		case kindArray:
			if n.items != nil && n.items.expected != "" {
				name += " of " + n.items.expected
			}
			if b := span(intBound(n.minItems), intBound(n.maxItems), " items"); b != "" {
				name += "," + b
			}
		}
		names = append(names, name)
	}
	if names == nil {
		return ""
	}
	return strings.Join(names, " or ")
}

// span is ` 1…200`, ` ≥ 1` or ` ≤ 200`.
func span(lo, hi *float64, unit string) string {
	f := func(v *float64) string { return strconv.FormatFloat(*v, 'f', -1, 64) }
	switch {
	case lo != nil && hi != nil:
		return fmt.Sprintf(" %s…%s%s", f(lo), f(hi), unit)
	case lo != nil:
		return fmt.Sprintf(" ≥ %s%s", f(lo), unit)
	case hi != nil:
		return fmt.Sprintf(" ≤ %s%s", f(hi), unit)
	}
	return ""
}

func intBound(n *int) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
