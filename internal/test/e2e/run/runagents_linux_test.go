package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestAgentsInWorlds: agents that know nothing of the review, with all their own tools
// and no questions asked, leave the disk as it is; what they did is pending, also when
// they are killed.
func TestAgentsInWorlds(t *testing.T) {
	slow.Test(t)
	own := map[string]e2e.Does{"Claude Code": e2e.Hands["claude"], "Codex": e2e.Hands["codex"], "Gemini CLI": e2e.Hands["gemini"], "OpenCode": e2e.Hands["opencode"]}
	profile := map[string]string{"Claude Code": "claude", "Codex": "codex", "Gemini CLI": "gemini", "OpenCode": "opencode"} // a path alone has none
	for _, alone := range clients.Alone {
		t.Run(alone.Name, func(t *testing.T) {
			path := alone.Find(t)
			program.ServerAnywhere(t)
			t.Setenv("HOME", t.TempDir())
			r := runRig(t, "overlay", map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", "old/c.txt": "c\nc\nc\n", ".env": "TOKEN=hidden-from-agents\n"})
			if res := r.Tool("edit_file", e2e.Object{"path": "a.txt", "search": "two", "replace": "pending"}); !res.OK {
				t.Fatal(res.Content)
			}
			o := clients.Options{Path: path, Dir: r.Dir, Home: os.Getenv("HOME"), In: []string{program.ServerAnywhere(t), "run", "--root", r.Dir, "--yes", "--profile", profile[alone.Name], "--session", "agent", "--"}}
			for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
				o.Env = append(o.Env, name+"="+os.Getenv(name))
			}
			c := alone.Start(t, o)
			does := own[alone.Name]
			in := func(name string) string { return filepath.Join(r.Dir, name) }
			does.Read(c.Turn(), in("a.txt"))
			turn := c.Turn()
			if !strings.Contains(turn.Result, "pending") {
				t.Errorf("the agent reads %q", turn.Result)
			}
			does.Edit(turn, in("a.txt"))
			does.Write(c.Turn(), in("written.txt"))
			does.Shell(c.Turn(), `cat a.txt .env; printf '\000\377\r\n' > raw.bin`)
			turn = c.Turn()
			if !strings.Contains(turn.Result, "ONE\npending") || strings.Contains(turn.Result, "hidden-from-agents") {
				t.Errorf("the agent saw %q", turn.Result)
			}
			e2e.Until(t, "what the agent wrote never was pending", func() bool {
				return slices.Equal(r.Queued(), []string{"a.txt", "raw.bin", "written.txt"})
			})
			does.Shell(turn, "rm b.txt; mv old/c.txt moved.txt; chmod +x written.txt; echo x > "+filepath.Dir(r.Dir)+"/outside; echo $?")
			turn = c.Turn()
			does.Shell(turn, "echo last > last.txt; kill -9 -1")
			c.Wait()
			r.IsQueued("a.txt", "b.txt", "last.txt", "moved.txt", "raw.bin", "written.txt")
			if got := r.File("a.txt") + r.File("b.txt") + r.File("old/c.txt"); got != "one\ntwo\nb\nc\nc\nc\n" {
				t.Errorf("the disk has %q", got)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(r.Dir), "outside")); err == nil {
				t.Error("the agent wrote outside of the workspace")
			}
			if res := r.Accept(nil); len(res.Failed) != 0 {
				t.Errorf("accept: %+v", res)
			}
			for name, want := range map[string]string{
				"a.txt": "ONE\npending\n", "moved.txt": "c\nc\nc\n", "raw.bin": "\x00\xff\r\n", "written.txt": "written\n", "last.txt": "last\n",
			} {
				if got := r.File(name); got != want {
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
