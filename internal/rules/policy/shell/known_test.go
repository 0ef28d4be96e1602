package shell

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// What can be anything is refused as a rule for good, with the reason. Controls: what is narrow.
func TestCheckKnown(t *testing.T) {
	for words, why := range map[string]string{
		"":                   "needs the first words",
		"bash":               "runs whatever",
		"sh -c":              "runs whatever",
		"python3 -m pytest":  "runs whatever",
		"python3.12 x.py":    "runs whatever",
		"node server.js":     "runs whatever",
		"pwsh":               "runs whatever",
		"env npm test":       "runs other commands",
		"xargs npm test":     "runs other commands",
		"timeout 5 npm test": "runs other commands",
		"find . -exec":       "runs other commands",
		"sudo make test":     "runs other commands",
		"ssh host":           "can be anything",
		"vim":                "can be anything",
		"tee":                "can be anything",
		"rm -rf":             "can't be undone",
		"git push --force":   "can't be undone",
		"npm publish":        "can't be undone",
		"npm":                "known are: `npm test`, `npm run NAME`",
		"npm run":            "known are",
		"npm run bash":       "known are",
		"npm exec":           "known are",
		"npx cowsay":         "not known",
		"git":                "known are",
		"git -c":             "known are",
		"go":                 "known are",
		"go run":             "known are",
		"cargo run":          "known are",
		"make":               "known are",
		"make SHELL=/bin/sh": "known are",
		"make -f":            "known are",
		"docker run x sh":    "not known",
		"./gradlew test":     "is a file",
		"/usr/bin/make test": "is a file",
		"awk":                "not known",
		"cat":                "not known",
		"npm\u202e test":     "characters",
		"npm test\x1b[2J":    "characters",
		"npm run a;sh":       "characters",
		"npm run $(sh)":      "characters",
		"npm run `sh`":       "characters",
		"npm run a|sh":       "characters",
		"nрm test":           "characters", // a Cyrillic letter
		"npm run " + strings.Repeat("x ", 10_000): "nobody",
		strings.Repeat("x", 300):                  "more than anybody reads",
	} {
		err := CheckKnown(strings.Fields(words))
		if why == "nobody" {
			why = "more than anybody reads"
		}
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.40q: %v; want %q", words, err, why)
		}
		if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == '\u202e' }) {
			t.Errorf("%.40q: the reason has what a person does not see: %q", words, err)
		}
	}
	if err := CheckKnown([]string{"npm", "run test"}); err == nil {
		t.Error("a word with a space")
	}
	for _, words := range []string{"npm test", "npm run lint:fix", "go test", "go vet", "make test", "cargo test", "pytest", "git add", "git commit", "mkdir"} {
		if err := CheckKnown(strings.Fields(words)); err != nil {
			t.Errorf("the control %s: %v", words, err)
		}
	}
}

// A rule with Known allows what begins so and goes on as is known, and nothing that only looks
// so. Control: a rule without it.
func TestKnownRule(t *testing.T) {
	rule := func(known bool, words string) Judge {
		return Judge{Rules: MakeRules([]Rule{{strings.Fields(words), policy.Allow, known, ""}}), Zone: func(path string) Zone {
			if strings.HasPrefix(path, "/") || strings.HasPrefix(path, "..") {
				return Outside
			}
			return Inside
		}}
	}
	for _, c := range []struct {
		rule, line  string
		known, bare bool // allowed by a rule with Known, and by one without
	}{
		{"npm run test", "npm run test", true, true},
		{"npm run test", "npm run test -s", true, true},
		{"npm run test", "npm run test && npm run test", true, true},
		{"npm run test", "npm run testx", false, false},
		{"npm run test", "npm run test && sh", false, false},
		{"npm run test", "npm run test --script-shell=./x", false, false},
		{"npm run test", "npm run test -- '$(sh)'", false, true},
		{"npm run test", "FOO=1 npm run test", false, true},
		{"npm run test", "NODE_OPTIONS=--require=./x npm run test", false, false},
		{"npm run test", "timeout 5 npm run test", false, true},
		{"npm run test", "./npm run test", false, false},
		{"cargo test", "cargo test --lib", true, true},
		{"cargo test", `cargo test --config 'target.x.runner="sh"'`, false, true},
		{"go test", "go test ./...", true, true},
		{"go test", "go test -exec sh ./...", false, false},
		{"go test", "go test -toolexec=./x ./...", false, false},
		{"go test", "go test /etc/x", false, true},
		{"pytest", "pytest -q tests", true, true},
		{"pytest", "pytest -p evil", false, true},
		{"pytest", "pytest -c ./evil.ini", false, true},
		{"make test", "make test", true, true},
		{"make test", "make test install", false, true},
		{"make test", "make test X=y", false, true},
		{"make test", "make test -f evil.mk", false, false},
		{"git commit", "git commit -m x", true, true},
		{"git commit", "git commit --amend -m x", false, true},
	} {
		j := rule(true, c.rule)
		if got := j.Judge(c.line).Outcome == policy.Allow; got != c.known {
			t.Errorf("%s, known: %s is allowed: %v", c.rule, c.line, got)
		}
		j = rule(false, c.rule)
		if got := j.Judge(c.line).Outcome == policy.Allow; got != c.bare {
			t.Errorf("%s: %s is allowed: %v", c.rule, c.line, got)
		}
	}
	// Beside a deny, what may run something else by its words is not allowed.
	j := Judge{Rules: MakeRules([]Rule{{[]string{"npm", "run", "test"}, policy.Allow, true, ""}, {[]string{"curl"}, policy.Deny, false, ""}})}
	if j.Judge("npm run test curl").Outcome == policy.Allow || j.Judge("npm run test").Outcome != policy.Allow {
		t.Error("beside a deny")
	}
}

// A verdict tells which patterns a line lacks.
func TestLacks(t *testing.T) {
	j := Judge{Rules: MakeRules([]Rule{{[]string{"go", "vet"}, policy.Allow, true, ""}})}
	for line, want := range map[string]string{
		"ls":                         "[] true",
		"go vet ./...":               "[] true",
		"go test ./... && go test .": "[go test] true",
		"go test . && make x":        "[go test make x] true",
		"go test . && foo":           "[] false",
		"git commit -m x; rm -rf y":  "[] false",
	} {
		v := j.Judge(line)
		list, ok := v.Opens()
		if got := strings.TrimSpace(strings.Join([]string{"[" + strings.Join(list, " ") + "]", map[bool]string{true: "true", false: "false"}[ok]}, " ")); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if w := Widest([]string{"npm", "run", "test"}); w != "every `npm run test …`, and so whatever the project's own files have it run" {
		t.Error(w)
	}
	if w := Widest([]string{"git", "add"}); w != "every `git add …`" {
		t.Error(w)
	}
}

// In PowerShell such a rule is as narrow. Control: a rule without Known.
func TestKnownRuleInPowerShell(t *testing.T) {
	for _, known := range []bool{true, false} {
		j := Judge{Rules: MakeRules([]Rule{{[]string{"cargo", "test"}, policy.Allow, known, ""}})}
		for command, narrow := range map[string]bool{"cargo test --lib": true, "cargo test --config x": false, "cargo test": true} {
			if got := j.Decide("x", FromPowerShell(said(t, nil, command))).Outcome == policy.Allow; got != (narrow || !known) {
				t.Errorf("known %v: %s is allowed: %v", known, command, got)
			}
		}
	}
}
