package review_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestKilledServer is killed with edits pending, and with an accept under way,
// many times; after each restart every file is old or new, and what was not
// accepted is still pending.
func TestKilledServer(t *testing.T) {
	e2e.Home(t)
	bin := program.ServerAnywhere(t)
	dir := e2e.Project(t, map[string]string{})
	const files = 20
	text := func(round int) string { return fmt.Sprintf("round %d\n", round) }
	for i := range files {
		e2e.Write(t, filepath.Join(dir, fmt.Sprintf("f%02d.txt", i)), text(0))
	}
	start := func() (*e2e.Rig, *exec.Cmd) {
		cmd := exec.Command(bin, "serve", "--log-level", "error")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Initialize(t.Context()); err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		return &e2e.Rig{Editor: e, T: t, Dir: dir}, cmd
	}
	old := make([]string, files)
	for i := range old {
		old[i] = text(0)
	}
	mixed := 0
	for round := 1; round <= 12; round++ {
		r, cmd := start()
		r.Mode("review")
		if n := len(r.Pending().Edits); n != 0 {
			t.Fatalf("round %d begins with %d pending edits", round, n)
		}
		var wg sync.WaitGroup
		for i := range files {
			wg.Go(func() {
				res := r.Tool("write_file", map[string]string{"path": fmt.Sprintf("f%02d.txt", i), "content": text(round)})
				if !res.OK {
					t.Error(res.Content)
				}
			})
		}
		wg.Wait()
		if round%2 == 0 { // in the middle of an accept, a little later each time
			params, err := fakeeditor.Command("sidecar.review.accept", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Start(t.Context(), "workspace/executeCommand", params); err != nil {
				t.Fatal(err)
			}
			for range round / 2 { // each answer takes the accept a little further
				if err := r.ExecuteCommand(t.Context(), "sidecar.mode.get", nil, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		r.Wait(t.Context()) // its error is the kill

		r, _ = start()
		waiting := map[string]bool{}
		for _, e := range r.Pending().Edits {
			waiting[e.Path] = true
		}
		states := map[bool]int{}
		for i := range files {
			name := fmt.Sprintf("f%02d.txt", i)
			got := r.File(name)
			isNew := got == text(round)
			states[isNew]++
			if !isNew && got != old[i] {
				t.Fatalf("round %d: %s is neither old nor new: %q", round, name, got)
			}
			if isNew == waiting[name] {
				t.Fatalf("round %d: %s: new on disk %v, pending %v", round, name, isNew, waiting[name])
			}
		}
		if len(states) == 2 {
			mixed++
		}
		if res := r.Accept(nil); len(res.Failed) > 0 {
			t.Fatalf("round %d: %+v", round, res.Failed)
		}
		for i := range files {
			old[i] = r.File(fmt.Sprintf("f%02d.txt", i))
			if old[i] != text(round) {
				t.Fatalf("round %d: an edit was lost: %q", round, old[i])
			}
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if mixed > 0 {
		t.Errorf("%d batches were half accepted after a restart", mixed)
	}
}

// TestManyCalls: ten thousand at once, none lost, none doubled.
func TestManyCalls(t *testing.T) {
	e2e.Home(t)
	const calls = 10_000
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "one\n"}), fakeeditor.Options{})
	ids := make(chan string, calls)
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			var res struct {
				CallID string `json:"callId"`
				OK     bool   `json:"ok"`
			}
			arg := map[string]any{"name": "read_file", "arguments": map[string]string{"path": "a.txt"}}
			if err := r.ExecuteCommand(t.Context(), "sidecar.tools.call", arg, &res); err != nil || !res.OK {
				t.Errorf("%v %+v", err, res)
			}
			ids <- res.CallID
		})
	}
	wg.Wait()
	close(ids)
	seen := map[string]bool{}
	for id := range ids {
		seen[id] = true
	}
	if len(seen) != calls {
		t.Errorf("%d different replies to %d calls", len(seen), calls)
	}
}

