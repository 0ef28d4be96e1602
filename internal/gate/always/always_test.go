package always

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// rig has a log and the settings of a user of its own.
type rig struct {
	Rules
	log *auditlog.Log
	t   *testing.T
	now time.Time
}

func newRig(t *testing.T, user string) *rig {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "APPDATA", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	file := config.UserFile()
	if err := ownfile.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if user != "" {
		if err := ownfile.WriteFile(file, []byte(user), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	s := live.New(live.Options{})
	for _, p := range s.Open([]string{dir}) {
		t.Error(p)
	}
	r := &rig{t: t, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return r.now }
	r.log = auditlog.New(t.TempDir(), auditlog.Options{Now: now})
	t.Cleanup(func() { _ = r.log.Close() })
	r.Rules = Rules{Log: func() (*auditlog.Log, error) { return r.log, nil }, Settings: s, Folders: []string{dir}, Now: now}
	return r
}

// asked writes down that a person was asked about a line, n times, and said yes or no.
func (r *rig) asked(n int, line string, yes bool, more ...func(*auditlog.Record)) {
	r.t.Helper()
	args, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		r.t.Fatal(err)
	}
	rec := auditlog.Record{Session: "s", Tool: "run_command", Access: "exec", Arguments: args, Outcome: "allow", By: "user", Rule: "mode.cautious.execs", OK: true}
	if !yes {
		rec.Outcome, rec.OK, rec.Code = "deny", false, "not_approved"
	}
	for _, f := range more {
		f(&rec)
	}
	for range n {
		if err := r.log.Append(rec); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) suggested(days int) string {
	r.t.Helper()
	list, err := r.Suggest(days)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s %d/%d -%d", f.Rule, f.Saves, f.Of, f.DeniedMatches))
	}
	return strings.Join(out, "; ")
}

// What people allowed again and again is suggested, with what it would have done; never what
// could be anything.
func TestSuggest(t *testing.T) {
	r := newRig(t, `{"commandRules": [{"prefix": ["go", "vet"], "decision": "allow"}]}`)
	rule := func(name string) func(*auditlog.Record) { return func(rec *auditlog.Record) { rec.Rule = name } }
	r.asked(9, "npm run old", true)
	r.now = r.now.AddDate(0, 0, 10)
	r.asked(3, "npm run test", true)
	r.asked(1, "npm run test -s", true)
	r.asked(2, "go test ./...", true)
	r.asked(1, "go test ./secret", false)
	r.asked(1, "make lint", true)                                                    // once is no habit
	r.asked(5, "bash -c 'npm run test'", true)                                       // could be anything
	r.asked(5, "python3 x.py", true)                                                 //
	r.asked(5, "git push --force", true, rule("irrecoverable"))                      //
	r.asked(5, "npm run test && rm -rf x", true)                                     //
	r.asked(5, "docker run x sh", true)                                              //
	r.asked(5, "go vet ./...", true)                                                 // a rule answers it by now
	r.asked(5, "npm run build", true, rule("command.ask"))                           // another rule asks first
	r.asked(5, "npm run build", true, rule("hook.ask"))                              //
	r.asked(4, "npm run mine", true, rule("allowed-for-session"))                    // no question
	r.asked(4, "npm run mine", true, func(rec *auditlog.Record) { rec.By = "mode" }) // no question
	r.asked(4, "x", true, func(rec *auditlog.Record) { rec.Tool = "sidecar.review.accept" })
	if got, want := r.suggested(0), "npm run test 4/48 -0; go test 2/48 -1"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := r.suggested(30); !strings.HasPrefix(got, "npm run old 9/57 -0; ") {
		t.Error(got)
	}
	if _, err := r.Suggest(-1); err == nil {
		t.Error("days that there are not")
	}
}

// A secret that was taken out of a line, its cut end and variables that it got hide what ran:
// such a line speaks for no rule. One that was denied speaks against each that it may have been.
func TestHiddenText(t *testing.T) {
	r := newRig(t, "")
	r.asked(3, "npm run test [REDACTED:token]", true)
	r.asked(3, "npm run [REDACTED:secret]", true)
	r.asked(3, "npm run test …", true)
	r.asked(3, "npm run test", true, func(rec *auditlog.Record) {
		rec.Arguments = json.RawMessage(`{"command":"npm run test","env":{"X":"[REDACTED:x]"}}`)
	})
	if got := r.suggested(0); got != "" {
		t.Error(got)
	}
	r.asked(2, "npm run test [REDACTED:token]", false)
	r.asked(1, "npm run other [REDACTED:token]", false)
	r.asked(1, "x …", false)
	r.asked(2, "npm run test", true)
	if got, want := r.suggested(0), "npm run test 2/18 -4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A rule is proved by its figures, and written once.
func TestProveAndAdd(t *testing.T) {
	r := newRig(t, "{\n  // mine\n  \"mode\": \"cautious\"\n}\n")
	r.asked(2, "npm run test", true)
	r.asked(1, "npm run test", false)
	f, err := r.Prove(Rule{Prefix: []string{"npm", "run", "test"}}, 0)
	if want := "It allows every `npm run test …`, and so whatever the project's own files have it run. In the last 7 days it would have answered 2 of 3 questions. It would have allowed one that you denied."; err != nil || f.Words() != want {
		t.Errorf("%s, %v", f.Words(), err)
	}
	if title := f.Title(); title != "Always allow `npm run test …` in all your workspaces?" {
		t.Error(title)
	}
	file, err := r.Add(f.Rule)
	data, _ := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), "// mine") || !strings.Contains(string(data), `{"prefix":["npm","run","test"],"decision":"allow","rest":"known"}`) {
		t.Fatalf("%s, %v", data, err)
	}
	if got := r.suggested(0); got != "" {
		t.Errorf("what is there is suggested: %s", got)
	}
	if _, err := r.Add(f.Rule); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Error(err)
	}
	for name, bad := range map[string]Rule{
		"a shell":        {Prefix: []string{"sh"}},
		"any rest":       {Prefix: []string{"go", "test"}, Rest: "any"},
		"a deny":         {Prefix: []string{"go", "test"}, Decision: "deny"},
		"nothing":        {},
		"10,000 words":   {Prefix: strings.Fields(strings.Repeat("npm ", 10_000))},
		"control":        {Prefix: []string{"go", "test\x1b[2J"}},
		"a program only": {Prefix: []string{"npm"}},
	} {
		if _, err := r.Prove(bad, 0); err == nil || len(err.Error()) > 400 {
			t.Errorf("%s is proved: %v", name, err)
		}
		if _, err := r.Add(bad); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if after, _ := os.ReadFile(file); string(after) != string(data) {
		t.Errorf("it was changed: %s", after)
	}
}

// A rule of one workspace is in the user's file, and holds nowhere else.
func TestAddHere(t *testing.T) {
	r := newRig(t, "")
	rule, err := r.Here(ForGood("go test"))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := r.Prove(rule, 0); err != nil || f.Title() != "Always allow `go test …` in this workspace?" {
		t.Errorf("%s, %v", f.Title(), err)
	}
	if _, err := r.Add(rule); err != nil {
		t.Fatal(err)
	}
	if len(r.Settings.Dispatch().Commands) != 1 {
		t.Error("it does not hold here")
	}
	r.Settings.SetFolders([]string{t.TempDir()})
	if len(r.Settings.Dispatch().Commands) != 0 {
		t.Error("it holds elsewhere")
	}
	if _, err := r.Add(ForGood("go test")); err != nil {
		t.Errorf("everywhere, too: %v", err)
	}
	if _, err := r.Add(rule); err == nil {
		t.Error("what holds everywhere is added for one workspace")
	}
}
