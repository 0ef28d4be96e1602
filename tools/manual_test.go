package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

type wordsIn struct {
	Path  string   `json:"path" jsonschema:"a file"`
	Limit int      `json:"limit,omitempty" jsonschema:"most lines" default:"20" minimum:"1" maximum:"50"`
	Deep  bool     `json:"deep,omitempty"`
	Mode  string   `json:"mode,omitempty" enum:"text,outline"`
	Names []string `json:"names,omitempty"`
	Lines []int    `json:"lines,omitempty"`
	Which any      `json:"which,omitempty" type:"string,integer"`
	Free  any      `json:"free,omitempty"`
	Edits []struct {
		Search string `json:"search"`
	} `json:"edits,omitempty"`
}

// TestWords: arguments as words of a command line.
func TestWords(t *testing.T) {
	m := NewRead(Def{Name: "look_at", Description: "Looks."}, func(context.Context, *Call, wordsIn) (Result, error) { return Result{}, nil }).Manual()
	for name, c := range map[string]struct {
		words []string
		want  string // JSON, or a part of the error
	}{
		"nothing":                     {nil, `{}`},
		"a string":                    {[]string{"path=a.txt"}, `{"path":"a.txt"}`},
		"a string that looks like it": {[]string{"path={}"}, `{"path":"{}"}`},
		"a string of digits":          {[]string{"path=12"}, `{"path":"12"}`},
		"a string with signs":         {[]string{"path=a=b, \"c\"\n"}, `{"path":"a=b, \"c\"\n"}`},
		"an empty string":             {[]string{"path="}, `{"path":""}`},
		"a number":                    {[]string{"limit=7"}, `{"limit":7}`},
		"a truth value":               {[]string{"deep=true"}, `{"deep":true}`},
		"a list":                      {[]string{"names=a", "path=p", "names=b"}, `{"names":["a","b"],"path":"p"}`},
		"a list of one":               {[]string{"names=a"}, `{"names":["a"]}`},
		"a list as JSON":              {[]string{`names=["a","b"]`}, `{"names":["a","b"]}`},
		"a bracket in a list":         {[]string{"names=[a"}, `{"names":["[a"]}`},
		"a list of numbers":           {[]string{"lines=1", "lines=2"}, `{"lines":[1,2]}`},
		"either, a number":            {[]string{"which=2"}, `{"which":2}`},
		"either, a word":              {[]string{"which=all"}, `{"which":"all"}`},
		"anything, JSON":              {[]string{`free={"a":1}`}, `{"free":{"a":1}}`},
		"anything, a word":            {[]string{"free=x"}, `{"free":"x"}`},
		"objects":                     {[]string{`edits=[{"search":"a"}]`}, `{"edits":[{"search":"a"}]}`},
		"an object each":              {[]string{`edits={"search":"a"}`, `edits={"search":"b"}`}, `{"edits":[{"search":"a"},{"search":"b"}]}`},

		"no sign":           {[]string{"a.txt"}, `"a.txt" is not NAME=VALUE; look_at takes path, limit`},
		"no name":           {[]string{"=a.txt"}, "is not NAME=VALUE"},
		"a slip":            {[]string{"paht=a"}, "did you mean path?"},
		"no such":           {[]string{"quux=a"}, "quux: there is no such argument; look_at takes path"},
		"no number":         {[]string{"limit=many"}, `limit: got "many", expected integer 1…50`},
		"no truth value":    {[]string{"deep=yes"}, `deep: got "yes", expected boolean`},
		"no number in list": {[]string{"lines=1", "lines=x"}, `lines: got "x"`},
		"given twice":       {[]string{"path=a", "path=b"}, "path: given 2 times"},
		"no object":         {[]string{"edits=a"}, `write it as JSON: edits='[{"search": …}]'`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := m.FromWords(c.words)
			if strings.HasPrefix(c.want, "{") {
				if err != nil || string(got) != c.want {
					t.Errorf("%s, %v; want %s", got, err, c.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %v; want the error %s", got, err, c.want)
			}
		})
	}
}

// TestOpenWords: a tool from outside may take what its schema does not name.
func TestOpenWords(t *testing.T) {
	tool, err := Raw(Def{Name: "far", Description: "Far."}, Source{Kind: SourceMCP, Server: "s"}, Exec, json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		func(context.Context, *Call, json.RawMessage) (Result, error) { return Result{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	m := tool.Manual()
	if got, err := m.FromWords([]string{"n=1", "more=2", "text=a b"}); err != nil || string(got) != `{"n":1,"more":2,"text":"a b"}` {
		t.Errorf("%s, %v", got, err)
	}
}
