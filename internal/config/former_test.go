package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// maxSettings bounds the table: a new setting needs one that goes.
const maxSettings = 57 // with room for those of the contract that are to come

func TestFewSettings(t *testing.T) {
	t.Logf("%d settings", len(table))
	if len(table) > maxSettings {
		t.Errorf("there are %d settings, and at most %d may be: a new one needs one that goes, and a row in formers for it", len(table), maxSettings)
	}
}

// carried is, for each old name whose meaning survives, a source that sets it, what
// holds by it, and a source that says the same by the name of now.
var carried = map[string]struct {
	old  string
	want values
	now  string

	secret string // what a secret is, which want does not show
}{
	"result.maxChars": {`{"result.maxChars": 5000}`, values{"result.maxBytes": 5000}, `{"result.maxBytes": 5000}`, ""},

	"review.saveOnAccept":              {`{"review.saveOnAccept": true}`, values{"edits.save": "onAccept"}, `{"edits.save": "onAccept"}`, ""},
	"hooksEnabled":                     {`{"hooksEnabled": false}`, values{"hooks": noHooks}, `{"hooks": false}`, ""},
	"web.search.keyHeader":             {`{"web.search.key": "k1", "web.search.keyHeader": "X-API-Key"}`, values{}, `{"web.search.key": "X-API-Key: k1"}`, "X-API-Key: k1"},
	"knowledge.embeddings.keyVariable": {`{"knowledge.embeddings.keyVariable": "SOME_KEY"}`, values{}, `{"knowledge.embeddings.key": "${env:SOME_KEY}"}`, "${env:SOME_KEY}"},
}

// TestFormers: no setting that is gone or renamed is ignored without a word, whoever
// sets it and however it is written; the report says what to do, and where the meaning
// survives, the value holds. Control: what the report names is set without one.
func TestFormers(t *testing.T) {
	for _, f := range formers {
		t.Run(f.key, func(t *testing.T) {
			c := carried[f.key]
			if (f.now != "") != (c.old != "") {
				t.Fatal("carried needs a row for each old name that still works, and for no other")
			}
			if lookup(f.key) != nil || f.now != "" && lookup(f.now) == nil || f.now == "" && f.say == "" {
				t.Fatalf("it is a setting, or what it became is none: %+v", f)
			}
			if row := lookup(f.now); row != nil && row.Scope == ScopeProject && row.Project == Never {
				t.Fatal("a project's trusted value would not be held as it was")
			}
			if f.now == "" {
				c.old, c.want, c.now = fmt.Sprintf("{%q: %s}", f.key, sample[f.typ]), values{}, `{}`
			}
			report := func(source string) string { return source + ":1: sidecar." + f.key + ": " + f.message() }
			check(t, c.want, []string{report("user.json")}, user(c.old))
			check(t, c.want, nil, user(c.now))
			if row := lookup(f.now); row != nil && row.Secret {
				for _, src := range []Source{user(c.old), user(c.now)} {
					if s, _ := Load(src); c.secret == "" || s.String(f.now) != c.secret {
						t.Errorf("%s: %s is %q, want %q", src.Data, f.now, s.String(f.now), c.secret)
					}
				}
			}
			nested := c.old
			if groups := strings.Count(f.key, "."); groups > 0 {
				nested = strings.Replace(nested, f.key, strings.ReplaceAll(f.key, ".", `": {"`), 1) + strings.Repeat("}", groups)
			}
			if strings.Count(c.old, ": ") == 1 {
				check(t, c.want, []string{report("user.json")}, user(nested))
			}
			for _, src := range []Source{client(c.old), project(c.old), trusted(c.old)} {
				_, problems := Load(src)
				if got := messages(problems); len(got) == 0 || got[0] != report(src.String()) {
					t.Errorf("%s: %q", src.Origin, got)
				}
			}
			if _, problems := Load(user(fmt.Sprintf("{%q: null}", f.key))); len(problems) > 0 {
				t.Errorf("what sets nothing is reported: %v", problems)
			}
			if row, ok := Lookup(f.key); ok != (f.now != "") || row.Key != f.now {
				t.Errorf("Lookup gives %q", row.Key)
			}
			if f.now == "" && !strings.Contains(Near(f.key), f.say) {
				t.Errorf("whoever asks for it reads %q", Near(f.key))
			}
			if shown := strings.Contains(string(vscodeSchema()), fmt.Sprintf("%q: {", prefix+"."+f.key)); shown == f.file {
				t.Errorf("editors know of it: %v", shown)
			}
			if !strings.Contains(markdown(), f.message()) {
				t.Error("the documentation does not name it")
			}
		})
	}
}

// sample is a value of a type.
var sample = map[Type]string{String: `"x"`, Boolean: "true", Integer: "7"}

