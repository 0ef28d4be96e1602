package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/keyring"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// userFile is the user's settings.
type userFile struct {
	t    *testing.T
	data string
}

func (f userFile) Now() *config.Settings {
	s, problems := config.Load(config.Source{Origin: config.User, Data: []byte(f.data)})
	if len(problems) > 0 {
		f.t.Errorf("%s: %v", f.data, problems)
	}
	return s
}

func (userFile) Follow() {}

func (f userFile) PutUser(string, []byte) error { return errors.New("nothing is written here") }

// known is what was told to be secret.
type known struct {
	mu  sync.Mutex
	all map[string][]string
}

func (k *known) know(source string, secrets []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string][]string{}
	}
	k.all[source] = secrets
}

// profiles are the backends of settings in which one has these members, as JSON.
func profiles(t *testing.T, members string) (Backends, *known) {
	t.Helper()
	k := &known{}
	return Backends{Programs: anywhere.Programs(), Settings: userFile{t, `{"backend.profiles":[{"name":"mine",` + members + `}]}`}, Know: k.know}, k
}

// server answers over every wire, and remembers what it was sent.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	paths  []string
	keys   []string
	bodies []map[string]any
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	data, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(data, &body)
	s.mu.Lock()
	s.paths, s.keys, s.bodies = append(s.paths, r.URL.Path), append(s.keys, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization")), append(s.bodies, body)
	s.mu.Unlock()
	events := map[string][]string{
		"/v1/messages": {
			`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello."}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`,
		},
		"/v1/chat/completions": {`{"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}`, `[DONE]`},
		"/v1/responses": {
			`{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"Hello."}]}}`, `{"type":"response.completed","response":{"model":"m"}}`,
		},
	}[r.URL.Path]
	if events == nil && r.Method == http.MethodPost {
		http.NotFound(w, r)
		return
	}
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
}

// last is the last request.
func (s *server) last() (path, key string, body map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.paths) == 0 {
		return "", "", nil
	}
	n := len(s.paths) - 1
	return s.paths[n], s.keys[n], s.bodies[n]
}

var hello = model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Kind: model.Text, Text: "hi"}}}}}

// TestModelAnswers: whatever the provider, the wire and the spelling of the url, the
// question arrives where the trial of the key does.
func TestModelAnswers(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ provider, wire, below, path, tried string }{
		{"anthropic", "", "", "/v1/messages", "/v1/models"},
		{"anthropic", "", "/v1", "/v1/messages", "/v1/models"},
		{"anthropic", "", "/v1/", "/v1/messages", "/v1/models"},
		{"anthropic", "chat", "", "/v1/chat/completions", "/v1/models"},
		{"openai", "", "/v1", "/v1/chat/completions", "/v1/models"},
		{"openai", "responses", "/v1", "/v1/responses", "/v1/models"},
		{"openai", "anthropic", "/v1", "/v1/messages", "/v1/models"},
		{"ollama", "", "", "/v1/chat/completions", "/api/tags"},
		{"ollama", "", "/v1", "/v1/chat/completions", "/api/tags"},
		{"ollama", "responses", "", "/v1/responses", "/api/tags"},
		{"ollama", "anthropic", "", "/v1/messages", "/api/tags"},
	} {
		name := fmt.Sprintf("%s %s %s", c.provider, c.wire, c.below)
		wire := ""
		if c.wire != "" {
			wire = `,"wire":"` + c.wire + `"`
		}
		b, _ := profiles(t, fmt.Sprintf(`"provider":%q,"url":%q,"model":"m","key":"the-key"%s`, c.provider, s.URL+c.below, wire))
		m, _, err := b.Model("mine")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		a, err := m.Ask(t.Context(), hello, nil)
		path, key, body := s.last()
		if err != nil || len(a.Blocks) != 1 || a.Blocks[0].Text != "Hello." || path != c.path || !strings.HasSuffix(key, "the-key") || body["model"] != "m" {
			t.Errorf("%s: %+v, %v; asked %s with %s: %v", name, a, err, path, key, body)
		}
		if err := b.Try(t.Context(), "mine"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if path, _, _ := s.last(); path != c.tried {
			t.Errorf("%s: tried %s", name, path)
		}
	}
	b, _ := profiles(t, `"url":"`+s.URL+`","model":"m"`) // the control: an address of openai is whole
	m, _, err := b.Model("mine")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Ask(t.Context(), hello, nil); model.FailureOf(err) == nil || model.FailureOf(err).Cause != model.Missing {
		t.Errorf("without the version: %v", err)
	}
}

