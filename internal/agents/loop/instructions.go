package loop

import (
	_ "embed"
	"fmt"
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
	Plans   bool   // nothing may be changed until the user has approved a plan
	Files   []File // instructions of the project's
	Skills  []Skill
	Task    string // of a sub-agent
}

// File is a file with instructions.
type File struct{ Name, Text string }

//go:embed prompts/system.md
var systemPrompt string

//go:embed prompts/compact.md
var compactPrompt string

// InstructionsVersion is that of our prompts: it grows with each change of their meaning.
const InstructionsVersion = 3

var systemTemplate = template.Must(template.New("system").Parse(systemPrompt))

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
