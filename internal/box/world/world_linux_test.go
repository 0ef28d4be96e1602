package world

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// helperInit names a program that sandbox.Init takes over: not this one, which the
// race detector makes slow to start.
const helperInit = "WORLD_TEST_INIT"

func TestMain(m *testing.M) {
	if at := os.Getenv(dieAt); at != "" {
		os.Exit(die(at))
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sidecar-ls-init-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer ownfile.RemoveAll(dir)
	name := filepath.Join(dir, "init")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", name, "../sandbox/testdata/init").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	os.Setenv(helperInit, name)
	return m.Run()
}

// rig is a folder with a queue, and a session's commands in it.
type rig struct {
	t    *testing.T
	kind Kind
	root string
	disk *workspace.Disk
	q    *queue
	m    *Manager
	box  *sandbox.Sandbox
	keep bool

	linked *Linked // where the repository of the folder is, if that is a linked working tree
}

// eachKind runs a test over worlds of each kind.
func eachKind(t *testing.T, test func(t *testing.T, kind Kind)) {
	t.Helper()
	for _, kind := range []Kind{Overlay, Copy, SeparateCopy} {
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
}

// boxFor is a sandbox for worlds of a kind: what is at a path of its own is for
// machines without bubblewrap.
func boxFor(kind Kind) *sandbox.Sandbox {
	var o sandbox.Options
	if kind == SeparateCopy {
		o.Bwrap = "/no/such/bwrap"
	}
	return sandbox.Open(os.Getenv(helperInit), o)
}

// specOf is what a command in a world may see and do.
func specOf(run *Run, root string) spec.Spec {
	spec := spec.Spec{Root: root, Env: spec.Environ(os.Environ())}
	run.Show(&spec)
	return spec
}

func newRig(t *testing.T, kind Kind, files map[string]string) *rig {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, kind: kind, root: root, q: &queue{texts: map[string][]byte{}}}
	for name, text := range files {
		r.write(name, text)
	}
	r.disk, err = workspace.OpenDisk([]workspace.Folder{{Dir: root}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.box = boxFor(kind)
	r.m = New(Options{Box: r.box})
	t.Cleanup(func() {
		r.m.Close()
		r.box.Close()
		_ = r.disk.Close()
	})
	want := spec.Bubblewrap
	if kind == SeparateCopy {
		want = spec.Landlock
	}
	if level, err := r.box.LevelFor(spec.Auto); err != nil || level < want {
		needs.Skip(t, needs.Sandbox, "there is no such sandbox that works here: ", r.box.Status().Why)
	}
	if err := r.m.Usable(kind); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(path), 0o755), ownfile.WriteFile(path, []byte(text), 0o644)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) edit(name, text string) { r.q.set(r.disk, name, []byte(text)) }
func (r *rig) remove(name string)     { r.q.set(r.disk, name, nil) }

func (r *rig) begin() *Run {
	r.t.Helper()
	run, err := r.m.Begin(Request{Session: "s", Kind: r.kind, Root: r.root, View: workspace.NewOverlay(r.disk, r.q), Hold: r.keep, Linked: r.linked})
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

// start runs a line in a world that was begun.
func (r *rig) start(run *Run, line string) string {
	r.t.Helper()
	var out bytes.Buffer
	spec := specOf(run, r.root)
	if r.linked != nil {
		spec.ReadOnly = append(spec.ReadOnly, r.linked.Common)
	}
	cmd, err := r.box.Command(r.t.Context(), spec, run.In(r.root), "bash", "-c", line)
	if err == nil {
		cmd.Stdout, cmd.Stderr = &out, &out
		err = cmd.Run()
	}
	if err != nil && !errors.As(err, new(*sandbox.ExitError)) {
		r.t.Fatalf("%s: %v\n%s", line, err, out.String())
	}
	return out.String()
}

// run runs a line, and has what it changes wait.
func (r *rig) run(line string) (out string, h Collected) {
	r.t.Helper()
	run := r.begin()
	out = r.start(run, line)
	h, err := settled(run.End(true))
	if err != nil {
		r.t.Fatal(err)
	}
	r.take(h)
	return out, h
}

func (r *rig) take(h Collected) {
	for _, c := range h.Changes {
		if c.From != "" {
			r.q.set(r.disk, c.From, nil)
		}
		if !c.Link() {
			r.q.set(r.disk, c.Path, c.After)
		}
	}
}

// accept writes what waits, and reject gives it up.
func (r *rig) accept() {
	r.t.Helper()
	for name, text := range r.q.texts {
		path := filepath.Join(r.root, name)
		if text == nil {
			if err := ownfile.Remove(path); err != nil {
				r.t.Fatal(err)
			}
		} else {
			r.write(name, string(text))
		}
	}
	r.q.texts = map[string][]byte{}
}

func (r *rig) reject() { r.q.texts = map[string][]byte{} }

// tree is what is on the disk, without what is left out.
func (r *rig) tree(without ...string) string {
	r.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, r.root+"/")
		if d.IsDir() {
			if slices.Contains(without, rel) {
				return fs.SkipDir
			}
			return nil
		}
		b.WriteString("== " + rel + "\n")
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			b.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return b.String()
}

// A command sees what waits and what is not saved, the disk stays as it is, and
// what the command changes comes back as data.
func TestSeesAndChanges(t *testing.T) { eachKind(t, testSeesAndChanges) }

func testSeesAndChanges(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "disk a\n", "b.txt": "disk b\n", "dir/c.txt": "disk c\n", "dir/d.txt": "disk d\n", "run.sh": "#!/bin/sh\n"})
	before := r.tree()
	r.edit("a.txt", "pending a\n")
	r.edit("new/n.txt", "pending n\n")
	r.remove("b.txt")
	out, h := r.run("cat a.txt new/n.txt dir/c.txt; test -e b.txt || echo gone")
	if out != "pending a\npending n\ndisk c\ngone\n" || len(h.Changes) != 0 {
		t.Errorf("it saw %q and changed %s", out, kinds(h.Changes))
	}
	_, h = r.run("echo more >> a.txt; mv dir/c.txt moved.txt; rm -r new; chmod +x run.sh; ln -s a.txt link; echo made > made.txt; touch dir/d.txt; echo x > tmp; rm tmp")
	if got, want := kinds(h.Changes), "create link link, create made.txt, delete new/n.txt, modify a.txt, modify run.sh x, rename dir/c.txt moved.txt"; got != want {
		t.Errorf("changed %s\nwant %s", got, want)
	}
	if len(h.Said) != 0 {
		t.Errorf("said %q", h.Said)
	}
	if after := r.tree(); after != before {
		t.Errorf("the disk is\n%s\nwas\n%s", after, before)
	}
	if out, h := r.run("cat a.txt made.txt; ls dir"); out != "pending a\nmore\nmade\nd.txt\n" || len(h.Changes) != 0 {
		t.Errorf("the next one saw %q and changed %s", out, kinds(h.Changes))
	}
	r.reject()
	if out, h := r.run("cat a.txt b.txt; ls"); !strings.HasPrefix(out, "disk a\ndisk b\n") || strings.Contains(out, "made.txt") || len(h.Changes) != 0 {
		t.Errorf("after the rejection one saw %q and changed %s", out, kinds(h.Changes))
	}
}

