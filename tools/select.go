package tools

import (
	"path"
	"slices"
	"strings"
)

// Filter chooses tools. Its zero value chooses all.
type Filter struct {
	Source   SourceKind
	Server   string // of MCP tools
	Category string

	// Allow are selectors: see Selectors. nil allows all tools, an empty list
	// none.
	Allow []string
}

// Selectors says what a selector may be, for who wrote one that fits nothing.
const Selectors = "a tool's name, a pattern such as git_*, builtin, mcp or plugin, a category, mcp:<server>/* or mcp:<server>/<tool>, kit:<name>, or one of these behind a ! to take it away"

// List returns the tools that f chooses, sorted by name, and the selectors of
// f.Allow that fit no tool at all, so that a misspelt one does not go unseen.
func (r *Registry) List(f Filter) (list []*Tool, unmatched []string) {
	s := r.now.Load()
	f.Allow = r.WithoutKits(f.Allow)
	for _, t := range s.sorted {
		if r.Matches(f, t) {
			list = append(list, t)
		}
	}
	for _, selector := range f.Allow {
		plain := strings.TrimPrefix(selector, "!")
		if !slices.ContainsFunc(s.sorted, func(t *Tool) bool { return r.selects(plain, t) }) {
			unmatched = append(unmatched, selector)
		}
	}
	return list, unmatched
}

// forKits are the tools that a kit is worked with, besides its own.
var forKits = [...]string{"skill", "write_todos", "complete_todo"}

// WithoutKits are selectors with the tools of each kit in its place. A kit is what its
// name stands for at this moment: later changes of its file are no later rights. One
// that is not there keeps its selector, which fits nothing.
func (r *Registry) WithoutKits(selectors []string) []string {
	if r.opts.Kits == nil || !slices.ContainsFunc(selectors, func(s string) bool { return strings.HasPrefix(strings.TrimPrefix(s, "!"), "kit:") }) {
		return selectors
	}
	out := []string{}
	for _, s := range selectors {
		plain, away := strings.CutPrefix(s, "!")
		name, isKit := strings.CutPrefix(plain, "kit:")
		var list []string
		if isKit {
			list = r.opts.Kits(name)
		}
		switch {
		case list == nil:
			out = append(out, s)
		case away:
			for _, t := range list {
				out = append(out, "!"+t)
			}
		default:
			out = append(append(out, list...), forKits[:]...)
		}
	}
	return out
}

// Matches reports whether f chooses t.
func (r *Registry) Matches(f Filter, t *Tool) bool {
	return (f.Source == "" || f.Source == t.Source.Kind) &&
		(f.Server == "" || t.Source.Kind == SourceMCP && f.Server == t.Source.Server) &&
		(f.Category == "" || f.Category == t.Category) &&
		(f.Allow == nil || r.allowed(f.Allow, t))
}

// allowed reports whether a list of selectors chooses t. What is taken away
// stays away, whatever else chooses it; a list that only takes away has all the
// others.
func (r *Registry) allowed(selectors []string, t *Tool) bool {
	added, chosen := false, false
	for _, s := range selectors {
		away, isAway := strings.CutPrefix(s, "!")
		switch {
		case !isAway:
			added = true
			chosen = chosen || r.selects(s, t)
		case r.selects(away, t):
			return false
		}
	}
	return chosen || !added && len(selectors) > 0
}

// selects reports whether a selector, without its !, fits a tool.
func (r *Registry) selects(selector string, t *Tool) bool {
	switch {
	case selector == "":
		return false
	case selector == t.Name, r.opts.Aliases[selector] == t.Name:
		return true
	case SourceKind(selector) == t.Source.Kind, selector == t.Category:
		return true
	}
	if server, ok := strings.CutPrefix(selector, "mcp:"); ok {
		if t.Source.Kind != SourceMCP {
			return false
		}
		server, tool, one := strings.Cut(server, "/")
		return server == t.Source.Server && (!one || fits(tool, t.Source.Tool))
	}
	return strings.ContainsAny(selector, "*?[") && fits(selector, t.Name)
}

func fits(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == "*" || ok && err == nil
}
