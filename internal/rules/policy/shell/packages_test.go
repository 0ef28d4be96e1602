package shell

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// digestOf has these packages in each lock file.
type digestOf string

func (d digestOf) Digest([]string) string { return string(d) }

// A rule with Packages allows the command alone, with those packages, and after rules that
// forbid. The controls are the first lines.
func TestPackages(t *testing.T) {
	allow := Rule{Prefix: []string{"npm", "ci"}, Decision: policy.Allow, Known: true, Packages: "one"}
	j := Judge{Rules: MakeRules([]Rule{allow}), Installs: digestOf("one")}
	for _, line := range []string{"npm ci", " npm ci\n", "npm ci --ignore-scripts", "npm 'ci'"} {
		if v := j.Judge(line); v.Outcome != policy.Allow || v.Packages != "one" {
			t.Errorf("control: %q is %q (%s)", line, v.Outcome, v.Reason)
		}
	}
	for _, line := range []string{
		"npm ci && true", "true; npm ci", "npm ci | cat", "npm ci > log", "npm ci < x", "A=1 npm ci", "A=1; npm ci", "export A=1; npm ci", "env npm ci", "npm ci &", "! npm ci", "(npm ci)", "npm ci # x", "npm ci $X", "npm c*", "npm ci *",
		"f() { npm ci; }", "for x in 1 2; do npm ci; done", "bash -c 'npm ci'", "command npm ci", "./npm ci", "/usr/bin/npm ci", "npm  run ci", "time npm ci", "cd x; npm ci", "$(npm ci)", "npm ci\nnpm ci", "npm\u00a0ci", "nрm ci",
	} {
		if v := j.Judge(line); v.Outcome == policy.Allow || v.Packages != "" {
			t.Errorf("%q is %q (%s)", line, v.Outcome, v.Reason)
		}
	}
	for name, other := range map[string]Judge{
		"another list":     {Rules: j.Rules, Installs: digestOf("two")},
		"no list":          {Rules: j.Rules, Installs: digestOf("")},
		"nobody looks":     {Rules: j.Rules},
		"a rule that asks": {Rules: MakeRules([]Rule{allow, {Prefix: []string{"npm"}, Decision: policy.Ask}}), Installs: j.Installs},
		"one that denies":  {Rules: MakeRules([]Rule{allow, {Prefix: []string{"npm", "ci"}, Decision: policy.Deny}}), Installs: j.Installs},
	} {
		if v := other.Judge("npm ci"); v.Outcome == policy.Allow || strings.Contains(v.Reason, "just the packages") {
			t.Errorf("%s: %q (%s)", name, v.Outcome, v.Reason)
		}
	}
	if v := j.Judge("npm test"); v.Outcome == policy.Allow {
		t.Error("another command")
	}
}
