package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// modelServer answers a question for models, and says who asked with which key.
func modelServer(t *testing.T, path, answer string, keys *[]string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*keys = append(*keys, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return s
}

// TestSetupModel: a model of this machine, or of a service whose key is in the environment, is
// chosen by a number and written without the key; a server that runs has it at once.
func TestSetupModel(t *testing.T) {
	const key = "sk-of-the-test-0123456789abcdef"
	var local, remote []string
	ollama := modelServer(t, "/api/tags", `{"models": [{"name": "qwen3:8b"}, {"name": "gemma3:4b"}]}`, &local)
	service := modelServer(t, "/v1/models", `{"data": [{"id": "gpt-5"}, {"id": "gpt-5-mini"}]}`, &remote)
	p := newPerson(t)
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	settings := func() string {
		data, _ := os.ReadFile(config.UserFile())
		return string(data)
	}
	r, _ := e2e.EditorProcess(t, p.dir)
	t.Cleanup(func() { _ = r.Shutdown(t.Context()) })
	now := func() string {
		got := e2e.Command[struct{ Model string }](r, "sidecar.backend.get", e2e.Object{})
		return got.Model
	}
	if out, code := p.at(nil, "model"); code != 1 || !strings.Contains(out, "OPENAI_API_KEY") || settings() != "" {
		t.Errorf("nothing is there: exit %d\n%s", code, out)
	}
	if out, code := p.at(nil, "model", "nowhere"); code != 2 || !strings.Contains(out, "no provider") || !strings.Contains(out, "openai: OpenAI, a key in OPENAI_API_KEY\n") || !strings.Contains(out, "local-ollama: Ollama, a server") {
		t.Errorf("an unknown place: exit %d\n%s", code, out)
	}
	if out, code := p.at(nil, "model", "gemini"); code != 1 || !strings.Contains(out, "Gemini is not here: it takes a key in GEMINI_API_KEY or GOOGLE_API_KEY") {
		t.Errorf("a place that is not here: exit %d\n%s", code, out)
	}
	if model := now(); model != "" {
		t.Errorf("the control: it has %s", model)
	}
	t.Setenv("OLLAMA_HOST", strings.TrimPrefix(ollama.URL, "http://"))
	shown, out, code := p.typed("2\n", "model")
	if code != 0 || !strings.Contains(shown, "1  gemma3:4b\r\n  2  qwen3:8b") || !strings.Contains(settings(), `"model":"qwen3:8b"`) || !strings.Contains(settings(), `"backend.profile": "local-ollama"`) {
		t.Fatalf("exit %d\n%s\n%s\n%s", code, shown, out, settings())
	}
	if model := now(); model != "qwen3:8b" {
		t.Errorf("the server that runs has %q", model)
	}

	t.Setenv("OPENAI_API_KEY", key)
	t.Setenv("OPENAI_BASE_URL", service.URL+"/v1")
	shown, out, code = p.typed("1\ngpt-5-mini\n", "model")
	if code != 0 || !strings.Contains(shown, "OpenAI, with the key in OPENAI_API_KEY") || !strings.Contains(settings(), `"model":"gpt-5-mini"`) || !strings.Contains(settings(), `"keyEnv":"OPENAI_API_KEY"`) || !strings.Contains(settings(), "qwen3:8b") {
		t.Errorf("exit %d\n%s\n%s\n%s", code, shown, out, settings())
	}
	if all := shown + out + settings(); strings.Contains(all, key) {
		t.Errorf("the key is shown or written:\n%s", all)
	}
	if len(remote) != 1 || remote[0] != "Bearer "+key || strings.Contains(strings.Join(local, ""), key) {
		t.Errorf("the keys went out as %q and %q", remote, local)
	}
	if model := now(); model != "gpt-5-mini" {
		t.Errorf("the server that runs has %q", model)
	}

	if out, code = p.at(nil, "model", "local-ollama"); code != 1 || !strings.Contains(out, "sidecar-ls setup model local-ollama gemma3:4b") {
		t.Errorf("without a terminal: exit %d\n%s", code, out)
	}
	if out, code = p.at(nil, "model", "local-ollama", "gemma3:4b"); code != 0 || now() != "gemma3:4b" {
		t.Errorf("by name: exit %d\n%s", code, out)
	}
	address := service.URL + "/v1"
	shown, out, code = p.typed("gpt-5\n", "model", address)
	if code != 0 || !strings.Contains(settings(), `"provider":"openai","url":"`+address+`","model":"gpt-5"`) || now() != "gpt-5" || remote[len(remote)-1] != "" {
		t.Errorf("by its address: exit %d\n%s\n%s\n%s", code, shown, out, settings())
	}
	if out, code = p.at(nil, "model", "http://127.0.0.1:1/v1", "mine"); code != 0 || !strings.Contains(out, "not known") || now() != "mine" {
		t.Errorf("a server that does not answer: exit %d\n%s", code, out)
	}
	for _, wrong := range [][]string{{"http://127.0.0.1:1/v1"}, {"ftp://127.0.0.1/v1", "x"}, {"http://me:" + key + "@127.0.0.1/v1", "x"}} {
		if out, code = p.at(nil, append([]string{"model"}, wrong...)...); code == 0 || now() != "mine" {
			t.Errorf("%q: exit %d\n%s", wrong, code, out)
		}
	}
	if out, code = p.at(nil, "model", "--undo"); code != 2 || !strings.Contains(out, "take backend.profile and its row") || !strings.Contains(out, config.UserFile()) || now() != "mine" {
		t.Errorf("undo: exit %d\n%s", code, out)
	}
	if out, code = p.at(nil, "model", "local-olama"); code != 2 || !strings.Contains(out, "did you mean local-ollama?") {
		t.Errorf("exit %d\n%s", code, out)
	}
}
