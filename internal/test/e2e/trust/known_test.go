package trust_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// forms are a value as it is and encoded.
func forms(v string) map[string]string {
	quoted, _ := json.Marshal(v)
	return map[string]string{
		"plain": v, "base64": base64.StdEncoding.EncodeToString([]byte(v)), "within base64": base64.StdEncoding.EncodeToString([]byte("user:" + v + ";")),
		"hex": hex.EncodeToString([]byte(v)), "query": url.QueryEscape(v), "path": url.PathEscape(v), "json": string(quoted[1 : len(quoted)-1]),
	}
}

// TestKnownValuesReachNoSink: what .env files, secret settings and the server's
// environment hold comes out nowhere, in no encoding, from when it is there
// until it goes. Nothing else would hide these values: see the control at the end.
func TestKnownValuesReachNoSink(t *testing.T) {
	e2e.Home(t)
	values := map[string]string{
		"environment": "sky is/green one", "setting": "sky is/green two", "file": "sky is/green three", "nested file": "sky is/green four", "new file": "sky is/green five", "changed file": "sky is/green six",
	}
	t.Setenv("SERVICE_API_KEY", values["environment"])
	e2e.Write(t, config.UserFile(), `{"web.search.key": "`+values["setting"]+`"}`)
	caps := fakeeditor.Usual()
	caps.Experimental.Sidecar.Approve, caps.Experimental.Sidecar.Ask, caps.Experimental.Sidecar.Events = true, true, true
	sinks := map[string]string{}
	for name, opts := range map[string]fakeeditor.Options{"plain": {}, "extras": {Capabilities: caps}} {
		dir := e2e.Project(t, map[string]string{".env": "A_TOKEN='" + values["file"] + "'\n", "app/web/.env.local": "export B_KEY=\"" + values["nested file"] + "\"\n"})
		r, log := e2e.ServeWhole(t, dir, opts)
		r.Answer("sidecar/approve", func(context.Context, json.RawMessage) (any, error) { return e2e.Object{"outcome": "allow"}, nil })
		r.Answer("sidecar/ask", func(context.Context, json.RawMessage) (any, error) { return e2e.Object{"answer": "yes"}, nil })
		call := func(tool string, args e2e.Object) string {
			r.Choose("Allow", "yes")
			return string(e2e.Command[json.RawMessage](r, "sidecar.tools.call", e2e.Object{"name": tool, "arguments": args}))
		}
		e2e.Write(t, filepath.Join(dir, ".env.production"), "C_SECRET="+values["new file"]+"\nD_SECRET=of the past\n")
		e2e.Write(t, filepath.Join(dir, ".env.test"), "E_SECRET=of the past 2\n")
		call("list_directory", e2e.Object{})
		e2e.Write(t, filepath.Join(dir, ".env.test"), "E_SECRET="+values["changed file"]+"\n")
		for _, v := range values {
			for _, form := range forms(v) {
				e2e.Write(t, filepath.Join(dir, "text.txt"), "is "+form+" it\n")
				sinks["results"] += call("read_file", e2e.Object{"path": "text.txt"}) + call("read_file", e2e.Object{"path": "no/" + form}) + call("no_such_tool "+form, e2e.Object{})
				sinks["results"] += call("grep", e2e.Object{"pattern": "it", "path": "text.txt"})
			}
			for _, form := range []string{v, forms(v)["base64"]} {
				sinks["results"] += call("run_command", e2e.Object{"command": "cat text.txt; echo '" + form + "' 1>&2; exit 3"})
				sinks["results"] += call("ask_user", e2e.Object{"question": "is " + form + " it?", "options": []string{"yes", form}})
				sinks["results"] += call("edit_file", e2e.Object{"path": "text.txt", "search": form, "replace": "x"})
				sinks["results"] += string(e2e.Command[json.RawMessage](r, "sidecar.policy.explain", e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": "echo '" + form + "'"}}))
			}
		}
		if name == "extras" { // the control: nothing but the files hides what stands in them
			if err := errors.Join(ownfile.Remove(filepath.Join(dir, ".env")), ownfile.Remove(filepath.Join(dir, ".env.test"))); err != nil {
				t.Fatal(err)
			}
			for _, v := range []string{"file", "changed file", "nested file"} {
				e2e.Write(t, filepath.Join(dir, "control.txt"), values[v]+"\n")
				if got := call("read_file", e2e.Object{"path": "control.txt"}); strings.Contains(got, values[v]) != (v != "nested file") {
					t.Errorf("control, %s: %s", v, got)
				}
			}
		}
		if err := r.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		sinks["log"] += log.String()
		rec := r.Record()
		for _, m := range append(rec.Notifications, rec.Requests...) {
			if m.Method == "workspace/applyEdit" || m.Method == "textDocument/publishDiagnostics" || bytes.Contains(m.Params, []byte("control.txt")) {
				continue // the user's own files, shown to the user; and the control
			}
			sinks[m.Method] += string(m.Params) + "\n"
		}
		logs, err := filepath.Glob(filepath.Join(dir, ".sidecar/logs/*.jsonl"))
		if err != nil || len(logs) == 0 {
			t.Fatal(logs, err)
		}
		for _, name := range logs {
			text, _ := os.ReadFile(name)
			sinks["audit log"] += string(text)
		}
	}
	tried, clean, controls := 0, 0, 0
	for _, sink := range []string{"results", "log", "audit log", "window/showMessageRequest", "sidecar/approve", "sidecar/ask", "sidecar/event"} {
		if !strings.Contains(sinks[sink], "[REDACTED:known]") {
			t.Errorf("control: nothing was hidden in %s", sink)
			continue
		}
		controls++
		for what, v := range values {
			for form, text := range forms(v) {
				tried++
				at := strings.Index(sinks[sink], text)
				if quoted, _ := json.Marshal(text); at < 0 {
					at = strings.Index(sinks[sink], string(quoted[1:len(quoted)-1]))
				}
				if at < 0 {
					clean++
					continue
				}
				t.Errorf("%s has the %s as %s: …%s…", sink, what, form, sinks[sink][max(0, at-200):min(len(sinks[sink]), at+80)])
			}
		}
	}
	t.Logf("%d of %d clean, %d controls", clean, tried, controls)
}
