package world_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// repositories are two folders of one workspace, each with a repository of its own: api,
// which a server is started for, and web beside it.
func repositories(t *testing.T, kind string, more ...e2e.Object) (r *e2e.Rig, api, web string) {
	t.Helper()
	api, web = twoRepositories(t, kind, more...)
	r = e2e.WorldIn(t, api)
	r.Folders([]string{web}, nil)
	return r, api, web
}

// twoRepositories makes them.
func twoRepositories(t *testing.T, kind string, more ...e2e.Object) (api, web string) {
	t.Helper()
	top := e2e.WorldProject(t, kind, map[string]string{
		"api/main.go": "package main\n", "api/.gitignore": "/out/\n",
		"web/app.js": "let a\n", "web/sub/in.txt": "in\n", "web/.gitignore": "/dist/\n/.env\n",
	}, more...)
	api, web = filepath.Join(top, "api"), filepath.Join(top, "web")
	for _, dir := range []string{api, web} {
		g := gittest.New(t).At(dir)
		g.Git("init", "-q", "-b", "main")
		g.Git("add", ".")
		g.Git("commit", "-qm", "first in "+filepath.Base(dir))
	}
	e2e.Write(t, filepath.Join(web, ".env"), value+"\n")
	return api, web
}

// A command sees all the folders of a workspace, each as its session's world, and what it
// changes in any of them waits in one queue.
func TestFoldersOfCommands(t *testing.T) {
	for _, kind := range []string{"overlay", "copy"} {
		t.Run(kind, func(t *testing.T) {
			r, api, web := repositories(t, kind)
			r.Shows("edit_file", e2e.Object{"path": "api/main.go", "search": "package main", "replace": "package pending"})
			r.Shows("edit_file", e2e.Object{"path": "web/app.js", "search": "let a", "replace": "let pending"})

			r.Ran("cat main.go ../web/app.js "+web+"/app.js; echo made > made.txt; echo made > ../web/made.txt; rm ../web/sub/in.txt", "package pending", "let pending\nlet pending")
			r.IsQueued("api/made.txt", "api/main.go", "web/app.js", "web/made.txt", "web/sub/in.txt")
			for name, want := range map[string]string{filepath.Join(api, "main.go"): "package main\n", filepath.Join(web, "app.js"): "let a\n", filepath.Join(web, "sub/in.txt"): "in\n"} {
				if data, err := os.ReadFile(name); err != nil || string(data) != want {
					t.Errorf("%s has %q, %v", name, data, err)
				}
			}

			// A command begins in any folder, by the name that tools have for it, and cd is kept.
			r.Shows("run_command", e2e.Object{"command": "pwd; cat app.js; cat ../api/main.go", "cwd": "web"}, web, "let pending", "package pending")
			r.Shows("run_command", e2e.Object{"command": "pwd", "cwd": filepath.Join(web, "sub")}, web+"/sub")
			r.Shows("run_command", e2e.Object{"command": "pwd", "cwd": "api"}, api)
			r.Ran("cd ../web && mkdir -p deep")
			r.Ran("pwd", web)
			r.Ran("cd " + api)
			for dir, want := range map[string]string{"..": "begins with the name of a folder, such as api", "web/none": "no directory web/none", "web/app.js": "web/app.js is not a directory", "/etc": "outside of the workspace"} {
				if res := r.Tool("run_command", e2e.Object{"command": "pwd", "cwd": dir}); res.OK || !strings.Contains(res.Content, want) {
					t.Errorf("cwd %s: %s", dir, res.Content)
				}
			}

			// Each has a repository of its own, which the session's git works on.
			r.Ran("git -C ../web add -A && git -C ../web -c user.name=A -c user.email=a@example.org commit -qm 'in web' && git -C ../web log --format=%s; git log --format=%s", "in web\nfirst in web\nfirst in api")
			if log := e2e.GitIn(t, web, "log", "--format=%s"); log != "first in web\n" {
				t.Errorf("the user's repository has %s", log)
			}

			res := r.Accept(e2e.Object{})
			if len(res.Failed) > 0 {
				t.Errorf("%+v", res.Failed)
			}
			r.IsQueued()
			for name, want := range map[string]string{filepath.Join(api, "main.go"): "package pending\n", filepath.Join(web, "app.js"): "let pending\n", filepath.Join(api, "made.txt"): "made\n", filepath.Join(web, "made.txt"): "made\n"} {
				if data, err := os.ReadFile(name); err != nil || string(data) != want {
					t.Errorf("%s has %q, %v", name, data, err)
				}
			}
			if _, err := os.Stat(filepath.Join(web, "sub/in.txt")); err == nil {
				t.Error("web/sub/in.txt is still there")
			}
			if log := e2e.GitIn(t, web, "log", "--format=%s"); !strings.HasPrefix(log, "in web\n") {
				t.Errorf("the accepted commit is not there: %s", log)
			}
			if asked := r.Asked(); len(asked) > 0 {
				t.Errorf("it asked: %q", asked)
			}
		})
	}
}

