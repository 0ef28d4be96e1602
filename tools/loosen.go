package tools

import (
	"reflect"
	"regexp"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// loosened is s without the patterns that Go's regexp does not know, such as
// ECMAScript's (?!…), and without what depends on them, so that it accepts all
// that s accepts.
func loosened(s *jsonschema.Schema) *jsonschema.Schema {
	if !foreignBelow(s) {
		return s
	}
	s = s.CloneSchemas()
	loosen(s)
	return s
}

// loosen takes out of a schema what can't be checked. It reports whether the
// schema may accept more than it did, which one that refers to another may.
func loosen(s *jsonschema.Schema) (more bool) {
	more = s.Ref != "" || s.DynamicRef != "" || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil
	if !compiles(s.Pattern) {
		s.Pattern, more = "", true
	}
	for p := range s.PatternProperties {
		if !compiles(p) {
			delete(s.PatternProperties, p)
			s.AdditionalProperties, more = nil, true // of what did not match p
		}
	}
	s.UnevaluatedProperties, s.UnevaluatedItems = nil, nil // likewise, from wherever
	accept := map[*jsonschema.Schema]bool{}
	for _, sub := range children(s) {
		accept[sub] = loosen(sub)
		more = more || accept[sub]
	}
	// In these a schema that accepts more has the whole accept less.
	if accept[s.Not] {
		s.Not = nil
	}
	if accept[s.If] {
		s.If, s.Then, s.Else = nil, nil, nil
	}
	if accept[s.Contains] {
		s.Contains, s.MinContains, s.MaxContains = nil, nil, nil
	}
	for _, sub := range s.OneOf {
		if accept[sub] {
			if s.AnyOf == nil {
				s.AnyOf = s.OneOf
			}
			s.OneOf = nil
			break
		}
	}
	return more
}

func compiles(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}

// foreignBelow reports whether s, or a schema in it, has a pattern that can't be
// compiled.
func foreignBelow(s *jsonschema.Schema) bool {
	if !compiles(s.Pattern) {
		return true
	}
	for p := range s.PatternProperties {
		if !compiles(p) {
			return true
		}
	}
	for _, sub := range children(s) {
		if foreignBelow(sub) {
			return true
		}
	}
	return false
}

// children are the schemas that s has in it.
func children(s *jsonschema.Schema) (list []*jsonschema.Schema) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		switch sub := v.Field(i).Interface().(type) {
		case *jsonschema.Schema:
			list = append(list, sub)
		case []*jsonschema.Schema:
			list = append(list, sub...)
		case map[string]*jsonschema.Schema:
			for _, one := range sub {
				list = append(list, one)
			}
		}
	}
	return slices.DeleteFunc(list, func(s *jsonschema.Schema) bool { return s == nil })
}