// What the user changes on the disk between commands is seen, also where a
// command left a copy that is the same.
func TestSeesTheDiskAgain(t *testing.T) { eachKind(t, testSeesTheDiskAgain) }

func testSeesTheDiskAgain(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "one\n", "b.txt": "one\n"})
	r.run("touch a.txt; echo two > b.txt")
	r.accept()
	r.write("a.txt", "user a\n")
	r.write("b.txt", "user b\n")
	if out, h := r.run("cat a.txt b.txt"); out != "user a\nuser b\n" || len(h.Changes) != 0 {
		t.Errorf("it saw %q and changed %s", out, kinds(h.Changes))
	}
}

// Output that git ignores goes to the disk if it was built of what is there,
// and stays in the session otherwise.
func TestOutput(t *testing.T) { eachKind(t, testOutput) }

func testOutput(t *testing.T, kind Kind) {
	files := map[string]string{".gitignore": "out/\n*.o\n", "a.c": "disk\n", "out/old.o": "old", "out/sub/x": "x"}
	build := "mkdir -p out node_modules/m; cp a.c out/a.o; cp a.c b.o; echo dep > node_modules/m/index.js"
	at := func(r *rig, name string) string {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return ""
		}
		return string(data)
	}
	t.Run("of the disk", func(t *testing.T) {
		r := newRig(t, kind, files)
		if _, h := r.run(build + "; rm -r out/sub"); len(h.Changes)+len(h.Said) != 0 {
			t.Errorf("changed %s, said %q", kinds(h.Changes), h.Said)
		}
		if at(r, "out/a.o") != "disk\n" || at(r, "b.o") != "disk\n" || at(r, "node_modules/m/index.js") != "dep\n" || at(r, "out/old.o") != "old" || at(r, "out/sub/x") != "" {
			t.Errorf("the disk has\n%s", r.tree())
		}
	})
	t.Run("of pending text", func(t *testing.T) {
		r := newRig(t, kind, files)
		r.edit("a.c", "pending\n")
		r.run(build)
		if at(r, "out/a.o") != "" || at(r, "b.o") != "" || at(r, "node_modules/m/index.js") != "dep\n" {
			t.Errorf("the disk has\n%s", r.tree())
		}
		if out, _ := r.run("cat out/a.o b.o"); out != "pending\npending\n" {
			t.Errorf("the session has %q", out)
		}
		r.accept()
		r.run("true")
		if at(r, "out/a.o") != "pending\n" {
			t.Errorf("once it is accepted, the disk has\n%s", r.tree())
		}
	})
	t.Run("of rejected text", func(t *testing.T) {
		r := newRig(t, kind, files)
		r.edit("a.c", "pending\n")
		r.run(build)
		r.reject()
		if out, _ := r.run("cat out/a.o || echo none"); !strings.HasSuffix(out, "none\n") {
			t.Errorf("the session has %q", out)
		}
		if at(r, "out/a.o") != "" {
			t.Errorf("the disk has\n%s", r.tree())
		}
	})
	t.Run("by the setting", func(t *testing.T) {
		r := newRig(t, kind, files)
		r.keep = true
		r.run(build)
		if at(r, "out/a.o") != "" || at(r, "node_modules/m/index.js") != "" {
			t.Errorf("the disk has\n%s", r.tree())
		}
	})
	t.Run("never over what the user changed", func(t *testing.T) {
		r := newRig(t, kind, files)
		run := r.begin()
		r.start(run, "echo theirs > out/old.o; rm -r out/sub; echo new > out/new.o")
		r.write("out/old.o", "the user's")
		r.write("out/sub/x", "the user's")
		h, err := settled(run.End(true))
		if err != nil {
			t.Fatal(err)
		}
		if at(r, "out/old.o") != "the user's" || at(r, "out/sub/x") != "the user's" || at(r, "out/new.o") != "new\n" || len(h.Said) != 1 || !strings.Contains(h.Said[0], "out/old.o") {
			t.Errorf("said %q, the disk has\n%s", h.Said, r.tree())
		}
	})
	t.Run("a rule that the command makes hides nothing", func(t *testing.T) {
		r := newRig(t, kind, files)
		_, h := r.run("echo '*' > .gitignore; echo x > hidden.txt")
		if at(r, "hidden.txt") != "" || kinds(h.Changes) != "modify .gitignore" {
			t.Errorf("changed %s, the disk has\n%s", kinds(h.Changes), r.tree())
		}
	})
}

