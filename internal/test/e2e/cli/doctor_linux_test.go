package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestDoctorBesideAProgram: doctor beside a program that runs leaves nothing in the
// workspace, and doesn't report what only stands there for a command.
func TestDoctorBesideAProgram(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"})
	names := func() (all []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Name() != ".sidecar" { // what is kept of the program's session
				all = append(all, e.Name())
			}
		}
		return all
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "run", "--mode", "review", "--root", dir, "--", "sh", "-c", "test -e .envrc && test -e .mcp.json && ls -A && echo ready; read line")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	seen := ""
	for lines.Scan() && lines.Text() != "ready" {
		seen += lines.Text() + " "
	}
	if !strings.Contains(seen, ".claude") {
		t.Errorf("the control: the command sees what stands in: %s", seen)
	}
	if all := names(); len(all) != 1 {
		t.Errorf("beside the program the workspace has %v", all)
	}
	said, stderr, _ := e2e.RunCLI(t, "", "doctor", "--root", dir)
	if strings.Contains(said, "FAIL") {
		t.Errorf("doctor says\n%s%s", said, stderr)
	}
	if all := names(); len(all) != 1 {
		t.Errorf("doctor leaves %v", all)
	}
	_, _ = io.WriteString(in, "\n")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if all := names(); len(all) != 1 {
		t.Errorf("at the end there is %v", all)
	}
}

// TestMisnamedTool: a permission for a tool that is none is reported where one is meant, and
// not where it may come yet.
func TestMisnamedTool(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	e2e.UserSettings(t, e2e.Object{"toolPermissions": e2e.Object{"run_comand": "deny", "mcp_other_search": "deny", "grep": "ask"}})
	said, _, code := e2e.RunCLI(t, "", "doctor", "--root", dir)
	if code != 1 || !strings.Contains(said, "there is no tool run_comand (did you mean run_command?)") || strings.Contains(said, "mcp_other_search") || strings.Contains(said, "no tool grep") {
		t.Errorf("exit %d\n%s", code, said)
	}
}

// TestDoctorCommands: what commands see is said in words that a new user knows.
func TestDoctorCommands(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"})
	for set, want := range map[string]string{
		"overlay": "ok    commands    run in an overlay: they see pending and unsaved text, and their changes are reviewed\n",
		"copy":    "ok    commands    run in a copy of the workspace: they see pending and unsaved text, and their changes are reviewed\n",
		"disk":    "ok    commands    run on the disk, by the setting sidecar.commands.world: they see neither pending nor unsaved text, and their changes are not reviewed\n",
	} {
		e2e.UserSettings(t, e2e.Object{"commands": e2e.Object{"world": set}})
		if said, _, _ := e2e.RunCLI(t, "", "doctor", "--root", dir); !strings.Contains(said, want) {
			t.Errorf("%s: doctor says\n%s", set, said)
		}
	}
}

// inside are words that only this project has, or has for itself.
var inside = regexp.MustCompile(`(?i)\b(worlds?|roads?|doors?|roof|apart|settles?|settled|harvest\w*)\b`)

// TestPlainWords: what a new user meets first has none of the project's own words.
func TestPlainWords(t *testing.T) {
	p := newPerson(t)
	p.program("claude", "2.1.330 (Claude Code)")
	for _, args := range [][]string{{"doctor"}, {"mode"}, {"trust"}, {"agent", "list"}, {"review"}, {"setup"}, {"setup", "claude", "--dry-run"}, {"uninstall", "--list"}} {
		said, stderr, _ := e2e.RunCLI(t, "", append(args, "--root", p.dir)...)
		said = strings.NewReplacer("docs/world.md", "", "sidecar.commands.world", "", "\n  world  ", "").Replace(said + stderr) // names
		if found := inside.FindAllString(said, -1); said == "" || found != nil {
			t.Errorf("%v says %q in\n%s", args, found, said)
		}
	}
	for _, args := range [][]string{{"help"}, {"mcp", "--help"}, {"serve", "--help"}} {
		said, _, _ := e2e.RunCLI(t, "", args...)
		if found := inside.FindAllString(said, -1); said == "" || found != nil || strings.Contains(said, "hands over") {
			t.Errorf("%v says %q:\n%s", args, found, said)
		}
	}
	if inside.FindString("a door and a road") == "" {
		t.Error("the control")
	}
}
