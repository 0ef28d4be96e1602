package tools_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

func TestSettingsTools(t *testing.T) {
	file := e2e.SettingsFile(t, "{\n  \"web.search.key\": \"hidden-away-forever\",\n  \"backend.profiles\": []\n}\n")
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", ".sidecar/settings.json": `{"knowledge":{"enabled":false}}`})
	r := e2e.Connect(t, dir, fakeeditor.Options{InitializationOptions: map[string]any{"sidecar": map[string]any{"tools.registryMode": "full"}}})
	r.Mode("autonomous")
	for _, c := range []struct {
		key, says string
		code      tools.Code
	}{
		{"result.maxBytes", "sidecar.result.maxBytes = 16000 (the default)", ""},
		{"sidecar.knowledge.enabled", "set by the project's settings", ""},
		{"tools.registryMode", "set by the editor's settings", ""},
		{"result.maxChars", "sidecar.result.maxBytes = 16000", ""},
		{"commands.output", "is no setting any more: where edits wait", tools.NotFound},
		{"mode", "Agents can't change it", ""},
		{"result.maxByte", "did you mean result.maxBytes?", tools.NotFound},
		{"web.search.key", "secret", tools.Denied},
		{"backend.profiles", "secret", tools.Denied},
		{"", "key", tools.InvalidArguments},
	} {
		res := r.Tool("get_setting", e2e.Object{"key": c.key})
		if res.Error.Code != c.code || !strings.Contains(res.Content, c.says) || strings.Contains(res.Content, "hidden-away") {
			t.Errorf("%q: %+v", c.key, res)
		}
	}

	// What can't be done is refused before anybody is asked.
	for _, c := range []struct {
		key   string
		value any
		code  tools.Code
	}{
		{"mode", "autonomous", tools.Denied},
		{"toolPermissions", "x", tools.Denied},
		{"workspace.trust", "trusted", tools.Denied},
		{"sandbox.mode", "off", tools.Denied},
		{"backend.profile", "openai", tools.Denied},
		{"web.search.key", "x", tools.Denied},
		{"no.such", 1, tools.NotFound},
		{"result.maxBytes", "many", tools.InvalidArguments},
		{"result.maxBytes", 1, tools.InvalidArguments},
		{"result.maxBytes", 16000, tools.InvalidArguments},
		{"tools.registryMode", "some", tools.InvalidArguments},
		{"knowledge.enabled", 1, tools.InvalidArguments},
		{"tools.registryMode", "lazy", tools.Unavailable},
	} {
		if res := r.Tool("update_setting", e2e.Object{"key": c.key, "value": c.value}); res.Error.Code != c.code {
			t.Errorf("%s = %v: %+v, want %s", c.key, c.value, res, c.code)
		}
	}
	if got := r.Asked(); len(got) != 0 {
		t.Errorf("asked in vain: %v", got)
	}

	// A no changes nothing; a yes does, in the file that counts, at once.
	r.Choose("Deny")
	if res := r.Tool("update_setting", e2e.Object{"key": "result.maxBytes", "value": 2000}); res.Error.Code != tools.NotApproved {
		t.Errorf("%+v", res)
	}
	r.Choose("Allow", "Allow", "Allow")
	if res := r.Tool("update_setting", e2e.Object{"key": "result.maxBytes", "value": 2000}); !res.OK || !strings.Contains(res.Content, "was 16000 and is now 2000, in the user's settings") {
		t.Errorf("%+v", res)
	}
	questions := r.Asked()
	if len(questions) != 2 || !strings.Contains(questions[1], "sidecar.result.maxBytes: 16000 → 2000, in the user's settings") {
		t.Errorf("asked %v", questions)
	}
	want := "{\n  \"web.search.key\": \"hidden-away-forever\",\n  \"backend.profiles\": [],\n  \"result.maxBytes\": 2000\n}\n"
	if data, err := os.ReadFile(file); err != nil || string(data) != want {
		t.Errorf("%q, %v", data, err)
	}
	e2e.Write(t, filepath.Join(dir, "long.txt"), strings.Repeat("a long line\n", 1000))
	if res := r.Tool("read_file", e2e.Object{"path": "long.txt"}); len(res.Content) > 2000 {
		t.Errorf("the result has %d bytes", len(res.Content))
	}
	if res := r.Tool("update_setting", e2e.Object{"key": "knowledge.enabled", "value": true}); !res.OK {
		t.Errorf("%+v", res)
	}
	if data, err := os.ReadFile(filepath.Join(dir, ".sidecar/settings.json")); err != nil || string(data) != `{"knowledge":{"enabled":true}}` {
		t.Errorf("%q, %v", data, err)
	}
	// A file that can't be read by us is left alone.
	e2e.Write(t, file, "{ broken")
	if res := r.Tool("update_setting", e2e.Object{"key": "result.maxBytes", "value": 3000}); res.OK {
		t.Errorf("%+v", res)
	}
	if data, _ := os.ReadFile(file); string(data) != "{ broken" {
		t.Errorf("%q", data)
	}
}

