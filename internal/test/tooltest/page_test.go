package tooltest

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type edit struct {
	Search  string `json:"search" jsonschema:"text to find" minLength:"1"`
	Replace string `json:"replace" jsonschema:"text to put"`
}

type sampleIn struct {
	Path   string   `json:"path" jsonschema:"file to read" minLength:"1"`
	Limit  int      `json:"limit,omitempty" jsonschema:"most lines" default:"30" minimum:"1" maximum:"200"`
	Mode   string   `json:"mode,omitempty" jsonschema:"what to return" enum:"full,outline" default:"full"`
	Deep   bool     `json:"deep,omitempty" jsonschema:"also below"`
	Ratio  *float64 `json:"ratio" jsonschema:"share"`
	Tags   []string `json:"tags,omitempty" jsonschema:"labels" maxItems:"2"`
	Edits  []edit   `json:"edits,omitempty" jsonschema:"several edits"`
	Window struct {
		Depth int `json:"depth,omitempty" jsonschema:"levels" default:"1" minimum:"0" maximum:"3"`
	} `json:"window,omitzero" jsonschema:"what to show"`
}

func nothing[A any](context.Context, *tools.Call, A) (tools.Result, error) {
	return tools.Result{}, nil
}

func TestGoldenPage(t *testing.T) {
	raw, err := tools.Raw(tools.Def{Name: "mcp_s_t", Description: "From outside.", Category: "mcp"}, tools.Source{Kind: tools.SourceMCP, Server: "s", Tool: "t"}, tools.Exec,
		json.RawMessage(`{"properties":{"q":{"type":"string","description":"what to find","format":"uri","pattern":"^a"},"n":{"type":"integer"}},"required":["q"]}`), nothing[json.RawMessage])
	if err != nil {
		t.Fatal(err)
	}
	got := Page([]*tools.Tool{
		raw,
		tools.NewRead(tools.Def{Name: "sample", Description: "Sample."}, nothing[sampleIn]),
		tools.NewExec(tools.Def{Name: "stop", Description: "stop", AlwaysAsk: true}, nothing[struct{}]),
	})
	const name = "testdata/docs.md"
	if Update() {
		if err := ownfile.Update(name, []byte(got)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if d := cmp.Diff(string(want), got); err != nil || d != "" {
		t.Errorf("%s (-update rewrites it): %v, -want +got:\n%s", name, err, d)
	}
}

type place struct {
	Path string `json:"path" jsonschema:"file | directory"`
	Line int    `json:"line,omitempty" jsonschema:"from one"`
}

type places struct {
	List []place         `json:"list" jsonschema:"in order"`
	At   time.Time       `json:"at" jsonschema:"when"`
	Any  json.RawMessage `json:"any" jsonschema:"as it is"`
}

type refusal struct {
	Why string `json:"why" jsonschema:"the reason"`
}

func TestOutputsAreDocumented(t *testing.T) {
	gives := tools.NewRead(tools.Def{Name: "gives", Description: "Gives.", Output: places{}, Also: []tools.Form{{When: "of a refusal", Of: refusal{}}}}, nothing[struct{}])
	none := tools.NewRead(tools.Def{Name: "none", Description: "None.", Output: tools.NoOutput{}}, nothing[struct{}])
	_, got, _ := strings.Cut(Page([]*tools.Tool{gives, none}), "\n## other\n")
	got, _, _ = strings.Cut(got, "\n## Limits\n")
	want := `
| tool | arguments | what it does |
|---|---|---|
| ` + "`gives`" + ` | – | Gives. *read* |
| ` + "`none`" + ` | – | None. *read* |

| result of | members |
|---|---|
| ` + "`gives`" + ` | ` + "`{ list: [{ path, line? }], at, any }`" + ` |
| ` + "`gives`" + ` of a refusal | ` + "`{ why }`" + ` |
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
