package world_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// Folders come and go while a command runs: what it wrote waits under the names that files
// have then; the result names the files whose folder went.
func TestFoldersChangeUnderCommand(t *testing.T) {
	for _, c := range []struct {
		mode   string
		goes   bool // web is removed, else another folder is added
		queued []string
	}{
		{"review", true, []string{"mine.txt", "written"}},
		{"review", false, []string{"api/mine.txt", "api/written", "web/app.js", "web/mine.txt"}},
	} {
		t.Run(c.mode+map[bool]string{true: " goes", false: " comes"}[c.goes], func(t *testing.T) {
			r, api, web := repositories(t, "overlay")
			r.Mode(c.mode)
			var res e2e.Result
			running, err := r.Start(t.Context(), "workspace/executeCommand", e2e.Object{"command": "sidecar.tools.call", "arguments": []any{e2e.Object{"name": "run_command", "arguments": e2e.Object{
				"command": "echo mine > mine.txt; echo mine >> ../web/app.js; echo mine > ../web/mine.txt; touch written; until [ -e go ]; do sleep 0.05; done"}}}})
			if err != nil {
				t.Fatal(err)
			}
			e2e.Until(t, "the command never wrote", func() bool {
				list, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "worlds", "*", "upper", "written"))
				return len(list) == 1
			})
			third := filepath.Join(filepath.Dir(web), "third")
			e2e.Write(t, filepath.Join(third, "c.txt"), "c\n")
			if c.goes {
				r.Folders(nil, []string{web})
			} else {
				r.Folders([]string{third}, nil)
			}
			r.IsQueued() // which waits until the folders are others
			e2e.Write(t, filepath.Join(api, "go"), "")
			if err := running.Wait(t.Context(), &res); err != nil || !res.OK {
				t.Fatalf("%v\n%s", err, res.Content)
			}
			if c.goes != strings.Contains(res.Content, "web/app.js, web/mine.txt: file does not exist: its folder is no longer part of the workspace") {
				t.Error(res.Content)
			}
			r.IsQueued(c.queued...)
			if c.goes {
				r.Folders([]string{web}, nil)
			}
			if failed := r.Accept(e2e.Object{}).Failed; len(failed) > 0 {
				t.Errorf("%+v", failed)
			}
			want := map[string]string{"api/mine.txt": "mine\n", "web/mine.txt": "mine\n", "web/app.js": "let a\nmine\n", "third/c.txt": "c\n"}
			if c.goes {
				want["web/mine.txt"], want["web/app.js"] = "", "let a\n"
			}
			for name, text := range want {
				if data, err := os.ReadFile(filepath.Join(filepath.Dir(api), name)); string(data) != text {
					t.Errorf("%s has %q, %v", name, data, err)
				}
			}
			for _, name := range []string{"api/api", "api/web", "api/third"} {
				if _, err := os.Lstat(filepath.Join(filepath.Dir(api), name)); err == nil {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
}

// A repository whose linked working tree is a folder, too, is as it is without: commands
// commit there, and change nothing that git obeys.
func TestFoldersShareARepository(t *testing.T) {
	for _, kind := range []string{"overlay", "copy"} {
		for _, first := range []string{"api", "web"} {
			t.Run(kind+" "+first, func(t *testing.T) {
				top := e2e.WorldProject(t, kind, map[string]string{"api/main.go": "package main\n"})
				api, web := filepath.Join(top, "api"), filepath.Join(top, "web")
				g := gittest.New(t).At(api)
				g.Git("init", "-q", "-b", "main")
				g.Git("add", ".")
				g.Git("commit", "-qm", "first")
				g.Git("worktree", "add", "-q", "-b", "web", web)
				dirs := []string{api, web}
				if first == "web" {
					dirs = []string{web, api}
				}
				r := e2e.WorldIn(t, dirs[0])
				r.Folders(dirs[1:], nil)
				r.Mode("autonomous")
				for _, line := range []string{
					"echo x >> $A/.git/hooks/post-commit", "echo x >> $A/.git/config", "echo x >> $A/.git/info/attributes", "echo x > $A/.git/worktrees/web/commondir",
					"echo x > $A/.git/worktrees/web/gitdir", "echo x > $A/.git/worktrees/web/config.worktree", "git config core.fsmonitor evil", "mv .git git",
				} {
					res := r.Tool("run_command", e2e.Object{"command": "A=" + api + "; { cd $A && " + line + "; } 2>&1; echo ended $?"})
					if !strings.Contains(res.Content, "\nended ") || strings.Contains(res.Content, "ended 0") {
						t.Errorf("%s: %s", line, res.Content)
					}
				}
				r.Ran("cd " + api + " && echo x > x.txt && git add x.txt && git -c user.name=A -c user.email=a@example.org commit -qm 'in api'")
				if log := e2e.GitIn(t, api, "log", "--format=%s"); log != "in api\nfirst\n" {
					t.Errorf("api has %s", log)
				}
				r.Ran("cd " + web + " && echo y > y.txt && git add y.txt && git -c user.name=A -c user.email=a@example.org commit -qm 'in web'")
				if log := e2e.GitIn(t, web, "log", "--format=%s"); log != "in web\nfirst\n" {
					t.Errorf("web has %s", log)
				}
				if out := e2e.GitIn(t, api, "status", "--short"); out != "" {
					t.Errorf("api has %s", out)
				}
			})
		}
	}
}

// A server that is killed loses nothing that a command had changed in any folder.
func TestKilledServerLosesNoFolder(t *testing.T) {
	api, web := twoRepositories(t, "overlay")
	r, cmd := killedWorld(t, api)
	r.Folders([]string{web}, nil)
	r.Shows("read_file", e2e.Object{"path": "web/app.js"}, "let a")
	r.Begun("", "echo half > main.go; echo new > new.txt; echo half > ../web/app.js; echo new > ../web/new.txt; mkdir ../web/dist; echo out > ../web/dist/o; echo printed; sleep 600", "printed")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait(t.Context()) // its error is the kill
	again := e2e.ServeBy(t, api, withEvents(), program.ServerAnywhere(t))
	again.Folders([]string{web}, nil)
	e2e.Until(t, "not all waits", func() bool { return len(again.Queued()) == 4 })
	again.IsQueued("api/main.go", "api/new.txt", "web/app.js", "web/new.txt")
	if list := again.HeldOutput(); len(list) != 1 || list[0].Files != 1 {
		t.Errorf("held: %+v", list)
	}
	for name, want := range map[string]string{filepath.Join(api, "main.go"): "package main\n", filepath.Join(web, "app.js"): "let a\n"} {
		if data, err := os.ReadFile(name); err != nil || string(data) != want {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
	if failed := again.Accept(e2e.Object{}).Failed; len(failed) > 0 {
		t.Errorf("%+v", failed)
	}
	if data, err := os.ReadFile(filepath.Join(web, "app.js")); err != nil || string(data) != "half\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// In audit, commits in several repositories are of one batch, and each is made in its own.
func TestFoldersInAudit(t *testing.T) {
	r, api, web := repositories(t, "overlay")
	r.Mode("audit")
	commit := "git -c user.name=A -c user.email=a@example.org commit -qam "
	r.Ran("echo x > main.go && " + commit + "'in api'; cd ../web && echo x > app.js && " + commit + "'in web'")
	r.IsQueued("api/main.go", "web/app.js")
	res := r.Accept(e2e.Object{})
	if len(res.Failed) > 0 || len(res.Commits) != 2 {
		t.Errorf("%+v", res)
	}
	for dir, want := range map[string]string{api: "in api\nfirst in api\n", web: "in web\nfirst in web\n"} {
		if log := e2e.GitIn(t, dir, "log", "--format=%s"); log != want {
			t.Errorf("%s has %q", dir, log)
		}
		if status := e2e.GitIn(t, dir, "status", "--porcelain", "--untracked-files=no"); status != "" {
			t.Errorf("%s: %s", dir, status)
		}
	}
}

// A command that runs out of time in one folder has changed the others, too.
func TestFoldersOutOfTime(t *testing.T) {
	r, _, web := repositories(t, "overlay")
	if res := r.Tool("run_command", e2e.Object{"command": "echo x > main.go; echo x > ../web/app.js; sleep 600", "timeout_s": 1}); !strings.Contains(res.Content, "web/app.js") {
		t.Errorf("%+v", res)
	}
	r.IsQueued("api/main.go", "web/app.js")
	e2e.Command[any](r, "sidecar.review.reject", e2e.Object{"uris": []string{fakeeditor.FileURI(filepath.Join(web, "app.js"))}})
	r.Ran("cat main.go ../web/app.js", "x\nlet a\n")
}
