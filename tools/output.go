package tools

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// NoOutput is the Output of a tool whose results have no structured part.
type NoOutput struct{}

// Form is one form of the structured part of results.
type Form struct {
	When string // which results have it
	Of   any    // a value of its struct
}

// form is a Form as a tool keeps it.
type form struct {
	when string
	of   reflect.Type
}

// forms are the forms that d declares; nil for a definition that declares none,
// whose results are not looked at.
func (d *Def) forms() ([]form, error) {
	if d.Output == nil {
		if d.Also != nil {
			return nil, fmt.Errorf("it has other forms of output, but no first one")
		}
		return nil, nil
	}
	list := []form{{of: reflect.TypeOf(d.Output)}}
	for _, f := range d.Also {
		list = append(list, form{f.When, reflect.TypeOf(f.Of)})
	}
	for _, f := range list {
		if f.of == nil || f.of.Kind() != reflect.Struct {
			return nil, fmt.Errorf("an output is a struct, not %v", f.of)
		}
	}
	return list, nil
}

// declares reports whether v may be the structured part of a result of t. There
// may always be none.
func (t *Tool) declares(v any) bool {
	if v == nil || t.forms == nil {
		return true
	}
	of := reflect.TypeOf(v)
	return of != reflect.TypeFor[NoOutput]() && slices.ContainsFunc(t.forms, func(f form) bool { return f.of == of })
}

// Fits reports how the structured part of a result, as JSON, differs from what
// t declares.
func (t *Tool) Fits(structured any) error {
	if structured == nil {
		return nil
	}
	if t.forms == nil || !t.declares(structured) {
		return fmt.Errorf("%s: %T is not among the outputs of its definition", t.Name, structured)
	}
	s, err := outputSchema(reflect.TypeOf(structured))
	if err != nil {
		return err
	}
	rules, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	data, err := json.Marshal(structured)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if err := rules.Validate(v); err != nil {
		return fmt.Errorf("%s: %s: %w", t.Name, data, err)
	}
	return nil
}

// outputSchema is the schema of a struct of the structured part of results. The
// tags are those of argument structs (schema.go).
func outputSchema(t reflect.Type) (*jsonschema.Schema, error) {
	special := map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {}}
	texts(t, special)
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: special})
	if err != nil {
		return nil, err
	}
	return s, refine(s, t, "", false)
}

// texts adds the types below t that say themselves how they are written as
// text: inference sees only what they are made of.
func texts(t reflect.Type, found map[reflect.Type]*jsonschema.Schema) {
	if _, seen := found[t]; seen {
		return
	}
	found[t] = nil // as inference sees it
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		found[t] = &jsonschema.Schema{Type: "string"}
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		texts(t.Elem(), found)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() || f.Anonymous {
				texts(f.Type, found)
			}
		}
	}
}

// OutputSchema is the schema of one form of the structured part of results.
type OutputSchema struct {
	When   string // "": of a success
	Schema *jsonschema.Schema
}

// Outputs are the schemas of all forms that t declares. A struct that has none
// is a programming error and panics.
func (t *Tool) Outputs() []OutputSchema {
	var list []OutputSchema
	for _, f := range t.forms {
		if f.of == reflect.TypeFor[NoOutput]() {
			continue
		}
		s, err := outputSchema(f.of)
		if err != nil {
			panic(fmt.Sprintf("tool %q: output %v: %v", t.Name, f.of, err))
		}
		list = append(list, OutputSchema{f.when, s})
	}
	return list
}
