package trust_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestSecretsReachNoSink sends secrets through the whole server, in what tools
// read, write, are asked to do and fail with, and looks for them in everything
// that comes out: every message to the editor but those that show the user's
// own files, and every file of the log. The journal and the review queue hold
// what is to be written, whole.
func TestSecretsReachNoSink(t *testing.T) {
	e2e.Home(t)
	const held = "held-by-the-server-77"
	t.Setenv("SERVICE_API_KEY", held)
	token := "ghp" + "_aKsHOFoBGy9PzbNcsZFSGyNvoCyHfHMvUYRe"
	dir := e2e.Project(t, map[string]string{"config.txt": "token " + token + "\nkey " + held + "\n", "a.txt": "one\n",
		"a.md": "# Title " + token + " of it\n\n## Key " + held + "\n", "a.py": "# --- " + token + " ---\ndef f():\n    pass\n", ".sidecar/settings.json": `{"` + token + `": 1, "mode": "` + held + `"}`,
	})
	e2e.UserSettings(t, e2e.Object{held: true, "log.level": token})
	var log bytes.Buffer
	e := fakeeditor.Serve(func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: redact.NewLogger(&log, slog.LevelDebug)}, Person: cli.AnswerPerson})
	}, fakeeditor.Options{Root: dir, Capabilities: e2e.Knowing()})
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := &e2e.Rig{Editor: e, T: t, Dir: dir}
	var results []json.RawMessage
	call := func(tool string, args e2e.Object) json.RawMessage {
		return e2e.Command[json.RawMessage](r, "sidecar.tools.call", e2e.Object{"name": tool, "arguments": args})
	}
	for _, mode := range []string{"cautious", "review", "autonomous"} {
		r.Mode(mode)
		for _, secret := range []string{token, held} {
			r.Choose("Allow")
			results = append(results,
				call("read_file", e2e.Object{"path": "config.txt"}),
				call("grep", e2e.Object{"pattern": "token|key"}),
				call("read_file", e2e.Object{"path": "no/" + secret}),
				call("no_such_tool_"+secret, e2e.Object{}),
				call("read_file", e2e.Object{"path": 1, secret: 2}),
				call("edit_file", e2e.Object{"path": "a.txt", "search": secret, "replace": "x"}),
				call("write_file", e2e.Object{"path": "new-" + mode + ".txt", "content": "key = " + secret + "\n"}),
				call("edit_file", e2e.Object{"path": "config.txt", "search": "token", "replace": "token "}),
				call("read_file", e2e.Object{"path": "https://me:" + secret + "@h.test/a"}),
				call("read_file", e2e.Object{"path": strings.Repeat("x ", 20) + secret}),
				call("grep", e2e.Object{"pattern": "a", "mode": strings.Repeat("x ", 20) + secret}),
				call("apply_patch", e2e.Object{"patch": strings.Repeat("x ", 20) + secret}),
				call("ask_user", e2e.Object{"question": "use " + secret + "?", "options": []string{"yes", secret}}),
			)
		}
	}
	var refused strings.Builder
	for _, secret := range []string{token, held} {
		for name, arg := range map[string]any{"sidecar." + secret: nil, "sidecar.tools.call": e2e.Object{secret: 1}, "sidecar.review.text": e2e.Object{"uri": secret, "side": "base"}, "sidecar.mode.set": e2e.Object{"mode": secret}, "sidecar.session.close": e2e.Object{"session": secret}, "sidecar.shadow.diff": e2e.Object{"id": secret}} {
			err := e.ExecuteCommand(t.Context(), name, arg, nil)
			if err == nil {
				t.Errorf("%s is done with a secret", name)
				continue
			}
			refused.WriteString(err.Error() + "\n")
		}
	}
	call("project_knowledge_search", e2e.Object{"query": "title"})
	r.Indexed("all is known", func(s server.KnowledgeStatus) bool { return s.Ready && s.Symbols > 0 })
	if err := e.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "new-autonomous.txt"))
	if err != nil || !bytes.Contains(data, []byte(held)) {
		t.Errorf("control: what is written has the secret: %q, %v", data, err)
	}
	sinks := map[string]string{"log": log.String(), "errors": refused.String()}
	for i, res := range results {
		sinks["results"] += string(res) + "\n"
		if i == 0 && !bytes.Contains(res, []byte("[REDACTED:")) {
			t.Errorf("control: nothing was hidden: %s", res)
		}
	}
	rec := e.Record()
	for _, m := range append(rec.Notifications, rec.Requests...) {
		// The user's own files, shown to the user.
		if m.Method != "workspace/applyEdit" && m.Method != "textDocument/publishDiagnostics" {
			sinks[m.Method] += string(m.Params)
		}
	}
	if len(sinks["window/showMessageRequest"])+len(sinks["sidecar/approve"]) == 0 {
		t.Error("control: nobody was asked")
	}
	_ = filepath.WalkDir(filepath.Join(dir, ".sidecar", "logs"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(name)
			sinks["audit log"] += string(text)
		}
		return nil
	})
	_ = filepath.WalkDir(filepath.Join(dir, ".sidecar", "cache"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(name)
			sinks["cache"] += string(text)
		}
		return nil
	})
	if !strings.Contains(sinks["cache"], "Title") {
		t.Error("control: the index was not kept")
	}
	if sinks["audit log"] == "" || sinks["log"] == "" {
		t.Error("control: nothing was logged")
	}
	clean, controls := 0, strings.Count(strings.Join([]string{sinks["log"], sinks["results"], sinks["audit log"], sinks["window/showMessageRequest"]}, ""), "[REDACTED:")
	for name, text := range sinks {
		if !strings.Contains(text, token) && !strings.Contains(text, held) {
			clean++
		}
		for _, secret := range []string{token, held} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s: …%s…", name, text[max(0, at-200):min(len(text), at+80)])
			}
		}
	}
	t.Logf("%d of %d clean, %d controls", clean, len(sinks), controls)
}
