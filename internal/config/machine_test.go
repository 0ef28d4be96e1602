package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const machineName = "the machine's settings, /m/settings.json"

// machineWith loads the machine's settings above others.
func machineWith(machine string, others ...Source) (*Settings, []Problem) {
	return Load(append([]Source{{Origin: Machine, Name: "/m/settings.json", Data: []byte(machine)}}, others...)...)
}

// TestFloor: of what the machine says and others say the stricter holds, whoever the others
// are; who tries to loosen it reads that, and nobody else does.
func TestFloor(t *testing.T) {
	for _, c := range []struct {
		key, machine, other string
		want                any
		loose               bool
	}{
		{"sandbox.mode", `"require"`, `"off"`, "require", true},
		{"sandbox.mode", `"require"`, `"auto"`, "require", true},
		{"sandbox.mode", `"auto"`, `"require"`, "require", false},
		{"sandbox.mode", `"require"`, ``, "require", false},
		{"sandbox.mode", `"off"`, ``, "auto", false}, // the default is stricter
		{"mode", `"review"`, `"autonomous"`, "review", true},
		{"mode", `"autonomous"`, `"review"`, "review", false},
		{"mode", `"review"`, `"manual"`, "review", true}, // neither is stricter: the machine's holds
		{"mode", `"review"`, `"mine"`, "review", true},
		{"budget.calls", `100`, ``, 100, false},
		{"budget.calls", `100`, `0`, 100, true},
		{"budget.calls", `100`, `200`, 100, true},
		{"budget.calls", `100`, `50`, 50, false},
		{"approval.timeoutSeconds", `60`, `300`, 60, true},
		{"tools.enabled", `false`, `true`, false, true},
		{"tools.enabled", `true`, `false`, false, false},
		{"commands.ask", `"always"`, `"auto"`, "always", true},
		{"workspace.trust", `"unknown"`, `"trusted"`, "unknown", true},
		{"workspace.trust", `"trusted"`, `"untrusted"`, "untrusted", false},
		{"audit.enabled", `true`, `false`, true, true},
		{"sandbox.writable", `[]`, `["/a"]`, []string(nil), true},
		{"sandbox.writable", `["/a", "/b"]`, `["/b", "/c"]`, []string{"/b"}, true},
		{"sandbox.writable", `["/a", "/b"]`, `["/b"]`, []string{"/b"}, false},
		{"sandbox.writable", `["/a"]`, ``, []string{"/a"}, false},
		{"mcp.network", `["a"]`, `["*"]`, []string{"a"}, true},
		{"mcp.network", `["*"]`, `["a"]`, []string{"a"}, false},
		{"commands.world", `"overlay"`, `"disk"`, "overlay", true}, // no order
		{"commands.world", `"overlay"`, `"overlay"`, "overlay", false},
		{"toolPermissions", `{"a": "deny", "b": "ask", "c": "allow"}`, `{"a": "allow", "b": "deny", "c": "ask", "d": "allow"}`, map[string]string{"a": "deny", "b": "deny", "c": "ask", "d": "allow"}, true},
		{"toolPermissions", `{"a": "deny"}`, `{"d": "allow"}`, map[string]string{"a": "deny", "d": "allow"}, false},
		{"hooks", `{"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]}`, `false`, nil, true},
	} {
		for _, origin := range []Origin{User, Client} {
			other := Source{Origin: origin, Name: "/o.json", Data: []byte(`{}`)}
			if c.other != "" {
				other.Data = []byte(`{"customModes": [{"name": "mine", "base": "autonomous"}], "` + c.key + `": ` + c.other + `}`)
			}
			if row := lookup(c.key); origin == Client && row.Scope == ScopeUser {
				continue
			}
			s, problems := machineWith(`{"`+c.key+`": `+c.machine+`}`, other)
			if s.Locked() != "" {
				t.Fatalf("%s: %s", c.key, s.Locked())
			}
			e, _ := s.Explain(c.key)
			if c.want != nil && !reflect.DeepEqual(e.Value, c.want) {
				t.Errorf("%s: %s and %s of %v are %v, want %v", c.key, c.machine, c.other, origin, e.Value, c.want)
			}
			loose := slices.ContainsFunc(problems, func(p Problem) bool {
				return p.Source == "/o.json" && p.Key == c.key && strings.Contains(p.Message, machineName)
			})
			if loose != c.loose || !c.loose && len(problems) > 0 {
				t.Errorf("%s: %s and %s: %v", c.key, c.machine, c.other, problems)
			}
			if c.loose && !slices.Contains(e.Sources, machineName) {
				t.Errorf("%s: its sources are %q", c.key, e.Sources)
			}
		}
	}
}

