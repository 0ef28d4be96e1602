package tooltest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

const intro = "# Tools\n\n<!-- Written by go test ./internal/app -update from the definitions of the tools. -->\n\n" +
	"This page is for people who write prompts, allow-lists or clients. It has one line per tool, and the members of the results by family.\n" +
	"The whole text of a tool is on the command line:\n\n```sh\nsidecar-ls tools edit_file\n```\n\n" +
	"That prints the description, each argument with its type and default, an example, the members of the result, and the errors.\n" +
	"`sidecar-ls tools --format json` prints all of it as JSON Schema.\n\n" +
	"- `?` marks what may be missing. An argument with `=` shows its default.\n" +
	"- *read* changes nothing. *edit* changes files of the workspace. *exec* changes anything else.\n" +
	"- *core* tools are in every list for a model. `tool_search` finds the others ([protocol.md](protocol.md#tools)).\n" +
	"- *asks* tools ask a person in every mode. *waits* tools wait for a person or another agent.\n" +
	"- *outside* marks results with text from elsewhere, which is wrapped as untrusted.\n"

// Page is docs/tools.md: all tools of list by category, from their definitions.
func Page(list []*tools.Tool) string {
	byCategory := map[string][]*tools.Tool{}
	for _, t := range list {
		byCategory[cmp.Or(t.Category, "other")] = append(byCategory[cmp.Or(t.Category, "other")], t)
	}
	var b strings.Builder
	b.WriteString(intro)
	for _, category := range slices.Sorted(maps.Keys(byCategory)) {
		list := byCategory[category]
		slices.SortFunc(list, func(a, b *tools.Tool) int { return strings.Compare(a.Name, b.Name) })
		fmt.Fprintf(&b, "\n## %s\n\n| tool | arguments | what it does |\n|---|---|---|\n", category)
		for _, t := range list {
			fmt.Fprintf(&b, "| `%s` | %s | %s *%s*%s |\n", t.Name, signature(t.Manual().Arguments), cell(first(t.Description)), t.Access, marks(t))
		}
		results(&b, list)
	}
	b.WriteString("\n## Limits\n\n- Any result may lack `structured`. Most failures do, and so does a result whose structured part would be much longer than its text.\n" +
		"- Tools of MCP servers, plugins and your own settings are not on this page; `sidecar-ls tools` lists them.\n")
	return b.String()
}

func marks(t *tools.Tool) string {
	var marks string
	for _, m := range []struct {
		has  bool
		name string
	}{{t.Core, "core"}, {t.AlwaysAsk, "asks"}, {t.Interactive, "waits"}, {t.Untrusted, "outside"}} {
		if m.has {
			marks += ", " + m.name
		}
	}
	return marks
}

// sentence is a text's first one. A full stop inside a word, or after a single
// letter as in "e.g.", ends none.
var sentence = regexp.MustCompile(`^.*?[^.\s][^.\s][.!?](\s|$)`)

// first is the first sentence of a description.
func first(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if s := sentence.FindString(text); s != "" {
		return strings.TrimSpace(s)
	}
	return text
}

func cell(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s) }

// signature is the arguments of a tool, those that are required first.
func signature(list []tools.Argument) string {
	if len(list) == 0 {
		return "–"
	}
	var must, may []string
	for _, a := range list {
		switch {
		case a.Required:
			must = append(must, "`"+a.Name+"`")
		case a.Default != nil:
			may = append(may, "`"+a.Name+"="+string(a.Default)+"`")
		default:
			may = append(may, "`"+a.Name+"?`")
		}
	}
	return cell(strings.Join(append(must, may...), ", "))
}

// results writes each form of the structured results of list once, with the tools
// that give it.
func results(b *strings.Builder, list []*tools.Tool) {
	var forms []string
	givers := map[string][]string{}
	for _, t := range list {
		for _, o := range t.Outputs() {
			form, giver := "`"+members(tools.Arguments(o.Schema))+"`", "`"+t.Name+"`"
			if o.When != "" {
				giver += " " + o.When
			}
			if givers[form] == nil {
				forms = append(forms, form)
			}
			givers[form] = append(givers[form], giver)
		}
	}
	if len(forms) == 0 {
		return
	}
	b.WriteString("\n| result of | members |\n|---|---|\n")
	for _, form := range forms {
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(givers[form], ", "), cell(form))
	}
}

// members is an object as docs/protocol.md writes one.
func members(list []tools.Argument) string {
	var all []string
	for _, a := range list {
		name := a.Name
		if !a.Required {
			name += "?"
		}
		if len(a.Members) > 0 {
			inner := members(a.Members)
			if a.Items != nil {
				inner = "[" + inner + "]"
			}
			name += ": " + inner
		}
		all = append(all, name)
	}
	return "{ " + strings.Join(all, ", ") + " }"
}
