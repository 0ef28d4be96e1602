package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestSchemasThatDoNotEnd: a schema from outside is taken only if checking a
// value against it comes to an end, soon.
func TestSchemasThatDoNotEnd(t *testing.T) {
	doubling := `{"type":"object","$ref":"#/$defs/a0","$defs":{`
	for i := range 40 {
		doubling += fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	doubling += `"a40":{}}}`
	for name, c := range map[string]struct{ schema, why string }{
		"itself":             {`{"type":"object","$ref":"#"}`, "leads to itself"},
		"a property itself":  {`{"type":"object","properties":{"x":{"$ref":"#/properties/x"}}}`, "leads to itself"},
		"round two corners":  {`{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "leads to itself"},
		"by what depends":    {`{"type":"object","dependentSchemas":{"x":{"$ref":"#"}}}`, "leads to itself"},
		"doubling":           {doubling, "too many"},
		"elsewhere":          {`{"type":"object","properties":{"x":{"$ref":"http://127.0.0.1:9/x"}}}`, "leads out"},
		"a file":             {`{"type":"object","properties":{"x":{"$ref":"file:///etc/passwd"}}}`, "leads out"},
		"nowhere":            {`{"type":"object","properties":{"x":{"$ref":"#/$defs/none"}}}`, "there is no schema"},
		"dynamic":            {`{"type":"object","$dynamicRef":"#x"}`, "not supported"},
		"deep":               {`{"type":"object","properties":` + strings.Repeat(`{"x":{"properties":`, 300) + `{}` + strings.Repeat(`}}`, 300) + `}`, "too deeply"},
		"control: a tree":    {`{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}}}`, ""},
		"control: a list":    {`{"type":"object","properties":{"x":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}}}}}`, ""},
		"control: a name":    {`{"type":"object","properties":{"$ref":{"type":"string"},"a/b~":{"$ref":"#/properties/$ref"},"c":{"$ref":"#/properties/a~1b~0"}}}`, ""},
		"control: a sibling": {`{"type":"object","properties":{"x":{"type":"string"},"y":{"$ref":"#/properties/x"}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tool, err := Raw(Def{Name: "x", Description: "x"}, Source{Kind: SourceMCP}, Exec, json.RawMessage(c.schema), func(context.Context, *Call, json.RawMessage) (Result, error) { return Result{}, nil })
			if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Fatalf("%v, want %q", err, c.why)
			}
			if err == nil {
				if _, err := tool.Bind(json.RawMessage(`{}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
