package tools

import (
	"fmt"
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
	if r.opts.Away != nil {
		if err := r.opts.Away(cleanName(name)); err != nil {
			return err
		}
	}
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

// Names are the names of list.
func Names(list []*Tool) []string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return names
}
