package tools

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var update = flag.Bool("update", false, "update testdata")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := ownfile.Update(path, []byte(got)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-update rewrites it) -want +got:\n%s", path, d)
	}
}

func rawTool(t *testing.T, schema string) *Tool {
	t.Helper()
	r, err := Raw(Def{Name: "mcp_s_t", Description: "From outside.", Category: "mcp"}, Source{Kind: SourceMCP, Server: "s", Tool: "t"}, Exec, json.RawMessage(schema),
		func(context.Context, *Call, json.RawMessage) (Result, error) { return Result{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func formatSamples(t *testing.T) []*Tool {
	return []*Tool{
		rawTool(t, `{"properties":{"q":{"type":"string","description":"what to find","format":"uri","pattern":"^a"},"n":{"type":"integer"}},"required":["q"]}`),
		sampleTool(),
		tool("stop", alwaysAsk),
	}
}

func TestFormats(t *testing.T) {
	for _, format := range []Format{FormatInfo, FormatMCP, FormatOpenAI, FormatAnthropic} {
		out, err := Encode(formatSamples(t), format, format == FormatOpenAI)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.MarshalIndent(out, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "format_"+string(format)+".json", string(data)+"\n")
	}
	golden(t, "format_text.txt", Text(formatSamples(t)))
	if _, err := Encode(formatSamples(t), "yaml", false); err == nil {
		t.Error("an unknown format: no error")
	}
	out, _ := Encode(nil, FormatInfo, false)
	if data, _ := json.Marshal(out); string(data) != `{"tools":[]}` {
		t.Errorf("no tools: %s", data)
	}
}

// Strict mode makes models send null for what they leave out.
func TestStrictCallsBind(t *testing.T) {
	b, err := sampleTool().Bind(json.RawMessage(`{"path":"a","limit":null,"mode":null,"deep":null,"ratio":null,"tags":null,"edits":null,"window":{"depth":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if in := b.Args.(sampleIn); in.Limit != 30 || in.Mode != "full" || in.Window.Depth != 1 || b.Repairs != nil {
		t.Errorf("%+v, repairs %q", in, b.Repairs)
	}
}

func TestStrictIsLeftOutWhereItCantBe(t *testing.T) {
	for name, schema := range map[string]string{
		"free members":   `{"properties":{"env":{"type":"object","additionalProperties":{"type":"string"}}}}`,
		"an open object": `{"properties":{"o":{"type":"object"}}}`,
		"oneOf":          `{"properties":{"o":{"oneOf":[{"type":"string"},{"type":"null"}]}}}`,
		"anything":       `{"properties":{"o":{}}}`,
	} {
		if _, ok := strictSchema(rawTool(t, schema).schema); ok {
			t.Errorf("%s: strict", name)
		}
	}
	if _, ok := strictSchema(rawTool(t, `{"properties":{"o":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`).schema); !ok {
		t.Error("anyOf: not strict")
	}
}

func TestExamplesBind(t *testing.T) {
	type in struct {
		Name  string `json:"n" jsonschema:"name" minLength:"3"`
		Count int    `json:"count" jsonschema:"how many" minimum:"2"`
		Mode  string `json:"mode" jsonschema:"how" enum:"a,b"`
		Deep  bool   `json:"deep" jsonschema:"deep"`
		Edits []edit `json:"edits" jsonschema:"edits" minItems:"2"`
	}
	example := NewRead(Def{Name: "x", Description: "x"}, func(context.Context, *Call, in) (Result, error) { return Result{}, nil })
	for _, x := range append(formatSamples(t)[1:], example) {
		b, err := x.Bind(Example(x))
		if err != nil || b.Repairs != nil {
			t.Errorf("%s: %s: %v", x.Name, Example(x), err)
		}
	}
	if text := Text([]*Tool{example}); !strings.Contains(text, `- count (integer ≥ 2, required): how many`) {
		t.Error(text)
	}
}

func TestCost(t *testing.T) {
	one := Cost([]*Tool{sampleTool()})
	if two := Cost([]*Tool{sampleTool(), sampleTool()}); one < 100 || two < 2*one || two > 2*one+1 {
		t.Errorf("one %d, two %d", one, two)
	}
}

func TestApprovalScope(t *testing.T) {
	fn := func(context.Context, *Call, struct{}) (Result, error) { return Result{}, nil }
	for want, tool := range map[ApprovalScope]*Tool{
		NoApproval:       NewRead(Def{Name: "a", Description: "a", Category: "files"}, fn),
		NetworkAccess:    NewRead(Def{Name: "a", Description: "a", Category: "web", Network: true}, fn),
		ShellExecution:   NewExec(Def{Name: "a", Description: "a", Category: "shell"}, fn),
		SessionOperation: NewExec(Def{Name: "a", Description: "a", Category: "system", AlwaysAsk: true}, fn),
		ToolExecution:    NewExec(Def{Name: "a", Description: "a", Category: "git"}, fn),
	} {
		if info := tool.Info(); info.ApprovalScope != want || info.Destructive != (tool.Access != Read) {
			t.Errorf("%s: %+v", want, info)
		}
	}
}
