package tools_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// machine is a machine with settings of its own.
type machine struct {
	t    *testing.T
	file config.MachineFile
}

func newMachine(t *testing.T, text string) *machine {
	t.Helper()
	m := &machine{t, config.MachineFile{Path: filepath.Join(t.TempDir(), "sidecar", "settings.json"), Owner: strconv.Itoa(os.Geteuid())}}
	if err := ownfile.MkdirAll(filepath.Dir(m.file.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	m.says(text)
	return m
}

func (m *machine) says(text string) {
	m.t.Helper()
	if err := ownfile.WriteFile(m.file.Path, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// follows waits until a call is decided otherwise: a server looks at most every 250 ms.
func follows(r *e2e.Rig, tool string, args e2e.Object, want string) {
	r.T.Helper()
	e2e.Until(r.T, "the change of the machine's settings does not count", func() bool {
		r.Choose("Allow")
		res := r.Tool(tool, args)
		return strings.Contains(res.Content, want) && (res.OK || want != "")
	})
}

// serve connects an editor to a server on it.
func (m *machine) serve(dir string, settings e2e.Object) *e2e.Rig {
	m.t.Helper()
	opts := fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": settings}}
	self := program.ServerAnywhere(m.t) // before the editor waits for it
	return e2e.Begin(m.t, dir, opts, func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{
			App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler), Program: self, Machine: m.file}, Person: cli.AnswerPerson,
		})
	})
}

// TestMachineSettings: neither the user, the editor, a project, a session nor a caller is looser
// than the machine, which may change while the server runs. What can't be followed lets agents
// only look, and commands neither see nor change the file.
func TestMachineSettings(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", ".sidecar/settings.json": `{"mode": "autonomous", "toolPermissions": {"delete_file": "allow"}}`})
	e2e.UserSettings(t, e2e.Object{"mode": "autonomous", "toolPermissions": e2e.Object{"delete_file": "allow", "run_command": "allow"}})
	m := newMachine(t, `{"mode": "review", "toolPermissions": {"delete_file": "deny"}, "budget": {"calls": 10000}}`)
	r := m.serve(dir, e2e.Object{"mode": "autonomous"})
	edit := func(text string) e2e.Result {
		return r.Tool("write_file", e2e.Object{"path": "b.txt", "content": text})
	}

	if err := r.ExecuteCommand(t.Context(), "sidecar.mode.set", e2e.Object{"mode": "autonomous"}, nil); err == nil || !strings.Contains(err.Error(), "the machine's settings allow none") {
		t.Errorf("a session is looser: %v", err)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.mode.set", e2e.Object{"mode": "review"}, nil); err != nil {
		t.Error(err)
	}
	if res := edit("two\n"); !res.OK {
		t.Errorf("an edit: %s", res.Content)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.txt")); err == nil {
		t.Error("an edit did not wait for review")
	}
	if res := r.Tool("delete_file", e2e.Object{"path": "a.txt"}); res.OK || !strings.Contains(res.Content, "the machine's settings, "+m.file.Path+" deny delete_file") {
		t.Errorf("a denied tool: %s", res.Content)
	}
	if res := r.Tool("get_setting", e2e.Object{"key": "mode"}); !strings.Contains(res.Content, "review") || !strings.Contains(res.Content, "the machine's settings, "+m.file.Path) {
		t.Errorf("get_setting: %s", res.Content)
	}
	if res := r.Tool("write_file", e2e.Object{"path": m.file.Path, "content": "{}"}); res.OK {
		t.Errorf("an agent wrote it: %s", res.Content)
	}
	before, err := os.ReadFile(m.file.Path)
	if err != nil {
		t.Fatal(err)
	}
	r.Tool("run_command", e2e.Object{"command": "D=" + filepath.Dir(m.file.Path) + "; echo {} > $D/settings.json; rm -f $D/settings.json; mv $D $D.old"})
	if now, err := os.ReadFile(m.file.Path); err != nil || string(now) != string(before) {
		t.Errorf("a command changed it: %q, %v", now, err)
	}

	if res := r.Tool("run_command", e2e.Object{"command": "test -w /etc && echo open || echo closed"}); !strings.Contains(res.Content, "closed") && !strings.Contains(res.Content, "sandbox: none") {
		t.Errorf("where the machine's file is commands can write: %s", res.Content)
	}

	m.says(`{"mode": "review"}`) // followed while the server runs
	follows(r, "delete_file", e2e.Object{"path": "a.txt"}, "")
	m.says(`{"mode": "review", "retry.attempts": 2}`)
	follows(r, "get_setting", e2e.Object{"key": "retry.attempts"}, m.file.Path)
	if res := r.Tool("update_setting", e2e.Object{"key": "retry.attempts", "value": 5}); res.OK || !strings.Contains(res.Content, "only an administrator can change") {
		t.Errorf("an agent changes a setting of the machine: %s", res.Content)
	}
	m.says(`{"mode": "review"`)
	follows(r, "write_file", e2e.Object{"path": "c.txt", "content": "x"}, "is not valid JSON")
	for tool, args := range map[string]e2e.Object{"write_file": {"path": "c.txt", "content": "x"}, "run_command": {"command": "ls"}, "code_exec": {"language": "python", "code": "print(1)"}} {
		if res := r.Tool(tool, args); res.OK || !strings.Contains(res.Content, m.file.Path) || !strings.Contains(res.Content, "is not valid JSON") {
			t.Errorf("locked, %s: %s", tool, res.Content)
		}
	}
	if res := r.Tool("read_file", e2e.Object{"path": "b.txt"}); !res.OK || !strings.Contains(res.Content, "two") {
		t.Errorf("locked, it can't read: %s", res.Content)
	}
	m.says(`{"mode": "review"}`)
	follows(r, "run_command", e2e.Object{"command": "echo again"}, "again\n")
}

