package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// Every call is written down, reads and refusals too, without secrets; what is
// changed afterwards shows.
func TestAuditLog(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	const secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for _, c := range [][]string{
		{"read_file", `{"path":"a.txt"}`},
		{"write_file", `{"path":"a.txt","content":"two\n"}`},
		{"write_file", `{"path":"token.txt","content":"` + secret + `\n"}`},
		{"read_file", `{"path":"../x"}`},
		{"read_fil", `{}`},
		{"write_file", `{"path":"long.txt","content":"` + strings.Repeat("long ", 5000) + `"}`},
	} {
		e2e.RunCLI(t, "", append([]string{"call", "--root", dir, "--mode", "autonomous"}, c...)...)
	}
	out, stderr, code := e2e.RunCLI(t, "", "audit", "--root", dir, "--json")
	var got []auditlog.Record
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || len(got) != 6 {
		t.Fatalf("%d records, exit %d, %v\n%s", len(got), code, err, stderr)
	}
	edit := got[1]
	if edit.Tool != "write_file" || edit.Access != "edit" || edit.Outcome != "allow" || edit.By != "mode" || edit.Rule != "mode.autonomous.edits" || !edit.OK || len(edit.Changes) != 1 ||
		edit.Changes[0].Before != auditlog.Sum([]byte("one\n")) || edit.Changes[0].After != auditlog.Sum([]byte("two\n")) || edit.Changes[0].State != "applied" {
		t.Errorf("%+v", edit)
	}
	if got[3].OK || got[3].Code != "outside_workspace" || got[4].Code != "unknown_tool" {
		t.Errorf("%+v\n%+v", got[3], got[4])
	}
	if strings.Contains(out, secret) || len(got[5].Arguments) > 8<<10 {
		t.Errorf("arguments are written with secrets or whole: %d bytes", len(got[5].Arguments))
	}
	if out, _, code := e2e.RunCLI(t, "", "audit", "list", "--root", dir, "--path", "a.txt"); code != 0 || !strings.Contains(out, "modify a.txt (applied)") || strings.Count(out, "\n") != 1 {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, _, code := e2e.RunCLI(t, "", "audit", "verify", "--root", dir); code != 0 || !strings.Contains(out, "6 records") {
		t.Errorf("exit %d\n%s", code, out)
	}
	name := filepath.Join(dir, ".sidecar", "logs", "audit-000001.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(name, []byte(strings.Replace(string(data), "write_file", "writd_file", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, code := e2e.RunCLI(t, "", "audit", "verify", "--root", dir); code != 1 || !strings.Contains(out, "audit-000001.jsonl:2: the record was changed") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// A file in the place of the log's directory is set aside, and the log is written.
func TestAuditLogInTheWay(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", ".sidecar/logs": "a file\n"})
	if out, _, code := e2e.RunCLI(t, "", "call", "--root", dir, "read_file", `{"path":"a.txt"}`); code != 0 || !strings.Contains(out, "one") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, stderr, code := e2e.RunCLI(t, "", "audit", "verify", "--root", dir); code != 0 {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	kept, err := filepath.Glob(filepath.Join(dir, ".sidecar", "set-aside-*", "logs"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %q, %v", kept, err)
	}
	if text, err := os.ReadFile(kept[0]); string(text) != "a file\n" {
		t.Errorf("kept is %q, %v", text, err)
	}
}

func TestAuditLogOff(t *testing.T) {
	e2e.Home(t)
	user := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json")
	e2e.Write(t, user, `{"audit.enabled": false}`)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	e2e.RunCLI(t, "", "call", "--root", dir, "read_file", `{"path":"a.txt"}`)
	if _, err := os.Stat(filepath.Join(dir, ".sidecar")); !os.IsNotExist(err) {
		t.Errorf("a directory was made: %v", err)
	}
}