// What can't come back is said, and what else the command made comes all the same.
func TestNotTakenOver(t *testing.T) { eachKind(t, testNotTakenOver) }

func testNotTakenOver(t *testing.T, kind Kind) {
	for _, c := range []struct{ name, line, said, also string }{
		{"a pipe", "mkfifo p", "p: it is a socket, a pipe or a device", ""},
		{"a repository", "git init -q sub; echo x > sub/f", "sub: a repository", ""},
		{"a bare repository", "mkdir -p bare/objects bare/refs; echo 'ref: refs/heads/x' > bare/HEAD", "bare: a repository", ""},
		{"a link that leads out", "ln -s DECOY out", "out: it is a link that leads out", ""},
		{"a name that is no text", `printf x > "$(printf 'a\377b')"`, "its name can't be shown", ""},
		{"a line break in a name", `printf x > "$(printf 'a\nb')"`, "its name can't be shown", ""},
		{"a sparse file of 10 GB", "truncate -s 3G big", "big: it is too large", ""},
		{"an unreadable file", "echo x > closed; chmod 000 closed", "", "create closed, "},
		{"an unreadable directory", "mkdir d; echo x > d/f; chmod 000 d", "", "create d/f, "},
		{"setuid", "echo x > s; chmod 4755 s", "", "create s, "},
		{"what looks like a stand-in", "mkdir -m 1777 st; echo x > st/f; : > empty; chmod 1644 empty", "", "create empty, create st/f, "},
		{"hard links", "echo x > h1; ln h1 h2", "", "create h1, create h2, "},
		{"whiteouts of its own", "mknod w c 0 0; setfattr -n user.overlay.opaque -v y dir; setfattr -n trusted.overlay.opaque -v y dir", "", ""},
		{"case pairs", "echo x > Case; echo y > case", "", "create Case, create case, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, kind, map[string]string{"dir/a.txt": "a\n"})
			before := r.tree()
			decoy := filepath.Join(t.TempDir(), "decoy")
			if err := ownfile.WriteFile(decoy, []byte("decoy\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, h := r.run(strings.ReplaceAll(c.line, "DECOY", decoy) + "; echo control > zz.txt")
			if got, want := kinds(h.Changes), c.also+"create zz.txt"; got != want {
				t.Errorf("changed %s, want %s", got, want)
			}
			if got := strings.Join(h.Said, "\n"); (c.said == "") != (got == "") || !strings.Contains(got, c.said) {
				t.Errorf("said %q, want %q", got, c.said)
			}
			if after := r.tree(); after != before {
				t.Errorf("the disk has\n%s", after)
			}
			if out, _ := r.run("cat zz.txt"); out != "control\n" {
				t.Errorf("the next command saw %q", out)
			}
		})
	}
}

// A command that removes the workspace removes its files, as edits.
func TestRemovesAll(t *testing.T) { eachKind(t, testRemovesAll) }

func testRemovesAll(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "a\n", "dir/b.txt": "b\n"})
	before := r.tree()
	_, h := r.run("rm -rf -- * \"$PWD\" 2>/dev/null; true")
	if got := kinds(h.Changes); got != "delete a.txt, delete dir/b.txt" {
		t.Errorf("changed %s", got)
	}
	if r.tree() != before {
		t.Errorf("the disk has\n%s", r.tree())
	}
	r.reject()
	if out, _ := r.run("cat a.txt dir/b.txt"); out != "a\nb\n" {
		t.Errorf("after the rejection one sees %q", out)
	}
}

