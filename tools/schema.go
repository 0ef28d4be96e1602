package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// structSchema is the schema of an argument struct. Beside json and
// jsonschema (the text for the model) a field may have the tags
//
//	default:"200"                    filled in when the argument is absent
//	enum:"a,b"                       of a slice: of its elements
//	minimum:"1" maximum:"50"
//	minLength:"1" maxLength:"80"     in characters
//	minItems:"1" maxItems:"5"
//	type:"string,integer"            instead of the type of the Go field, which then decodes itself
func structSchema(t reflect.Type) (*jsonschema.Schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("arguments are a struct, not %v", t)
	}
	s, err := jsonschema.ForType(t, nil)
	if err != nil {
		return nil, err
	}
	return s, refine(s, t, "", true)
}

// refine applies our tags to s, which was inferred from t. Defaults are
// possible only where one value serves all calls: not below a pointer, slice
// or map.
func refine(s *jsonschema.Schema, t reflect.Type, path string, defaults bool) error {
	for t.Kind() == reflect.Pointer {
		t, defaults = t.Elem(), false
	}
	dropNull(s)
	switch {
	case t.Kind() == reflect.Struct && s.Type == "object":
		return refineFields(s, t, path, defaults)
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && s.Items != nil:
		return refine(s.Items, t.Elem(), path+"[]", false)
	case t.Kind() == reflect.Map && s.AdditionalProperties != nil:
		return refine(s.AdditionalProperties, t.Elem(), path+"{}", false)
	}
	return nil
}

func refineFields(s *jsonschema.Schema, t reflect.Type, path string, defaults bool) error {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		p := s.Properties[name]
		if f.Anonymous || p == nil {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		err := refine(p, f.Type, at, defaults)
		if err == nil {
			err = applyTags(p, f.Tag, defaults && f.Type.Kind() != reflect.Pointer)
		}
		if err != nil {
			return fmt.Errorf("argument %s: %w", at, err)
		}
		if p.Default != nil || f.Type.Kind() == reflect.Pointer {
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
	}
	if len(s.Properties) == 0 {
		s.Properties = map[string]*jsonschema.Schema{} // some clients insist on the member
	}
	return nil
}

// dropNull removes what inference adds for Go's nil: models do better with a
// plain type, and null for an optional argument is taken as absent anyway.
func dropNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

func applyTags(s *jsonschema.Schema, tag reflect.StructTag, defaults bool) error {
	if v, ok := tag.Lookup("type"); ok {
		types := strings.Split(v, ",")
		*s = jsonschema.Schema{Description: s.Description}
		if len(types) == 1 {
			s.Type = v
		} else {
			s.Types = types
		}
	}
	var errs []error
	number := func(key string, dst **float64) {
		if v, ok := tag.Lookup(key); ok {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil || (s.Type != "integer" && s.Type != "number") {
				errs = append(errs, fmt.Errorf("tag %s:%q does not fit type %s", key, v, s.Type))
			}
			*dst = &f
		}
	}
	count := func(key, typ string, dst **int) {
		if v, ok := tag.Lookup(key); ok {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || s.Type != typ {
				errs = append(errs, fmt.Errorf("tag %s:%q does not fit type %s", key, v, s.Type))
			}
			*dst = &n
		}
	}
	number("minimum", &s.Minimum)
	number("maximum", &s.Maximum)
	count("minLength", "string", &s.MinLength)
	count("maxLength", "string", &s.MaxLength)
	count("minItems", "array", &s.MinItems)
	count("maxItems", "array", &s.MaxItems)
	if v, ok := tag.Lookup("enum"); ok {
		of := s
		if s.Type == "array" && s.Items != nil {
			of = s.Items
		}
		for _, word := range strings.Split(v, ",") {
			value, err := tagValue(of, word)
			if err != nil {
				errs = append(errs, fmt.Errorf("tag enum: %w", err))
			}
			var e any
			_ = json.Unmarshal(value, &e) // just encoded or checked
			of.Enum = append(of.Enum, e)
		}
	}
	if v, ok := tag.Lookup("default"); ok {
		value, err := tagValue(s, v)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("tag default: %w", err))
		case !defaults || s.Type == "array" || s.Type == "object":
			errs = append(errs, errors.New("tag default: only a plain value outside pointers, slices and maps can have one"))
		default:
			n, _ := compile(s)
			w := walker{src: value}
			w.value(n, 0, nil)
			if len(w.problems) > 0 {
				errs = append(errs, fmt.Errorf("tag default: %s", strings.Join(w.problems, "; ")))
			}
			s.Default = value
		}
	}
	return errors.Join(errs...)
}

// tagValue is the JSON of a value written in a tag: strings without quotes.
func tagValue(s *jsonschema.Schema, v string) (json.RawMessage, error) {
	if s.Type == "string" || slices.Contains(s.Types, "string") {
		return json.Marshal(v)
	}
	if !json.Valid([]byte(v)) {
		return nil, fmt.Errorf("%q is not a %s", v, s.Type)
	}
	return json.RawMessage(v), nil
}

// defaultsOf is an object with the defaults of s and of the objects in it.
func defaultsOf(s *jsonschema.Schema) (json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for name, p := range s.Properties {
		switch {
		case p.Default != nil:
			values[name] = p.Default
		case p.Type == "object" && len(p.Properties) > 0:
			inner, err := defaultsOf(p)
			if err != nil {
				return nil, err
			}
			if string(inner) != "{}" {
				values[name] = inner
			}
		}
	}
	return json.Marshal(values)
}
