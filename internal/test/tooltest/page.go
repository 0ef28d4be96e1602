package tooltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Page is docs/tools.md: all tools of list by category, from their definitions.
func Page(list []*tools.Tool) string {
	byCategory := map[string][]*tools.Tool{}
	for _, t := range list {
		byCategory[t.Category] = append(byCategory[t.Category], t)
	}
	var b strings.Builder
	b.WriteString("# Tools\n\nMade from the definitions of the tools; a test keeps it true and rewrites it with `-update`.\n\n" +
		"*read* changes nothing, *edit* changes files of the workspace, *exec* changes anything else. What is *listed* is in every list for a model;\n" +
		"the other tools are found by `tool_search`; agents over MCP are shown all of them (see [protocol.md](protocol.md)).\n\n" +
		"The table *result* has the fields of `structured` in the result of a call. Any result may lack `structured`: most failures do, and so does one whose\n" +
		"structured part would be much longer than its text may be.\n")
	for _, category := range slices.Sorted(maps.Keys(byCategory)) {
		list := byCategory[category]
		slices.SortFunc(list, func(a, b *tools.Tool) int { return strings.Compare(a.Name, b.Name) })
		title := category
		if title == "" {
			title = "other"
		}
		fmt.Fprintf(&b, "\n## %s\n", title)
		for _, t := range list {
			fmt.Fprintf(&b, "\n### %s\n\n*%s*%s\n\n%s\n", t.Name, t.Access, marks(t), t.Description)
			if arguments := t.Manual().Arguments; len(arguments) > 0 {
				b.WriteString("\n| argument | type | meaning |\n|---|---|---|\n")
				rows(&b, arguments, "", tools.Argument.Note)
			}
			output(&b, t)
		}
	}
	return b.String()
}

func marks(t *tools.Tool) string {
	var marks string
	if t.Core {
		marks += ", listed"
	}
	if t.AlwaysAsk {
		marks += ", always asks"
	}
	if t.Interactive {
		marks += ", waits for a person"
	}
	if t.Untrusted {
		marks += ", output from outside"
	}
	return marks
}

// rows writes a row for each of list and for each of their members; note says a type.
func rows(b *strings.Builder, list []tools.Argument, prefix string, note func(tools.Argument) string) {
	cell := strings.NewReplacer("|", "\\|", "\n", " ")
	for _, a := range list {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", prefix+a.Name, cell.Replace(note(a)), cell.Replace(a.Meaning))
		next := prefix + a.Name + "."
		if a.Items != nil {
			next = prefix + a.Name + "[]."
		}
		rows(b, a.Members, next, note)
	}
}

// output writes what the structured part of results of t has.
func output(b *strings.Builder, t *tools.Tool) {
	outputs := t.Outputs()
	if len(outputs) == 0 && t.Output != nil {
		b.WriteString("\nIts result has no structured part.\n")
	}
	for _, o := range outputs {
		title := "result"
		if o.When != "" {
			title += " " + o.When
		}
		fmt.Fprintf(b, "\n| %s | type | meaning |\n|---|---|---|\n", title)
		rows(b, tools.Arguments(o.Schema), "", optional)
	}
}

// optional is the type of a field, and whether it may be missing.
func optional(a tools.Argument) string {
	required := a.Required
	a.Required = false
	note := a.Note()
	if !required {
		note += ", optional"
	}
	return note
}
