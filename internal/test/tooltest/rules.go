package tooltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Bounds of a definition: it is paid for on every turn.
const (
	MaxDescription = 700 // bytes
	maxFieldText   = 200 // bytes
)

// Definitions compares what a model is shown of every tool with
// dir/<name>.json. A tool without a snapshot fails, and so does a snapshot
// without a tool.
func Definitions(t *testing.T, dir string, list []*tools.Tool) {
	t.Helper()
	want := map[string]bool{}
	for _, tool := range list {
		want[tool.Name+".json"] = true
		got, err := definition(tool)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, tool.Name+".json")
		if Update() {
			if err := ownfile.Update(path, got); err != nil {
				t.Fatal(err)
			}
		}
		old, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: there is no snapshot of tool %s; -update writes one", path, tool.Name)
		} else if err != nil {
			t.Error(err)
		} else if d := cmp.Diff(string(old), string(got)); d != "" {
			t.Errorf("%s: what models see of %s has changed (-update rewrites it) -want +got:\n%s", path, tool.Name, d)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[filepath.Base(f)] {
			t.Errorf("%s: there is no such tool", f)
		}
	}
}

func definition(t *tools.Tool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Access      tools.Access    `json:"access"`
		AlwaysAsk   bool            `json:"alwaysAsk,omitempty"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}{t.Name, t.Description, t.Access, t.AlwaysAsk, t.InputSchema()})
	return b.Bytes(), err
}

// Rules reports every breach of the rules for tools in list.
func Rules(t *testing.T, list []*tools.Tool) {
	t.Helper()
	for _, text := range Breaches(list) {
		t.Error(text)
	}
}

var nameRule = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Breaches are the breaches of the rules for tools in list: names, lengths,
// texts, and schema shapes that models or providers refuse.
func Breaches(list []*tools.Tool) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range list {
		bad := func(format string, args ...any) {
			out = append(out, t.Name+": "+fmt.Sprintf(format, args...))
		}
		if seen[t.Name] {
			bad("is there twice")
		}
		seen[t.Name] = true
		if !nameRule.MatchString(t.Name) {
			bad("name is not lower snake case of at most 64 bytes")
		}
		if t.Category == "" {
			bad("has no category")
		}
		if len(t.Description) > MaxDescription {
			bad("description has %d bytes, more than %d", len(t.Description), MaxDescription)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(t.InputSchema(), &s); err != nil {
			bad("schema: %v", err)
			continue
		}
		if s.Type != "object" {
			bad("schema is not of an object")
		}
		schemaBreaches(&s, "", bad)
		if t.Output == nil {
			bad("has no output; tools.NoOutput{} says that its results have no structured part")
		}
		for _, o := range t.Outputs() {
			outputBreaches(o.Schema, "", bad)
		}
	}
	return out
}

// outputBreaches wants a text for each field of a structured part.
func outputBreaches(s *jsonschema.Schema, at string, bad func(string, ...any)) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, place := s.Properties[name], strings.TrimPrefix(at+"."+name, ".")
		if strings.TrimSpace(p.Description) == "" {
			bad("output %s: has no description", place)
		}
		outputBreaches(p, place, bad)
	}
	if s.Items != nil {
		outputBreaches(s.Items, at+"[]", bad)
	}
}

func schemaBreaches(s *jsonschema.Schema, at string, bad func(string, ...any)) {
	if s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil || s.Not != nil || s.If != nil || s.Ref != "" || s.Defs != nil || s.PatternProperties != nil {
		bad("%s: combinations and references are not understood by all models", at)
	}
	if slices.Contains(s.Types, "null") {
		bad("%s: null is noise; optional arguments can be left out", at)
	}
	if s.Type == "object" && s.AdditionalProperties == nil {
		bad("%s: the object is open", at)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, place := s.Properties[name], strings.TrimPrefix(at+"."+name, ".")
		switch text := strings.TrimSpace(p.Description); {
		case text == "":
			bad("%s: has no description", place)
		case len(text) > maxFieldText:
			bad("%s: description has %d bytes, more than %d", place, len(text), maxFieldText)
		}
		if !nameRule.MatchString(name) {
			bad("%s: name is not lower snake case", place)
		}
		if p.Type == "" && p.Types == nil && p.Enum == nil {
			bad("%s: has no type", place)
		}
		schemaBreaches(p, place, bad)
	}
	if s.Items != nil {
		schemaBreaches(s.Items, at+"[]", bad)
	}
}
