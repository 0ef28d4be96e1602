package app

import (
	"regexp"
	"strings"
	"testing"
)

// TestNoTypeLists: what MCP clients are listed has no list of types, of which Gemini CLI warns
// at each start; the alternatives are the same. Control: the schema elsewhere has one.
func TestNoTypeLists(t *testing.T) {
	list := regexp.MustCompile(`"type":\s*\[`)
	controls := 0
	for _, tool := range all(t) {
		if list.Match(tool.InputSchema()) {
			controls++
		}
		if text := string(tool.SchemaForMCP(false)); list.MatchString(text) {
			t.Errorf("%s: %s", tool.Name, text)
		}
		if tool.Name == "edit_file" {
			text := string(tool.SchemaForMCP(false))
			if n := strings.Count(text, `"anyOf":[{"type":"string"},{"type":"integer"}]`); n != 2 {
				t.Errorf("%d of 2 alternatives: %s", n, text)
			}
		}
		if other := string(tool.InputSchema()); !list.MatchString(other) && other != string(tool.SchemaForMCP(false)) {
			t.Errorf("%s has another schema without reason", tool.Name)
		}
	}
	if controls == 0 {
		t.Error("control: no schema has a list of types")
	}
}
