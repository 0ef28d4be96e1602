package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Lookup finds a tool by its name, by an old name, or by the name of an MCP
// tool as mcp:server/tool or mcp__server__tool. The slips that models make in
// names are put right, and repaired then says how, for the caller to pass on.
func (r *Registry) Lookup(name string) (t *Tool, repaired string, ok bool) {
	s := r.now.Load()
	if t := s.byName[name]; t != nil {
		return t, "", true
	}
	if t := s.mcp(name); t != nil {
		return t, "", true
	}
	for _, try := range nameRepairs(name) {
		t := s.byName[try]
		if t == nil {
			t = s.mcp(try)
		}
		if t == nil {
			t = s.byName[r.opts.Aliases[try]]
		}
		if t != nil {
			return t, fmt.Sprintf("tool name %q read as %s", Clip(name), t.Name), true
		}
	}
	if t := s.spelt(cleanName(name)); t != nil {
		return t, fmt.Sprintf("tool name %q read as %s", Clip(name), t.Name), true
	}
	return nil, "", false
}

// spelt is the tool whose name differs in case and separators alone; nil when it
// is not the only one.
func (s *snapshot) spelt(name string) (found *Tool) {
	want := fold(name)
	for _, t := range s.sorted {
		if fold(t.Name) != want {
			continue
		}
		if found != nil {
			return nil
		}
		found = t
	}
	return found
}

// Unknown is the error for a name that Lookup did not find.
func (r *Registry) Unknown(name string) *Error {
	s := r.now.Load()
	names := make([]string, len(s.sorted))
	for i, t := range s.sorted {
		names[i] = t.Name
	}
	text := fmt.Sprintf("there is no tool %q", Clip(name))
	if t := s.byName[elsewhere[fold(cleanName(name))]]; t != nil {
		return Errorf(UnknownTool, "%s; %s does that, for example %s", text, t.Name, Example(t))
	}
	if near := Near(cleanName(name), names, 3); near != nil {
		return Errorf(UnknownTool, "%s; did you mean %s?", text, strings.Join(near, ", "))
	}
	return Errorf(UnknownTool, "%s; use one of the tools that you were given", text)
}

func (s *snapshot) mcp(name string) *Tool {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		server, tool, _ := strings.Cut(rest, "__")
		name = "mcp:" + server + "/" + tool
	}
	return s.byMCP[name]
}

// nameRepairs are the readings of a name, the most likely first. The suffix
// _<digits> is cut only where nothing else fits, because a name may end so.
func nameRepairs(name string) []string {
	clean := cleanName(name)
	tries := []string{clean}
	if cut := strings.TrimRight(clean, "0123456789"); cut != clean && strings.HasSuffix(cut, "_") {
		tries = append(tries, strings.TrimSuffix(cut, "_"))
	}
	return tries
}

// cleanName leaves out white space, quotes and the prefixes that models put
// before names.
func cleanName(name string) string {
	name = strings.Trim(name, " \t\r\n\"'`")
	for _, prefix := range [...]string{"functions.", "functions_", "tools.", "default_api."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return rest
		}
	}
	return strings.TrimSuffix(name, "()")
}

// Filter chooses tools. Its zero value chooses all.
type Filter struct {
	Source   SourceKind
	Server   string // of MCP tools
	Category string

	// Allow are selectors: a name, a prefix followed by *, mcp:<server> or
	// mcp:<server>/<tool>. nil allows all tools, an empty list none.
	Allow []string
}

// List returns the tools that f chooses, sorted by name, and the selectors of
// f.Allow that fit no tool at all, so that a misspelt one does not go unseen.
func (r *Registry) List(f Filter) (list []*Tool, unmatched []string) {
	s := r.now.Load()
	for _, t := range s.sorted {
		if r.Matches(f, t) {
			list = append(list, t)
		}
	}
	for _, selector := range f.Allow {
		if !slices.ContainsFunc(s.sorted, func(t *Tool) bool { return r.selects(selector, t) }) {
			unmatched = append(unmatched, selector)
		}
	}
	return list, unmatched
}

// Matches reports whether f chooses t.
func (r *Registry) Matches(f Filter, t *Tool) bool {
	return (f.Source == "" || f.Source == t.Source.Kind) &&
		(f.Server == "" || t.Source.Kind == SourceMCP && f.Server == t.Source.Server) &&
		(f.Category == "" || f.Category == t.Category) &&
		(f.Allow == nil || slices.ContainsFunc(f.Allow, func(s string) bool { return r.selects(s, t) }))
}

func (r *Registry) selects(selector string, t *Tool) bool {
	switch {
	case selector == "":
		return false
	case selector == t.Name, r.opts.Aliases[selector] == t.Name:
		return true
	case strings.HasPrefix(selector, "mcp:"):
		return t.Source.Kind == SourceMCP && (selector == "mcp:"+t.Source.Server || selector == mcpSelector(t.Source))
	}
	prefix, glob := strings.CutSuffix(selector, "*")
	return glob && strings.HasPrefix(t.Name, prefix)
}

// Names are the names of list.
func Names(list []*Tool) []string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return names
}
