package shell

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// A variable that stays set in the shell counts for the commands after it as
// one that stands before a command does.
func TestExported(t *testing.T) {
	rules := MakeRules([]Rule{{[]string{"make"}, policy.Allow}})
	denies := MakeRules([]Rule{{[]string{"make"}, policy.Allow}, {[]string{"curl"}, policy.Deny}})
	for _, c := range []struct {
		prefixed, exported string
		rules              Rules
	}{
		{"LD_PRELOAD=./x.so make", "export LD_PRELOAD=./x.so; make", rules},
		{"LD_PRELOAD=./x.so make", "export LD_PRELOAD=./x.so; make", denies},
		{"LD_PRELOAD=./x.so ls", "export LD_PRELOAD=./x.so; ls", nil},
		{"COLOUR=no make", "export COLOUR=no; make", rules},
		{"COLOUR=no make", "export COLOUR=no; make", denies},
	} {
		j := &Judge{Rules: c.rules}
		one, other := j.Judge(c.prefixed), j.Judge(c.exported)
		if one.Outcome != other.Outcome || one.Rule != other.Rule {
			t.Errorf("%s: %q by %s; %s: %q by %s", c.prefixed, one.Outcome, one.Rule, c.exported, other.Outcome, other.Rule)
		}
	}
}

// What a person allowed for the session is a command with its variables,
// however they are set.
func TestRememberedWithVariables(t *testing.T) {
	allowed := map[string]bool{}
	j := &Judge{Remembered: func(key string) bool { return allowed[key] }}
	remember := func(line string) {
		for _, p := range j.Judge(line).Parts {
			allowed[p.Key] = p.Key != ""
		}
	}
	remember("make")
	remember("export TARGET=a; deploy")
	for line, want := range map[string]bool{
		"make":                       true,
		"export TARGET=b; make":      false,
		"TARGET=b make":              false,
		"TARGET=$(cat t); make":      false,
		"export TARGET=a; deploy":    true,
		"export TARGET=b; deploy":    false,
		"deploy":                     false,
		"export TARGET=a B=; deploy": false,
	} {
		if got := j.Judge(line).Outcome == policy.Allow; got != want {
			t.Errorf("%s: allowed is %v", line, got)
		}
	}
}
