package mcpschema_test

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/mcpschema"
)

// TestCheck: what is of a version passes, and what is not does not.
func TestCheck(t *testing.T) {
	const (
		list     = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		call     = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`
		plain    = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","x-own":1}}]}}`
		latest   = `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}`
		text     = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}]}}`
		required = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}}}}`
	)
	schemas := map[string]*mcpschema.Schema{}
	for _, version := range mcpschema.Versions {
		s, err := mcpschema.Load(version)
		if err != nil {
			t.Fatal(err)
		}
		schemas[version] = s
	}
	for name, c := range map[string]struct {
		versions   string // that it is good in
		got, sends string
	}{
		"a list":                      {"2024-11-05 2025-03-26 2025-06-18 2025-11-25", list, plain},
		"a list of today":             {"2026-07-28", list, latest},
		"no scope of a cache":         {"", list, strings.Replace(latest, `"private"`, `""`, 1)},
		"no schema of a tool":         {"", list, strings.Replace(plain, "inputSchema", "schema", 1)},
		"a tool's title":              {"2025-06-18 2025-11-25", list, strings.Replace(plain, `"name":"a"`, `"name":"a","title":"A"`, 1)},
		"a tool's hints":              {"2025-03-26 2025-06-18 2025-11-25", list, strings.Replace(plain, `"name":"a"`, `"name":"a","annotations":{"readOnlyHint":true}`, 1)},
		"text":                        {"2024-11-05 2025-03-26 2025-06-18 2025-11-25", call, text},
		"a result that knows more":    {"2026-07-28", call, strings.Replace(text, `"content"`, `"resultType":"complete","content"`, 1)},
		"who answers":                 {"2026-07-28", call, strings.Replace(text, `"content"`, `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"1"}},"content"`, 1)},
		"who answers, to others":      {"", call, strings.Replace(text, `"content"`, `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"1"}},"content"`, 1)},
		"own words about a result":    {"2024-11-05 2025-03-26 2025-06-18 2025-11-25", call, strings.Replace(text, `"content"`, `"_meta":{"own/word":{}},"content"`, 1)},
		"something is asked":          {"2026-07-28", call, required},
		"a question":                  {"2025-06-18 2025-11-25", "", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["b"]}}}}}`},
		"a question with a default":   {"2025-11-25", "", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["b"],"default":"b"}}}}}`},
		"progress":                    {"2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`},
		"progress with words":         {"2025-03-26 2025-06-18 2025-11-25 2026-07-28", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"a"}}`},
		"a failure":                   {"2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28", list, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"a"}}`},
		"a failure without a code":    {"", list, `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"a"}}`},
		"a failure without a message": {"", list, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603}}`},
		"a failure of no request":     {"2024-11-05 2025-03-26 2025-06-18", "", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a"}}`},
		"the same, of today":          {"2025-11-25 2026-07-28", "", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"a"}}`},
		"a batch":                     {"2025-03-26", list, "[" + plain + "]"},
		"an answer to nothing":        {"", "", plain},
		"a method of nobody":          {"", "", `{"jsonrpc":"2.0","method":"notifications/nobody"}`},
		"no JSON-RPC":                 {"", list, strings.Replace(plain, `"jsonrpc":"2.0",`, "", 1)},
		"no message":                  {"", list, `hello`},
	} {
		for version, schema := range schemas {
			check := schema.Check()
			if c.got != "" {
				check.Got([]byte(c.got))
			}
			err := check.Sent([]byte(c.sends))
			if good := strings.Contains(c.versions, version); (err == nil) != good {
				t.Errorf("%s, %s: %v", name, version, err)
			}
		}
	}
}