// TestModelFacts: the profile's members go over what is known of its model.
func TestModelFacts(t *testing.T) {
	const claude = `"provider":"anthropic","url":"https://api.example.org","key":"k","model":"claude-haiku-4-5"`
	for name, c := range map[string]struct {
		members string
		facts   string // window, answer, vision, whether there are prices
		profile string // tokens, longest, effort, adaptive, cache, without calls, chat
	}{
		"known":       {claude, "200000 64000 true true", `64000 64000 "" false true false { false true false}`},
		"over it":     {claude + `,"window":50000,"maxTokens":4000,"vision":false,"effort":"low"`, "50000 4000 false true", `4000 64000 "low" false true false { false true false}`},
		"a small one": {claude + `,"window":50000`, "50000 25000 true true", `25000 64000 "" false true false { false true false}`},
		"adaptive":    {`"provider":"anthropic","url":"https://api.example.org","key":"k","model":"claude-opus-5-5"`, "1000000 128000 true true", `128000 128000 "" true true false { false true false}`},
		"unknown":     {`"provider":"anthropic","url":"https://api.example.org","key":"k","model":"other"`, "0 0 false false", `0 0 "" false true false { false true false}`},
		"chat":        {`"url":"https://api.openai.com/v1","key":"k","model":"gpt-5"`, "400000 128000 true true", `0 128000 "" false true false { false false false}`},
		"chat server": {`"url":"https://models.example.org/v1","model":"gpt-oss-120b","calls":"text","reasoning":"reasoning","sendReasoning":true,"maxTokens":5000,"vision":true`, "131072 5000 true false", `5000 0 "" false false true {reasoning true true false}`},
		"ollama":      {`"provider":"ollama","url":"http://localhost:11434","model":"qwen3-coder:30b"`, "0 65536 false false", `0 65536 "" false false false { false true false}`},
		"its window":  {`"provider":"ollama","url":"http://localhost:11434","model":"qwen3-coder:30b","window":32768`, "32768 16384 false false", `0 65536 "" false false false { false true false}`},
		"slow":        {`"url":"https://models.example.org/v1","model":"gpt-oss-120b","startSeconds":5`, "131072 0 false false", `0 0 "" false false false { false true false}`},
		"slow here":   {`"url":"http://127.0.0.1:8080/v1","model":"glm-4.6","startSeconds":7`, "204800 131072 false false", `0 131072 "" false true false { false true false}`},
		"on loopback": {`"url":"http://127.0.0.1:8080/v1","model":"glm-4.6"`, "204800 131072 false false", `0 131072 "" false true false { false true false}`},
	} {
		b, _ := profiles(t, c.members)
		m, f, err := b.Model("mine")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := map[string]time.Duration{"ollama": startHere, "its window": startHere, "on loopback": startHere, "slow": 5 * time.Second, "slow here": 7 * time.Second}[name]; m.Policy.Start != want {
			t.Errorf("%s: it may take %v to begin, want %v", name, m.Policy.Start, want)
		}
		if got := fmt.Sprint(f.Window, f.Answer, f.Vision, f.Prices != nil); got != c.facts {
			t.Errorf("%s: %s, want %s", name, got, c.facts)
		}
		p := m.Profile
		if got := fmt.Sprintf("%d %d %q %v %v %v %v", p.Tokens, p.Longest, p.Effort, p.Adaptive, p.Cache, p.NoCalls, p.Chat); got != c.profile || p.Vision != f.Vision {
			t.Errorf("%s: %q, want %q", name, got, c.profile)
		}
	}
}

// TestModelErrors: each says what to do next.
func TestModelErrors(t *testing.T) {
	b := Backends{Programs: anywhere.Programs(), Settings: userFile{t, `{}`}}
	for name, c := range map[string]struct {
		b    Backends
		name string
		code tools.Code
		says []string
	}{
		"none is in use": {b, "", tools.Unavailable, []string{"No model yet. Choose one: sidecar-ls setup model"}},
		"no such":        {b, "x", tools.NotFound, []string{`no "x"`, "anthropic, local-ollama, openai"}},
		"no model":       {b, "openai", tools.Unavailable, []string{"openai names no model", "sidecar-ls setup model"}},
		"in use":         {Backends{Programs: anywhere.Programs(), Settings: userFile{t, `{"backend.profile":"gone"}`}}, "", tools.NotFound, []string{`no "gone"`}},
		"no key":         {Backends{Programs: anywhere.Programs(), Settings: userFile{t, `{"backend.profiles":[{"name":"a","provider":"anthropic","url":"https://x","model":"m"}]}`}}, "a", tools.Unavailable, []string{"a has no key", "keyEnv, keyFile, keyring or key"}},
		"a plain way":    {Backends{Programs: anywhere.Programs(), Settings: userFile{t, `{"backend.profiles":[{"name":"a","url":"http://models.example.org","model":"m","key":"secret-key"}]}`}}, "a", tools.Unavailable, []string{"must begin with https://"}},
	} {
		m, _, err := c.b.Model(c.name)
		if m != nil || err == nil || tools.AsError(err).Code != c.code || strings.Contains(err.Error(), "secret-key") || strings.Contains(err.Error(), "switched") {
			t.Errorf("%s: %v, %v", name, m, err)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v does not say %q", name, err, says)
			}
		}
	}
	if _, err := b.Backend("anthropic"); err == nil || !strings.HasSuffix(err.Error(), "nothing was switched") {
		t.Errorf("the control: %v", err)
	}
}

