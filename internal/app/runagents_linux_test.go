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
// and no questions asked, leave the disk as it is; what they did is pending, also when
// they are killed.
func TestAgentsInWorlds(t *testing.T) {
	slow.Test(t)
	own := map[string]does{"Claude Code": hands["claude-acp"], "Codex": hands["codex-acp"], "Gemini CLI": hands["gemini"], "OpenCode": hands["opencode"]}
	profile := map[string]string{"Claude Code": "claude", "Codex": "codex", "Gemini CLI": "gemini", "OpenCode": "opencode"} // a path alone has none
	for _, program := range clients.Alone {
		t.Run(program.Name, func(t *testing.T) {
			path := program.Find(t)
			buildServer(t)
			t.Setenv("HOME", t.TempDir())
			r := runRig(t, "overlay", map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", "old/c.txt": "c\nc\nc\n", ".env": "TOKEN=hidden-from-agents\n"})
			if res := r.call("edit_file", object{"path": "a.txt", "search": "two", "replace": "pending"}); !res.OK {
				t.Fatal(res.Content)
			}
			o := clients.Options{Path: path, Dir: r.dir, Home: os.Getenv("HOME"), In: []string{buildServer(t), "run", "--root", r.dir, "--yes", "--profile", profile[program.Name], "--session", "agent", "--"}}
			for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
				o.Env = append(o.Env, name+"="+os.Getenv(name))
			}
			c := program.Start(t, o)
			does := own[program.Name]
			in := func(name string) string { return filepath.Join(r.dir, name) }
			does.read(c.Turn(), in("a.txt"))
			turn := c.Turn()
			if !strings.Contains(turn.Result, "pending") {
				t.Errorf("the agent reads %q", turn.Result)
			}
			does.edit(turn, in("a.txt"))
			does.write(c.Turn(), in("written.txt"))
			does.shell(c.Turn(), `cat a.txt .env; printf '\000\377\r\n' > raw.bin`)
			turn = c.Turn()
			if !strings.Contains(turn.Result, "ONE\npending") || strings.Contains(turn.Result, "hidden-from-agents") {
				t.Errorf("the agent saw %q", turn.Result)
			}
			until(t, "what the agent wrote never was pending", func() bool {
				return slices.Equal(r.queued(), []string{"a.txt", "raw.bin", "written.txt"})
			})
			does.shell(turn, "rm b.txt; mv old/c.txt moved.txt; chmod +x written.txt; echo x > "+filepath.Dir(r.dir)+"/outside; echo $?")
			turn = c.Turn()
			does.shell(turn, "echo last > last.txt; kill -9 -1")
			c.Wait()
			r.isQueued("a.txt", "b.txt", "last.txt", "moved.txt", "raw.bin", "written.txt")
			if got := r.file("a.txt") + r.file("b.txt") + r.file("old/c.txt"); got != "one\ntwo\nb\nc\nc\nc\n" {
				t.Errorf("the disk has %q", got)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(r.dir), "outside")); err == nil {
				t.Error("the agent wrote outside of the workspace")
			}
			if res := r.accept(nil); len(res.Failed) != 0 {
				t.Errorf("accept: %+v", res)
			}
			for name, want := range map[string]string{
				"a.txt": "ONE\npending\n", "moved.txt": "c\nc\nc\n", "raw.bin": "\x00\xff\r\n", "written.txt": "written\n", "last.txt": "last\n",
			} {
				if got := r.file(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			for _, name := range []string{"b.txt", "old/c.txt"} {
				if _, err := os.Lstat(in(name)); err == nil {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
}
