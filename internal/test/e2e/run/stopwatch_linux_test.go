package run_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/test/stopwatch"
)

// TestStopwatch: a new user starts an agent under review in a terminal, answers the
// questions, and accepts its edit, beside the same agent alone. That takes two commands, run
// and review accept, and at most two questions. The seconds depend on the machine, so they
// are only kept for the table of docs/agents.md.
func TestStopwatch(t *testing.T) {
	slow.Test(t)
	names := map[string]string{"Claude Code": "claude", "Codex": "codex", "Gemini CLI": "gemini", "OpenCode": "opencode"}
	for i, alone := range clients.Alone {
		t.Run(alone.Name, func(t *testing.T) {
			if i > 1 {
				slow.Rare(t)
			}
			path := alone.Find(t)
			server := program.ServerAnywhere(t)
			edits := e2e.Hands[names[alone.Name]].Edit
			work := func(o clients.Options) {
				t.Helper()
				c := alone.Start(t, o)
				edits(c.Turn(), filepath.Join(o.Dir, "a.txt"))
				c.Turn().End()
				c.Wait()
			}
			made := func() (home, dir string) {
				t.Helper()
				home = t.TempDir()
				t.Setenv("HOME", home)
				e2e.Home(t)
				dir = e2e.Project(t, map[string]string{"a.txt": "one\n"})
				e2e.GitIn(t, dir, "init", "-q")
				return home, dir
			}
			home, dir := made()
			var more []string
			if alone.Name == "Codex" { // its own sandbox may not start here, or lets nothing be written
				more = []string{"--sandbox", "danger-full-access"}
			}
			begun := time.Now()
			work(clients.Options{Path: path, Dir: dir, Home: home, Terminal: true, More: more})
			bare := time.Since(begun)
			if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); string(text) != "ONE\n" {
				t.Fatalf("alone it writes %q, %v", text, err)
			}

			home, dir = made()
			env := []string{"PATH=" + filepath.Dir(path) + ":" + os.Getenv("PATH")}
			for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"} {
				if value := os.Getenv(name); value != "" {
					env = append(env, name+"="+value)
				}
			}
			var questions []string
			shown := ""
			person := func(text string) string {
				shown += text
				for prompt, typed := range map[string]string{"[y/N] ": "y\r", "Number: ": "1\r"} {
					if strings.HasSuffix(shown, prompt) {
						questions, shown = append(questions, shown), ""
						return typed
					}
				}
				return ""
			}
			begun = time.Now()
			work(clients.Options{Path: filepath.Base(path), Dir: dir, Home: home, Env: env, Terminal: true, Person: person, In: []string{server, "run", "--"}})
			if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); string(text) != "one\n" {
				t.Errorf("before it is accepted the file is %q, %v", text, err)
			}
			accept := exec.CommandContext(t.Context(), server, "review", "accept")
			accept.Dir, accept.Env = dir, append(os.Environ(), env...)
			out, err := accept.CombinedOutput()
			took := time.Since(begun)
			if text, _ := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "ONE\n" {
				t.Fatalf("review accept: %v\n%s\nThe file is %q.", err, out, text)
			}
			if len(questions) == 0 || len(questions) > stopwatch.MaxQuestions {
				t.Errorf("the questions:\n%s", strings.Join(questions, "\n"))
			}
			stopwatch.Row{Place: "terminal", Agent: alone.Name, Steps: 2, Questions: len(questions), Seconds: took.Seconds(), Alone: bare.Seconds()}.Check(t)
		})
	}
}
