package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

type edit struct {
	Search  string `json:"search" jsonschema:"text to find" minLength:"1"`
	Replace string `json:"replace" jsonschema:"text to put"`
}

type window struct {
	Depth int `json:"depth,omitempty" jsonschema:"levels" default:"1" minimum:"0" maximum:"3"`
}

type sampleIn struct {
	Path   string   `json:"path" jsonschema:"file to read" minLength:"1"`
	Limit  int      `json:"limit,omitempty" jsonschema:"most lines" default:"30" minimum:"1" maximum:"200"`
	Mode   string   `json:"mode,omitempty" jsonschema:"what to return" enum:"full,outline" default:"full"`
	Deep   bool     `json:"deep,omitempty" jsonschema:"also below"`
	Ratio  *float64 `json:"ratio" jsonschema:"share"`
	Tags   []string `json:"tags,omitempty" jsonschema:"labels" maxItems:"2"`
	Edits  []edit   `json:"edits,omitempty" jsonschema:"several edits"`
	Window window   `json:"window,omitzero" jsonschema:"what to show"`
}

func sampleTool() *Tool {
	return NewRead(Def{Name: "sample", Description: "Sample."}, func(_ context.Context, _ *Call, in sampleIn) (Result, error) {
		data, err := json.Marshal(in)
		return Result{Text: string(data)}, err
	})
}