// TestFloorOfEach: whatever setting a row has, nothing that others say makes it looser than
// the machine does, by its own order; and the machine alone reports nothing.
func TestFloorOfEach(t *testing.T) {
	for i := range table {
		row := &table[i]
		for _, machine := range examplesOf(row) {
			for _, other := range examplesOf(row) {
				m := `{"` + row.Key + `": ` + machine + `}`
				s, _ := machineWith(m, Source{Origin: User, Data: []byte(`{"` + row.Key + `": ` + other + `}`)})
				if s.Locked() != "" {
					t.Fatalf("%s: %s", row.Key, s.Locked())
				}
				alone, problems := machineWith(m)
				if len(problems) > 0 {
					t.Errorf("%s: %v", m, problems)
				}
				if row.tighten == nil || !row.single() {
					continue
				}
				floor, got := s.floor[row.Key], s.values[row.Key].value
				if held, refused := row.tighten(row, floor, got); len(refused) > 0 || !reflect.DeepEqual(held, got) {
					t.Errorf("%s: %s and %s are %v, which is looser than %v", row.Key, machine, other, got, floor)
				}
				if held, refused := row.tighten(row, floor, alone.values[row.Key].value); len(refused) > 0 || !reflect.DeepEqual(held, alone.values[row.Key].value) {
					t.Errorf("%s: %s alone is %v", row.Key, machine, alone.values[row.Key].value)
				}
			}
		}
	}
}

// examplesOf are values of a row, as JSON.
func examplesOf(row *Setting) (all []string) {
	switch {
	case len(row.Enum) > 0 && row.Type == String:
		for _, v := range row.Enum {
			all = append(all, `"`+v+`"`)
		}
	case row.Type == Boolean:
		all = []string{"true", "false"}
	case row.Type == Integer:
		all = []string{strconv.Itoa(row.Min), strconv.Itoa(row.Min + 1), strconv.Itoa(row.Max)}
	}
	return all
}

// TestFloorOfRules: rules of the machine count beside others, and no project replaces them.
func TestFloorOfRules(t *testing.T) {
	user := Source{Origin: User, Data: []byte(`{"commandRules": [{"prefix": ["git", "push"], "decision": "allow"}]}`)}
	s, problems := machineWith(`{"commandRules": [{"prefix": ["git", "push"], "decision": "deny"}], "tools.custom": [{"name": "t", "description": "d", "command": ["/x"]}]}`, user,
		Source{Origin: Project, Trusted: true, Name: ".sidecar/settings.json", Data: []byte(`{"mode": "autonomous", "commandRules": [{"prefix": ["make"], "decision": "ask"}]}`)})
	if rules := s.CommandRules(); len(rules) != 3 || rules[2].Decision != "deny" || s.Locked() != "" {
		t.Errorf("%+v, %v, %s", rules, problems, s.Locked())
	}
}

// TestFloorOfModes: the mode that the user says is bounded too, and a project still tightens.
func TestFloorOfModes(t *testing.T) {
	s, _ := machineWith(`{"mode": "review"}`, Source{Origin: User, Data: []byte(`{"mode": "autonomous"}`)})
	if s.OwnMode() != "review" || s.FloorMode() != "review" {
		t.Errorf("%s, %s", s.OwnMode(), s.FloorMode())
	}
	s, problems := machineWith(`{"mode": "autonomous"}`, Source{Origin: Project, Name: "p", Data: []byte(`{"mode": "review"}`)})
	if s.String("mode") != "review" {
		t.Errorf("%s, %v", s.String("mode"), problems)
	}
}

// TestMachineLocks: what can't be understood of the machine's settings locks, and names the
// file and the reason; the same text of a user only is a problem.
func TestMachineLocks(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
	}{
		"no JSON":         {`{"mode": `, "is not valid JSON"},
		"no object":       {`[]`, "must be an object"},
		"a misspelt key":  {`{"sandbx.mode": "require"}`, "is no setting"},
		"a wrong value":   {`{"sandbox.mode": "reqire"}`, "reqire"},
		"a wrong type":    {`{"tools.enabled": "no"}`, "must be"},
		"a setting twice": {`{"mode": "review", "mode": "autonomous"}`, ""},
		"too long":        {strings.Repeat(" ", MaxSourceBytes+1), "is longer than"},
	} {
		s, problems := machineWith(c.text)
		if !strings.HasPrefix(s.Locked(), machineName+" can't be followed (") || !strings.Contains(s.Locked(), c.want) || !strings.Contains(s.Locked(), "an administrator") || len(problems) == 0 {
			t.Errorf("%s: %q, %v", name, s.Locked(), problems)
		}
		if s, _ := Load(Source{Origin: User, Data: []byte(c.text)}); s.Locked() != "" {
			t.Errorf("%s of a user: %q", name, s.Locked())
		}
	}
	for _, text := range []string{"", "{}", "// a comment\n{\"mode\": \"review\",}", `{"review.saveOnAccept": false}`, `{"mcp.servers": {"a": {"command": "/a", "access": "disk"}}}`} {
		if s, problems := machineWith(text); s.Locked() != "" {
			t.Errorf("%s: %s, %v", text, s.Locked(), problems)
		}
	}
	if s, _ := Load(Source{Origin: Machine, Name: "/m/settings.json", Broken: "it is a link"}); !strings.Contains(s.Locked(), "/m/settings.json can't be followed (it is a link)") {
		t.Error(s.Locked())
	}
}