// TestFormerValues: a value of an earlier version holds as what it is called now, and is
// reported; other unknown ones are refused.
func TestFormerValues(t *testing.T) {
	const is = "user.json:1: sidecar.commands.world: shadow is called copy now; the old value still works"
	check(t, values{"commands.world": "copy"}, []string{is}, user(`{"commands.world": "shadow"}`))
	check(t, values{"commands.world": "copy"}, nil, user(`{"commands.world": "copy"}`))
	check(t, values{}, []string{"user.json:1: sidecar.commands.world: must be one of auto, overlay, copy, disk, not \"shadows\""}, user(`{"commands.world": "shadows"}`))
}

// TestFormersLayers: a value under an old name is laid like one under the name of now.
func TestFormersLayers(t *testing.T) {
	for _, c := range []struct {
		name    string
		sources []Source
		want    values
	}{
		{"the editor's old name over the user's new one", []Source{user(`{"result.maxBytes": 5000}`), client(`{"result.maxChars": 6000}`)}, values{"result.maxBytes": 6000}},
		{"the editor's new name over the user's old one", []Source{user(`{"result.maxChars": 5000}`), client(`{"result.maxBytes": 6000}`)}, values{"result.maxBytes": 6000}},
		{"a project tightens by an old name", []Source{project(`{"result.maxChars": 6000}`)}, values{"result.maxBytes": 6000}},
		{"and does not loosen by it", []Source{project(`{"result.maxChars": 60000}`)}, values{}},
		{"saving was wanted, and is not any more", []Source{user(`{"review.saveOnAccept": true}`), client(`{"review.saveOnAccept": false}`)}, values{}},
		{"saving was never wanted", []Source{user(`{"edits.save": "never"}`), client(`{"review.saveOnAccept": true}`)}, values{"edits.save": "never"}},
		{"nor is it by a word that it never had", []Source{user(`{"edits.save": "never", "review.saveOnAccept": false}`)}, values{"edits.save": "never"}},
		{"a project does not have the user's changes saved", []Source{project(`{"review.saveOnAccept": true}`)}, values{}},
		{"but can keep them from it", []Source{user(`{"edits.save": "onAccept"}`), project(`{"review.saveOnAccept": false}`)}, values{}},
		{"nor where it was trusted with less", []Source{{Origin: Project, Trusted: true, Held: true, Data: []byte(`{}`), Was: []byte(`{"result.maxChars": 6000}`)}}, values{"result.maxBytes": 6000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, problems := Load(c.sources...)
			if diff := cmp.Diff(c.want, dump(s)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, problems)
			}
		})
	}
}

// TestNoHooks: false in any source keeps all hooks from running, and the others are
// still listed. Control: an object of events does not.
func TestNoHooks(t *testing.T) {
	const events = `{"hooks": {"PreToolUse": []}}`
	for _, c := range []struct {
		sources []Source
		run     bool
	}{
		{[]Source{user(events)}, true},
		{[]Source{user(`{"hooks": {}}`)}, true},
		{[]Source{user(events), client(`{"hooks": false}`)}, false},
		{[]Source{user(`{"hooks": false}`), client(events)}, false},
		{[]Source{user(`{"hooksEnabled": false, "hooks": {"PreToolUse": []}}`)}, false},
		{[]Source{user(`{"hooksEnabled": true, "hooks": {"PreToolUse": []}}`)}, true},
		{[]Source{user(events), project(`{"hooks": false}`)}, true},
		{[]Source{user(events), trusted(`{"hooksEnabled": false}`)}, true},
	} {
		s, problems := Load(c.sources...)
		if s.HooksRun() != c.run {
			t.Errorf("%s: hooks run: %v (%v)", c.sources[len(c.sources)-1].Data, s.HooksRun(), problems)
		}
		for _, events := range s.Hooks() {
			if string(events) != `{"PreToolUse": []}` {
				t.Errorf("events %q", events)
			}
		}
	}
}

// TestKeyHeaderIsASecret: the key is known as a secret also without its header.
func TestKeyHeaderIsASecret(t *testing.T) {
	t.Setenv("TEST_SOME_KEY", "k2")
	for _, c := range []struct{ source, want string }{
		{`{"web.search.key": "X-API-Key: ${env:TEST_SOME_KEY}"}`, "X-API-Key: k2 k2"},
		{`{"knowledge.embeddings.keyVariable": "TEST_SOME_KEY"}`, "k2"},
		{`{"knowledge.embeddings.keyVariable": "TEST_SOME_KEY", "knowledge.embeddings.key": "k1"}`, "k1"},
		{`{"knowledge.embeddings.key": "${env:TEST_NO_KEY}"}`, ""},
		{`{"web.search.key": "k1"}`, "k1"},
		{`{"web.search.key": "X-API-Key: k1", "web.search.keyHeader": "Other"}`, "X-API-Key: k1 k1"},
		{`{"web.search.keyHeader": "X-API-Key", "web.search.key": "k1"}`, "X-API-Key: k1 k1"},
		{`{"web.search.keyHeader": "not one", "web.search.key": "k1"}`, "k1"},
		{`{"web.search.keyHeader": "X-API-Key"}`, ""},
	} {
		s, _ := Load(user(c.source))
		if got := strings.Join(s.SecretValues(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.source, got, c.want)
		}
	}
}