func TestSwitchBackend(t *testing.T) {
	const secret = "a-key-that-nobody-else-knows"
	open, seen := e2e.Models(t, "Authorization", "Bearer "+secret)
	claude, _ := e2e.Models(t, "x-api-key", secret)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Setenv("TEST_BACKEND_KEY", secret)
	profiles, err := json.Marshal([]e2e.Object{
		{"name": "good", "url": open.URL + "/v1", "keyEnv": "TEST_BACKEND_KEY", "model": "large"},
		{"name": "claude", "provider": "anthropic", "url": claude.URL, "key": secret},
		{"name": "wrong", "url": open.URL, "key": "wrong"},
		{"name": "moved", "url": open.URL + "/moved", "key": secret},
		{"name": "unset", "url": open.URL, "keyEnv": "TEST_BACKEND_NOT_SET"},
		{"name": "plain", "url": "http://models.example.org", "key": secret},
		{"name": "gone", "url": gone.URL, "key": secret},
		{"name": "lines", "url": open.URL, "key": "a\r\nX: y"},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := e2e.SettingsFile(t, `{"backend.profiles":`+string(profiles)+`}`)
	r := e2e.Connect(t, e2e.Project(t, nil), fakeeditor.Options{})
	r.Mode("autonomous")
	get := func() map[string]any { return e2e.Command[map[string]any](r, "sidecar.backend.get", nil) }
	if got := get(); got["profile"] != "" || got["ready"] != false {
		t.Errorf("at first: %v", got)
	}

	for profile, c := range map[string]struct {
		code tools.Code
		says string
	}{
		"none":  {tools.NotFound, "claude"},
		"unset": {tools.Unavailable, "TEST_BACKEND_NOT_SET"},
		"plain": {tools.Unavailable, "https://"},
		"lines": {tools.Unavailable, "line break"},
	} {
		if res := r.Tool("switch_backend", e2e.Object{"profile": profile}); res.Error.Code != c.code || !strings.Contains(res.Content, c.says) {
			t.Errorf("%s: %+v", profile, res)
		}
	}
	if len(r.Asked()) != 0 || len(seen()) != 0 {
		t.Errorf("asked %v, and the endpoint %v", r.Asked(), seen())
	}
	r.Choose("Allow", "Allow", "Allow")
	for profile, says := range map[string]string{"wrong": "does not take its key (401", "gone": "does not answer", "moved": "answers 302"} {
		if res := r.Tool("switch_backend", e2e.Object{"profile": profile}); res.Error.Code != tools.Unavailable || !strings.Contains(res.Content, says) || strings.Contains(res.Content, secret) {
			t.Errorf("%s: %+v", profile, res)
		}
	}
	if got := get(); got["profile"] != "" {
		t.Errorf("after failures: %v", got)
	}
	for _, path := range seen() {
		if path == "/elsewhere" {
			t.Error("the key was taken elsewhere")
		}
	}
	r.Choose("Deny")
	if res := r.Tool("switch_backend", e2e.Object{"profile": "good"}); res.Error.Code != tools.NotApproved {
		t.Errorf("%+v", res)
	}
	r.Choose("Allow", "Allow")
	for _, profile := range []string{"claude", "good"} {
		if res := r.Tool("switch_backend", e2e.Object{"profile": profile}); !res.OK {
			t.Errorf("%s: %+v", profile, res)
		}
		if got := get(); got["profile"] != profile || got["ready"] != true {
			t.Errorf("%s: %v", profile, got)
		}
	}
	questions := r.Asked()
	if last := questions[len(questions)-1]; !strings.Contains(last, "language model: claude → good (openai at "+open.URL+"/v1)") || strings.Contains(last, secret) {
		t.Errorf("asked %s", last)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), `"backend.profile": "good"`) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestKeysAreHidden: a key in a file is hidden before anybody uses it, one in the
// keyring from when it is asked for.
func TestKeysAreHidden(t *testing.T) {
	const inFile, inRing = "kept apart in a file", "kept apart in a ring"
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	e2e.Write(t, path, inFile+"\n")
	if err := ownfile.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	program := map[string]string{"linux": "secret-tool", "darwin": "security"}[runtime.GOOS]
	if program == "" {
		needs.Skip(t, needs.Keyring, "no keyring is known here")
	}
	e2e.Write(t, filepath.Join(dir, program), "#!/bin/sh\necho '"+inRing+"'\n")
	if err := ownfile.Chmod(filepath.Join(dir, program), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	open, _ := e2e.Models(t, "Authorization", "Bearer "+inRing)
	e2e.SettingsFile(t, `{"backend.profiles":[{"name":"file","url":"`+open.URL+`","keyFile":"`+path+`"},{"name":"ring","url":"`+open.URL+`","keyring":true}]}`)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "One is " + inFile + ".\nOther is " + inRing + ".\n"}), fakeeditor.Options{})
	r.Mode("autonomous")
	read := func() (file, ring bool) {
		t.Helper()
		res := r.Tool("read_file", e2e.Object{"path": "a.txt"})
		if !res.OK || !strings.Contains(res.Content, "One is ") {
			t.Errorf("%+v", res)
		}
		return strings.Contains(res.Content, inFile), strings.Contains(res.Content, inRing)
	}
	if file, ring := read(); file || !ring {
		t.Errorf("before: the key in the file is shown: %v; that in the keyring, which nobody has asked for: %v", file, ring)
	}
	r.Choose("Allow")
	if res := r.Tool("switch_backend", e2e.Object{"profile": "ring"}); !res.OK || strings.Contains(res.Content, inRing) {
		t.Errorf("%+v", res)
	}
	if file, ring := read(); file || ring {
		t.Errorf("after: the key in the file is shown: %v; that in the keyring: %v", file, ring)
	}
}
