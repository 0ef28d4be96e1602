package system

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Catalog is all tools that a session may use, whether its model's list has
// them or not.
type Catalog interface {
	// Search returns the tools that a question in plain words asks for, best first;
	// all of them for an empty one.
	Search(session, question string) ([]tools.Found, error)
	// Activate puts a tool into the list of the session's model and returns it.
	// It fails with tools.UnknownTool, and with tools.Denied for a tool that the
	// session may not use.
	Activate(session, name string) (*tools.Tool, error)
}

//go:embed tool_search.md
var toolSearchText string

type toolSearchIn struct {
	Query string   `json:"query,omitempty" jsonschema:"what you want to do, in a few words" maxLength:"400"`
	Name  string   `json:"name,omitempty" jsonschema:"a tool to activate" maxLength:"200"`
	Names []string `json:"names,omitempty" jsonschema:"several tools to activate" maxItems:"20"`
	Limit int      `json:"limit,omitempty" jsonschema:"most tools to name" default:"15" minimum:"1" maximum:"50"`
}

func toolSearch(catalog Catalog) *tools.Tool {
	d := tools.Def{
		Name: "tool_search", Title: "Find tools", Example: `{"query": "commit what is staged"}`, Description: toolSearchText, Category: "system", Core: true,
		Tags:   []string{"activate", "discover", "more"},
		Output: foundTools{}, Also: []tools.Form{{When: "of an activation", Of: activatedTools{}}},
	}
	return tools.NewRead(d, func(_ context.Context, c *tools.Call, in toolSearchIn) (tools.Result, error) {
		names := in.Names
		if in.Name != "" {
			names = slices.Insert(slices.Clone(names), 0, in.Name)
		}
		switch {
		case len(names) > 0:
			return activate(catalog, c.Session, names)
		case strings.TrimSpace(in.Query) == "":
			return allTools(catalog, c.Session)
		}
		return searchTools(catalog, c.Session, in.Query, in.Limit)
	})
}

type foundTool struct {
	Name        string `json:"name" jsonschema:"of the tool"`
	Description string `json:"description" jsonschema:"what it does"`
	Listed      bool   `json:"listed" jsonschema:"it is in the model's list already"`
}

// foundTools is the structured result of a search.
type foundTools struct {
	More    int         `json:"more" jsonschema:"that fit too"`
	Results []foundTool `json:"results" jsonschema:"first those that are not listed"`
}

func searchTools(catalog Catalog, session, question string, limit int) (tools.Result, error) {
	found, err := catalog.Search(session, question)
	if err != nil {
		return tools.Result{}, err
	}
	// What the model can't see yet is what it asked for.
	slices.SortStableFunc(found, func(a, b tools.Found) int { return order(a.Listed) - order(b.Listed) })
	left := max(len(found)-limit, 0)
	found = found[:len(found)-left]
	results := []foundTool{}
	var text strings.Builder
	var listed []string
	for _, f := range found {
		results = append(results, foundTool{f.Name, f.Description, f.Listed})
		if f.Listed {
			listed = append(listed, f.Name)
			continue
		}
		fmt.Fprintf(&text, "%s: %s\n\n", f.Name, f.Description)
	}
	switch {
	case text.Len() > 0:
		text.WriteString("To call a tool, activate it by name: that says its arguments and puts it into your list.")
	case len(listed) == 0:
		text.WriteString("No tool fits. Try other words for what you want to do.")
	default:
		text.WriteString("No tool fits that you don't have.")
	}
	if len(listed) > 0 {
		text.WriteString("\nIn your list already: " + strings.Join(listed, ", "))
	}
	if left > 0 {
		fmt.Fprintf(&text, "\n%d more fit; a higher limit shows them.", left)
	}
	return tools.Result{Text: text.String(), Structured: foundTools{left, results}, Truncated: left > 0}, nil
}

// allTools names every tool, with the first sentence of what it does.
func allTools(catalog Catalog, session string) (tools.Result, error) {
	found, err := catalog.Search(session, "")
	if err != nil {
		return tools.Result{}, err
	}
	results := []foundTool{}
	var text strings.Builder
	for _, f := range found {
		does := firstSentence(f.Description)
		results = append(results, foundTool{f.Name, f.Description, f.Listed})
		fmt.Fprintf(&text, "%s: %s\n", f.Name, strings.TrimSuffix(does, "."))
	}
	text.WriteString("\nTo call one that is not in your list, activate it by name.")
	return tools.Result{Text: text.String(), Structured: foundTools{0, results}}, nil
}

// sentenceEnd is where a sentence ends: not behind an abbreviation such as e.g.
var sentenceEnd = regexp.MustCompile(`[^.\s]{3,}\. +[A-Z]|[)` + "`" + `"]\. +[A-Z]`)

func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if at := sentenceEnd.FindStringIndex(text); at != nil {
		return strings.TrimRight(text[:at[1]-1], " ")
	}
	return text
}

func order(listed bool) int {
	if listed {
		return 1
	}
	return 0
}

type activeTool struct {
	Name        string          `json:"name" jsonschema:"of the tool"`
	Description string          `json:"description" jsonschema:"what it does"`
	InputSchema json.RawMessage `json:"inputSchema" jsonschema:"JSON schema of its arguments" type:"object"`
}

// activatedTools is the structured result of an activation.
type activatedTools struct {
	Activated []activeTool      `json:"activated" jsonschema:"that can be called now"`
	Failed    map[string]string `json:"failed" jsonschema:"why another could not be activated, by its name"`
}

// activate activates what of names it can; it fails only if that is nothing.
func activate(catalog Catalog, session string, names []string) (tools.Result, error) {
	active := []activeTool{}
	failed := map[string]string{}
	var text, problems strings.Builder
	var first error
	for _, name := range names {
		t, err := catalog.Activate(session, name)
		if err != nil {
			if first == nil {
				first = err
			}
			failed[name] = tools.AsError(err).Message
			fmt.Fprintf(&problems, "Not activated: %s\n", tools.AsError(err).Message)
			continue
		}
		if slices.ContainsFunc(active, func(a activeTool) bool { return a.Name == t.Name }) {
			continue
		}
		active = append(active, activeTool{t.Name, t.Description, t.InputSchema()})
		fmt.Fprintf(&text, "%s is active: %s\nArguments: %s\n\n", t.Name, t.Description, t.InputSchema())
	}
	if len(active) == 0 {
		return tools.Result{}, first
	}
	return tools.Result{
		Text:       strings.TrimSpace(text.String() + problems.String()),
		Structured: activatedTools{active, failed},
	}, nil
}
