package shell

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// The parser's words below were written down by its documentation: PowerShell does
// not run where these tests do.

// said is what PowerShell's parser says of a line of one command for each argument: a
// word in quotes is quoted in the line, one that begins with $ is not known.
func said(t *testing.T, more map[string]any, commands ...string) []byte {
	t.Helper()
	type word struct {
		Text  string `json:"text"`
		Known bool   `json:"known"`
		Glob  bool   `json:"glob"`
	}
	list := []map[string]any{}
	for _, c := range commands {
		var words []word
		for _, w := range strings.Fields(c) {
			text := strings.Trim(w, "'")
			words = append(words, word{text, !strings.ContainsAny(w, "${"), text == w && strings.ContainsAny(w, "*?[")})
		}
		list = append(list, map[string]any{"text": c, "words": words})
	}
	all := map[string]any{"errors": []string{}, "commands": list, "writes": []word{}, "doubts": []string{}}
	for name, value := range more {
		all[name] = value
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPowerShell(t *testing.T) {
	rules := MakeRules([]Rule{
		{[]string{"npm", "test"}, policy.Allow, false, ""}, {[]string{"rm"}, policy.Allow, false, ""}, {[]string{"go"}, policy.Allow, false, ""},
		{[]string{"git", "push"}, policy.Deny, false, ""}, {[]string{"Remove-Item", "-Recurse"}, policy.Deny, false, ""}, {[]string{"format"}, policy.Deny, false, ""},
	})
	free := MakeRules([]Rule{{[]string{"npm", "test"}, policy.Allow, false, ""}})
	zone := func(path string) Zone {
		switch {
		case strings.HasSuffix(path, ".env"):
			return Sensitive
		case strings.Contains(path, ":") || strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, ".."):
			return Outside
		case path == ".mcp.json":
			return Guarded
		}
		return Inside
	}
	word := func(text string, known bool) []map[string]any {
		return []map[string]any{{"text": text, "known": known}}
	}
	for _, c := range []struct {
		rules    Rules
		commands []string
		more     map[string]any
		want     policy.Outcome
		lost     bool
	}{
		{rules, []string{"npm test"}, nil, policy.Allow, false},
		{rules, []string{"NPM.cmd test"}, nil, "", false}, // the rule names npm
		{free, []string{"npm test", "Get-Location"}, nil, policy.Allow, false},
		{free, []string{"npm test $x"}, nil, "", false},
		{free, []string{"npm test"}, map[string]any{"doubts": []string{"it has a InvokeMemberExpressionAst"}}, "", false},
		{rules, []string{"npm test"}, map[string]any{"doubts": []string{"it has a InvokeMemberExpressionAst"}}, policy.Ask, false},
		{free, []string{"npm test", "node x.js"}, nil, "", false},
		{free, []string{"npm test"}, map[string]any{"writes": word("out.txt", true)}, "", false},
		{free, []string{"npm test"}, map[string]any{"writes": word(".mcp.json", true)}, policy.Ask, false},
		{free, []string{"npm test"}, map[string]any{"writes": word("$x", false)}, "", false},

		{free, []string{"npm test a&calc"}, nil, "", false}, // npm is a batch file
		{free, []string{"npm test a%PATH%"}, nil, "", false},
		{free, []string{"npm test a^b", "Get-Location"}, nil, "", false},
		{free, []string{"npm test a;b(c)!=,"}, nil, policy.Allow, false},
		{rules, []string{"go test a&calc"}, nil, policy.Allow, false}, // go is none
		{MakeRules([]Rule{{[]string{"go.exe", "test"}, policy.Allow, false, ""}}), []string{"go.exe test a&calc"}, nil, policy.Allow, false},
		{MakeRules([]Rule{{[]string{"go.cmd", "test"}, policy.Allow, false, ""}}), []string{"go.cmd test a&calc"}, nil, "", false},
		{MakeRules([]Rule{{[]string{"./go", "test"}, policy.Allow, false, ""}}), []string{"./go test a&calc"}, nil, "", false},
		{MakeRules([]Rule{{[]string{"npm", "a&b"}, policy.Allow, false, ""}}), []string{"npm a&b"}, nil, policy.Allow, false},

		{rules, []string{"git push"}, nil, policy.Deny, false},
		{rules, []string{`C:\git\cmd\Git.EXE PUSH --force`}, nil, policy.Deny, false},
		{rules, []string{"git status"}, nil, policy.Ask, false}, // in other words it may be denied
		{rules, []string{"git $what"}, nil, policy.Ask, false},
		{rules, []string{"$program push"}, nil, policy.Ask, false},
		{rules, []string{"Get-ChildItem", "rm -recurse x"}, nil, policy.Deny, true},
		{rules, []string{"del x"}, nil, policy.Ask, false},
		{free, []string{"ri -Fo x"}, nil, "", true},
		{free, []string{"del x"}, nil, "", false},
		{MakeRules([]Rule{{[]string{"rm"}, policy.Allow, false, ""}}), []string{"rm x"}, nil, "", false}, // it is another rm than the rule's
		{rules, []string{"iex $line"}, nil, policy.Ask, false},
		{rules, []string{"cmd /c dir"}, nil, policy.Ask, false},
		{free, []string{"git push --force"}, nil, "", true},

		{free, []string{"ls -Recurse", "Get-Content a.txt", "Select-Object -First 3"}, nil, policy.Allow, false},
		{free, []string{"LS"}, nil, policy.Allow, false},
		{free, []string{`.\ls`}, nil, "", false}, // a file, not the alias
		{free, []string{"./Get-Content a.txt"}, nil, "", false},
		{free, []string{"cat.exe a.txt"}, nil, "", false},
		{free, []string{`C:\x\cat.ps1 a.txt`}, nil, "", false},
		{free, []string{"cat .env"}, nil, policy.Ask, false},
		{free, []string{"cat -Path:.env"}, nil, policy.Ask, false},
		{free, []string{"cat '*'"}, nil, "", false},
		{free, []string{"cat $x"}, nil, "", false},
		{free, []string{`cat ..\secret`}, nil, "", false},
		{free, []string{"ls env:"}, nil, "", false},
		{free, []string{"ls -Path:env:"}, nil, "", false},
		{free, []string{"Select-Object {$_.x}"}, nil, "", false},
		{free, nil, nil, policy.Allow, false},
	} {
		j := Judge{Rules: c.rules, Zone: zone}
		v := j.Decide("the line", FromPowerShell(said(t, c.more, c.commands...)))
		if v.Outcome != c.want || (v.Irrecoverable != "") != c.lost {
			t.Errorf("%q %v: %q (%s: %s), lost %q, want %q, %v", c.commands, c.more, v.Outcome, v.Rule, v.Reason, v.Irrecoverable, c.want, c.lost)
		}
	}
}

// TestPowerShellUnread: nothing allows a line that could not be read, and a rule that
// denies what it names does.
func TestPowerShellUnread(t *testing.T) {
	rules := MakeRules([]Rule{{[]string{"npm"}, policy.Allow, false, ""}, {[]string{"git", "push"}, policy.Deny, false, ""}, {[]string{"Remove-Item"}, policy.Deny, false, ""}})
	for line, want := range map[string]policy.Outcome{
		"npm test": policy.Ask, "npm test; & 'GIT.exe' pull": policy.Deny, "x | del": policy.Deny, "npm run git-hook": policy.Ask, "": policy.Ask,
	} {
		for _, l := range []*Line{Unread("there is no parser"), FromPowerShell([]byte("no JSON")), FromPowerShell(said(t, map[string]any{"errors": []string{"Missing }"}}, "npm test"))} {
			j := Judge{Rules: rules, Remembered: func(string) bool { return true }}
			if v := j.Decide(line, l); v.Outcome != want || v.OnlyLooks() {
				t.Errorf("%s: %q (%s), want %q", line, v.Outcome, v.Reason, want)
			}
		}
	}
}

// TestPowerShellRemembered: a person's yes holds for the same words, and not for the
// same ones in bash.
func TestPowerShellRemembered(t *testing.T) {
	j := Judge{}
	v := j.Decide("x", FromPowerShell(said(t, nil, "node x.js")))
	if v.Key == "" || v.Key == j.Judge("node x.js").Key {
		t.Errorf("%q", v.Key)
	}
	j.Remembered = func(part string) bool { return part == v.Key }
	for command, want := range map[string]policy.Outcome{"node x.js": policy.Allow, "node y.js": "", "node $x": "", "node *.js": ""} {
		if got := j.Decide("x", FromPowerShell(said(t, nil, command))); got.Outcome != want || want == "" && strings.ContainsAny(command, "$*") && got.Key != "" {
			t.Errorf("%s: %q, %q", command, got.Outcome, got.Key)
		}
	}
}

func TestParsesSafely(t *testing.T) {
	for line, want := range map[string]bool{
		"Get-ChildItem\r\nls": true, "using module .\\x": false, "Configuration X {}": false, "a\u202eb": false, "'abusing'": true,
	} {
		if _, ok := ParsesSafely(line); ok != want {
			t.Errorf("%q: %v", line, ok)
		}
	}
}