// played lets a script be the program that asks the keyring, the only one on PATH.
func played(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	r, ok := keyring.Of(runtime.GOOS)
	if !ok {
		needs.Skip(t, needs.Keyring, "no keyring is known here")
	}
	if script != "" {
		if err := ownfile.WriteFile(filepath.Join(dir, r.Program), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return dir
}

// TestKeyOrder: the first place that has a key counts, and it is looked for each time.
func TestKeyOrder(t *testing.T) {
	s := newServer(t)
	path := filepath.Join(t.TempDir(), "key")
	write := func(key string) {
		t.Helper()
		if err := ownfile.WriteFile(path, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("from-the-file\n")
	t.Setenv("TEST_MODEL_KEY", "from-the-environment")
	played(t, `printf 'from-the-keyring\n'`)
	for _, c := range []struct{ members, want string }{
		{`"keyEnv":"TEST_MODEL_KEY","key":"from-the-settings","keyFile":"` + path + `","keyring":true`, "from-the-environment"},
		{`"keyEnv":"TEST_MODEL_NONE","key":"from-the-settings","keyFile":"` + path + `","keyring":true`, "from-the-settings"},
		{`"keyEnv":"TEST_MODEL_NONE","keyFile":"` + path + `","keyring":true`, "from-the-file"},
		{`"keyEnv":"TEST_MODEL_NONE","keyring":true`, "from-the-keyring"},
		{`"keyring":false`, ""},
	} {
		b, told := profiles(t, `"url":"`+s.URL+`/v1","model":"m",`+c.members)
		m, _, err := b.Model("mine")
		if err != nil {
			t.Errorf("%s: %v", c.members, err)
			continue
		}
		if _, err := m.Ask(t.Context(), hello, nil); err != nil {
			t.Error(err)
		}
		if _, key, _ := s.last(); strings.TrimPrefix(key, "Bearer ") != c.want {
			t.Errorf("%s: asked with %q", c.members, key)
		}
		if hidden := fmt.Sprint(told.all); strings.Contains(c.want, "file") || strings.Contains(c.want, "ring") {
			if hidden != "map[key of mine:["+c.want+"]]" {
				t.Errorf("%s: hidden are %s", c.members, hidden)
			}
		} else if hidden != "map[]" {
			t.Errorf("%s: hidden are %s", c.members, hidden) // the settings do that
		}
		if d, err := b.Describe(); err != nil || strings.Contains(fmt.Sprint(d), "from-the") {
			t.Errorf("%v, %v", d, err)
		}
	}
	b, told := profiles(t, `"url":"`+s.URL+`/v1","model":"m","keyFile":"`+path+`"`)
	m, _, err := b.Model("mine")
	if err != nil {
		t.Fatal(err)
	}
	write("a-new-key")
	if _, err := m.Ask(t.Context(), hello, nil); err != nil {
		t.Error(err)
	}
	if _, key, _ := s.last(); key != "Bearer a-new-key" || fmt.Sprint(told.all["key of mine"]) != "[a-new-key]" {
		t.Errorf("after a change: %q, hidden are %v", key, told.all)
	}
	if err := ownfile.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = m.Ask(t.Context(), hello, nil)
	if f := model.FailureOf(err); f == nil || f.Cause != model.Key || !strings.Contains(err.Error(), "chmod 600 "+path) || strings.Contains(err.Error(), "a-new-key") {
		t.Errorf("open to others: %v", err)
	}
	if err := ownfile.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	write("two\nlines-of-a-key")
	if _, err := m.Ask(t.Context(), hello, nil); err == nil || !strings.Contains(err.Error(), "line break") || strings.Contains(err.Error(), "lines-of") {
		t.Errorf("two lines: %v", err)
	}
	if !strings.Contains(fmt.Sprint(told.all), "lines-of-a-key") {
		t.Errorf("a key that can't be used is no secret: %v", told.all)
	}
	if _, key, _ := s.last(); key != "Bearer a-new-key" {
		t.Errorf("asked with %q", key)
	}
}

// TestDescribe: what is shown of a key is whether it is there.
func TestDescribe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := ownfile.WriteFile(path, []byte("hidden-key"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := Backends{Programs: anywhere.Programs(), Settings: userFile{t, `{"backend.profile":"a","backend.profiles":[{"name":"a","url":"https://x","model":"m","keyFile":"` + path + `"}]}`}}
	ready := func() bool {
		t.Helper()
		d, err := b.Describe()
		text, _ := json.Marshal(d)
		if err != nil || strings.Contains(string(text), "hidden-key") {
			t.Errorf("%s, %v", text, err)
		}
		return strings.Contains(string(text), `"ready":true`)
	}
	if !ready() {
		t.Error("it has a key")
	}
	if err := ownfile.Remove(path); err != nil {
		t.Fatal(err)
	}
	if ready() {
		t.Error("it has no key any more")
	}
}