// More changes than are taken over leave the disk as it is, and a later command
// may undo them.
// TestTrades: a file that becomes a directory, and the other way, is a file that goes and one
// that comes, also for the command after it.
func TestTrades(t *testing.T) { eachKind(t, testTrades) }

func testTrades(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"t": "t\n", "d/f": "f\n", "d/sub/g": "g\n"})
	before := r.tree()
	_, h := r.run("rm t; mkdir t; echo in > t/in; rm -r d; echo file > d")
	if got := kinds(h.Changes); got != "create d, create t/in, delete d/f, delete d/sub/g, delete t" || len(h.Said) != 0 {
		t.Errorf("changed %s, said %q", got, h.Said)
	}
	if r.tree() != before {
		t.Errorf("the disk has\n%s", r.tree())
	}
	if out, h := r.run("cat t/in d"); out != "in\nfile\n" || len(h.Changes) != 0 {
		t.Errorf("the next one saw %q and changed %s", out, kinds(h.Changes))
	}
	r.reject()
	if out, _ := r.run("cat t d/f d/sub/g"); out != "t\nf\ng\n" {
		t.Errorf("after the rejection one sees %q", out)
	}
}

func TestTooMany(t *testing.T) { eachKind(t, testTooMany) }

func testTooMany(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "a\n"})
	r.m.o.Limits.Files = 10
	run := r.begin()
	r.start(run, "for i in {1..11}; do echo x > f$i; done")
	if _, err := settled(run.End(true)); !errors.As(err, new(*LimitError)) {
		t.Fatalf("got %v", err)
	}
	if _, h := r.run("ls; rm f1"); len(h.Changes) != 10 {
		t.Errorf("at the limit, %s", kinds(h.Changes))
	}
}

