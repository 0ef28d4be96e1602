package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// repositories are git repositories side by side, each with a file that is committed.
func repositories(t *testing.T, kind string, names ...string) (dirs []string) {
	t.Helper()
	top := e2e.WorldProject(t, kind, nil)
	for _, name := range names {
		dir := filepath.Join(top, name)
		e2e.Write(t, filepath.Join(dir, "a.txt"), "of "+filepath.Base(name)+"\n")
		e2e.GitIn(t, dir, "init", "-q")
		e2e.GitIn(t, dir, "add", "-A")
		e2e.GitIn(t, dir, "commit", "-qm", "first")
		dirs = append(dirs, dir)
	}
	return dirs
}

// foldersRig is a server of the real program, with an editor that has these folders open.
func foldersRig(t *testing.T, dirs ...string) *e2e.Rig {
	t.Helper()
	var o fakeeditor.Options
	for _, dir := range dirs {
		o.Folders = append(o.Folders, lsp.WorkspaceFolder{URI: fakeeditor.FileURI(dir), Name: filepath.Base(dir)})
	}
	return e2e.RunWith(t, dirs[0], o)
}

// read is a file's text, or nothing.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// TestRunInFolders: a program works in two repositories, and one queue holds what it writes
// in both.
func TestRunInFolders(t *testing.T) {
	for _, kind := range []string{"overlay", "copy"} {
		t.Run(kind, func(t *testing.T) { testRunInFolders(t, kind) })
	}
}

