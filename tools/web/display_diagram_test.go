package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

const document = "# Doc\n\n```mermaid\ngraph TD\n  A-->B\n```\n\n```go\nfunc main() {}\n```\n\n- item\n\n  ~~~~dot title=x\n  digraph {}\n  ~~~\n    indented\n  ~~~~\n\n" +
	"```` {.PlantUML}\n@startuml\n```\n@enduml\n````\n\n`` `mermaid` ``\n```mermaid open"

func TestDisplayDiagram(t *testing.T) {
	files, err := workspace.OpenDisk([]workspace.Folder{{Dir: t.TempDir()}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for name, text := range map[string]string{"doc.md": strings.ReplaceAll(document, "\n", "\r\n"), "none.md": "text"} {
		if err := files.Apply(t.Context(), workspace.Change{Path: name, After: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	show := func(args string) (tools.Result, error) {
		tool := newDisplayDiagram()
		b, err := tool.Bind(json.RawMessage(args))
		if err != nil {
			return tools.Result{}, err
		}
		r, _, err := b.Run(t.Context(), &tools.Call{Files: files})
		tooltest.Fits(t, tool, r, err)
		return r, err
	}
	for _, c := range []struct{ args, want string }{
		{`{"path":"doc.md"}`, "```mermaid\ngraph TD\n  A-->B\n```\n"},
		{`{"path":"doc.md","index":1}`, "```graphviz\ndigraph {}\n~~~\n  indented\n```\n"},
		{`{"path":"doc.md","index":2}`, "````plantuml\n@startuml\n```\n@enduml\n````\n"},
		{`{"path":"doc.md","index":3}`, "```mermaid\n```\n"},
	} {
		r, err := show(c.args)
		if err != nil || r.Text != c.want {
			t.Errorf("%s: %q, %v; want %q", c.args, r.Text, err, c.want)
		}
		if d, ok := r.Structured.(diagram); !ok || d.Count != 4 || d.Path != "doc.md" {
			t.Errorf("%s: %+v", c.args, r.Structured)
		}
	}
	for args, code := range map[string]tools.Code{
		`{"path":"doc.md","index":4}`:  tools.InvalidArguments,
		`{"path":"doc.md","index":-1}`: tools.InvalidArguments,
		`{"path":"none.md"}`:           tools.NotFound,
		`{"path":"absent.md"}`:         tools.NotFound,
		`{"path":"../x.md"}`:           tools.OutsideWorkspace,
		`{"path":".env"}`:              tools.NotFound,
	} {
		if _, err := show(args); err == nil || tools.AsError(err).Code != code {
			t.Errorf("%s: %v, want %s", args, err, code)
		}
	}
}
