package config

import (
	"strings"
	"testing"
)

// TestComments: comments and a last comma are no reason to drop a file; what else is wrong
// with it still is.
func TestComments(t *testing.T) {
	for text, want := range map[string]string{
		`{"mode": "review"}`:  "review",
		`{"mode": "review",}`: "review",
		`{"mode": "review", "toolPermissions": {"a": "deny",},}`:  "review",
		"{\n  // mine\n  \"mode\": \"review\", // this\n}":        "review",
		`/* a */ {"mode": /* b */ "review" /* c */, /* d */} //e`: "review",
		`{"sandbox.writable": ["//a", "/*b",], "mode": "review"}`: "review",
		"{ // mine\r\"mode\": \"review\"}":                        "review", // as editors show it

		`{,}`:                                         "cautious",
		`{"mode": "review",,}`:                        "cautious",
		`{"mode": , "log.level": ""}`:                 "cautious",
		`{"mode": "review" /* }`:                      "cautious",
		`{"mode": "review" / "x": 1}`:                 "cautious",
		`{"sandbox.writable": [,], "mode": "review"}`: "cautious",
	} {
		s, problems := Load(Source{Data: []byte(text)})
		if got := s.String("mode"); got != want || (want == "cautious") != (len(problems) > 0) {
			t.Errorf("%s: %s, %v", text, got, problems)
		}
		if plain := PlainJSON([]byte(text)); len(plain) != len(text) || strings.Count(string(plain), "\n") != strings.Count(text, "\n") {
			t.Errorf("%q becomes %q", text, plain)
		}
	}
	s, _ := Load(Source{Data: []byte(`{"sandbox.writable": ["//a", "/*b",]}`)})
	if got := strings.Join(s.Strings("sandbox.writable"), " "); got != "//a /*b" {
		t.Errorf("texts: %s", got)
	}
	if _, problems := Load(Source{Data: []byte("{\n// x\n\"moed\": 1,\n}")}); len(problems) != 1 || problems[0].Line != 3 {
		t.Errorf("the line: %v", problems)
	}
}

// TestPutKeepsComments: a setting is added and changed beside comments.
func TestPutKeepsComments(t *testing.T) {
	const broken = "{\"log.level\": \"info\" /* a */,\n}"
	if got, err := Put(Source{Data: []byte(broken)}, "mode", []byte("null")); err != nil || read(&Source{Data: got}).entries == nil {
		t.Errorf("%q becomes %q, %v", broken, got, err)
	}
	const list = "{\"sandbox.writable\": [ // why\n  \"/a//b\", /* this */ \"/c\"], // end\n}"
	if got, err := Put(Source{Data: []byte(list)}, "sandbox.writable", []byte(`["/d"]`)); err != nil || string(got) != "{\"sandbox.writable\": // why\n    /* this */ [\"/d\"], // end\n}" {
		t.Errorf("a list becomes %q, %v", got, err)
	}
	for before, want := range map[string]string{
		"{\n  // mine\n  \"log.level\": \"info\", // this\n}\n": "{\n  // mine\n  \"log.level\": \"info\", // this\n  \"mode\": \"plan\"\n}\n",
		"{\n  \"log.level\": \"info\" // this, }\n}\n":          "{\n  \"log.level\": \"info\", // this, }\n  \"mode\": \"plan\"\n}\n",
		"{\n  // nothing\n}\n":                                  "{\n  // nothing\n  \"mode\": \"plan\"\n}\n",
		"{\"mode\": /* now */ \"review\",}":                     "{\"mode\": /* now */ \"plan\",}",
		"{\n  \"log.level\": \"info\" /* a */, // b\n}\n":       "{\n  \"log.level\": \"info\" /* a */, // b\n  \"mode\": \"plan\"\n}\n",
		"// mine\n/* ours */\n":                                 "// mine\n/* ours */\n{\n  \"mode\": \"plan\"\n}\n",
		"// mine\nnull\n":                                       "// mine\n{\n  \"mode\": \"plan\"\n}\n",
		"{}":                                                    "{\n  \"mode\": \"plan\"\n}",
	} {
		got, err := Put(Source{Data: []byte(before)}, "mode", []byte(`"plan"`))
		if err != nil || string(got) != want {
			t.Errorf("%q becomes %q, %v; want %q", before, got, err, want)
		}
	}
}

// TestNearNames: of a value that is none of those there are, the like one is named.
func TestNearNames(t *testing.T) {
	for text, want := range map[string]string{
		`{"mode": "reviw"}`: "did you mean review?",
		`{"customModes": [{"name": "mine"}], "mode": "mime"}`:    "did you mean mine?",
		`{"toolPermissions": {"run_command": "alow"}}`:           "did you mean allow?",
		`{"customModes": [{"name": "a", "bass": "manual"}]}`:     "did you mean base?",
		`{"customModes": [{"name": "a", "base": "autonomuos"}]}`: "did you mean autonomous?",
	} {
		_, problems := Load(Source{Data: []byte(text)})
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: %v", text, problems)
		}
	}
	if _, problems := Load(Source{Data: []byte(`{"mode": "xyzzy"}`)}); len(problems) != 1 || strings.Contains(problems[0].Message, "mean") {
		t.Errorf("the control: %v", problems)
	}
}