func testRunInFolders(t *testing.T, kind string) {
	dirs := repositories(t, kind, "api", "web")
	roots := []string{"--root", dirs[0], "--root", dirs[1]}
	review := func(args ...string) string {
		t.Helper()
		out, said, code := e2e.RunCLI(t, "", append(append([]string{"review"}, args...), roots...)...)
		if code != 0 {
			t.Fatalf("review %q: %s%s", args, out, said)
		}
		return out
	}
	p := e2e.RunsIn(t, dirs[1], append(append([]string{"run"}, roots...), "--", "sh", "-c", `pwd; cat ../api/a.txt a.txt; echo new > ../api/new.txt; echo new > new.txt; echo more >> ../api/a.txt; git -C ../api status --porcelain; git status --porcelain`)...)
	for _, want := range []string{dirs[1], "of api", "of web", " M a.txt", "?? new.txt", "?? new.txt"} {
		if got := p.Next(); got != want {
			t.Errorf("it printed %q, want %q", got, want)
		}
	}
	p.Ends(0, "api/a.txt, api/new.txt, web/new.txt: held for review")
	if got := read(t, filepath.Join(dirs[0], "a.txt")) + read(t, filepath.Join(dirs[0], "new.txt")) + read(t, filepath.Join(dirs[1], "new.txt")); got != "of api\n" {
		t.Errorf("the disk has %q", got)
	}
	var list struct {
		Edits []struct{ Path, Session string }
	}
	if err := json.Unmarshal([]byte(review("list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Edits) != 3 {
		t.Errorf("it holds %+v", list)
	}
	review("accept", "api/new.txt", filepath.Join(dirs[0], "a.txt"))
	review("reject", "web/new.txt")
	if got := read(t, filepath.Join(dirs[0], "a.txt")) + read(t, filepath.Join(dirs[0], "new.txt")) + read(t, filepath.Join(dirs[1], "new.txt")); got != "of api\nmore\nnew\n" {
		t.Errorf("once it is decided on, the disk has %q", got)
	}
	if out := review("list"); !strings.Contains(out, "Nothing is pending") {
		t.Errorf("there still waits %s", out)
	}
	for _, dir := range dirs[1:] {
		if _, err := os.Stat(filepath.Join(dir, ".sidecar")); err == nil {
			t.Errorf("there is state in %s, which is not the first folder", dir)
		}
	}
}

// TestRunInFoldersByFile: folders with odd names, and one in another, named by the file of
// an editor's workspace.
func TestRunInFoldersByFile(t *testing.T) {
	dirs := repositories(t, "overlay", "one, two\nthree", "other/web", "web", "web/inner")
	file := filepath.Join(filepath.Dir(dirs[0]), "all.code-workspace")
	folders, err := json.Marshal(e2e.Object{"folders": []e2e.Object{{"path": "one, two\nthree"}, {"path": "other/web"}, {"path": "web"}, {"path": "web/inner"}}})
	if err != nil {
		t.Fatal(err)
	}
	e2e.Write(t, file, string(folders))
	p := e2e.RunsIn(t, dirs[3], "run", "--json", "--root", file, "--", "sh", "-c", `pwd; for dir; do echo new > "$dir/new.txt"; done`, "sh", dirs[0], dirs[1], dirs[2], dirs[3])
	if got := p.Next(); got != dirs[3] {
		t.Errorf("it begins in %q", got)
	}
	p.Ends(0)
	var said struct{ Waits []string }
	if err := json.Unmarshal([]byte(p.Said.String()), &said); err != nil {
		t.Fatalf("%v: %s", err, p.Said.String())
	}
	slices.Sort(said.Waits)
	if want := []string{"inner/new.txt", "one, two\nthree/new.txt", "web-2/new.txt", "web/new.txt"}; !slices.Equal(said.Waits, want) {
		t.Errorf("there waits %q, want %q", said.Waits, want)
	}
}

// TestRunBesideFolders: programs attach to the editor that has the folders open, by each of
// them, and to none that lacks one.
func TestRunBesideFolders(t *testing.T) {
	dirs := repositories(t, "overlay", "api", "web", "docs")
	r := foldersRig(t, dirs[0], dirs[1])
	if res := r.Tool("write_file", e2e.Object{"path": "web/a.txt", "content": "pending\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	p := e2e.RunsIn(t, dirs[1], "run", "--session", "first", "--root", dirs[1], "--", "sh", "-c", `pwd; cat a.txt; echo new > new.txt; echo new > ../api/new.txt`)
	for _, want := range []string{dirs[1], "pending"} {
		if got := p.Next(); got != want {
			t.Errorf("it printed %q, want %q", got, want)
		}
	}
	p.Ends(0, "as session first")
	r.IsQueued("api/new.txt", "web/a.txt", "web/new.txt")
	p = e2e.RunsIn(t, dirs[1], "run", "--session", "both", "--root", dirs[0], "--root", dirs[1], "--", "sh", "-c", `pwd; cat new.txt; echo both > both.txt`)
	for _, want := range []string{dirs[1], "new"} {
		if got := p.Next(); got != want {
			t.Errorf("it printed %q, want %q", got, want)
		}
	}
	p.Ends(0, "web/both.txt: held for review")
	r.IsQueued("api/new.txt", "web/a.txt", "web/both.txt", "web/new.txt")

	for _, command := range [][]string{
		{"run", "--", "touch", "never"},
		{"review", "list"},
		{"call", "list_directory", "path=."},
		{"agent", "runs"},
	} {
		roots := []string{command[0], "--root", dirs[0], "--root", dirs[2]}
		out, said, code := e2e.RunCLI(t, "", append(roots, command[1:]...)...)
		if command[0] == "run" {
			p := e2e.RunsIn(t, dirs[0], append(roots, command[1:]...)...)
			p.Ends(1)
			said, code = p.Said.String(), 1
		}
		for _, part := range []string{"process ", "serves " + dirs[0] + " for an editor", "does not have " + dirs[2] + " open", "open it in that editor's workspace"} {
			if code != 1 || !strings.Contains(said, part) {
				t.Errorf("%q: exit %d, and %q is not in %s%s", command, code, part, out, said)
			}
		}
	}
	r.Folders([]string{dirs[2]}, nil)
	e2e.Until(t, "the third folder never was served", func() bool {
		_, _, code := e2e.RunCLI(t, "", "review", "--root", dirs[0], "--root", dirs[2], "list")
		return code == 0
	})
}

// TestAgentsInFolders: real agents in a terminal get the other folders, by a flag
// that they take, and work there.
func TestAgentsInFolders(t *testing.T) {
	slow.Test(t)
	for _, alone := range clients.Alone[:2] {
		t.Run(alone.Name, func(t *testing.T) {
			path := alone.Find(t)
			program.ServerAnywhere(t)
			t.Setenv("HOME", t.TempDir())
			dirs := repositories(t, "overlay", "api", "web, it")
			r := foldersRig(t, dirs...)
			name := map[string]string{"Claude Code": "claude", "Codex": "codex"}[alone.Name]
			o := clients.Options{Path: path, Dir: dirs[0], Home: os.Getenv("HOME"), In: []string{program.ServerAnywhere(t), "run", "--root", dirs[0], "--yes", "--profile", name, "--session", "agent", "--"}}
			for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"} {
				o.Env = append(o.Env, name+"="+os.Getenv(name))
			}
			c := alone.Start(t, o)
			does := e2e.Hands[name]
			written := filepath.Join(dirs[1], "written.txt")
			if name == "codex" {
				written = "'" + written + "'"
			}
			does.Write(c.Turn(), written)
			does.Shell(c.Turn(), `cat "`+filepath.Join(dirs[1], "written.txt")+`"; at=$PPID; until tr '\0' '\n' < /proc/$at/cmdline | grep -e --add-dir || [ $at -le 1 ]; do at=$(cut -d' ' -f4 /proc/$at/stat); done`)
			turn := c.Turn()
			if !strings.Contains(turn.Result, "written") || !strings.Contains(turn.Result, "--add-dir="+dirs[1]) {
				t.Errorf("the agent saw %q", turn.Result)
			}
			turn.Say("Done.")
			c.Wait()
			e2e.Until(t, "what the agent wrote never was pending", func() bool { return slices.Equal(r.Queued(), []string{"web, it/written.txt"}) })
		})
	}
}