// Commands beside each other share what they see, and what an ended one left
// comes with the next look.
func TestTogether(t *testing.T) { eachKind(t, testTogether) }

func testTogether(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "a\n"})
	first := r.begin()
	r.start(first, "echo one > one.txt")
	r.edit("later.txt", "pending\n")
	second := r.begin()
	if out := r.start(second, "cat one.txt later.txt; echo two > two.txt"); out != "one\npending\n" {
		t.Errorf("the second saw %q", out)
	}
	h, err := second.End(true)
	if err != nil || kinds(h.Changes) != "create one.txt, create two.txt" {
		t.Errorf("changed %s, %v", kinds(h.Changes), err)
	}
	r.take(h)
	r.start(first, "echo three > three.txt; echo more >> two.txt")
	if h, err = first.Collect(); err != nil || kinds(h.Changes) != "create three.txt, modify two.txt" {
		t.Errorf("changed %s, %v", kinds(h.Changes), err)
	}
	r.take(h)
	r.start(first, "rm three.txt")
	if _, err := first.End(false); err != nil {
		t.Fatal(err)
	}
	if h, err = first.Collect(); err != nil || kinds(h.Changes) != "delete three.txt" {
		t.Errorf("after its end, changed %s, %v", kinds(h.Changes), err)
	}
}

// What nobody took comes with the next command.
func TestCancelled(t *testing.T) { eachKind(t, testCancelled) }

func testCancelled(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "a\n"})
	run := r.begin()
	r.start(run, "echo kept > kept.txt; echo b >> a.txt")
	if h, err := run.End(false); err != nil || len(h.Changes) != 0 {
		t.Fatalf("%s, %v", kinds(h.Changes), err)
	}
	if out, h := r.run("cat kept.txt"); out != "kept\n" || kinds(h.Changes) != "create kept.txt, modify a.txt" {
		t.Errorf("saw %q, changed %s", out, kinds(h.Changes))
	}
}

// A program that runs can't lead what is put before it out of the tree, by a link in
// the place of a directory.
func TestLinkInTheWay(t *testing.T) { eachKind(t, testLinkInTheWay) }

func testLinkInTheWay(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "a\n", "in/b.txt": "b\n"})
	outside := t.TempDir()
	run := r.begin()
	r.start(run, "ln -s "+outside+" out; ln -s in link")
	r.edit("out/x.txt", "pending\n")
	r.m.Again()
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("outside there is %v, %v", left, err)
	}
	r.reject()
	r.edit("link/x.txt", "pending\n")
	r.m.Again()
	if out := r.start(run, "cat in/x.txt"); out != "pending\n" { // the control
		t.Errorf("by a link within the tree comes %q", out)
	}
	if _, err := run.End(false); err != nil {
		t.Fatal(err)
	}
}

// A file that the user changed while the command did is left as the user has it.
func TestUserChangedIt(t *testing.T) { eachKind(t, testUserChangedIt) }

func testUserChangedIt(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	run := r.begin()
	r.start(run, "echo theirs > a.txt; echo theirs > b.txt")
	r.write("a.txt", "the user's\n")
	h, err := settled(run.End(true))
	if err != nil || kinds(h.Changes) != "modify b.txt" || len(h.Said) != 1 || !strings.Contains(h.Said[0], "a.txt: the user changed it") {
		t.Errorf("changed %s, said %q, %v", kinds(h.Changes), h.Said, err)
	}
	r.take(h)
	if out, _ := r.run("cat a.txt b.txt"); out != "the user's\ntheirs\n" {
		t.Errorf("the next command saw %q", out)
	}
}

