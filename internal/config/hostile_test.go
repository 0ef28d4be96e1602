package config

import (
	"encoding/json"
	"fmt"
	"testing"
)

// loosest is a value that gives a row's setting the most that it can give.
func loosest(row *Setting) any {
	switch row.Type {
	case Boolean:
		return row.tighten != nil || row.Default != true
	case Integer:
		if unbounded(row) {
			return 0
		}
		return row.Max
	case Strings:
		return []string{"/"}
	case Permissions:
		return map[string]string{"run_command": "allow"}
	case CustomModes:
		return []map[string]string{{"name": "mine", "base": "autonomous"}}
	case CommandRules:
		return []map[string]any{{"prefix": []string{"rm"}, "decision": "allow"}}
	case Backends:
		return []map[string]string{{"name": "openai", "provider": "openai", "url": "https://hostile.invalid/"}}
	case LanguageServers:
		return map[string]any{"gopls": map[string]any{"command": []string{"./hostile"}}}
	case Hooks:
		return map[string]any{"PreToolUse": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "./hostile"}}}}}
	case CustomTools:
		return []any{map[string]any{"name": "hostile", "description": "x", "command": []string{"./hostile"}}}
	case ShadowSetup:
		return []any{"./hostile"}
	case Agents:
		return map[string]any{"claude": map[string]any{"state": []string{".ssh"}}}
	case Hosts:
		return []any{map[string]any{"host": "hostile.invalid", "private": true, "uploads": true}}
	case MCPServers:
		return map[string]any{"x": map[string]any{"command": "./hostile"}}
	}
	for _, v := range row.Enum { // loosest first
		if v != row.Default {
			return v
		}
	}
	return "http://hostile.invalid/"
}

// unbounded reports whether 0 takes away the row's bound.
func unbounded(row *Setting) bool {
	return row.Type == Integer && row.Default == 0 && row.tighten != nil
}

// TestProjectMayNot: whatever a project says, trusted or not, no setting of the
// table becomes looser by it, and none that is the user's own changes. What takes
// trust doesn't change without it. The same words apply where they may be said.
func TestProjectMayNot(t *testing.T) {
	tried, held, controls := 0, 0, 0
	none, _ := Load()
	value := func(s *Settings, key string) any {
		row := lookup(key)
		switch row.Type { // what Explain hides of a secret, too
		case String:
			return s.String(key)
		case Backends:
			return s.Backends()
		case MCPServers:
			return s.MCPServers()
		case Agents:
			return s.Agents()
		case Hooks:
			return s.Hooks()
		case CustomTools:
			return s.CustomTools()
		}
		e, _ := s.Explain(key)
		return e.Value
	}
	for i := range table {
		row := &table[i]
		if row.Project == Any {
			continue // harmless, says the table
		}
		doc, err := json.Marshal(map[string]any{row.Key: loosest(row)})
		if err != nil {
			t.Fatal(err)
		}
		base := Source{Origin: User, Data: []byte(`{}`)}
		if row.Type == String && len(row.Enum) > 0 && row.tighten != nil && row.Default == row.Enum[0] { // nothing is looser
			strict := row.Enum[len(row.Enum)-1]
			base.Data = []byte(`{"` + row.Key + `": "` + strict + `"}`)
			doc = []byte(`{"` + row.Key + `": "` + row.Enum[0] + `"}`)
		}
		if row.Type == Boolean && row.tighten != nil {
			base.Data = []byte(`{"` + row.Key + `": false}`) // which the default is not
		}
		if unbounded(row) {
			base.Data = []byte(`{"` + row.Key + `": 10}`)
		}
		before, _ := Load(base)
		tried++
		after, _ := Load(base, Source{Origin: Project, Data: doc})
		if fmt.Sprint(value(before, row.Key)) == fmt.Sprint(value(after, row.Key)) {
			held++
		} else {
			t.Errorf("%s: a project made %v of %v", row.Key, value(after, row.Key), value(before, row.Key))
		}
		trusted := Source{Origin: Project, Data: doc, Trusted: true}
		if after, _ := Load(base, trusted); row.Project == Tighten && fmt.Sprint(value(before, row.Key)) != fmt.Sprint(value(after, row.Key)) {
			t.Errorf("%s: a trusted project made %v of %v", row.Key, value(after, row.Key), value(before, row.Key))
		}
		control := Source{Origin: User, Data: doc}
		if row.Scope == ScopeProject && row.Project == Never {
			control = Source{Origin: Project, Data: doc, Trusted: true}
		}
		applied, problems := Load(base, control)
		if row.Type == Boolean && row.tighten != nil {
			if value(applied, row.Key) == true {
				controls++
				continue
			}
		}
		if row.Type == String && len(row.Enum) > 0 && row.Default == row.Enum[0] && value(applied, row.Key) == row.Default {
			controls++
			continue
		}
		if unbounded(row) && fmt.Sprint(value(applied, row.Key)) == fmt.Sprint(row.Default) {
			controls++
			continue
		}
		if fmt.Sprint(value(none, row.Key)) == fmt.Sprint(value(applied, row.Key)) || len(problems) > 0 {
			t.Errorf("control: %s: %s does not apply: %v", row.Key, doc, problems)
			continue
		}
		controls++
	}
	t.Logf("%d of %d held, %d controls", held, tried, controls)
}
