package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func TestBackends(t *testing.T) {
	s, problems := Load(user(`{"backend":{"profile":"lab","profiles":[
		{"name":"lab","url":"https://models.example.org/v1/","key":"k"},
		{"name":"openai","provider":"openai","url":"https://proxy.example.org"},
		{"name":"bad","url":"ftp://x"},{"name":"bad","url":"https://u:p@x"},{"url":"https://x"},{"name":"x","url":"https://x","provider":"none"}]}}`),
		project(`{"backend.profile":"openai","backend.profiles":[]}`), client(`{"backend.profile":"openai"}`))
	var names []string
	for _, b := range s.Backends() {
		names = append(names, b.Name+" "+b.URL)
	}
	if got := strings.Join(names, ", "); got != "anthropic https://api.anthropic.com, local-ollama http://localhost:11434, openai https://proxy.example.org, lab https://models.example.org/v1" {
		t.Error(got)
	}
	if s.String("backend.profile") != "lab" || len(problems) != 7 {
		t.Errorf("%s, %v", s.String("backend.profile"), problems)
	}
	if e, _ := s.Explain("backend.profiles"); e.Value != nil {
		t.Errorf("the keys are shown: %v", e.Value)
	}
}

// TestBackendMembers: each member is read, and one that is wrong spoils its profile alone.
func TestBackendMembers(t *testing.T) {
	read := func(members string) (*Settings, string) {
		s, problems := Load(user(`{"backend.profiles":[{"name":"one","url":"https://x` + members + `}]}`))
		return s, fmt.Sprint(problems)
	}
	s, problems := read(`","model":"m","keyEnv":"E","key":"k","keyFile":"~/f","keyring":true,"wire":"responses","window":4000,"maxTokens":1000,"vision":false,"calls":"text","effort":"low","reasoning":"reasoning","sendReasoning":true,"startSeconds":600`)
	all := s.Backends()
	got := all[len(all)-1]
	sees := got.Vision
	got.Vision = nil
	want := Backend{Name: "one", Provider: "openai", URL: "https://x", Model: "m", KeyEnv: "E", Key: "k", KeyFile: "~/f", Keyring: true, Wire: "responses", Window: 4000, MaxTokens: 1000, Calls: "text", Effort: "low", Reasoning: "reasoning", SendReasoning: true, StartSeconds: 600}
	if got != want || sees == nil || *sees || problems != "[]" {
		t.Errorf("%+v, vision %v, %s", got, sees, problems)
	}
	*sees = true
	if again := s.Backends(); *again[len(again)-1].Vision {
		t.Error("the settings can be changed from outside")
	}
	for members, says := range map[string]string{
		`","wire":"smoke"`:                 "must be one of anthropic, chat, responses",
		`","window":10`:                    "window must be a whole number from 1000",
		`","window":"4000"`:                "window must be a whole number",
		`","maxTokens":0`:                  "maxTokens must be a whole number from 1",
		`","window":4000,"maxTokens":4000`: "less than window",
		`","startSeconds":0`:               "startSeconds must be a whole number from 1",
		`","vision":"yes"`:                 "vision must be true or false",
		`","keyring":1`:                    "keyring must be true or false",
		`","calls":"none"`:                 "must be one of native, text",
		`","effort":"huge"`:                "must be one of low, medium, high",
		`","reasoning":"thoughts"`:         "must be one of reasoning_content, reasoning",
		`","keyFile":"keys/x"`:             "must be an absolute path, or begin with ~/",
		`","keyFile":7`:                    "keyFile must be a string",
		`","keyfile":"/x"`:                 "keyfile is not known",
		`/v1?key=secret"`:                  "a key goes into keyEnv, keyFile, keyring or key",
	} {
		s, problems := read(members)
		left := !slices.ContainsFunc(s.Backends(), func(b Backend) bool { return b.Name == "one" })
		if !strings.Contains(problems, says) || left == strings.Contains(says, "not known") || strings.Contains(problems, "secret") {
			t.Errorf("%s: left out %v: %s", members, left, problems)
		}
	}
}

// keyFile makes a file with a key.
func keyFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := ownfile.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	return path
}

// TestReadKeyFile: a key is read from a file that only its user may read, each time.
func TestReadKeyFile(t *testing.T) {
	const secret = "a-key-in-a-file"
	for text, want := range map[string]string{secret: secret, secret + "\n": secret, secret + "\r\n": secret, " " + secret: " " + secret, secret + "\nx": secret + "\nx"} {
		b := Backend{KeyFile: keyFile(t, text, 0o600)}
		if got, err := b.ReadKeyFile(); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	b := Backend{KeyFile: keyFile(t, secret, 0o400)}
	if got, err := b.ReadKeyFile(); got != secret || err != nil {
		t.Errorf("stricter than it has to be: %q, %v", got, err)
	}
	t.Setenv("HOME", filepath.Dir(b.KeyFile))
	b.KeyFile = "~/key"
	if got, err := b.ReadKeyFile(); got != secret || err != nil {
		t.Errorf("in the home: %q, %v", got, err)
	}
	if err := ownfile.Chmod(filepath.Join(os.Getenv("HOME"), "key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(filepath.Join(os.Getenv("HOME"), "key"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := b.ReadKeyFile(); got != "another" || err != nil {
		t.Errorf("changed: %q, %v", got, err)
	}
	if got, err := (&Backend{}).ReadKeyFile(); got != "" || err != nil {
		t.Errorf("none: %q, %v", got, err)
	}
	for says, path := range map[string]string{
		"no such file":   filepath.Join(t.TempDir(), "none"),
		"is empty":       keyFile(t, " \n", 0o600),
		"is no file":     t.TempDir(),
		"more than":      keyFile(t, strings.Repeat("x", maxKey+1), 0o600),
		"chmod 600 /":    keyFile(t, secret, 0o644),
		"(mode 0640)":    keyFile(t, secret, 0o640),
		"(mode 0602)":    keyFile(t, secret, 0o602),
		"another user":   foreign(t, keyFile(t, secret, 0o600)),
		"can't be read ": filepath.Join(keyFile(t, secret, 0o600), "below"),
	} {
		if path == "" {
			continue
		}
		got, err := (&Backend{KeyFile: path}).ReadKeyFile()
		if got != "" || err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %q, %v", says, got, err)
		}
	}
}

// foreign gives a file to another user; "" where that can't be done.
func foreign(t *testing.T, path string) string {
	if err := ownfile.Chown(path, 54321, -1); err != nil {
		t.Logf("the file of another user is not tried: %v", err)
		return ""
	}
	return path
}

// TestSecretKeys: keys are secrets wherever they are, before they are used.
func TestSecretKeys(t *testing.T) {
	t.Setenv("TEST_UNUSUAL_NAME", "in the environment")
	path := keyFile(t, "in a file\n", 0o600)
	s, problems := Load(user(`{"backend.profiles":[{"name":"a","url":"https://x","key":"in the settings"},{"name":"b","url":"https://x","keyEnv":"TEST_UNUSUAL_NAME"},
		{"name":"c","url":"https://x","keyFile":"` + path + `"},{"name":"d","url":"https://x","keyFile":"` + path + `.none"}]}`))
	got := s.SecretValues()
	for _, want := range []string{"in the settings", "in the environment", "in a file"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is no secret: %q, %v", want, got, problems)
		}
	}
	if slices.Contains(got, "") {
		t.Errorf("%q", got)
	}
}
