package app

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// The families of tools that sidecar.mcp.tools takes are the categories there are.
func TestFamilies(t *testing.T) {
	row, _ := config.Lookup("mcp.tools")
	want := []string{"all", "core"}
	for _, tool := range all(t) {
		if !slices.Contains(want, tool.Category) {
			want = append(want, tool.Category)
		}
	}
	slices.Sort(want[2:])
	if !slices.Equal(row.Enum, want) {
		t.Errorf("the setting takes %v, there are %v", row.Enum, want)
	}
}

// A model can call the tools that results name: each is in its list always, or from that
// result on.
func TestNamedToolsAreListed(t *testing.T) {
	byName := map[string]*tools.Tool{}
	for _, tool := range all(t) {
		byName[tool.Name] = tool
	}
	for _, tool := range byName {
		for _, name := range tool.Names {
			if byName[name] == nil {
				t.Errorf("%s may name %s, which there is not", tool.Name, name)
			}
		}
	}
	files, err := filepath.Glob("../../tools/*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	literal, word := regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`"), regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)
	for _, file := range files {
		tool := byName[strings.TrimSuffix(filepath.Base(file), ".go")]
		if tool == nil {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range literal.FindAllString(string(text), -1) {
			for _, name := range word.FindAllString(s, -1) {
				if named := byName[name]; named != nil && named != tool && !named.Core && !slices.Contains(tool.Names, name) {
					t.Errorf("%s: %s names %s, which a model may not have; put it into Names", file, tool.Name, name)
				}
			}
		}
		desc, err := os.ReadFile(strings.TrimSuffix(file, ".go") + ".md")
		for _, name := range word.FindAllString(string(desc), -1) {
			if named := byName[name]; err == nil && tool.Core && named != nil && !named.Core && named.Category != "web" {
				t.Errorf("the description of %s, which is always listed, names %s, which is not", tool.Name, name)
			}
		}
	}
}
