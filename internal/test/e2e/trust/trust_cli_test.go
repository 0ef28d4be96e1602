package trust_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestTrustCommand: what the user says of a folder holds for that folder, in
// all programs that have no editor to ask, until they say something else.
func TestTrustCommand(t *testing.T) {
	e2e.Home(t)
	dir, other := e2e.Project(t, map[string]string{"a.txt": "x\n"}), e2e.Project(t, map[string]string{"a.txt": "x\n"})
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	setting := func(dir string) string {
		out, stderr, _ := e2e.RunCLI(t, "", "call", "--root", dir, "get_setting", `{"key":"workspace.trust"}`)
		return out + stderr
	}
	for _, step := range []struct {
		args  []string
		code  int
		out   string
		trust string // then, of dir
		runs  string // what a command in dir prints
	}{
		{[]string{"trust", "--root", dir}, 0, "you have not said", "unknown", "hello"},
		{[]string{"trust", "yes", "--root", link}, 0, dir + " is trusted", "trusted", "hello"},
		{[]string{"trust", "--json", "--root", dir}, 0, `"trust": "trusted"`, "trusted", "hello"},
		{[]string{"trust", "perhaps", "--root", dir}, 2, "", "trusted", "hello"},
		{[]string{"trust", "yes", "no", "--root", dir}, 2, "", "trusted", "hello"},
		{[]string{"trust", "yes", "--root", dir + "/none"}, 1, "", "trusted", "hello"},
		{[]string{"trust", "no", "--root", dir}, 0, "tools only read", "untrusted", "does not trust this workspace"},
		{[]string{"trust", "forget", "--root", dir}, 0, "you have not said", "unknown", "hello"},
	} {
		out, stderr, code := e2e.RunCLI(t, "", step.args...)
		if code != step.code || !strings.Contains(out, step.out) {
			t.Errorf("%q: exit %d: %s%s", step.args, code, out, stderr)
		}
		if got := setting(dir); !strings.Contains(got, `= "`+step.trust+`"`) {
			t.Errorf("after %q the setting is %s", step.args, got)
		}
		if got := setting(other); !strings.Contains(got, `= "unknown"`) {
			t.Errorf("after %q the setting of another folder is %s", step.args, got)
		}
		if out, stderr, _ := e2e.RunCLI(t, "", "call", "--root", dir, "run_command", `{"command":"echo hello"}`); !strings.Contains(out+stderr, step.runs) {
			t.Errorf("after %q: %s%s", step.args, out, stderr)
		}
	}
}

// TestTrustOfFolders: one folder of a workspace does not vouch for the others,
// and an editor has the last word.
func TestTrustOfFolders(t *testing.T) {
	e2e.Home(t)
	a, b := e2e.Project(t, map[string]string{"a.txt": "x\n"}), e2e.Project(t, map[string]string{"b.txt": "x\n"})
	say := func(word, dir string) {
		t.Helper()
		if _, stderr, code := e2e.RunCLI(t, "", "trust", word, "--root", dir); code != 0 {
			t.Fatal(stderr)
		}
	}
	trust := func(r *e2e.Rig) string {
		t.Helper()
		for _, word := range []string{"untrusted", "trusted", "unknown"} {
			if strings.Contains(r.Tool("get_setting", e2e.Object{"key": "workspace.trust"}).Content, `= "`+word+`"`) {
				return word
			}
		}
		return ""
	}
	say("yes", a)
	r := e2e.Connect(t, a, fakeeditor.Options{})
	if got := trust(r); got != "trusted" {
		t.Errorf("a alone: %s", got)
	}
	r.Folders([]string{b}, nil)
	if got := trust(r); got != "unknown" {
		t.Errorf("with another folder: %s", got)
	}
	r.Folders(nil, []string{b})
	if got := trust(r); got != "trusted" {
		t.Errorf("without it: %s", got)
	}
	say("no", b)
	r.Folders([]string{b}, nil)
	if got := trust(r); got != "untrusted" {
		t.Errorf("with a folder that is not trusted: %s", got)
	}
	editor := e2e.Connect(t, a, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"workspace.trust": "untrusted"}}})
	if got := trust(editor); got != "untrusted" {
		t.Errorf("the editor's word: %s", got)
	}

	file := filepath.Join(filepath.Dir(config.UserFile()), "trust.json")
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	e2e.Write(t, file, "{")
	if got := trust(e2e.Connect(t, a, fakeeditor.Options{})); got != "unknown" {
		t.Errorf("a damaged file: %s", got)
	}
	if _, stderr, code := e2e.RunCLI(t, "", "trust", "yes", "--root", a); code != 1 || !strings.Contains(stderr, "mend or remove") {
		t.Errorf("a damaged file: exit %d: %s", code, stderr)
	}
	if data, _ := os.ReadFile(file); string(data) != "{" {
		t.Errorf("a damaged file was overwritten: %s", data)
	}
}

// TestTrustHash: a yes with a hash takes what has that hash, and nothing else; what is
// taken is printed before it is.
func TestTrustHash(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{".sidecar/settings.json": `{}`, ".sidecar/hooks.json": `{"hooks": {"Stop": [{"hooks": [{"command": "sh \"$G\""}]}]}}`})
	file := filepath.Join(dir, ".sidecar/settings.json")
	cli := func(code int, want string, args ...string) string {
		t.Helper()
		out, stderr, got := e2e.RunCLI(t, "", append(append([]string{"trust"}, args...), "--root", dir)...)
		if got != code || !strings.Contains(out+stderr, want) {
			t.Errorf("%q: no %q: exit %d: %s%s", args, want, got, out, stderr)
		}
		return out
	}
	first := trustOf(t, dir).Hash
	cli(2, "goes with", "--hash", first)
	cli(1, "nothing was accepted", "yes", "--hash", "another")
	if now := trustOf(t, dir); now.Trust != "unknown" || first == "" {
		t.Errorf("%+v", now)
	}
	cli(0, "is trusted", "yes", "--hash", first)
	e2e.Write(t, file, `{"mode": "plan"}`)
	shown := trustOf(t, dir).Hash
	cli(0, "trust yes --hash "+shown)
	cli(0, `Not compared, because nobody knows which files these words of its hooks name: "$G".`)
	e2e.Write(t, file, `{"mode": "review"}`)
	cli(1, "has changed since you looked", "yes", "--hash", shown)
	if now := trustOf(t, dir); len(now.Changed) != 1 {
		t.Errorf("%+v", now)
	}
	e2e.Write(t, file, `{"mode": "plan"}`)
	cli(0, "Accepted: .sidecar/settings.json", "yes", "--hash", shown)
	e2e.Write(t, file, `{"mode": "manual"}`)
	if out := cli(0, `+{"mode": "manual"}`, "yes"); strings.Index(out, "manual") > strings.Index(out, "Accepted") {
		t.Errorf("it is printed after it was taken: %s", out)
	}
	if now := trustOf(t, dir); len(now.Changed) != 0 {
		t.Errorf("%+v", now)
	}
}

// trustOf reads a folder's trust from the command line.
func trustOf(t *testing.T, dir string) (now struct {
	Trust, Diff, Hash string
	Changed           []string
	Refused           bool
}) {
	t.Helper()
	out, stderr, code := e2e.RunCLI(t, "", "trust", "--json", "--root", dir)
	if err := json.Unmarshal([]byte(out), &now); err != nil || code != 0 {
		t.Fatalf("%d %v: %s%s", code, err, out, stderr)
	}
	return now
}
