package config

import (
	"slices"
	"strings"
	"testing"
)

// TestAgents: what is wrong in the setting agents is left out and said, and the
// user's file alone has it.
func TestAgents(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		kept  []string
		said  string
	}{
		"right":               {`{"a": {"program": "p", "state": [".p"], "copied": [".p.json"], "env": ["K"], "network": true, "acp": [], "acpVersion": 1, "resume": ["-c"]}}`, []string{"a"}, ""},
		"no object":           {`["a"]`, nil, "must be an object of agents"},
		"an unknown field":    {`{"a": {"ports": []}}`, []string{"a"}, "ports"},
		"a path outside":      {`{"a": {"state": ["../x"]}, "b": {}}`, []string{"b"}, "must be paths in the home"},
		"the whole home":      {`{"a": {"state": ["./"]}, "b": {}}`, []string{"b"}, "must be paths in the home"},
		"an absolute path":    {`{"a": {"copied": ["/etc/passwd"]}, "b": {}}`, []string{"b"}, "must be paths in the home"},
		"a network of words":  {`{"a": {"network": "yes"}, "b": {}}`, []string{"b"}, "network must be true or false"},
		"a name with a slash": {`{"a/b": {}, "b": {}}`, []string{"b"}, "without spaces and slashes"},
		"version 2":           {`{"a": {"acpVersion": 2}}`, []string{"a"}, "a: acpVersion 2 is not spoken any more; 1 is used"},
		"version 3":           {`{"a": {"acpVersion": 3}, "b": {}}`, []string{"b"}, "acpVersion must be 1, not 3"},
		"a version in words":  {`{"a": {"acpVersion": "2"}, "b": {"acpVersion": 1}}`, []string{"b"}, "acpVersion must be 1, not"},
		"a list of numbers":   {`{"a": {"env": [1]}, "b": {}}`, []string{"b"}, "env"},
	} {
		t.Run(name, func(t *testing.T) {
			set, problems := Load(Source{Origin: User, Name: "user", Data: []byte(`{"agents": ` + c.value + `}`)})
			var kept []string
			for name := range set.Agents() {
				kept = append(kept, name)
			}
			if !slices.Equal(kept, c.kept) {
				t.Errorf("kept %q, want %q", kept, c.kept)
			}
			if len(problems) == 0 != (c.said == "") || len(problems) > 0 && !strings.Contains(problems[0].Message, c.said) {
				t.Errorf("said %v, want %q", problems, c.said)
			}
		})
	}
	set, problems := Load(Source{Origin: Project, Name: "project", Data: []byte(`{"agents": {"a": {"state": [".ssh"]}}}`)})
	if len(set.Agents()) != 0 || len(problems) == 0 {
		t.Errorf("a project says what agents see: %v, %v", set.Agents(), problems)
	}
}
