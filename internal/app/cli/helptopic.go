package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/docs"
)

// topicsOf are the pages of the commands that have one of another name.
var topicsOf = map[string]string{
	"mode": "modes", "agent": "agents#driven-over-acp", "setup": "agents#integrations", "acp": "agents#our-own-agent-over-acp",
	"hook": "agents#the-hook-integration", "plugin": "extending#plugins", "skill": "skills", "uninstall": "install#uninstall", "undo": "undo",
	"mcp": "mcp-client", "doctor": "install",
}

// maxPage is how many lines of a page stand below the flags of a command.
const maxPage = 120

// pageOf is the page of a command: whole where it is short, else how to read it.
func pageOf(command string) string {
	topic := command
	if t := topicsOf[command]; t != "" {
		topic = t
	}
	text, _ := docs.Find(topic)
	if text == "" {
		return ""
	}
	if page := docs.Plain(text); strings.Count(page, "\n") <= maxPage {
		return page
	}
	return fmt.Sprintf("sidecar-ls help %s.md prints the page.\n", strings.ReplaceAll(topic, "#", ".md#"))
}

func helpTopic(name string, w io.Writer) error {
	text, also := docs.Find(name)
	if text == "" && len(also) > 0 {
		return usagef("several pages have a section %q: sidecar-ls help %s", name, strings.Join(also, ", "))
	}
	if text == "" {
		near := commandNames()
		for _, p := range docs.Pages() {
			near = append(near, p.Name)
		}
		meant := didYouMean(name, near)
		if meant == "" {
			meant = didYouMean(name, docs.Sections())
		}
		return usagef("there is no help on %q%s; sidecar-ls help lists the commands, help topics the pages", name, meant)
	}
	fmt.Fprint(w, docs.Plain(text))
	return nil
}

func helpTopics(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range docs.Pages() {
		fmt.Fprintf(t, "%s\t%s\n", p.Name, p.Title)
	}
	fmt.Fprint(t, "\nA section is a topic, too (help the-hook-integration), a setting (help sidecar.mode) and a tool (help grep).\n")
	return t.Flush()
}
