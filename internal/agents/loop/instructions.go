package loop

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// Facts are what the instructions tell of where the agent works.
type Facts struct {
	Folders []string // their names, as paths begin with them; one alone is "."
	Root    string
	System  string // such as linux
	Date    string // such as 2026-11-26
	Mode    string
	Means   string // what the mode does, in a sentence
	Advice  string // what the mode asks of an agent
	Plans   bool   // nothing may be changed until the user has approved a plan
	Files   []File // instructions of the project's
	Skills  []Skill
	Task    string // of a sub-agent
	Tools   []Tool // that it begins with
	Small   bool   // the model is one that needs examples
}

// Has reports whether the agent has one of some tools.
func (f Facts) Has(names ...string) bool {
	return slices.ContainsFunc(f.Tools, func(t Tool) bool { return slices.Contains(names, t.Name) })
}

// Roots are the folders with which paths begin; "" where there is one alone.
func (f Facts) Roots() string {
	if len(f.Folders) < 2 {
		return ""
	}
	return strings.Join(f.Folders, ", ")
}

// File is a file with instructions.
type File struct {
	Name, Text string
	Untrusted  bool // the user does not trust the workspace
}

//go:embed prompts/system.md prompts/subagent.md prompts/small.md
var promptFiles embed.FS

//go:embed prompts/compact.md
var compactPrompt string

// InstructionsVersion is that of our prompts: it grows with each change of their meaning.
const InstructionsVersion = 5

var systemTemplate = template.Must(template.ParseFS(promptFiles, "prompts/*.md")).Lookup("system.md")

// Instructions are the system prompt.
func Instructions(f Facts) string {
	var b strings.Builder
	if err := systemTemplate.Execute(&b, f); err != nil {
		panic(err) // the template is ours
	}
	return strings.TrimSpace(b.String())
}

// toolText are tools in words, for a model that writes its calls as text.
func toolText(list []model.Tool) string {
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "## %s\n%s\nArguments: %s\n\n", t.Name, t.Description, t.Schema)
	}
	return strings.TrimSpace(b.String())
}

// note marks what no person says.
func note(text string) string { return "<note>\n" + text + "\n</note>" }