func run(t *testing.T, b *Bound) string {
	t.Helper()
	r, _, err := b.Run(context.Background(), &Call{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Text
}

func TestSchema(t *testing.T) {
	want := `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "file to read", "minLength": 1},
    "limit": {"type": "integer", "description": "most lines", "default": 30, "minimum": 1, "maximum": 200},
    "mode": {"type": "string", "description": "what to return", "default": "full", "enum": ["full", "outline"]},
    "deep": {"type": "boolean", "description": "also below"},
    "ratio": {"type": "number", "description": "share"},
    "tags": {"type": "array", "description": "labels", "items": {"type": "string"}, "maxItems": 2},
    "edits": {"type": "array", "description": "several edits", "items": {
      "type": "object", "additionalProperties": false, "required": ["search", "replace"],
      "properties": {"search": {"type": "string", "description": "text to find", "minLength": 1}, "replace": {"type": "string", "description": "text to put"}}}},
    "window": {"type": "object", "description": "what to show", "additionalProperties": false,
      "properties": {"depth": {"type": "integer", "description": "levels", "default": 1, "minimum": 0, "maximum": 3}}}
  },
  "required": ["path"],
  "additionalProperties": false
}`
	var w, g any
	if err := errors.Join(json.Unmarshal([]byte(want), &w), json.Unmarshal(sampleTool().InputSchema(), &g)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(w, g); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestBind(t *testing.T) {
	const rest = `,"ratio":null,"window":{"depth":1}}`
	for _, c := range []struct{ name, args, want, repairs string }{
		{"defaults are filled in", `{"path":"a"}`, `{"path":"a","limit":30,"mode":"full"` + rest, ""},
		{"null for an optional field is absence", `{"deep":null,"path":"a", "limit":null , "tags":null}`, `{"path":"a","limit":30,"mode":"full"` + rest, ""},
		{"null first and last", `{ "limit":null,"path":"a","mode":null }`, `{"path":"a","limit":30,"mode":"full"` + rest, ""},
		{"an integer may be written with a fraction of zero", `{"path":"a","limit":30.0}`, `{"path":"a","limit":30,"mode":"full"` + rest, ""},
		{"or with an exponent", `{"path":"a","limit":1e2}`, `{"path":"a","limit":100,"mode":"full"` + rest, ""},
		{"arguments in a string", `"{\"path\":\"a\"}"`, `{"path":"a","limit":30,"mode":"full"` + rest, "arguments: taken from a JSON string; give a JSON object"},
		{"a number in a string", `{"path":"a","limit":"5"}`, `{"path":"a","limit":5,"mode":"full"` + rest, `limit: string "5" read as number`},
		{"a truth value in a string", `{"path":"a","deep":"True"}`, `{"path":"a","limit":30,"mode":"full","deep":true` + rest, `deep: string "True" read as boolean`},
		{"a single string for an array", `{"path":"a","tags":"x"}`, `{"path":"a","limit":30,"mode":"full","ratio":null,"tags":["x"],"window":{"depth":1}}`, `tags: a single string read as an array of one`},
		{"an array in a string", `{"path":"a","edits":"[{\"search\":\"x\",\"replace\":\"\"}]"}`, `{"path":"a","limit":30,"mode":"full","ratio":null,"edits":[{"search":"x","replace":""}],"window":{"depth":1}}`, `edits: string `},
		{"nested defaults", `{"path":"a","window":{}}`, `{"path":"a","limit":30,"mode":"full"` + rest, ""},
		{"an escaped name", `{"p\u0061th":"a"}`, `{"path":"a","limit":30,"mode":"full"` + rest, ""},
		{"a number that looks like text stays text", `{"path":"5"}`, `{"path":"5","limit":30,"mode":"full"` + rest, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := sampleTool().Bind(json.RawMessage(c.args))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, run(t, b)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if got := strings.Join(b.Repairs, "|"); !strings.HasPrefix(got, c.repairs) || (c.repairs == "") != (got == "") {
				t.Errorf("repairs %q, want %q", got, c.repairs)
			}
		})
	}
}

func TestBindRefuses(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"everything at once", `{"limit":"x","pth":1}`, `limit: got string "x", expected integer 1…200; pth: unknown field (did you mean path?); path: required (non-empty string). The fields path, limit, mode, deep, ratio, tags, edits, window are known`},
		{"nothing", ``, `path: required (non-empty string)`},
		{"null", `null`, `path: required (non-empty string)`},
		{"an array", `["a"]`, `got an array, expected a JSON object with the fields path, limit, mode, deep, ratio, tags, edits, window`},
		{"a word", `"a"`, `got string "a", expected a JSON object with the fields`},
		{"other case", `{"Path":"a"}`, `Path: unknown field (did you mean path?); path: required`},
		{"out of range", `{"path":"a","limit":0}`, `limit: got number 0, expected integer 1…200`},
		{"out of range in a string", `{"path":"a","limit":"0"}`, `limit: got number 0, expected integer 1…200`},
		{"a fraction", `{"path":"a","limit":1.5}`, `limit: got number 1.5, expected integer 1…200`},
		{"not in the list", `{"path":"a","mode":"half"}`, `mode: got string "half", expected one of "full", "outline"`},
		{"empty", `{"path":""}`, `path: got string "", expected non-empty string`},
		{"a number for text", `{"path":5}`, `path: got number 5, expected non-empty string`},
		{"null for what is required", `{"path":null}`, `path: got null, expected non-empty string`},
		{"too many", `{"path":"a","tags":["a","b","c"]}`, `tags: got 3 items, expected array of string, ≤ 2 items`},
		{"inside", `{"path":"a","edits":[{"search":"x","replace":"y"},{"search":"","replac":"y"}]}`, `edits[1].search: got string "", expected non-empty string; edits[1].replac: unknown field (did you mean replace?); edits[1].replace: required (string)`},
		{"cut off", `{"path":"a`, `not valid JSON: it ends at byte 10 inside a value (perhaps the call was cut off); send the whole object`},
		{"broken", `{"path":"a",}`, `not valid JSON at byte 12 (line 1, column 13)`},
		{"twice", `{"path":"a","path":"b"}`, `duplicate object member name`},
		{"two values", `{"path":"a"} {}`, `there is more after the value that ends at byte 12`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sampleTool().Bind(json.RawMessage(c.args))
			var e *Error
			if !errors.As(err, &e) || e.Code != InvalidArguments {
				t.Fatalf("error %v, want invalid_arguments", err)
			}
			text, ok := strings.CutPrefix(e.Message, "sample: ")
			if !ok || !strings.Contains(text, c.want) {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestBadDefinitionsPanic(t *testing.T) {
	read := func(d Def) func() {
		return func() { NewRead(d, func(context.Context, *Call, struct{}) (Result, error) { return Result{}, nil }) }
	}
	ok := Def{Name: "ok", Description: "Fine."}
	for name, f := range map[string]func(){
		"upper case":     read(Def{Name: "readFile", Description: "x"}),
		"no name":        read(Def{Description: "x"}),
		"long name":      read(Def{Name: strings.Repeat("a", 65), Description: "x"}),
		"no description": read(Def{Name: "a", Description: " \n"}),
		"not a struct": func() {
			NewRead(ok, func(context.Context, *Call, string) (Result, error) { return Result{}, nil })
		},
		"a default out of range": func() {
			type in struct {
				A int `json:"a,omitempty" default:"9" maximum:"5"`
			}
			NewRead(ok, func(context.Context, *Call, in) (Result, error) { return Result{}, nil })
		},
		"a default of another type": func() {
			type in struct {
				A int `json:"a,omitempty" default:"x"`
			}
			NewRead(ok, func(context.Context, *Call, in) (Result, error) { return Result{}, nil })
		},
		"a bound of text": func() {
			type in struct {
				A string `json:"a" minimum:"1"`
			}
			NewRead(ok, func(context.Context, *Call, in) (Result, error) { return Result{}, nil })
		},
		"a default below a slice": func() {
			type el struct {
				A int `json:"a,omitempty" default:"1"`
			}
			type in struct {
				L []el `json:"l"`
			}
			NewRead(ok, func(context.Context, *Call, in) (Result, error) { return Result{}, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
	read(ok)()
}

type gitIn struct {
	Action string `json:"action"`
}

func (g gitIn) Effects() Effects { return Effects{ReadOnly: g.Action == "list"} }

func TestEffectsAndAccess(t *testing.T) {
	x := NewExec(Def{Name: "git_branch", Description: "x"}, func(context.Context, *Call, gitIn) (Result, error) { return Result{}, nil })
	for action, want := range map[string]bool{"list": true, "delete": false} {
		b, err := x.Bind(json.RawMessage(fmt.Sprintf(`{"action":%q}`, action)))
		if err != nil || b.Effects.ReadOnly != want {
			t.Errorf("%s: effects %+v, error %v", action, b.Effects, err)
		}
	}
	e := NewEdit(Def{Name: "e", Description: "x"}, func(context.Context, *Call, struct{}) (Result, []workspace.Change, error) {
		return Result{}, []workspace.Change{{Path: "a"}}, nil
	})
	b, err := e.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, changes, _ := b.Run(context.Background(), nil)
	if got := []Access{x.Access, e.Access, sampleTool().Access}; !cmp.Equal(got, []Access{Exec, Edit, Read}) || len(changes) != 1 {
		t.Errorf("access %v, changes %v", got, changes)
	}
}

func TestRaw(t *testing.T) {
	f := func(_ context.Context, _ *Call, args json.RawMessage) (Result, error) {
		return Result{Text: string(args)}, nil
	}
	src := Source{Kind: SourceMCP, Server: "s"}
	def := Def{Name: "mcp_s_t", Description: "x"}
	for name, schema := range map[string]string{
		"not JSON":        `{`,
		"another type":    `{"type":"string"}`,
		"a dangling $ref": `{"$ref":"#/$defs/none"}`,
		"a remote $ref":   `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`,
		"a list":          `[]`,
	} {
		if _, err := Raw(def, src, Exec, json.RawMessage(schema), f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Raw(def, src, Edit, nil, f); err == nil {
		t.Error("an editing tool from outside: no error")
	}
	const schema = `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"type":"integer"},"s":{"type":["string","null"]},"p":{"type":"string","pattern":"^a"},
		"u":{"anyOf":[{"type":"string"},{"type":"number"}]},"k":{"$ref":"#/definitions/k"}},"required":["n"],"definitions":{"k":{"type":"string","minLength":2}}}`
	raw, err := Raw(def, src, Exec, json.RawMessage(schema), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want, fails string }{
		{`{"n":1}`, `{"n":1}`, ""},
		{`{"n":"2","other":null,"p":null,"s":null}`, `{"n":2,"other":null,"s":null}`, ""},
		{`{"n":1,"u":"x","k":"ab"}`, `{"n":1,"u":"x","k":"ab"}`, ""},
		{`{}`, "", "n: required (integer)"},
		{`{"n":1,"p":"b"}`, "", "pattern"},
		{`{"n":1,"k":"a"}`, "", "minLength"},
		{`{"n":1,"u":true}`, "", "u: fits none of the forms"},
	} {
		b, err := raw.Bind(json.RawMessage(c.args))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want %s", c.args, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if got := run(t, b); got != c.want {
			t.Errorf("%s: got %s, want %s", c.args, got, c.want)
		}
	}
}

func FuzzBind(f *testing.F) {
	for _, s := range []string{`{"path":"a","limit":null,"x":[1,{"a":"]"}]}`, `"{\"path\":\"a\"}"`, `{"path":"a","edits":"[{}]","ratio":"1e5"}`, `{"path":"a","limit":1e400}`} {
		f.Add(s)
	}
	tool := sampleTool()
	f.Fuzz(func(t *testing.T, args string) {
		b, err := tool.Bind(json.RawMessage(args))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Code != InvalidArguments || e.Message == "" {
				t.Fatalf("error %#v", err)
			}
			return
		}
		in := b.Args.(sampleIn)
		if in.Path == "" || in.Limit < 1 || in.Limit > 200 || (in.Mode != "full" && in.Mode != "outline") || len(in.Tags) > 2 {
			t.Fatalf("%q bound to %+v", args, in)
		}
	})
}

func BenchmarkBind(b *testing.B) {
	tool := sampleTool()
	args := json.RawMessage(`{"path":"internal/app/app.go","limit":100,"mode":"outline"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Bind(args); err != nil {
			b.Fatal(err)
		}
	}
}
