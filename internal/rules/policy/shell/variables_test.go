package shell

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// A variable that stays set in the shell counts for the commands after it as
// one that stands before a command does.
func TestExported(t *testing.T) {
	rules := MakeRules([]Rule{{[]string{"make"}, policy.Allow, false, ""}})
	denies := MakeRules([]Rule{{[]string{"make"}, policy.Allow, false, ""}, {[]string{"curl"}, policy.Deny, false, ""}})
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

// TestAssigning: a variable that changes what programs run is found in every form
// that sets one. The controls set harmless variables in the same forms, where
// bash evaluates nothing besides.
func TestAssigning(t *testing.T) {
	j := &Judge{}
	forms := []string{
		"%s=bin; cat x", "%s+=bin; cat x", "%s=bin cat x", "export %s=bin; cat x", "readonly %s=bin; cat x",
		"for %s in bin; do cat x; done", "for %s in bin lib\ndo cat x\ndone", "for %s; do cat x; done", "for %s in *; do :; done", "for %s in; do :; done", "for %s in bin; { cat x; }", "for %s in $PWD/bin; do :; done; export %s",
		"select %s in bin; do cat x; done", "select %s; do cat x; done <<< 1", "while true; do for %s in bin; do cat x; done; done", "(for %s in bin; do cat x; done)", "bash -c 'for %s in bin; do cat x; done'",
		"\\export %s=bin; cat x", "'export' %s=bin; cat x", "builtin export %s=bin; cat x", "A=1 export %s=bin; cat x", "\\export %s+=:bin; cat x",
	}
	for _, form := range forms {
		for _, name := range []string{"PATH", "LD_PRELOAD", "HOME", "GIT_DIR", "BASH_ENV"} {
			line := strings.ReplaceAll(form, "%s", name)
			if v := j.Judge(line); v.Outcome == policy.Allow {
				t.Errorf("%q is allowed by %s (%s)", line, v.Rule, v.Reason)
			}
		}
		line := strings.ReplaceAll(form, "%s", "f")
		if v := j.Judge(line); v.Outcome != policy.Allow {
			t.Errorf("control %q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
	for _, line := range []string{ // bash evaluates something, or a program sets it
		"for ((PATH=1;;)); do cat x; done", "((PATH=1))", "echo $((PATH=1))", "echo $[PATH=1]", "let PATH=1", "echo ${PATH:=bin}", "echo ${PATH=bin}", "echo \"${x:-${PATH:=bin}}\"", "cat <<E\n${PATH:=bin}\nE", "echo ${x:PATH=1}", "echo ${x[PATH=1]}",
		"declare PATH=bin", "typeset PATH=bin", "local PATH=bin", "declare -n p=PATH", "exec {PATH}>f", "cat {PATH}<f", "coproc PATH { cat; }", "PATH=(bin)", "PATH[0]=bin", "printf -v PATH bin", "builtin printf -v PATH bin", "read PATH", "read -a PATH", "mapfile PATH",
		"getopts a PATH", "wait -p PATH", "unset PATH", "command export PATH=bin", "echo $(for PATH in bin; do cat x; done)", "\\declare PATH=bin", "command readonly PATH=bin", "\\export P*", "\\export $x", "[[ -v PATH[x=1] ]]", "[[ x -eq PATH=1 ]]", "f() { PATH=bin; }", "test -v 'a[PATH=1]'",
	} {
		if v := j.Judge(line); v.Outcome == policy.Allow {
			t.Errorf("%q is allowed by %s (%s)", line, v.Rule, v.Reason)
		}
	}
}
