//go:build unix

package trust_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// plant puts programs into a directory that say that they ran, and what else they do.
func plant(t *testing.T, dir string, programs map[string]string) {
	t.Helper()
	for name, does := range programs {
		e2e.Write(t, filepath.Join(dir, name), "#!/bin/sh\necho "+name+" >> "+filepath.Join(dir, "ran")+"\n"+does+"\n")
		if err := ownfile.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func ranIn(dir string) string {
	data, _ := os.ReadFile(filepath.Join(dir, "ran"))
	return string(data)
}

var keyringProgram = map[string]string{"linux": "secret-tool", "darwin": "security"}[runtime.GOOS]

// evil are the programs that a server starts by itself, as a command or a clone would
// plant them.
var evil = map[string]string{
	"git": "exit 1", "nvidia-smi": "echo 'EVIL, 1, 1, 1'", "rocm-smi": "", "secret-tool": "echo evil-key", "security": "echo evil-key", "bash": "exit 1", "ssh": "exit 1",
}

// TestPlantedPrograms: what the workspace puts on PATH is not run outside of the sandbox:
// not in it, not by a link into it, not by a relative entry, not where everybody can
// write. The same program in a proper directory is.
func TestPlantedPrograms(t *testing.T) {
	for name, road := range map[string]func(t *testing.T, dir, at string) (entry string){
		"in the workspace": func(t *testing.T, dir, at string) string { return at },
		"a link into it": func(t *testing.T, dir, at string) string {
			links := t.TempDir()
			for program := range evil {
				if err := ownfile.Symlink(filepath.Join(at, program), filepath.Join(links, program)); err != nil {
					t.Fatal(err)
				}
			}
			return links
		},
		"a relative entry": func(t *testing.T, dir, at string) string {
			t.Chdir(dir)
			return "node_modules/.bin"
		},
		"where everybody writes": func(t *testing.T, dir, at string) string {
			open := t.TempDir()
			plant(t, open, evil)
			if err := ownfile.Chmod(open, 0o777); err != nil {
				t.Fatal(err)
			}
			return open
		},
		"another folder, opened later": nil,
	} {
		t.Run(name, func(t *testing.T) {
			e2e.Home(t)
			repo := gittest.New(t)
			repo.Write("a.txt", "one\n", ".gitignore", "node_modules/\n")
			repo.Commit("base")
			path := os.Getenv("PATH")
			at := filepath.Join(repo.Dir, "node_modules/.bin")
			later := ""
			if road == nil {
				later = t.TempDir()
				at = filepath.Join(later, "bin")
			}
			plant(t, at, evil)
			entry := at
			if road != nil {
				entry = road(t, repo.Dir, at)
			}
			proper := t.TempDir()
			plant(t, proper, map[string]string{"nvidia-smi": "echo 'Proper, 1, 1, 1'", keyringProgram: "echo proper-key"})
			model, _ := e2e.Models(t, "Authorization", "Bearer proper-key")
			e2e.SettingsFile(t, `{"backend.profiles":[{"name":"ring","url":"`+model.URL+`","keyring":true}]}`)
			t.Setenv("PATH", entry+":"+proper+":"+path)
			r := e2e.ServeSelf(t, repo.Dir, fakeeditor.Options{})
			r.Mode("autonomous")
			if later != "" {
				r.Folders([]string{later}, nil)
				e2e.Until(t, "the folder is not opened", func() bool { return r.Tool("list_directory", e2e.Object{"path": filepath.Base(later)}).OK })
			}
			r.Choose("Allow")
			r.Choose("Allow")
			repo.Write("a.txt", "two\n")
			in := ""
			if later != "" {
				in = filepath.Base(repo.Dir) + "/"
			}
			r.Shows("git_stage", e2e.Object{"files": []string{in + "a.txt"}}, "a.txt")
			r.Shows("git_commit", e2e.Object{"message": "Two"}, "Two")
			r.Shows("system_monitor", e2e.Object{}, "Proper")
			r.Shows("switch_backend", e2e.Object{"profile": "ring"})
			if err := r.ExecuteCommand(t.Context(), "sidecar.backend.get", e2e.Object{}, nil); err != nil {
				t.Error(err)
			}
			if ran := ranIn(at) + ranIn(entry); ran != "" {
				t.Errorf("ran outside of the sandbox: %q", ran)
			}
			if ran := ranIn(proper); !strings.Contains(ran, "nvidia-smi") || !strings.Contains(ran, keyringProgram) {
				t.Errorf("the control ran %q", ran)
			}
			t.Setenv("PATH", path)
			if log := repo.Git("log", "-1", "--format=%s"); strings.TrimSpace(log) != "Two" {
				t.Errorf("the control: the last commit is %q", log)
			}
			if later != "" {
				return
			}
			t.Setenv("PATH", entry+":"+proper+":"+path)
			out, _, _ := e2e.RunCLI(t, "", "doctor", "--root", repo.Dir, "--json")
			var findings []struct{ Check, Detail string }
			if err := json.Unmarshal([]byte(out), &findings); err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, f := range findings {
				if f.Check == "programs" {
					said = f.Detail
				}
			}
			if !strings.Contains(said, "Skipped: ") || !strings.Contains(said, "git") {
				t.Errorf("doctor says %q", said)
			}
			if ran := ranIn(at) + ranIn(entry); ran != "" {
				t.Errorf("doctor ran %q", ran)
			}
		})
	}
}