// TestConflictsLoseNothing: whoever writes between proposal and accept keeps
// what he wrote, and the proposal stays.
func TestConflictsLoseNothing(t *testing.T) {
	e2e.Home(t)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"}), fakeeditor.Options{})
	r.Mode("review")
	r.Tool("edit_file", map[string]any{"path": "a.txt", "edits": []map[string]string{{"search": "2\n", "replace": "two\n"}, {"search": "8\n", "replace": "eight\n"}}})
	e2e.Write(t, filepath.Join(r.Dir, "a.txt"), "0\n1\nDEUX\n3\n4\n5\n6\n7\n8\n9\n")
	res := r.Accept(nil)
	if len(res.Failed) != 1 || !strings.Contains(res.Failed[0].Error, "conflict") && !strings.Contains(res.Failed[0].Error, "changed") {
		t.Fatalf("accept: %+v", res)
	}
	if got := r.File("a.txt"); !strings.Contains(got, "DEUX") || strings.Contains(got, "two") {
		t.Fatalf("the user's line is gone: %q", got)
	}
	list := r.Pending()
	if len(list.Edits) != 1 || list.Edits[0].State != "conflict" {
		t.Fatalf("pending: %+v", list)
	}
	var diff struct {
		Diff string `json:"diff"`
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.diff", nil, &diff); err != nil || !strings.Contains(diff.Diff, "two") {
		t.Errorf("the proposal is not shown any more: %v\n%s", err, diff.Diff)
	}
	if res := r.Accept(map[string]any{"revision": list.Revision - 1}); len(res.Accepted) > 0 || len(res.Failed) != 1 {
		t.Errorf("a stale revision: %+v", res)
	}
	for _, command := range []string{"sidecar.review.accept", "sidecar.review.reject"} {
		err := r.ExecuteCommand(t.Context(), command, map[string]any{"hunks": []string{"h999"}}, nil)
		if err == nil || !strings.Contains(err.Error(), "h999 is not pending") {
			t.Errorf("%s of an unknown hunk: %v", command, err)
		}
	}
}

// TestNewSecretsAsk: a file whose name says secret may be made, but not
// without a person, whatever the mode.
func TestNewSecretsAsk(t *testing.T) {
	e2e.Home(t)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"poem.txt": "roses\n"}), fakeeditor.Options{})
	for _, mode := range []string{"autonomous", "review"} {
		r.Mode(mode)
		r.Choose("Deny")
		for tool, args := range map[string]any{
			"write_file": map[string]string{"path": ".env", "content": "KEY=1\n"},
			"move_file":  map[string]string{"from": "poem.txt", "to": "x/server.key"},
		} {
			if res := r.Tool(tool, args); res.OK || res.Error.Code != tools.NotApproved {
				t.Errorf("%s, %s: %+v", mode, tool, res)
			}
		}
	}
	r.Mode("autonomous")
	r.Choose("Allow")
	if res := r.Tool("write_file", map[string]string{"path": ".env", "content": "KEY=1\n"}); !res.OK {
		t.Errorf("control: %+v", res)
	}
	if res := r.Tool("read_file", map[string]string{"path": ".env"}); res.Error.Code != tools.SensitivePath {
		t.Errorf("it can be read back: %+v", res)
	}
}

// TestOutlineSurvivesItsParser: files that would bring a parser down cost an
// outline, not the server.
func TestOutlineSurvivesItsParser(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	bin := program.ServerAnywhere(t)
	dir := e2e.Project(t, map[string]string{
		"ok.py":   "class A:\n    def f(self):\n        pass\n",
		"bad.lua": strings.Repeat("\"\"\"\n", 20_000),
		"bad.cs":  strings.Repeat("a(", 200_000),
	})
	cmd := exec.Command(bin, "serve", "--log-level", "error")
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := &e2e.Rig{Editor: e, T: t, Dir: dir}
	for _, name := range []string{"bad.lua", "bad.cs"} {
		res := r.Tool("read_file", map[string]string{"path": name, "mode": "outline"})
		t.Logf("%s: ok %v, %.120s", name, res.OK, res.Content)
	}
	res := r.Tool("read_file", map[string]string{"path": "ok.py", "mode": "outline"})
	if !res.OK || !strings.Contains(res.Content, "def f(self)") {
		t.Errorf("outline: %+v", res)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}
