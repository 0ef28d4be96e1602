package config

import (
	"errors"
	"strings"
	"testing"
)

// A rule goes to the end of the list; all else stays as it is written, comments too.
func TestPutRule(t *testing.T) {
	const rule = `{"prefix":["go","test"],"decision":"allow","rest":"known"}`
	for name, c := range map[string]struct{ before, want, err string }{
		"nothing yet":           {"", "{\n  \"commandRules\": [\n    " + rule + "\n  ]\n}\n", ""},
		"beside others":         {"{\n  // mine\n  \"mode\": \"review\" // held\n}\n", "{\n  // mine\n  \"mode\": \"review\", // held\n  \"commandRules\": [\n    " + rule + "\n  ]\n}\n", ""},
		"behind one":            {"{\"commandRules\": [\n    // why\n    {\"prefix\": [\"rm\"], \"decision\": \"deny\"} // never\n  ], \"mode\": \"plan\"}", "{\"commandRules\": [\n    // why\n    {\"prefix\": [\"rm\"], \"decision\": \"deny\"}, // never\n    " + rule + "\n  ], \"mode\": \"plan\"}", ""},
		"behind a comma":        {"{\"commandRules\": [{\"prefix\": [\"rm\"], \"decision\": \"deny\"}, /* , */ ]}", "{\"commandRules\": [{\"prefix\": [\"rm\"], \"decision\": \"deny\"}, /* , */\n    " + rule + "\n  ]}", ""},
		"nested":                {"{\"sidecar\":{\"commandRules\":[{\"prefix\":[\"a\"],\"decision\":\"ask\"}]}}", "{\"sidecar\":{\"commandRules\":[{\"prefix\":[\"a\"],\"decision\":\"ask\"},\n    " + rule + "\n  ]}}", ""},
		"with a mark":           {"\xef\xbb\xbf{\"commandRules\":[{\"prefix\":[\"a\"],\"decision\":\"ask\"}]}", "\xef\xbb\xbf{\"commandRules\":[{\"prefix\":[\"a\"],\"decision\":\"ask\"},\n    " + rule + "\n  ]}", ""},
		"an empty list":         {"{\"commandRules\":[]}", "{\"commandRules\":[\n    " + rule + "\n  ]}", ""},
		"one that nobody knows": {"{\"commandRules\":[{\"future\":1}]}", "{\"commandRules\":[{\"future\":1},\n    " + rule + "\n  ]}", ""},
		"there already":         {"{\"commandRules\":[ { \"decision\":\"allow\", \"rest\":\"known\", \"prefix\":[\"go\", \"test\"] } ]}", "", "there already"},
		"the same, denied":      {"{\"commandRules\":[{\"prefix\":[\"go\",\"test\"],\"decision\":\"deny\"}]}", "{\"commandRules\":[{\"prefix\":[\"go\",\"test\"],\"decision\":\"deny\"},\n    " + rule + "\n  ]}", ""},
		"no list":               {"{\"commandRules\":{}}", "", "is no list"},
		"broken":                {"{\"commandRules\":[", "", "not valid JSON"},
	} {
		got, err := putRule(Source{Origin: User, Data: []byte(c.before)}, CommandRule{Prefix: []string{"go", "test"}, Decision: "allow", Rest: "known"})
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s:\n%s\n%v; want\n%s\n%q", name, got, err, c.want, c.err)
		}
		if err == nil {
			if _, wrong := Load(Source{Origin: User, Data: got}); len(wrong) > 0 && !strings.Contains(name, "nobody") {
				t.Errorf("%s: %v", name, wrong)
			}
		}
	}
	if _, err := putRule(Source{Data: []byte(`{"commandRules":[{"prefix":["a"],"decision":"allow"}]}`)}, CommandRule{Prefix: []string{"a"}, Decision: "allow"}); !errors.Is(err, ErrThere) {
		t.Error(err)
	}
}

// A project's rules only tighten: what it allows is left out, whatever may follow, also
// where the user trusts it. Controls: its deny, and the user's own rules.
func TestProjectRulesTighten(t *testing.T) {
	user := Source{Origin: User, Data: []byte(`{"commandRules":[{"prefix":["npm","test"],"decision":"deny"}]}`)}
	text := []byte(`{"commandRules":[{"prefix":["go","test"],"decision":"allow","rest":"known"},{"prefix":["npm","test"],"decision":"allow"},{"prefix":["curl"],"decision":"deny"}]}`)
	set, wrong := Load(user, Source{Origin: Project, Data: text})
	rules := set.CommandRules()
	if len(rules) != 2 || rules[0].Decision != "deny" || rules[1].Decision != "deny" || len(wrong) == 0 {
		t.Errorf("%+v, %v", rules, wrong)
	}
	if set, _ = Load(user, Source{Origin: Project, Data: text, Trusted: true}); len(set.CommandRules()) != 2 {
		t.Errorf("trusted, which changes nothing here: %+v", set.CommandRules())
	}
	if set, _ = Load(user, Source{Origin: User, Data: text}); len(set.CommandRules()) != 4 {
		t.Errorf("the control: %+v", set.CommandRules())
	}
	if set, wrong = Load(Source{Origin: User, Data: []byte(`{"commandRules":[{"prefix":["a"],"decision":"allow","rest":"some"}]}`)}); len(set.CommandRules()) != 0 || len(wrong) != 1 {
		t.Errorf("a rest that there is not: %+v, %v", set.CommandRules(), wrong)
	}
}
