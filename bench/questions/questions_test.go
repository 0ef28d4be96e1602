package main

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// played is a day in a mode.
func played(t *testing.T, d *Day, mode string) (*tally, error) {
	t.Helper()
	if runtime.GOOS != "linux" {
		needs.Skip(t, needs.Linux, "lines are read for bash, and confined")
	}
	server := program.ServerAnywhere(t)
	dir := t.TempDir()
	for name, value := range ownPlaces(dir) {
		t.Setenv(name, value)
	}
	return play(t.Context(), d, mode, settings{dir: filepath.Join(dir, "project"), program: server, programs: anywhere.Programs()})
}

// A day is played in each mode: its edits find their text, nothing is allowed that must be
// asked about, and nothing is denied without need.
func TestDay(t *testing.T) {
	days, err := readDays("git-work")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for _, mode := range modes {
		got, err := played(t, days[0], mode)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.holes)+len(got.wrongly) > 0 || got.marked == 0 {
			t.Errorf("%s: %d calls are marked; allowed are %q, denied without need %q", mode, got.marked, got.holes, got.wrongly)
		}
		if n := got.allowed + got.asked + got.denied; n != len(days[0].Calls) {
			t.Errorf("%s: %d calls were counted of %d", mode, n, len(days[0].Calls))
		}
		asked[mode] = got.asked
	}
	if asked["review"] > asked["cautious"] || asked["cautious"] > asked["manual"] || asked["manual"] == 0 {
		t.Errorf("looser modes ask more: %v", asked)
	}
}

// A call allowed for the session is asked about once; what needs a person is seen where
// nobody is asked; a denial without a mark is seen; and a script that does not fit its files
// is an error.
func TestControls(t *testing.T) {
	call := func(tool, why, args string) Call {
		return Call{Tool: tool, Arguments: json.RawMessage(args), Asked: why != "", For: why}
	}
	day := func(calls ...Call) *Day {
		return &Day{Name: "x", Agent: "x", Files: map[string]string{"a.txt": "a\n", ".gitignore": ".env\n"}, Loose: map[string]string{".env": "A=b\n"}, Calls: calls}
	}
	got, err := played(t, day(
		call("run_command", "", `{"command":"make all"}`), call("run_command", "", `{"command":"make all"}`),
		call("run_command", "push", `{"command":"cat {{root}}/a.txt"}`), call("read_file", "", `{"path":".env"}`),
	), "review")
	if err != nil || got.asked+got.allowed != 3 || len(got.holes) != 1 || len(got.wrongly) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, wrong := range []Call{call("edit_file", "", `{"path":"a.txt","search":"z","replace":"b"}`), call("run_command", "", `{"line":"ls"}`), call("none", "", `{}`)} {
		if _, err := played(t, day(wrong), "review"); err == nil || !strings.Contains(err.Error(), wrong.Tool) {
			t.Errorf("%s %s: %v", wrong.Tool, wrong.Arguments, err)
		}
	}
}

// Every script can be read, and has the length of a day.
func TestScripts(t *testing.T) {
	days, err := readDays("")
	if err != nil || len(days) != 10 {
		t.Fatalf("%d days, %v", len(days), err)
	}
	agents := map[string]bool{}
	for _, d := range days {
		agents[d.Agent] = true
		if len(d.Calls) < 40 || len(d.Calls) > 80 {
			t.Errorf("%s has %d calls", d.Name, len(d.Calls))
		}
	}
	if len(agents) != 4 {
		t.Errorf("the agents are %v", agents)
	}
	first, err := readBaseline()
	if err != nil || len(first) != len(days) || first["docs"]["review"] == 0 {
		t.Errorf("the first counts are %v, %v", first, err)
	}
}