// A folder keeps its secrets, and its protected names, also from commands that began in another.
func TestFoldersKeepTheirOwn(t *testing.T) {
	r, _, web := repositories(t, "overlay")
	e2e.Write(t, filepath.Join(web, ".sidecar/notes"), value+"\n")
	e2e.Write(t, filepath.Join(web, ".vscode/settings.json"), "{}\n")
	outside := filepath.Join(filepath.Dir(web), "outside")
	e2e.Write(t, filepath.Join(outside, "file"), value+"\n")
	for line, want := range map[string]string{
		"rev $W/.env":                           "",
		"rev $W/.sidecar/notes":                 "Permission denied",
		"rev $O/file":                           "No such file",
		"echo x > $W/.vscode/settings.json":     "Read-only",
		"mkdir $W/.idea && echo x > $W/.idea/a": "exists",
		"echo x > $W/.git/hooks/post-commit":    "Read-only",
		"git -C $W config core.fsmonitor evil":  "busy",
		"mv $W/.git $W/git":                     "busy",
		"echo x > $W/.mcp.json":                 "Is a directory",
		"ln $W/.env $W/hard && rev $W/hard":     "cross-device",
		"mv $W/.env $W/moved && rev $W/moved":   "busy",
		"mv $W $W.moved":                        "busy",
		"mount --bind $O $W && rev $W/file":     "permission",
	} {
		command := "W=" + web + " O=" + outside + "; { " + line + "; } 2>&1; echo ended $?"
		res := r.Tool("run_command", e2e.Object{"command": command})
		if strings.Contains(res.Content, backwards) || !strings.Contains(res.Content, "\nended ") || strings.Contains(res.Content, "ended 0") && want != "" || !strings.Contains(res.Content, want) {
			t.Errorf("%s: %s", command, res.Content)
		}
	}
	if data, err := os.ReadFile(filepath.Join(web, ".vscode/settings.json")); err != nil || string(data) != "{}\n" {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{".git/hooks/post-commit", ".mcp.json", "hard", "moved", ".idea"} {
		if _, err := os.Lstat(filepath.Join(web, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// A secret in the history of one folder's repository is not read out of its objects by a
// command that began in another folder, about which nobody was asked.
func TestFoldersHideHistory(t *testing.T) {
	r, _, web := repositories(t, "overlay", e2e.Object{"toolPermissions": e2e.Object{}})
	g := gittest.New(t).At(web)
	g.Git("add", "-f", ".env")
	g.Git("commit", "-qm", "secret")
	g.Git("rm", "-q", "--cached", ".env")
	g.Git("commit", "-qm", "gone")
	blob := strings.TrimSpace(e2e.GitIn(t, web, "rev-parse", "HEAD~1:.env"))
	if out := e2e.GitIn(t, web, "cat-file", "-p", blob); !strings.Contains(out, value) {
		t.Fatalf("the control: %s", out)
	}
	e2e.Write(t, filepath.Join(web, "run.sh"), "git -C "+web+" cat-file -p "+blob+" | rev\n")
	for _, command := range []string{"sh ../web/run.sh", "cat ../web/.git/objects/" + blob[:2] + "/" + blob[2:] + " | wc -c", "find / -path '*" + blob[2:] + "*' 2>/dev/null"} {
		res := r.Tool("run_command", e2e.Object{"command": command})
		if strings.Contains(res.Content, backwards) || strings.Contains(res.Content, blob[2:]) && !strings.Contains(res.Content, "No such file") && !strings.Contains(res.Content, "Not a valid object") {
			t.Errorf("%s: %s", command, res.Content)
		}
	}
}

// A folder in another one has a world of its own, whichever a command begins in.
func TestFolderInAnother(t *testing.T) {
	for _, first := range []string{"outer", "inner"} {
		t.Run(first, func(t *testing.T) {
			top := e2e.WorldProject(t, "overlay", map[string]string{"outer/a.txt": "a\n", "outer/inner/b.txt": "b\n"})
			dirs := []string{filepath.Join(top, "outer"), filepath.Join(top, "outer/inner")}
			if first == "inner" {
				slices.Reverse(dirs)
			}
			r := e2e.WorldIn(t, dirs[0])
			r.Folders(dirs[1:], nil)
			r.Shows("edit_file", e2e.Object{"path": "inner/b.txt", "search": "b", "replace": "pending"})
			for i, dir := range dirs {
				r.Shows("run_command", e2e.Object{"command": "cat " + filepath.Join(top, "outer/inner/b.txt") + "; echo c >> " + filepath.Join(top, "outer/inner/c.txt") + "; echo d >> " + filepath.Join(top, "outer/d.txt"), "cwd": dir}, "pending")
				r.IsQueued("inner/b.txt", "inner/c.txt", "outer/d.txt")
				r.Shows("read_file", e2e.Object{"path": "inner/c.txt"}, strings.Repeat("c\n", i+1)[:2*i+1])
			}
			r.Accept(e2e.Object{})
			if data, err := os.ReadFile(filepath.Join(top, "outer/inner/c.txt")); err != nil || string(data) != "c\nc\n" {
				t.Errorf("%q, %v", data, err)
			}
		})
	}
}

// A folder that is gone, or that no command may see, keeps none from running in the others.
func TestFolderIsGone(t *testing.T) {
	r, _, web := repositories(t, "overlay")
	r.Ran("cat ../web/app.js", "let a")
	if err := ownfile.RemoveAll(web); err != nil {
		t.Fatal(err)
	}
	r.Ran("echo on", "on", "it did not see the folder "+web)
	many := filepath.Join(filepath.Dir(web), "many")
	for i := range 801 {
		e2e.Write(t, filepath.Join(many, fmt.Sprintf("%d.pem", i)), value)
	}
	e2e.Write(t, filepath.Join(many, "file"), "text\n")
	r.Folders([]string{many}, []string{web})
	r.Ran("echo on", "on", "it did not see the folder "+many+": 804 files may hold secrets")
	r.Folders(nil, []string{many})
	if out := r.Ran("echo on", "on"); strings.Contains(out, "did not see") {
		t.Error(out)
	}
}

// In a mode that applies edits, what a command does in each folder is done at its end.
func TestFoldersInAutonomous(t *testing.T) {
	r, api, web := repositories(t, "overlay")
	r.Mode("autonomous")
	r.Ran("echo made > made.txt; echo made > ../web/made.txt; git -C ../web add made.txt; git -C ../web -c user.name=A -c user.email=a@example.org commit -qm 'in web'")
	for _, dir := range []string{api, web} {
		if data, err := os.ReadFile(filepath.Join(dir, "made.txt")); err != nil || string(data) != "made\n" {
			t.Errorf("%s: %q, %v", dir, data, err)
		}
	}
	if log := e2e.GitIn(t, web, "log", "--format=%s"); !strings.HasPrefix(log, "in web\n") {
		t.Errorf("web's repository has %s", log)
	}
}

// The tests of a folder run in it, and their failures have the names that tools take.
func TestFoldersAreTested(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		needs.Skip(t, needs.Node, err)
	}
	r, _, web := repositories(t, "overlay")
	e2e.Write(t, filepath.Join(web, "package.json"), `{"name": "web", "scripts": {"test": "node --test"}}`+"\n")
	e2e.Write(t, filepath.Join(web, "app.test.js"), "require('node:test')('adds', () => { require('node:assert').equal(1, 2) })\n")
	res := r.Tool("run_tests", e2e.Object{"path": "web"})
	if !strings.Contains(res.Content, "adds") || !strings.Contains(res.Content, "web/app.test.js") || strings.Contains(res.Content, web+"/app.test.js") {
		t.Errorf("%+v", res)
	}
}

// The repository of a folder that is a linked working tree is elsewhere: a command that began
// in another folder has a copy of it, too, and does not change it.
func TestFolderIsALinkedTree(t *testing.T) {
	r, api, web := repositories(t, "overlay")
	linked := filepath.Join(filepath.Dir(web), "linked")
	gittest.New(t).At(web).Git("worktree", "add", "-q", "-b", "side", linked)
	r.Folders([]string{linked}, []string{web})
	before := e2e.GitIn(t, web, "for-each-ref")
	r.Shows("run_command", e2e.Object{"cwd": "api", "command": "cd " + linked + " && echo x > app.js && git -c user.name=A -c user.email=a@example.org commit -qam linked; git log --format=%s; git tag there; echo x > " + filepath.Join(web, ".git/refs/heads/evil") + " || echo refused; cd " + api}, "linked\nfirst in web\n", "refused")
	if after := e2e.GitIn(t, web, "for-each-ref"); after != before {
		t.Errorf("the repository has\n%s, and had\n%s", after, before)
	}
	r.IsQueued("linked/app.js")
}

// Nobody is asked about a command that works in several folders, nor where a repository has
// linked working trees.
func TestFoldersUnasked(t *testing.T) {
	r, _, web := repositories(t, "overlay", e2e.Object{"toolPermissions": e2e.Object{}})
	linked := filepath.Join(filepath.Dir(web), "linked")
	gittest.New(t).At(web).Git("worktree", "add", "-q", "-b", "side", linked)
	r.Folders([]string{linked}, nil)
	r.Ran("cat main.go ../web/app.js; echo x > ../linked/app.js; cd ../linked && git -c user.name=A -c user.email=a@example.org commit -qam linked; git log --format=%s; cd ../api", "linked\nfirst in web\n")
	r.IsQueued("linked/app.js")
	if asked := r.Asked(); len(asked) > 0 {
		t.Errorf("it asked: %q", asked)
	}
	if res := r.Tool("run_command", e2e.Object{"command": "rev ../web/.env"}); res.OK || !strings.Contains(res.Content, "`../web/.env` may hold secrets") {
		t.Errorf("a secret of another folder: %+v", res)
	}
}

// A command that changes a repository for real goes on when the folders change: what protects
// it on the disk is not tidied up.
func TestFoldersChangeBesideRepository(t *testing.T) {
	r, api, web := repositories(t, "overlay")
	r.Folders(nil, []string{web})
	r.Mode("autonomous")
	running, err := r.Start(t.Context(), "workspace/executeCommand", e2e.Object{"command": "sidecar.tools.call", "arguments": []any{e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": "sleep 3; echo ended"}}}})
	if err != nil {
		t.Fatal(err)
	}
	e2e.Until(t, "the command never began", func() bool {
		_, err := os.Lstat(filepath.Join(api, ".git/modules"))
		return err == nil
	})
	r.Folders([]string{web}, nil)
	r.Shows("read_file", e2e.Object{"path": "web/app.js"}, "let a")
	if _, err := os.Lstat(filepath.Join(api, ".git/modules")); err != nil {
		t.Errorf("its protection is gone: %v", err)
	}
	var res e2e.Result
	if err := running.Wait(t.Context(), &res); err != nil || !res.OK || !strings.Contains(res.Content, "ended") {
		t.Errorf("%v: %s", err, res.Content)
	}
}
