package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// TestForeignPatterns: a pattern that Go's regexp does not know is left out when
// arguments are checked, and stays in the schema for the model. The rest of the
// schema holds.
func TestForeignPatterns(t *testing.T) {
	const foreign = `"^(?!\\.)[a-z.]+@x$"`
	for _, c := range []struct{ schema, good, bad string }{
		{`{"properties": {"mail": {"type": "string", "pattern": §}}, "required": ["mail"]}`, `{"mail": ".@"}`, `{}`},
		{`{"properties": {"mail": {"type": "string", "pattern": §, "maxLength": 5}}}`, `{"mail": "x"}`, `{"mail": "longer"}`},
		{`{"properties": {"a": {"pattern": §}, "b": {"pattern": "^x"}}}`, `{"a": "?", "b": "xy"}`, `{"a": "?", "b": "y"}`},
		{`{"properties": {"list": {"type": "array", "items": {"type": "object", "properties": {"a": {"pattern": §, "const": "c"}}}}}}`, `{"list": [{"a": "c"}]}`, `{"list": [{"a": "d"}]}`},
		{`{"$defs": {"m": {"type": "string", "pattern": §}}, "properties": {"a": {"$ref": "#/$defs/m"}}}`, `{"a": "?"}`, `{"a": 1}`},
		{`{"patternProperties": {§: {"type": "string"}, "^n": {"type": "number"}}, "additionalProperties": false}`, `{"?": 1, "n": 1}`, `{"n": "x"}`},
		{`{"allOf": [{"patternProperties": {§: true}}], "unevaluatedProperties": false, "required": ["a"]}`, `{"a": 1}`, `{}`},
		{`{"propertyNames": {"pattern": §}, "minProperties": 1}`, `{"A": 1}`, `{}`},
		{`{"properties": {"a": {"not": {"pattern": §}, "minLength": 2}}}`, `{"a": "ab"}`, `{"a": "a"}`},
		{`{"$defs": {"m": {"pattern": §}}, "properties": {"a": {"not": {"anyOf": [{"$ref": "#/$defs/m"}]}, "minLength": 2}}}`, `{"a": "ab"}`, `{"a": "a"}`},
		{`{"properties": {"a": {"if": {"pattern": §}, "then": {"maxLength": 1}, "else": {"maxLength": 2}, "minLength": 2}}}`, `{"a": "abc"}`, `{"a": "a"}`},
		{`{"properties": {"a": {"oneOf": [{"type": "string", "pattern": §}, {"type": "string", "pattern": "^b"}]}}}`, `{"a": "b"}`, `{"a": 1}`},
		{`{"properties": {"a": {"anyOf": [{"type": "number"}], "oneOf": [{"pattern": §}, {}]}}}`, `{"a": 1}`, `{"a": "x"}`},
		{`{"properties": {"a": {"type": "array", "contains": {"pattern": §}, "maxContains": 1, "uniqueItems": true}}}`, `{"a": ["a", "b"]}`, `{"a": ["a", "a"]}`},
		{`{"properties": {"a": {"not": {"type": "string"}}, "b": {"pattern": §}}}`, `{"a": 1, "b": "?"}`, `{"a": "x"}`},
		{`{"properties": {"a": {"pattern": "\\u{1F600}"}, "b": {"const": 1}}}`, `{"a": "x"}`, `{"b": 2}`},
		{`{"properties": {"a": {"oneOf": [{"pattern": "^a"}, {"pattern": "z$"}]}}}`, `{"a": "ab"}`, `{"a": "az"}`}, // nothing foreign: all of it holds
	} {
		schema := strings.ReplaceAll(c.schema, "§", foreign)
		if !json.Valid([]byte(schema)) {
			t.Fatal(schema)
		}
		tool, err := Raw(Def{Name: "x", Description: "X."}, Source{Kind: SourceMCP}, Exec, json.RawMessage(schema), func(context.Context, *Call, json.RawMessage) (Result, error) { return Result{}, nil })
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if _, err := tool.Bind(json.RawMessage(c.good)); err != nil {
			t.Errorf("%s refuses %s: %v", schema, c.good, err)
		}
		if _, err := tool.Bind(json.RawMessage(c.bad)); err == nil {
			t.Errorf("%s accepts %s", schema, c.bad)
		}
		if shown := string(tool.json()); strings.Contains(schema, "(?!") && !strings.Contains(shown, "(?!") {
			t.Errorf("the model gets %s", shown)
		}
	}
}
