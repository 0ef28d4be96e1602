package config

import (
	"strings"
	"testing"
)

// TestShadowSetup: the steps that name a workspace come before those for all, and both before
// the project's.
func TestShadowSetup(t *testing.T) {
	dir := t.TempDir()
	project := Source{Origin: Project, Data: []byte(`{"shadow.setup": ["project"]}`), Trusted: true}
	for want, data := range map[string]string{
		"here":     `{"shadow.setup": ["all", {"run": "here", "in": "` + dir + `"}, {"run": "there", "in": "/there"}]}`,
		"all also": `{"shadow.setup": ["all", "also", {"run": "there", "in": "/there"}]}`,
		"project":  `{"shadow.setup": [{"run": "there", "in": "/there"}]}`,
	} {
		s, wrong := Load(user(data), project)
		var got []string
		for _, step := range s.ShadowSetup([]string{dir}) {
			got = append(got, step.Run)
		}
		if strings.Join(got, " ") != want || len(wrong) > 0 {
			t.Errorf("%s: %q, %v", data, got, wrong)
		}
	}
	s, _ := Load(user(`{"shadow.setup": ["mine", {"run": "here", "in": "`+dir+`"}]}`), Source{Origin: Client, Data: []byte(`{"shadow.setup": ["editor"]}`)})
	if got := s.ShadowSetup([]string{"/else"}); len(got) != 1 || got[0].Run != "editor" {
		t.Errorf("the editor's: %+v", got)
	}
	if got := s.ShadowSetup([]string{dir}); len(got) != 1 || got[0].Run != "here" {
		t.Errorf("with an editor, here: %+v", got)
	}
	if got := s.ShadowSetup(nil); len(got) != 1 || got[0].Timeout().Minutes() != 10 {
		t.Errorf("without a folder: %+v", got)
	}
}

// TestPutSetup: a workspace's steps take the place of those that it has, and all else stays as
// it is written.
func TestPutSetup(t *testing.T) {
	steps := []SetupStep{{Run: "npm ci && a < b", When: []string{"package-lock.json"}, In: "/p"}}
	one := `{
      "run": "npm ci && a < b",
      "when": [
        "package-lock.json"
      ],
      "in": "/p"
    }`
	for before, want := range map[string]string{
		``:                         "{\n  \"shadow.setup\": [\n    " + one + "\n  ]\n}\n",
		`{"mode": "plan" /* x */}`: `{"mode": "plan", /* x */` + "\n  \"shadow.setup\": [\n    " + one + "\n  ]\n}",
		`{"shadow": {"setup": ["all", {"run":"old","in":"/p"}, {"run": "other",  "in": "/q"}]}}`: `{"shadow": {"setup": [` + "\n    \"all\",\n    {\"run\": \"other\",  \"in\": \"/q\"},\n    " + one + "\n  ]}}",
	} {
		got, err := putSetup(Source{Data: []byte(before)}, "/p", steps)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", before, err, got, want)
		}
	}
	if _, err := putSetup(Source{Data: []byte(`{"shadow.setup": "x"}`)}, "/p", steps); err == nil || !strings.Contains(err.Error(), "is no list") {
		t.Error(err)
	}
	if _, err := putSetup(Source{Data: []byte(`{"shadow`)}, "/p", steps); err == nil {
		t.Error("a broken file was written")
	}
}
