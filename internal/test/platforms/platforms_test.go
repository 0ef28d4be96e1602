package platforms

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/folded"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wine"
)

type object = map[string]any

// place is a project on this system, with a home of its own, and the program to try.
type place struct {
	t         *testing.T
	ctx       context.Context // ends, so that nothing is waited for in vain
	dir, home string
	program   []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	return newPlaceIn(t, t.TempDir())
}

// newPlaceIn is newPlace with everything in a directory, if there is a program to try.
func newPlaceIn(t *testing.T, dir string) *place {
	t.Helper()
	program := strings.Fields(os.Getenv("SIDECAR_SERVER"))
	if len(program) == 0 {
		needs.Skip(t, needs.Platform, "SIDECAR_SERVER names no program to try")
	}
	base := filepath.Join(dir, "Jörg Müller")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	p := &place{t, ctx, filepath.Join(base, "project"), filepath.Join(base, "home"), program}
	for name, text := range map[string]string{
		"a.txt":  "one\ntwo\nthree\nfour\nfive\nsix\nseven\n",
		"b.txt":  "one\r\ntwo\r\n",
		"c.go":   "package c\n\n// Area is one.\nfunc Area(w, h int) int { return w * h }\n\nvar _ = Area(1, 2)\n",
		"gone":   "x\n",
		".env":   "TOKEN=hidden\n",
		"d/e.md": "# Title\n\ntext\n",
	} {
		p.write(name, text)
	}
	for _, dir := range []string{p.home, filepath.Join(p.dir, ".git")} {
		if err := ownfile.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	err := ownfile.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = ownfile.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(data)
}

// command is a run of the program, in that home.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.ctx, p.program[0], append(slices.Clone(p.program[1:]), args...)...)
	cmd.Dir = p.dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "XDG_")
	})
	cmd.Env = append(cmd.Env, "HOME="+p.home, "USERPROFILE="+p.home, "APPDATA="+filepath.Join(p.home, "r"), "LOCALAPPDATA="+filepath.Join(p.home, "l"))
	return cmd
}

// shell runs the program as a person does.
func (p *place) shell(args ...string) (string, error) {
	out, err := p.command(args...).CombinedOutput()
	return string(out), err
}

// editor is one on that project.
type editor struct {
	*fakeeditor.Editor
	p   *place
	cmd *exec.Cmd
}

func (p *place) open() *editor {
	p.t.Helper()
	cmd := p.command("serve", "--stdio")
	log, err := ownfile.Create(filepath.Join(p.t.TempDir(), "log"))
	if err != nil {
		p.t.Fatal(err)
	}
	cmd.Stderr = log
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: p.dir})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if p.t.Failed() {
			text, _ := os.ReadFile(log.Name())
			p.t.Logf("the server's log: %s", text)
		}
		_ = log.Close()
	})
	if _, err := e.Initialize(p.ctx); err != nil {
		p.t.Fatal(err)
	}
	at := &editor{e, p, cmd}
	at.do("sidecar.mode.set", object{"mode": "review"}, nil)
	return at
}

// close ends the session; kill ends the server with no chance to put anything in order.
func (e *editor) close() {
	e.p.t.Helper()
	if err := e.Shutdown(e.p.ctx); err != nil {
		e.p.t.Error(err)
	}
}

func (e *editor) kill() {
	_ = e.cmd.Process.Kill()
	_ = e.Wait(e.p.ctx)
}

type result struct {
	OK      bool   `json:"ok"`
	Content string `json:"content"`
}

// call calls a tool in review mode.
func (e *editor) call(name string, args object) (r result) {
	e.p.t.Helper()
	e.do("sidecar.tools.call", object{"name": name, "arguments": args}, &r)
	return r
}

// good is a call that must succeed, and say something.
func (e *editor) good(name string, args object, says string) {
	e.p.t.Helper()
	if r := e.call(name, args); !r.OK || !strings.Contains(r.Content, says) {
		e.p.t.Errorf("%s %v: %v, %s", name, args, r.OK, r.Content)
	}
}

// bad is a call that must be refused, and say why.
func (e *editor) bad(name string, args object, says string) {
	e.p.t.Helper()
	if r := e.call(name, args); r.OK || !strings.Contains(r.Content, says) {
		e.p.t.Errorf("%s %v: %v, %s", name, args, r.OK, r.Content)
	}
}