// TestMachineSettingsAreNamed: doctor and policy explain name the file, and what of the user's
// settings does not hold.
func TestMachineSettingsAreNamed(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	m := newMachine(t, `{"mode": "review", "toolPermissions": {"delete_file": "deny"}}`)
	run := func(args ...string) (string, int) {
		t.Helper()
		var out strings.Builder
		code := cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out, Self: program.ServerAnywhere(t), Programs: anywhere.Programs(), Machine: m.file})
		return out.String(), code
	}
	name := "the machine's settings, " + m.file.Path
	if out, _ := run("doctor", "--root", dir); !strings.Contains(out, name+", bound mode, toolPermissions") {
		t.Errorf("doctor: %s", out)
	}
	if out, _ := run("policy", "explain", "--root", dir, "delete_file", "path=a.txt"); !strings.Contains(out, name+" deny delete_file") || !strings.Contains(out, name+", bound mode") {
		t.Errorf("policy explain: %s", out)
	}
	if out, code := run("mcp", "--root", dir, "--mode", "autonomous"); code == 0 || !strings.Contains(out, "not stricter than the mode review") {
		t.Errorf("--mode: %s", out)
	}
	out, _ := run("call", "--root", dir, "--mode", "autonomous", "--json", "write_file", "path=a.txt", "content=two")
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "one\n" {
		t.Errorf("call --mode autonomous: %s, %q", out, data)
	}
	e2e.UserSettings(t, e2e.Object{"mode": "autonomous"})
	if out, code := run("doctor", "--root", dir); code == 0 || !strings.Contains(out, "sidecar.mode: "+name+" say otherwise") {
		t.Errorf("doctor, %d: %s", code, out)
	}
	m.says(`{"mode": "reviw"}`)
	if out, code := run("doctor", "--root", dir); code == 0 || !strings.Contains(out, m.file.Path) || !strings.Contains(out, "reviw") {
		t.Errorf("doctor of a broken file, %d: %s", code, out)
	}
	streams, err := ownfile.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer streams.Close()
	code := cli.Main(t.Context(), []string{"run", "--root", dir, "--yes", "--", "true"}, cli.Streams{In: streams, Out: streams, Err: streams, Self: program.ServerAnywhere(t), Programs: anywhere.Programs(), Machine: m.file})
	if said, err := os.ReadFile(streams.Name()); err != nil || code == 0 || !strings.Contains(string(said), m.file.Path) || !strings.Contains(string(said), "reviw") {
		t.Errorf("run with a broken file, %d: %s", code, said)
	}
	if out, code := run("call", "--root", dir, "read_file", "path=a.txt"); code != 0 || !strings.Contains(out, "one") {
		t.Errorf("a look with a broken file: %s", out)
	}
	if os.Geteuid() == 0 { // a file of somebody else
		m.says(`{"mode": "plan"}`)
		if err := ownfile.Chown(m.file.Path, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		if out, code := run("doctor", "--root", dir); code == 0 || !strings.Contains(out, m.file.Path+" belongs to the user 4711") || !strings.Contains(out, "nothing in it holds") {
			t.Errorf("doctor of another's file, %d: %s", code, out)
		}
	}
}
