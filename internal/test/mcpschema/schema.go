// Package mcpschema holds what is sent against the official schemas of the
// Model Context Protocol, one for each version.
//
// The schemas let a message have members that its version does not know, as
// clients may ignore them. What we send must do without: some clients show
// their model all that comes, and some refuse it.
package mcpschema

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed testdata/*.json.gz
var files embed.FS

// Versions are the versions of the protocol that have a schema, oldest first.
var Versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// Schema is that of one version.
type Schema struct {
	Version string

	text    []byte
	defs    string // the member that has the definitions
	root    map[string]any
	methods map[string]string // method → definition

	resolved *jsonschema.Resolved // of an object with a member of each definition's name
}

// Load returns the schema of a version.
func Load(version string) (*Schema, error) {
	f, err := files.Open("testdata/" + version + ".json.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	s := &Schema{Version: version, defs: "$defs", methods: map[string]string{}}
	if s.text, err = io.ReadAll(z); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(s.text, &s.root); err != nil {
		return nil, err
	}
	if s.root[s.defs] == nil {
		s.defs = "definitions"
	}
	each := map[string]any{}
	for name, def := range s.root[s.defs].(map[string]any) {
		if method := constOf(def, "method"); method != "" {
			s.methods[method] = name
		}
		if !strings.HasSuffix(name, "MetaObject") {
			closeObjects(def)
		}
		each[name] = map[string]any{"$ref": "#/" + s.defs + "/" + name}
	}
	text, err := json.Marshal(map[string]any{"$schema": s.root["$schema"], s.defs: s.root[s.defs], "properties": each})
	if err != nil {
		return nil, err
	}
	var all jsonschema.Schema
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	s.resolved, err = all.Resolve(nil)
	return s, err
}

// constOf returns the one value that a member of a definition may have.
func constOf(def any, member string) string {
	d, _ := def.(map[string]any)
	properties, _ := d["properties"].(map[string]any)
	p, _ := properties[member].(map[string]any)
	value, _ := p["const"].(string)
	return value
}

// open are the members whose value may have members of any name.
var open = map[string]bool{"_meta": true, "inputSchema": true, "outputSchema": true, "arguments": true}

// closeObjects lets objects have the members that are named, and no others,
// where nothing is said of others.
func closeObjects(at any) {
	switch at := at.(type) {
	case map[string]any:
		properties, ok := at["properties"].(map[string]any)
		if ok && at["additionalProperties"] == nil {
			at["additionalProperties"] = false
		}
		for name, v := range properties {
			if !open[name] {
				closeObjects(v)
			}
		}
		for name, v := range at {
			// The parts of an allOf know each other's members.
			if name != "properties" && name != "allOf" {
				closeObjects(v)
			}
		}
	case []any:
		for _, v := range at {
			closeObjects(v)
		}
	}
}

// def is a definition, or nil.
func (s *Schema) def(name string) any { return s.root[s.defs].(map[string]any)[name] }

// is checks a value against a definition.
func (s *Schema) is(def string, data []byte) error {
	if s.def(def) == nil {
		return fmt.Errorf("MCP %s has no %s", s.Version, def)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if err := s.resolved.Validate(map[string]any{def: v}); err != nil {
		return fmt.Errorf("no %s of MCP %s: %w", def, s.Version, err)
	}
	return s.reserved(v)
}

// reserved checks that the keys in a message's _meta that the protocol keeps
// to itself are keys of this version.
func (s *Schema) reserved(v any) error {
	switch v := v.(type) {
	case map[string]any:
		meta, _ := v["_meta"].(map[string]any)
		for key := range meta {
			if strings.HasPrefix(key, "io.modelcontextprotocol/") && !bytes.Contains(s.text, []byte(`"`+key+`"`)) {
				return fmt.Errorf("MCP %s has no %s in a _meta", s.Version, key)
			}
		}
		for _, v := range v {
			if err := s.reserved(v); err != nil {
				return err
			}
		}
	case []any:
		for _, v := range v {
			if err := s.reserved(v); err != nil {
				return err
			}
		}
	}
	return nil
}