func (e *editor) do(command string, arg, into any) {
	e.p.t.Helper()
	if err := e.ExecuteCommand(e.p.ctx, command, arg, into); err != nil {
		e.p.t.Fatalf("%s: %v", command, err)
	}
}

type pending struct {
	Edits []struct {
		Path  string `json:"path"`
		Hunks []struct {
			ID   string `json:"id"`
			Text string `json:"text"`
		} `json:"hunks"`
	} `json:"edits"`
}

func (e *editor) pending() (q pending) {
	e.p.t.Helper()
	e.do("sidecar.review.list", nil, &q)
	return q
}

func (q pending) paths() (all []string) {
	for _, e := range q.Edits {
		all = append(all, fmt.Sprintf("%s:%d", e.Path, len(e.Hunks)))
	}
	slices.Sort(all)
	return all
}

func (e *editor) isPending(want ...string) {
	e.p.t.Helper()
	if got := e.pending().paths(); !slices.Equal(got, want) {
		e.p.t.Errorf("pending: %q, want %q", got, want)
	}
}

func (p *place) isOnDisk(files map[string]string) {
	p.t.Helper()
	for name, want := range files {
		if got := p.read(name); got != want {
			p.t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// TestVersion: the program runs, and says what it is and for what.
func TestVersion(t *testing.T) {
	p := newPlace(t)
	out, err := p.shell("--version")
	if err != nil || !strings.HasPrefix(out, "sidecar-ls ") || !strings.Contains(out, runtime.GOOS+"/") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := p.shell("tools", "--json"); err != nil || !json.Valid([]byte(out)) {
		t.Errorf("%v: %s", err, out)
	}
	if out, _ := p.shell("doctor", "--json"); !json.Valid([]byte(out)) || strings.Contains(out, "panic") {
		t.Errorf("doctor says %s", out)
	}
}

// TestLook: tools that read find what is there, and nothing that they must not.
func TestLook(t *testing.T) {
	p := newPlace(t)
	e := p.open()
	e.good("read_file", object{"path": "b.txt"}, "two")
	e.good("read_file", object{"path": "d/e.md"}, "# Title")
	e.good("list_directory", object{"path": "."}, "c.go")
	e.good("grep", object{"pattern": "thr[e]+"}, "a.txt")
	e.good("find_references", object{"symbol": "Area"}, "c.go")
	e.bad("read_file", object{"path": ".env"}, "")
	e.bad("read_file", object{"path": "../home"}, "")
	e.bad("read_file", object{"path": filepath.Dir(p.dir)}, "")
	if runtime.GOOS == "windows" {
		for _, name := range []string{`A.TXT`, `d\e.md`, filepath.Join(p.dir, "a.txt")} {
			e.good("read_file", object{"path": name}, "")
		}
		for _, name := range []string{"NUL", "con.txt", "a.txt:x", ".env.", ".env ", ".ENV", ".env::$DATA", `\\.\C:`, `\\?\C:\windows\win.ini`, `\\localhost\c$\x`, `C:\windows\win.ini`, "C:a.txt"} {
			e.bad("read_file", object{"path": name}, "")
			e.bad("write_file", object{"path": name, "content": "x"}, "")
		}
		for _, name := range []string{"dot.", "dot ", "d./x", ".git./config", ".GIT/config"} {
			e.bad("write_file", object{"path": name, "content": "x"}, "")
		}
		e.isPending()
	}
	e.close()
}

// TestReview: edits wait, are decided on by hunk and by file, taken back, and survive the
// death of the server.
func TestReview(t *testing.T) {
	p := newPlace(t)
	before := map[string]string{"a.txt": p.read("a.txt"), "b.txt": p.read("b.txt"), "gone": "x\n", "new/f.txt": ""}
	e := p.open()
	e.good("edit_file", object{"path": "a.txt", "search": "one", "replace": "ONE"}, "")
	e.good("edit_file", object{"path": "a.txt", "search": "seven", "replace": "SEVEN"}, "")
	e.good("edit_file", object{"path": "b.txt", "search": "two", "replace": "zwei"}, "")
	e.good("write_file", object{"path": "new/f.txt", "content": "new\n"}, "")
	e.good("delete_file", object{"path": "gone"}, "")
	e.good("read_file", object{"path": "a.txt"}, "SEVEN")
	p.isOnDisk(before)
	e.isPending("a.txt:2", "b.txt:1", "gone:1", "new/f.txt:1")

	e.kill()
	p.isOnDisk(before)
	e = p.open()
	e.isPending("a.txt:2", "b.txt:1", "gone:1", "new/f.txt:1")

	q := e.pending()
	for _, f := range q.Edits {
		for _, h := range f.Hunks {
			if strings.Contains(h.Text, "SEVEN") {
				e.do("sidecar.review.reject", object{"hunks": []string{h.ID}}, nil)
			}
		}
	}
	uri, err := e.OpenFile(p.ctx, filepath.Join(p.dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Await(p.ctx, "its hunk", func(r *fakeeditor.Record) bool { return len(r.Diagnostics[uri]) == 1 }); err != nil {
		t.Fatal(err)
	}
	var r struct {
		Accepted []string          `json:"accepted"`
		Failed   []json.RawMessage `json:"failed"`
	}
	e.do("sidecar.review.accept", nil, &r)
	if len(r.Accepted) != 4 || len(r.Failed) != 0 {
		t.Fatalf("accepted %q, failed %s", r.Accepted, r.Failed)
	}
	e.isPending()
	if text, _ := e.Text(uri); !strings.HasPrefix(text, "ONE\n") || !strings.HasSuffix(text, "seven\n") {
		t.Errorf("the document has %q", text)
	}
	p.isOnDisk(map[string]string{"b.txt": "one\r\nzwei\r\n", "new/f.txt": "new\n"})
	if _, err := os.Stat(filepath.Join(p.dir, "gone")); !os.IsNotExist(err) {
		t.Errorf("what was deleted is there: %v", err)
	}
	e.do("sidecar.review.undo", nil, nil)
	p.isOnDisk(map[string]string{"b.txt": before["b.txt"], "gone": "x\n"})
	e.close()
}

// TestDirect: where edits are applied at once they are, one after another into the same
// file.
func TestDirect(t *testing.T) {
	p := newPlace(t)
	e := p.open()
	e.do("sidecar.mode.set", object{"mode": "autonomous"}, nil)
	for i := range 20 {
		e.good("write_file", object{"path": "a.txt", "content": fmt.Sprintf("%d\n", i)}, "")
		p.isOnDisk(map[string]string{"a.txt": fmt.Sprintf("%d\n", i)})
	}
	e.good("move_file", object{"from": "a.txt", "to": "d/moved.txt"}, "")
	p.isOnDisk(map[string]string{"a.txt": "", "d/moved.txt": "19\n"})
	e.close()
}

// TestSpellings: where letter case makes no difference, a file is one for agent, editor
// and queue, whichever way its name is written.
func TestSpellings(t *testing.T) {
	p := newPlaceIn(t, folded.Dir(t))
	text := p.read("a.txt")
	e := p.open()
	e.good("edit_file", object{"path": "a.txt", "search": "one", "replace": "ONE"}, "a.txt")
	e.good("read_file", object{"path": "A.TXT"}, "ONE")
	e.good("edit_file", object{"path": "A.TXT", "search": "seven", "replace": "SEVEN"}, "a.txt")
	e.good("write_file", object{"path": "New/F.txt", "content": "1\n"}, "New/F.txt")
	e.good("write_file", object{"path": "new/f.TXT", "content": "2\n"}, "New/F.txt")
	e.good("edit_file", object{"path": "D/E.md", "search": "text", "replace": "more"}, "d/e.md")
	e.isPending("New/F.txt:1", "a.txt:2", "d/e.md:1")
	e.kill()
	e = p.open()
	e.isPending("New/F.txt:1", "a.txt:2", "d/e.md:1")
	var r struct {
		Accepted []string          `json:"accepted"`
		Failed   []json.RawMessage `json:"failed"`
	}
	e.do("sidecar.review.accept", nil, &r)
	if len(r.Accepted) != 3 || len(r.Failed) != 0 {
		t.Fatalf("accepted %q, failed %s", r.Accepted, r.Failed)
	}
	p.isOnDisk(map[string]string{"a.txt": strings.NewReplacer("one", "ONE", "seven", "SEVEN").Replace(text), "New/F.txt": "2\n"})

	// What is open in an editor that writes the name in another way.
	uri := fakeeditor.FileURI(filepath.Join(p.dir, "B.TXT"))
	if runtime.GOOS == "windows" {
		drive, rest, _ := strings.Cut(strings.TrimPrefix(uri, "file:///"), ":")
		uri = "file:///" + strings.ToLower(drive) + "%3A" + rest
	}
	if err := e.Open(p.ctx, uri, "text", "unsaved\n"); err != nil {
		t.Fatal(err)
	}
	e.good("read_file", object{"path": "b.txt"}, "unsaved")
	e.good("edit_file", object{"path": "b.txt", "search": "unsaved", "replace": "reviewed"}, "b.txt")
	e.do("sidecar.review.accept", nil, &r)
	if got, _ := e.Text(uri); got != "reviewed\n" {
		t.Errorf("the document has %q", got)
	}

	// A name is spelled in another way: that is a rename, and is taken back.
	listed := func(want string) {
		t.Helper()
		entries, err := os.ReadDir(p.dir)
		if err != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == want }) {
			t.Errorf("there is no %s: %v, %v", want, entries, err)
		}
	}
	e.good("move_file", object{"from": "c.go", "to": "C.go"}, "C.go")
	e.isPending("C.go:1")
	listed("c.go")
	e.do("sidecar.review.accept", nil, &r)
	e.isPending()
	listed("C.go")
	e.do("sidecar.review.undo", nil, nil)
	listed("c.go")
	e.close()
}

// TestSpellingsApart is the control: where letter case makes a difference, the files
// are two.
func TestSpellingsApart(t *testing.T) {
	p := newPlace(t)
	if folded.Is(t, p.dir) {
		needs.Skip(t, needs.FoldedNames, "letter case makes no difference here")
	}
	e := p.open()
	e.good("edit_file", object{"path": "a.txt", "search": "one", "replace": "ONE"}, "")
	e.bad("read_file", object{"path": "A.TXT"}, "")
	e.good("write_file", object{"path": "A.TXT", "content": "another\n"}, "")
	e.isPending("A.TXT:1", "a.txt:1")
	e.close()
}

// TestAttach: who comes beside an editor reaches its server, and a second server does not
// hold edits in the same place.
func TestAttach(t *testing.T) {
	p := newPlace(t)
	e := p.open()
	e.good("write_file", object{"path": "a.txt", "content": "held\n"}, "")
	if wine.Running() {
		_, _ = p.shell("review", "list") // who comes first to a pipe there is not heard
	}
	if out, err := p.shell("review", "list"); err != nil || !strings.Contains(out, "a.txt") {
		t.Errorf("beside the editor: %v, %s", err, out)
	}
	if out, err := p.shell("call", "--mode", "review", "read_file", "path=a.txt"); err != nil || !strings.Contains(out, "held") {
		t.Errorf("beside the editor: %v, %s", err, out)
	}
	other := p.open()
	if r := other.call("write_file", object{"path": "b.txt", "content": "x\n"}); r.OK || !strings.Contains(r.Content, "process") {
		t.Errorf("a second server holds edits too: %v, %s", r.OK, r.Content)
	}
	other.close()
	if out, err := p.shell("review", "accept"); err != nil {
		t.Errorf("beside the editor: %v, %s", err, out)
	}
	p.isOnDisk(map[string]string{"a.txt": "held\n"})
	e.close()
}

// TestCommand: a command runs, or it is said what is missing and where it runs.
func TestCommand(t *testing.T) {
	p := newPlace(t)
	e := p.open()
	e.do("sidecar.mode.set", object{"mode": "autonomous"}, nil)
	r := e.call("run_command", object{"command": "echo hello"})
	switch {
	case r.OK && !strings.Contains(r.Content, "hello"):
		t.Errorf("it says %s", r.Content)
	case !r.OK && (strings.Contains(r.Content, "crash") || strings.Contains(r.Content, "panic") || !strings.Contains(r.Content, "shell") && !strings.Contains(r.Content, "sandbox") && !strings.Contains(r.Content, "started once more")):
		t.Errorf("it does not say what is missing: %s", r.Content)
	}
	t.Logf("run_command: %v, %s", r.OK, r.Content)
	e.close()
}

// settings writes the user's own.
func (p *place) settings(set object) {
	p.t.Helper()
	text, err := json.Marshal(set)
	if err != nil {
		p.t.Fatal(err)
	}
	dir := map[string]string{"windows": "r/sidecar", "darwin": "Library/Application Support/sidecar"}[runtime.GOOS]
	if dir == "" {
		dir = ".config/sidecar"
	}
	name := filepath.Join(p.home, filepath.FromSlash(dir), "settings.json")
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(name), 0o755), ownfile.WriteFile(name, text, 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

// TestProgram: a program of the user's sees what is pending, and what it writes is
// pending. It needs no shell, which Wine has not.
func TestProgram(t *testing.T) {
	p := newPlace(t)
	tool := func(name, unix, cmd string) object {
		command := []string{"sh", "-c", unix}
		if runtime.GOOS == "windows" {
			command = []string{"cmd", "/c", cmd}
		}
		return object{"name": name, "description": "A test.", "command": command}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	past := tool("past", "true", "")
	if runtime.GOOS == "windows" {
		past["command"] = []string{self, "-test.run=^TestWrites$", "--", filepath.Join(p.dir, "past.txt"), "here.txt"}
	}
	p.settings(object{
		"toolPermissions": object{"custom_look": "allow", "custom_change": "allow", "custom_past": "allow"},
		"tools": object{"custom": []object{
			tool("look", "cat a.txt; pwd; exit 3", "type a.txt & cd & exit 3"), // what failed says how it ran
			tool("change", "echo more >> a.txt; echo made > made.txt; rm gone; mv d e", "echo more>> a.txt& echo made> made.txt& del gone& move d e"),
			past,
		}},
	})
	before := map[string]string{"a.txt": p.read("a.txt"), "gone": "x\n", "d/e.md": p.read("d/e.md"), "made.txt": "", "e/e.md": ""}
	e := p.open()
	e.good("edit_file", object{"path": "a.txt", "search": "one", "replace": "ONE"}, "")
	r := e.call("custom_look", object{})
	if strings.Contains(r.Content, "started once more") { // qemu, which TestCommand has said
		e.close()
		needs.Skip(t, needs.Platform, r.Content)
	}
	if r.OK || !strings.Contains(r.Content, "exit code 3") || !strings.Contains(r.Content, "ONE") || !strings.Contains(r.Content, p.dir) {
		t.Errorf("it does not see what is pending, in the workspace: %v, %s", r.OK, r.Content)
	}
	if strings.Contains(r.Content, "worlds") {
		t.Errorf("it names the copy: %s", r.Content)
	}
	if runtime.GOOS == "windows" {
		if !strings.Contains(r.Content, "in a copy of the workspace at another path") || !strings.Contains(r.Content, "past the review") {
			t.Errorf("it does not say where it ran: %s", r.Content)
		}
		if out, _ := p.shell("doctor", "--json"); !strings.Contains(out, `"run in a copy of the workspace at another path: they see pending`) {
			t.Errorf("doctor says %s", out)
		}
	}
	e.good("custom_change", object{}, "held for review")
	e.isPending("a.txt:2", "e/e.md:1", "gone:1", "made.txt:1")
	p.isOnDisk(before)
	e.good("read_file", object{"path": "a.txt"}, "more")
	if runtime.GOOS == "windows" { // the control: what goes past is on the disk, what does not is not
		e.good("custom_past", object{}, "here.txt")
		p.isOnDisk(map[string]string{"past.txt": "written", "here.txt": ""})
		e.isPending("a.txt:2", "e/e.md:1", "gone:1", "here.txt:1", "made.txt:1")
	}
	e.do("sidecar.review.reject", nil, nil)
	e.isPending()
	r = e.call("custom_look", object{})
	if strings.Contains(r.Content, "ONE") || strings.Contains(r.Content, "more") {
		t.Errorf("it sees what was rejected: %s", r.Content)
	}
	p.isOnDisk(before)
	e.close()
	// Of the copies nothing stays.
	for _, name := range []string{"l/sidecar-ls/cache/worlds", ".cache/sidecar-ls/worlds", "Library/Caches/sidecar-ls/worlds"} {
		entries, err := os.ReadDir(filepath.Join(p.home, filepath.FromSlash(name)))
		if err == nil && len(entries) > 0 {
			t.Errorf("left are %v", entries)
		}
	}
}

// TestWrites is what custom_past runs: it writes the files that it is told to.
func TestWrites(t *testing.T) {
	for _, name := range flag.Args() {
		if err := ownfile.WriteFile(name, []byte("written"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
