package web

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed display_diagram.md
var displayDiagramDoc string

type displayDiagramArgs struct {
	Path  string `json:"path" jsonschema:"Markdown file" minLength:"1"`
	Index int    `json:"index,omitempty" jsonschema:"which diagram, from 0" default:"0" minimum:"0"`
}

// Effects names the file that is read.
func (a *displayDiagramArgs) Effects() tools.Effects { return tools.Effects{Paths: []string{a.Path}} }

// diagram is a fenced block of a Markdown file, and the structured result of
// display_diagram.
type diagram struct {
	Path     string `json:"path" jsonschema:"file"`
	Language string `json:"language" jsonschema:"of the diagram" enum:"mermaid,graphviz,plantuml"`
	Source   string `json:"source" jsonschema:"text of the diagram"`
	Line     int    `json:"line" jsonschema:"of its fence, from one"`
	Index    int    `json:"index" jsonschema:"which diagram of the file, from 0"`
	Count    int    `json:"count" jsonschema:"diagrams of the file"`
}

func newDisplayDiagram() *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: "display_diagram", Title: "Show a diagram", Example: `{"path": "docs/design.md"}`, Description: displayDiagramDoc, Category: category,
		Output: diagram{},
	}, func(_ context.Context, c *tools.Call, in displayDiagramArgs) (tools.Result, error) {
		name, err := c.Files.Resolve(in.Path)
		if err != nil {
			return tools.Result{}, err
		}
		data, err := c.Files.ReadFile(name)
		if err != nil {
			return tools.Result{}, err
		}
		text, err := workspace.DecodeText(data)
		if err != nil {
			return tools.Result{}, fmt.Errorf("%s: %w", name, err)
		}
		all := diagrams(text.Body)
		switch {
		case len(all) == 0:
			return tools.Result{}, tools.Errorf(tools.NotFound, "%s has no mermaid, graphviz or plantuml block; check it with read_file", name)
		case in.Index >= len(all):
			return tools.Result{}, tools.Errorf(tools.InvalidArguments, "index: %s has %s, counted from 0", name, tools.Count(len(all), "diagram"))
		}
		d := all[in.Index]
		d.Path, d.Index, d.Count = name, in.Index, len(all)
		fence := strings.Repeat("`", max(3, longestRun(d.Source, '`')+1))
		return tools.Result{Text: fence + d.Language + "\n" + d.Source + fence + "\n", Structured: d}, nil
	})
}

// languages are what diagrams are written in, by the word after the fence.
var languages = map[string]string{
	"mermaid": "mermaid", "mmd": "mermaid",
	"graphviz": "graphviz", "dot": "graphviz", "gv": "graphviz",
	"plantuml": "plantuml", "puml": "plantuml",
}

// diagrams are the fenced blocks of a Markdown text that are diagrams, in
// order. A fence may be indented, as it is within a list; so may its lines.
// https://spec.commonmark.org/0.31.2/#fenced-code-blocks
func diagrams(text string) []diagram {
	var all []diagram
	var open *diagram // nil: outside of a block
	var fence string  // of the block
	var source strings.Builder
	var indent int
	line := 0
	for raw := range strings.Lines(text) {
		line++
		row := strings.TrimRight(raw, "\r\n")
		bare := strings.TrimLeft(row, " \t")
		if open == nil {
			run := fenceOf(bare)
			if run == "" {
				continue
			}
			info := strings.TrimSpace(bare[len(run):])
			if run[0] == '`' && strings.Contains(info, "`") {
				continue // a code span
			}
			word := strings.ToLower(strings.Trim(firstWord(info), "{}."))
			open, fence, indent = &diagram{Language: languages[word], Line: line}, run, len(row)-len(bare)
			continue
		}
		if run := fenceOf(bare); len(run) >= len(fence) && run[0] == fence[0] && strings.TrimSpace(bare[len(run):]) == "" {
			all = addDiagram(all, open, &source)
			open = nil
			continue
		}
		source.WriteString(row[min(indent, len(row)-len(bare)):] + "\n")
	}
	if open != nil { // an open block ends with the text
		all = addDiagram(all, open, &source)
	}
	return all
}

func addDiagram(all []diagram, d *diagram, source *strings.Builder) []diagram {
	d.Source = source.String()
	source.Reset()
	if d.Language == "" {
		return all
	}
	return append(all, *d)
}

func firstWord(s string) string {
	if i := strings.IndexAny(s, " \t,;"); i >= 0 {
		return s[:i]
	}
	return s
}

// fenceOf returns the run of three or more ` or ~ that s begins with.
func fenceOf(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 {
		return ""
	}
	return s[:n]
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
