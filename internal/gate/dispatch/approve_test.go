package dispatch

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
)

// lines is a rig with a person who answers with the scope Pattern.
func lines(t *testing.T) (r *rig, p *person, run func(line string) (res *Result, asked bool)) {
	r = newRig(t, "cautious")
	p = r.person
	p.answer = func(a Ask) (Answer, error) {
		answer := Answer{Allow: true, Scope: Pattern}
		if a.Irrecoverable {
			answer = Answer{Reason: "never"}
		}
		return answer, nil
	}
	return r, p, func(line string) (*Result, bool) {
		before := len(p.asked)
		args, _ := json.Marshal(shellIn{line})
		res := r.call(t, "shell", string(args))
		return res, len(p.asked) > before
	}
}

// patternsOf are the patterns that questions offered.
func patternsOf(asked []Ask) []string {
	var list []string
	for _, a := range asked {
		list = append(list, a.Pattern)
	}
	return list
}

// An approval with the scope pattern is a rule for the session: it holds for
// commands that begin alike, and against nothing that is stricter.
func TestPatternApproval(t *testing.T) {
	r, p, run := lines(t)
	scopes := make(chan string, 1) // of the answer to each call
	t.Cleanup(r.bus.Subscribe(func(e events.Event) {
		if e.Type == events.PermissionResolved {
			scopes <- e.Scope
		}
	}))
	for _, c := range []struct {
		line    string
		asked   bool
		pattern string
		held    bool // what was done
	}{
		{"go test ./a", true, "go test *", true},
		{"go test ./b", false, "", true},
		{"ls && go test -v ./c | head", false, "", true},
		{"go test ./b && rm -rf x", true, "", false},
		{"go test ./b && rm x", true, "", true},
		{"go test ./b && rm x", true, "", true},
		{"go test -exec 'sh -c evil' ./b", true, "", true},
		{"go test -exec 'sh -c evil' ./b", true, "", true},
		{"export GOFLAGS=-x; go test ./b", true, "", true},
		{"export A=1; go test ./b", true, "", true},
		{"go build", true, "go build *", true},
		{"go build ./a", false, "", true},
		{"go test ./d && go vet ./d && npm run lint", true, "go vet *, npm run lint *", true},
		{"npm run lint && go vet", false, "", true},
		{"npm run build", true, "npm run build *", true},
		{"go test ../outside", true, "", true},
		{"git push", true, "", true},
		{"git push", true, "", true},
		{"bash -c 'go test ./a'", true, "", true},
	} {
		before := len(p.asked)
		res, asked := run(c.line)
		offered := strings.Join(patternsOf(p.asked[before:]), "|")
		if asked != c.asked || offered != c.pattern || res.OK != c.held {
			t.Errorf("%q: asked %v, offered %q, ok %v (%s)", c.line, asked, offered, res.OK, res.Content)
		}
		scope := map[bool]string{true: string(Once), false: string(Pattern)}[c.pattern == ""]
		if !asked || !c.held {
			scope = ""
		}
		if got := <-scopes; got != scope {
			t.Errorf("%q: the scope is %q, not %q", c.line, got, scope)
		}
		said := strings.Contains(res.Content, "there is no safe pattern for it, so that holds once")
		if said != (asked && c.held && c.pattern == "") {
			t.Errorf("%q: says that it holds once: %v", c.line, said)
		}
	}

	// What was allowed is named, and a rule that comes later wins over it.
	args := json.RawMessage(`{"command":"go test ./e"}`)
	explain := func() Explanation {
		e, err := r.Explain(t.Context(), Request{Name: "shell", Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := explain(); e.Decision != policy.Allow || e.Rule != "command.allow" || !strings.Contains(e.Reason, "a person allowed `go test *` for the session") || e.Parts[0].Rule != "allowed-for-session" {
		t.Errorf("explained as %+v", e)
	}
	for _, d := range []policy.Outcome{policy.Ask, policy.Deny} {
		r.settings.Commands = shell.MakeRules([]shell.Rule{{Prefix: []string{"go", "test"}, Decision: d}})
		if e := explain(); e.Decision != d {
			t.Errorf("a rule says %s: %+v", d, e)
		}
	}
	r.settings.Commands = nil
	r.settings.Trusted = false
	if e := explain(); e.Decision != policy.Deny {
		t.Errorf("in a workspace without trust: %+v", e)
	}
}

// An approval of an edit with the scope pattern holds for its directory, which is
// said; what a tool does besides has none.
func TestPatternOfEdits(t *testing.T) {
	r, p, _ := lines(t)
	for _, name := range []string{"d/a", "d/b", "e/b", "f"} {
		r.call(t, "put", `{"path":"`+name+`","text":"x"}`)
	}
	if want := []string{"put d/*", "put e/*", "put ./*"}; !slices.Equal(patternsOf(p.asked), want) {
		t.Errorf("offered %q, not %q", patternsOf(p.asked), want)
	}
	r.call(t, "always", `{}`)
	r.call(t, "sh", `{"line":"x"}`)
	if got := patternsOf(p.asked[len(p.asked)-2:]); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("offered %q for what no pattern is about", got)
	}
	if got := listPatterns([]string{"a", "b", "c", "d", "e"}); got != "a, b, c and 2 more" {
		t.Error(got)
	}
}

// TestRefusalNamesThePart: who is refused a line by a person is told which part
// of it was asked about.
func TestRefusalNamesThePart(t *testing.T) {
	r := newRig(t, "cautious")
	r.person.answer = says(Answer{Reason: "not now"})
	if res := r.call(t, "shell", `{"command":"ls && npm publish"}`); !strings.Contains(res.Content, "did not allow shell (npm publish): not now") {
		t.Errorf("content %q", res.Content)
	}
	if res := r.call(t, "sh", `{"line":"x"}`); !strings.Contains(res.Content, "did not allow sh: not now") {
		t.Errorf("the control: %q", res.Content)
	}
}

// A question begins with what would be done, and says it once; the reason is one sentence.
func TestQuestionWords(t *testing.T) {
	r, p, run := lines(t)
	r.o.Confined = confinement{words: "sandbox: strong"}
	long := "make " + strings.Repeat("x", 200)
	for line, want := range map[string][3]string{ // title, reason, body
		"make test":      {"Run `make test`?", "the mode cautious asks before commands\n", ""},
		"rm -rf x":       {"Run `rm -rf x`?", "It can't be undone: rm deletes without a way back\n", ""},
		"make a\nmake b": {"Run `make a …`?", "the mode cautious asks before commands\n", "make a\nmake b"},
		long:             {"Run `" + long[:160] + " …`?", "the mode cautious asks before commands\n", long},
	} {
		run(line)
		a := p.asked[len(p.asked)-1]
		if a.Title != want[0] || !strings.HasPrefix(a.Reason, want[1]) || !strings.HasSuffix(a.Reason, "\nsandbox: strong") || a.Body != want[2] {
			t.Errorf("%s: %q\n%q\n%q", line, a.Title, a.Reason, a.Body)
		}
		if strings.Count(a.Title+a.Detail, line) > 1 {
			t.Errorf("%s stands in the question twice: %s\n%s", line, a.Title, a.Detail)
		}
	}
}

// A tool that knows more than its command line says it; the line is among the details, and
// whoever allowed one title has not allowed another. Control: a tool that doesn't.
func TestToolsTitle(t *testing.T) {
	r := newRig(t, "cautious")
	r.person.answer = says(Answer{Allow: true})
	for line, want := range map[string][2]string{
		"title Push main to origin, 2 commits": {"Push main to origin, 2 commits?", "title Push main to origin, 2 commits"},
		"make":                                 {"Run `make`?", ""},
	} {
		r.call(t, "sh", `{"line":"`+line+`"}`)
		a := r.person.asked[len(r.person.asked)-1]
		if a.Title != want[0] || a.Body != want[1] || a.Reason != "the mode cautious asks before commands" || a.Detail != strings.TrimSuffix(a.Reason+"\n\n"+a.Body, "\n\n") {
			t.Errorf("%q\n%q\n%q", a.Title, a.Detail, a.Body)
		}
	}
}

// Where what commands delete comes back with the review, it is not called lost.
func TestHeldIsNotLost(t *testing.T) {
	for _, test := range []struct {
		mode  string
		keeps bool
		line  string
		lost  bool
	}{
		{"review", true, "rm -rf docs", false},
		{"review", false, "rm -rf docs", true},
		{"cautious", true, "rm -rf docs", true},
		{"review", true, "rm -rf .", true},
		{"review", true, "rm -rf .git", true},
		{"review", true, "rm -rf ~/docs", true},
		{"review", true, "rm -rf /etc", true},
		{"review", true, "git push --force", true},
	} {
		r := newRig(t, test.mode)
		r.o.Confined = confinement{keeps: test.keeps}
		r.person.answer = says(Answer{Reason: "never"})
		args, _ := json.Marshal(shellIn{test.line})
		r.call(t, "shell", string(args))
		if len(r.person.asked) != 1 || r.person.asked[0].Irrecoverable != test.lost {
			t.Errorf("%+v: asked %+v", test, r.person.asked)
		}
	}
}

// A question about a file that is always asked about names it.
func TestProtectedIsNamed(t *testing.T) {
	r := newRig(t, "autonomous")
	r.person.answer = says(Answer{Reason: "never"})
	r.call(t, "put", `{"path":".vscode/tasks.json","text":"x"}`)
	if len(r.person.asked) != 1 || !strings.HasPrefix(r.person.asked[0].Reason, "`.vscode/tasks.json` may hold secrets") {
		t.Errorf("%+v", r.person.asked)
	}
}
