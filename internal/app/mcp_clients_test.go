package app_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/mcpschema"
)

// TestClients: what one agent's program needs it gets, and the others what they
// always get, alone and attached.
func TestClients(t *testing.T) {
	schema, err := mcpschema.Load("2025-06-18")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		most     int
		metaless bool // errors have no _meta
	}{
		{"Some Agent", 16_000, false},
		{"codex-mcp-client", 10_000, false},
		{"gemini-cli-mcp-client", 16_000, true},
	} {
		for _, attached := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				home(t)
				dir := project(t, map[string]string{"long.txt": strings.Repeat("a line of some length\n", 5000)})
				if attached {
					serve(t, dir, fakeeditor.Options{})
				}
				a := newRawAgent(t, schema, c.name, dir)
				text, ok := a.call("read_file", object{"path": "long.txt"}, nil)
				for range 2 { // the result, then a page
					cursor := regexp.MustCompile(`cursor "([^"]+)"[^"]*$`).FindStringSubmatch(text)
					if !ok || cursor == nil || len(text) > c.most || len(text) < c.most/2 {
						t.Fatalf("%v, %d bytes, cursor %q at its end: %q", ok, len(text), cursor, text[len(text)-120:])
					}
					text, ok = a.call("read_result", object{"cursor": cursor[1]}, nil)
				}
				if res := a.result("read_file", object{"path": "long.txt"}, nil); res["_meta"] == nil {
					t.Error("a result has no _meta")
				}
				if res := a.result("read_file", object{"path": "none.txt"}, nil); (res["_meta"] == nil) != c.metaless {
					t.Errorf("an error's _meta: %v", res["_meta"])
				}
			})
		}
	}
}
