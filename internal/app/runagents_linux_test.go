package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestAgentsInWorlds: agents that know nothing of the review, with all their own tools
// and no questions asked, leave the disk as it is; what they did is pending.
func TestAgentsInWorlds(t *testing.T) {
	slow.Test(t)
	shell := map[string]func(turn *clients.Turn, line string){
		"Claude Code": func(turn *clients.Turn, line string) {
			turn.CallOwn("Bash", object{"command": line, "description": "as planned"})
		},
		"Codex": func(turn *clients.Turn, line string) { turn.CallOwn("exec_command", object{"cmd": line}) },
	}
	for _, program := range clients.Alone {
		t.Run(program.Name, func(t *testing.T) {
			path := program.Find(t)
			buildServer(t)
			t.Setenv("HOME", t.TempDir())
			r := runRig(t, "overlay", map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", "old/c.txt": "c\nc\nc\n", ".env": "TOKEN=hidden-from-agents\n"})
			if res := r.call("edit_file", object{"path": "a.txt", "search": "two", "replace": "pending"}); !res.OK {
				t.Fatal(res.Content)
			}
			o := clients.Options{Path: path, Dir: r.dir, Home: os.Getenv("HOME"), In: []string{buildServer(t), "run", "--root", r.dir, "--yes", "--session", "agent", "--"}}
			for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
				o.Env = append(o.Env, name+"="+os.Getenv(name))
			}
			c := program.Start(t, o)
			run := shell[program.Name]
			turn := c.Turn()
			run(turn, "cat a.txt; cat .env; echo new > new.txt; sed -i s/one/ONE/ a.txt")
			turn = c.Turn()
			if !strings.Contains(turn.Result, "pending") || strings.Contains(turn.Result, "hidden-from-agents") {
				t.Errorf("the agent saw %q", turn.Result)
			}
			until(t, "what the agent wrote never was pending", func() bool {
				return slices.Equal(r.queued(), []string{"a.txt", "new.txt"})
			})
			if program.Name == "Claude Code" {
				turn.CallOwn("Write", object{"file_path": filepath.Join(r.dir, "written.txt"), "content": "by a tool of its own\n"})
				turn = c.Turn()
				if !strings.Contains(turn.Result, "written.txt") {
					t.Errorf("its own tool says %q", turn.Result)
				}
			}
			run(turn, "rm b.txt; mv old/c.txt moved.txt; echo x > "+filepath.Dir(r.dir)+"/outside; echo $?")
			turn = c.Turn()
			turn.End()
			c.Wait()
			want := []string{"a.txt", "b.txt", "moved.txt", "new.txt"}
			if program.Name == "Claude Code" {
				want = append(want, "written.txt")
			}
			r.isQueued(want...)
			if got := r.file("a.txt") + r.file("b.txt") + r.file("old/c.txt"); got != "one\ntwo\nb\nc\nc\nc\n" {
				t.Errorf("the disk has %q", got)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(r.dir), "outside")); err == nil {
				t.Error("the agent wrote outside of the workspace")
			}
			if res := r.accept(nil); len(res.Failed) != 0 || r.file("a.txt") != "ONE\npending\n" || r.file("moved.txt") != "c\nc\nc\n" {
				t.Errorf("accept: %+v, a.txt is %q", res, r.file("a.txt"))
			}
		})
	}
}