// What a killed server left goes with the next start, and what is in use stays.
func TestSweep(t *testing.T) { eachKind(t, testSweep) }

func testSweep(t *testing.T, kind Kind) {
	r := newRig(t, kind, map[string]string{"a.txt": "a\n"})
	r.run("echo x > x.txt")
	w := r.m.worlds[key{"s", r.root, kind}]
	left := w.dir + "left"
	if err := errors.Join(ownfile.MkdirAll(filepath.Join(left, "work", "work"), 0o700), ownfile.Chmod(filepath.Join(left, "work", "work"), 0)); err != nil {
		t.Fatal(err)
	}
	if err := New(Options{}).Sweep(r.root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if out, _ := r.run("cat x.txt"); out != "x\n" {
		t.Errorf("the world in use has %q", out)
	}
	r.m.CloseSession("s")
	if kind != Overlay {
		r.m.Close() // until then it is for the next session
	}
	if _, err := os.Stat(w.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the closed one is still there: %v", err)
	}
}

// For any sequence of edits, commands and decisions: to accept all gives the tree
// that the last command saw, and to reject all the tree as it was.
func TestSequences(t *testing.T) { eachKind(t, testSequences) }

func testSequences(t *testing.T, kind Kind) {
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	for seed := range rounds {
		r := newRig(t, kind, map[string]string{".gitignore": "*.o\n", "a": "a\n", "b": "b\n", "d/a": "da\n", "d/b": "db\n", "e/f/a": "efa\n"})
		rnd := rand.New(rand.NewPCG(uint64(seed), 7))
		names := []string{"a", "b", "c", "d/a", "d/b", "d/c", "e/f/a", "e/a", "g/h/a"}
		name := func() string { return names[rnd.IntN(len(names))] }
		step := 0
		text := func() string { step++; return strings.Repeat("x", step) + "\n" }
		var did []string
		for range 12 {
			before := r.tree()
			switch rnd.IntN(6) {
			case 0:
				n, s := name(), text()
				did = append(did, "edit "+n)
				r.edit(n, s)
			case 1:
				n := name()
				did = append(did, "remove "+n)
				r.remove(n)
			case 2:
				did = append(did, "reject")
				r.reject()
			case 3:
				did = append(did, "accept")
				r.accept()
				continue
			default:
				line := []string{
					"echo " + strings.TrimSpace(text()) + " > " + name(), "rm -f " + name(), "rm -rf d", "rm -rf e; mkdir e; echo new > e/a", "mv a moved 2>/dev/null; mv moved a",
					"mkdir -p g/h; echo y > g/h/a; echo o > g/x.o", "touch a d/b; cat a > b.o",
				}[rnd.IntN(7)]
				did = append(did, line)
				r.run("mkdir -p d e/f g/h; " + line + "; true")
			}
			if after := r.tree(); without(after) != without(before) {
				t.Fatalf("seed %d, after %q the disk is\n%s\nwas\n%s", seed, did, after, before)
			}
		}
		saw, _ := r.run(`find . -type f ! -name '*.o' ! -path './.git/*' | sort | while read f; do echo "== ${f#./}"; cat "$f"; done`)
		r.accept()
		if got := without(r.tree()); sorted(got) != sorted(saw) {
			t.Errorf("seed %d, after %q a command saw\n%s\nand accepted is\n%s", seed, did, saw, got)
		}
	}
}

// without leaves the files that git ignores out of a tree.
func without(tree string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(tree, "== ") {
		if name, _, _ := strings.Cut(part, "\n"); part != "" && !strings.HasSuffix(name, ".o") {
			b.WriteString("== " + part)
		}
	}
	return b.String()
}

func sorted(tree string) string {
	parts := strings.Split(tree, "== ")
	slices.Sort(parts)
	return strings.Join(parts, "== ")
}
