package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Markdown is docs/tools.md: all tools of list by category, from their
// definitions.
func Markdown(list []*Tool) string {
	byCategory := map[string][]*Tool{}
	for _, t := range list {
		byCategory[t.Category] = append(byCategory[t.Category], t)
	}
	var b strings.Builder
	b.WriteString("# Tools\n\nMade from the definitions of the tools; a test keeps it true and rewrites it with `-update`.\n\n" +
		"*read* changes nothing, *edit* changes files of the workspace, *exec* changes anything else. What is *listed* is in every list for a model;\n" +
		"the other tools are found by `tool_search`; agents over MCP are shown all of them (see [protocol.md](protocol.md)).\n\n" +
		"The table *result* has the fields of `structured` in the result of a call. Any result may lack `structured`: most failures do, and so does one whose\n" +
		"structured part would be much longer than its text may be.\n")
	for _, category := range sortedKeys(byCategory) {
		list := byCategory[category]
		slices.SortFunc(list, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
		title := category
		if title == "" {
			title = "other"
		}
		fmt.Fprintf(&b, "\n## %s\n", title)
		for _, t := range list {
			fmt.Fprintf(&b, "\n### %s\n\n*%s*%s\n\n%s\n", t.Name, t.Access, markdownMarks(t), t.Description)
			if n, _ := compile(t.schema); len(n.props) > 0 {
				b.WriteString("\n| argument | type | meaning |\n|---|---|---|\n")
				markdownRows(&b, t.schema, "", argumentNote)
			}
			markdownOutput(&b, t)
		}
	}
	return b.String()
}

func markdownMarks(t *Tool) string {
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

// markdownRows writes a row for each member of s; note says its type.
func markdownRows(b *strings.Builder, s *jsonschema.Schema, prefix string, note func(*jsonschema.Schema, prop) string) {
	n, _ := compile(s)
	cell := strings.NewReplacer("|", "\\|", "\n", " ")
	for _, p := range n.props {
		sub := s.Properties[p.name]
		if sub == nil {
			sub = &jsonschema.Schema{}
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", prefix+p.name, cell.Replace(note(sub, p)), cell.Replace(sub.Description))
		next := prefix + p.name + "."
		if sub.Items != nil {
			sub, next = sub.Items, prefix+p.name+"[]."
		}
		if strings.Count(next, ".") <= 3 {
			markdownRows(b, sub, next, note)
		}
	}
}
