package world

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/folded"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wine"
)

// Worlds at a path of their own, on every system: what is a command elsewhere is a
// function here, which changes files as one would.

// tree is a directory with files.
type tree struct {
	t   *testing.T
	dir string
}

func (d tree) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

// write replaces a file, which is made writable for it.
func (d tree) write(name, text string) {
	d.t.Helper()
	at := d.path(name)
	_ = ownfile.Chmod(at, 0o644)
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(at), 0o755), ownfile.WriteFile(at, []byte(text), 0o644)); err != nil {
		d.t.Fatal(err)
	}
}

// read is the text of a file, "-" for none, and "/" for a directory.
func (d tree) read(name string) string {
	d.t.Helper()
	at := d.path(name)
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "-"
	case err == nil && info.IsDir():
		return "/"
	}
	text, err := os.ReadFile(at)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

func (d tree) remove(name string) {
	d.t.Helper()
	if err := osfile.RemoveAll(d.path(name)); err != nil {
		d.t.Fatal(err)
	}
}

// rename renames in two steps: under Wine a new spelling alone changes nothing.
func (d tree) rename(from, to string) {
	d.t.Helper()
	between := d.path(to) + ".between"
	if err := errors.Join(ownfile.Rename(d.path(from), between), ownfile.Rename(between, d.path(to))); err != nil {
		d.t.Fatal(err)
	}
}

// has compares files with what they shall have.
func (d tree) has(files map[string]string) {
	d.t.Helper()
	for name, want := range files {
		if got := d.read(name); got != want {
			d.t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// all is what is in it.
func (d tree) all() string {
	d.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(d.dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(d.dir, at)
		if err == nil {
			b.WriteString("== " + filepath.ToSlash(rel) + "\n" + d.read(filepath.ToSlash(rel)))
		}
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return b.String()
}

// apartRig is a folder, what is pending in it, and the worlds of its sessions.
type apartRig struct {
	tree
	q    *queue
	disk *workspace.Disk
	m    *Manager
	ask  Request // what commands ask for besides
}

func newApart(t *testing.T, files map[string]string) *apartRig {
	t.Helper()
	return newApartIn(t, t.TempDir(), files)
}

func newApartIn(t *testing.T, dir string, files map[string]string) *apartRig {
	t.Helper()
	base := filepath.Join(dir, "Jörg Müller")
	root := filepath.Join(base, "my project")
	if err := ownfile.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(base, "the cache"))
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	r := &apartRig{tree: tree{t, root}, q: &queue{texts: map[string][]byte{}}}
	for name, text := range files {
		r.write(name, text)
	}
	// What is put there now is older than any command.
	past := time.Now().Add(-time.Hour)
	for name := range files {
		if err := ownfile.Chtimes(r.path(name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	if r.disk, err = workspace.OpenDisk([]workspace.Folder{{Dir: root}}, workspace.DiskOptions{}); err != nil {
		t.Fatal(err)
	}
	r.m = New(Options{})
	t.Cleanup(func() {
		r.m.Close()
		_ = r.disk.Close()
	})
	if err := r.m.Usable(SeparateCopy); err != nil {
		t.Fatal(err)
	}
	r.ask.Session = "s"
	return r
}

func (r *apartRig) edit(name, text string) { r.q.set(r.disk, name, []byte(text)) }
func (r *apartRig) delete(name string)     { r.q.set(r.disk, name, nil) }

// begin begins a command, and returns where it works.
func (r *apartRig) begin() (*Run, tree) {
	r.t.Helper()
	q := r.ask
	q.Kind, q.Root, q.View = SeparateCopy, r.dir, workspace.NewOverlay(r.disk, r.q)
	run, err := r.m.Begin(q)
	if err != nil {
		r.t.Fatal(err)
	}
	at := run.In(r.dir)
	if at == r.dir || run.Outside(at) != r.dir || run.Outside(run.In(r.path("d/a.txt"))) != r.path("d/a.txt") || run.In(os.TempDir()) != os.TempDir() {
		r.t.Fatalf("it works in %s, which is %s outside", at, run.Outside(at))
	}
	return run, tree{r.t, at}
}

func (r *apartRig) end(run *Run) Collected {
	r.t.Helper()
	h, err := settled(run.End(true))
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// run is a whole command, and what it changes waits.
func (r *apartRig) run(command func(at tree)) Collected {
	r.t.Helper()
	run, at := r.begin()
	command(at)
	h := r.end(run)
	for _, c := range h.Changes {
		if c.From != "" {
			r.q.set(r.disk, c.From, nil)
		}
		r.q.set(r.disk, c.Path, c.After)
	}
	return h
}

// sees has a command see files, and change nothing.
func (r *apartRig) sees(files map[string]string) {
	r.t.Helper()
	if h := r.run(func(at tree) { r.t.Helper(); at.has(files) }); len(h.Changes)+len(h.Said) != 0 {
		r.t.Errorf("one that only looked changed %s, said %q", kinds(h.Changes), h.Said)
	}
}

func (r *apartRig) reject() { r.q.texts = map[string][]byte{} }

// is compares what came of a command.
func (h Collected) is(t *testing.T, changes string, said ...string) {
	t.Helper()
	if got := kinds(h.Changes); got != changes {
		t.Errorf("changed %q, want %q", got, changes)
	}
	if len(h.Said) != len(said) {
		t.Fatalf("said %q, want %q", h.Said, said)
	}
	for i, want := range said {
		if !strings.Contains(h.Said[i], want) {
			t.Errorf("said %q, want %q", h.Said[i], want)
		}
	}
}

// A command sees what waits, the folder stays as it is, and what the command changes
// comes back.
func TestApartSeesAndChanges(t *testing.T) {
	r := newApart(t, map[string]string{
		"a.txt": "disk a\n", "b.txt": "disk b\n", "dir/c d.txt": "disk c\n", "dir/größe.txt": "disk g\n", "Ordner ä/ö.txt": "disk o\n", "e/f/g.txt": "disk g\n", "same.txt": "same\n",
	})
	before := r.all()
	r.edit("a.txt", "pending a\n")
	r.edit("neu/ü n.txt", "pending n\n")
	r.delete("b.txt")
	r.sees(map[string]string{"a.txt": "pending a\n", "neu/ü n.txt": "pending n\n", "b.txt": "-", "dir/c d.txt": "disk c\n", "Ordner ä/ö.txt": "disk o\n"})
	r.run(func(at tree) {
		at.write("a.txt", "pending a\nmore\n")
		at.rename("dir/c d.txt", "moved c.txt")
		at.remove("neu")
		at.write("made ß/made.txt", "made\n")
		at.write("dir/größe.txt", "other\n")
		at.remove("e")
		at.write("same.txt", "same\n")
		at.write("tmp", "x")
		at.remove("tmp")
	}).is(t, "create made ß/made.txt, delete e/f/g.txt, delete neu/ü n.txt, modify a.txt, modify dir/größe.txt, rename dir/c d.txt moved c.txt")
	if after := r.all(); after != before {
		t.Errorf("the folder has\n%s", after)
	}
	r.sees(map[string]string{"a.txt": "pending a\nmore\n", "made ß/made.txt": "made\n", "moved c.txt": "disk c\n", "dir/c d.txt": "-", "neu/ü n.txt": "-", "e/f/g.txt": "-"})
	r.run(func(at tree) { at.rename("Ordner ä", "Ordner b") }).is(t, "rename Ordner ä/ö.txt Ordner b/ö.txt")
	r.reject()
	r.write("same.txt", "the user's\n")
	r.write("e/f/new.txt", "the user's\n")
	r.remove("dir/c d.txt")
	r.sees(map[string]string{"a.txt": "disk a\n", "b.txt": "disk b\n", "dir/c d.txt": "-", "moved c.txt": "-", "made ß": "-", "neu": "-", "e/f/g.txt": "disk g\n", "Ordner ä/ö.txt": "disk o\n", "Ordner b/ö.txt": "-", "same.txt": "the user's\n", "e/f/new.txt": "the user's\n"})
}

// What the user changes while a command runs stays, and what the command made of it is
// left out.
func TestApartUserIsFaster(t *testing.T) {
	r := newApart(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "control.txt": "x\n"})
	run, at := r.begin()
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt", "control.txt"} {
		at.write(name, "the command's\n")
	}
	r.write("a.txt", "the user's\n")
	r.remove("b.txt")
	// What is put there may be as old as it was elsewhere.
	old := time.Now().Add(-24 * time.Hour)
	for _, name := range []string{"c.txt", "d.txt"} {
		r.write(name, "from elsewhere\n")
		if err := ownfile.Chtimes(r.path(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	h := r.end(run)
	h.is(t, "create b.txt, modify control.txt", "a.txt, c.txt, d.txt: the user changed it while the command ran")
	r.has(map[string]string{"a.txt": "the user's\n", "b.txt": "-", "c.txt": "from elsewhere\n", "d.txt": "from elsewhere\n"})
}

// What the user saves is forwarded to programs that run, and so is what becomes pending.
func TestApartFollows(t *testing.T) {
	r := newApart(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "d/gone.txt": "x\n", "d/ro.txt": "ro\n"})
	if err := ownfile.Chmod(r.path("d/ro.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	run, at := r.begin()
	at.write("b.txt", "the command's\n")
	r.write("a.txt", "saved\n")
	r.write("b.txt", "saved\n")
	r.write("d/new.txt", "saved\n")
	r.remove("d/gone.txt")
	for _, name := range []string{"a.txt", "b.txt", "d/new.txt", "d/gone.txt"} {
		r.m.Saved(r.path(name))
	}
	r.edit("p q.txt", "pending\n")
	r.edit("d/ro.txt", "pending\n")
	r.m.Again()
	at.has(map[string]string{"a.txt": "saved\n", "b.txt": "the command's\n", "d/new.txt": "saved\n", "d/gone.txt": "-", "p q.txt": "pending\n", "d/ro.txt": "pending\n"})
	r.end(run).is(t, "", "b.txt: the user changed it")
}

// linked says what a directory of dependencies is in a copy: a link, or where this
// system makes none, a directory.
func linked(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	link := info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0
	if !link && !wine.Running() {
		t.Errorf("%s is no link, but %v", path, info.Mode())
	}
	return link
}

func TestApartDependencies(t *testing.T) {
	files := map[string]string{".gitignore": "node_modules/\n", "a.txt": "a\n", "node_modules/m/index.js": "dep\n", "node_modules/old.js": "old\n", "node_modules/@s/p/i.js": "p\n", "node_modules/.cache/c": "c\n", "pkg/.venv/lib/x y.py": "x\n"}
	t.Run("are the folder's own", func(t *testing.T) {
		r := newApart(t, files)
		before := r.all()
		r.run(func(at tree) {
			linked(t, at.path("node_modules/m"))
			linked(t, at.path("node_modules/@s/p"))
			linked(t, at.path("pkg/.venv/lib"))
			at.has(files)
			at.write("node_modules/new.js", "new\n")
			at.write("node_modules/n/index.js", "n\n")
		}).is(t, "")
		r.has(map[string]string{"node_modules/new.js": "new\n", "node_modules/n/index.js": "n\n"})
		r.sees(map[string]string{"node_modules/new.js": "new\n", "node_modules/n/index.js": "n\n", "node_modules/m/index.js": "dep\n"})
		r.remove("node_modules/new.js")
		r.remove("node_modules/n")
		if after := r.all(); after != before {
			t.Errorf("the folder has\n%s", after)
		}
		r.sees(map[string]string{"node_modules/new.js": "-", "node_modules/old.js": "old\n"})
	})
	t.Run("stay when the copy goes", func(t *testing.T) {
		r := newApart(t, files)
		before := r.all()
		r.sees(files)
		r.m.CloseSession("s")
		r.m.Close()
		if after := r.all(); after != before {
			t.Errorf("the folder has\n%s", after)
		}
	})
	t.Run("replaced", func(t *testing.T) {
		r := newApart(t, files)
		r.run(func(at tree) {
			at.remove("node_modules")
			r.has(map[string]string{"node_modules/old.js": "old\n"})
			at.write("node_modules/new.js", "new\n")
			at.write("node_modules/m/index.js", "newer\n")
		}).is(t, "", "node_modules/@s: a command can replace dependencies, and not remove them")
		now := map[string]string{"node_modules/new.js": "new\n", "node_modules/m/index.js": "newer\n", "node_modules/@s/p/i.js": "p\n", "pkg/.venv/lib/x y.py": "x\n"}
		r.has(now)
		r.sees(now)
	})
	t.Run("moved and copied", func(t *testing.T) {
		r := newApart(t, files)
		links := false
		r.run(func(at tree) { links = linked(t, at.path("node_modules/@s/p")) }).is(t, "")
		if !links {
			needs.Skip(t, needs.Links, "there are no links")
		}
		before := r.all()
		r.run(func(at tree) {
			at.rename("node_modules/@s/p", "node_modules/@s/.p-x")
			at.rename("node_modules/@s/.p-x", "node_modules/@s/p")
			target, err := os.Readlink(at.path("node_modules/m"))
			if err != nil {
				t.Fatal(err)
			}
			at.remove("node_modules/m") // as a copy of the directory does
			if err := errors.Join(ownfile.Symlink(target, at.path("node_modules/m")), ownfile.Symlink(target, at.path("node_modules/again"))); err != nil {
				t.Fatal(err)
			}
		}).is(t, "", "node_modules/again: a link leads to the copy")
		if after := r.all(); after != before {
			t.Errorf("the folder has\n%s", after)
		}
	})
	t.Run("in a directory that is removed", func(t *testing.T) {
		r := newApart(t, map[string]string{".gitignore": "node_modules/\nout/\n", "p/x.js": "x\n", "p/node_modules/m/i.js": "m\n", "out/p/node_modules/m/i.js": "m\n", "out/o": "o\n"})
		r.run(func(at tree) {
			at.remove("p")
			at.remove("out")
		}).is(t, "delete p/x.js", "out/p/node_modules, p/node_modules: a command can replace dependencies, and not remove them")
		r.has(map[string]string{"p/x.js": "x\n", "p/node_modules/m/i.js": "m\n", "out/p/node_modules/m/i.js": "m\n", "out/o": "-"})
	})
	t.Run("whose change waits for the user", func(t *testing.T) {
		r := newApart(t, files)
		run, at := r.begin()
		at.remove("node_modules/m")
		at.write("node_modules/m/index.js", "theirs\n")
		r.write("node_modules/m/index.js", "mine\n")
		r.end(run).is(t, "", "somebody changed it in the workspace")
		r.edit("a.txt", "pending\n")
		r.run(func(at tree) { at.write("node_modules/made", "x\n") }) // output with pending text
		r.q.set(r.disk, "a.txt", []byte("a\n"))
		r.run(func(tree) {})
		r.run(func(tree) {})
		r.has(map[string]string{"node_modules/m/index.js": "mine\n"})
	})
	t.Run("removed", func(t *testing.T) {
		r := newApart(t, files)
		r.run(func(at tree) { at.remove("node_modules") }).is(t, "", "node_modules: a command can replace dependencies, and not remove them")
		r.has(files)
		r.sees(files)
		if !wine.Running() {
			r.run(func(at tree) { at.remove("node_modules/@s/p") }).is(t, "", "node_modules/@s/p: a command can replace dependencies")
			r.sees(files)
			r.run(func(at tree) { at.remove("node_modules/@s/p"); at.remove("node_modules/m") }).is(t, "", "node_modules/@s/p, node_modules/m: a command can replace dependencies")
			r.sees(files)
		}
	})
	t.Run("one replaced", func(t *testing.T) {
		r := newApart(t, files)
		r.run(func(at tree) {
			at.remove("node_modules/m")
			at.write("node_modules/m/index.js", "newer\n")
			at.write("node_modules/.cache/c", "newer\n")
		}).is(t, "")
		now := maps.Clone(files)
		now["node_modules/m/index.js"], now["node_modules/.cache/c"] = "newer\n", "newer\n"
		r.has(now)
		r.sees(now)
	})
	t.Run("that lead back", func(t *testing.T) {
		r := newApart(t, map[string]string{".gitignore": "node_modules/\n", "packages/a/index.js": "disk\n", "node_modules/m/index.js": "dep\n"})
		if err := ownfile.Symlink(filepath.FromSlash("../packages/a"), r.path("node_modules/a")); err != nil {
			needs.Skip(t, needs.Links, err)
		}
		if err := ownfile.Symlink(r.path("packages/a"), r.path("node_modules/b")); err != nil {
			t.Fatal(err)
		}
		if wine.Running() {
			needs.Skip(t, needs.Wine, "Wine says that it makes links, and makes none")
		}
		r.edit("packages/a/index.js", "pending\n")
		r.run(func(at tree) {
			at.has(map[string]string{"node_modules/a/index.js": "pending\n", "node_modules/b/index.js": "pending\n", "node_modules/m/index.js": "dep\n"})
		}).is(t, "")
	})
	t.Run("with something pending in them", func(t *testing.T) {
		r := newApart(t, files)
		r.sees(files)
		r.edit("node_modules/m/index.js", "patched\n")
		r.run(func(at tree) {
			linked(t, at.path("node_modules/@s/p"))
			if info, err := os.Lstat(at.path("node_modules/m")); err != nil || !info.IsDir() {
				t.Errorf("it is %v, %v", info, err)
			}
			at.has(map[string]string{"node_modules/m/index.js": "patched\n", "node_modules/old.js": "old\n"})
			at.write("node_modules/m/index.js", "patched more\n")
		}).is(t, "modify node_modules/m/index.js")
		r.has(files)
	})
	t.Run("that can't be written", func(t *testing.T) {
		r := newApart(t, files)
		r.ask.Hold = true
		r.run(func(at tree) {
			at.write("node_modules/new.js", "new\n")
			at.write("pkg/.tox/x", "x\n")
		})
		r.has(map[string]string{"node_modules/new.js": "-", "pkg/.tox": "-"})
	})
}

// What was built comes to the folder, unless it says where: then it stays, and that is
// said once.
func TestApartOutput(t *testing.T) {
	files := map[string]string{".gitignore": "out/\n*.o\n", "a.c": "a\n", "out/old.o": "old\n", "out/sub/x": "x\n"}
	for name, in := range map[string]struct {
		text  func(at tree) string
		stays bool
	}{
		"its path":                 {func(at tree) string { return "cd " + at.dir + "\n" }, true},
		"its path with slashes":    {func(at tree) string { return "cd " + filepath.ToSlash(at.dir) + "\n" }, true},
		"its path in a string":     {func(at tree) string { return `{"dir": "` + strings.ReplaceAll(at.dir, `\`, `\\`) + `"}` }, true},
		"a path in it, far behind": {func(at tree) string { return strings.Repeat("x", 64<<10-20) + at.path("a.c") + "\n" }, true},
		"its path, in a program":   {func(at tree) string { return "\x7fELF\x00" + at.dir }, false},
		"another path":             {func(at tree) string { return "cd " + filepath.Dir(at.dir) + "\n" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newApart(t, files)
			h := r.run(func(at tree) {
				at.write("out/settings", in.text(at))
				at.write("out/new/a.o", "new\n")
				at.write("b.o", "b\n")
				at.remove("out/sub")
				at.write("made.txt", "made\n")
			})
			if !in.stays {
				h.is(t, "create made.txt")
				r.has(map[string]string{"out/new/a.o": "new\n", "b.o": "b\n", "out/sub/x": "-", "out/old.o": "old\n"})
				r.sees(map[string]string{"out/new/a.o": "new\n", "out/sub/x": "-", "out/old.o": "old\n"})
				return
			}
			h.is(t, "create made.txt", "out/settings has the path of the copy of the workspace in it, in which it was built")
			r.has(map[string]string{"out/settings": "-", "out/new/a.o": "-", "b.o": "-", "out/sub/x": "x\n", "out/old.o": "old\n"})
			r.sees(map[string]string{"out/new/a.o": "new\n", "b.o": "b\n", "out/sub/x": "-"})
		})
	}
	t.Run("of pending text", func(t *testing.T) {
		r := newApart(t, files)
		r.edit("a.c", "pending\n")
		r.run(func(at tree) { at.write("out/a.o", at.read("a.c")) }).is(t, "")
		r.has(map[string]string{"out/a.o": "-"})
		r.sees(map[string]string{"out/a.o": "pending\n"})
		r.reject()
		r.sees(map[string]string{"out/a.o": "-", "out/old.o": "old\n"})
	})
	t.Run("over what the user changed", func(t *testing.T) {
		r := newApart(t, files)
		run, at := r.begin()
		at.write("out/old.o", "the command's\n")
		at.write("out/new.o", "new\n")
		r.write("out/old.o", "the user's\n")
		r.end(run).is(t, "", "out/old.o: somebody changed it")
		r.has(map[string]string{"out/old.o": "the user's\n", "out/new.o": "new\n"})
	})
}

// Where the copy is on another disk, what is moved is copied, and what it replaces goes.
func TestApartOnAnotherDisk(t *testing.T) {
	r := newApart(t, map[string]string{".gitignore": "out/\n*.o\n", "a.o": "a\n", "out/old/x.o": "x\n", "node_modules/m/old.js": "old\n"})
	cache, err := os.MkdirTemp("/dev/shm", "world")
	if err != nil {
		needs.Skip(t, needs.Links, err)
	}
	defer ownfile.RemoveAll(cache)
	t.Setenv("XDG_CACHE_HOME", cache)
	probe := filepath.Join(cache, "probe")
	if err := ownfile.WriteFile(probe, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Rename(probe, r.path("probe")); !osfile.IsOtherDisk(err) {
		needs.Skip(t, needs.OtherDisk, "it is the same disk: ", err)
	}
	r.run(func(at tree) {
		at.remove("node_modules")
		at.write("node_modules/m/new.js", "new\n")
		at.write("a.o", "a new\n")
		at.remove("out/old")
		at.write("out/new/y.o", "y\n")
	}).is(t, "")
	if got, want := r.all(), "== .gitignore\nout/\n*.o\n== a.o\na new\n== node_modules/m/new.js\nnew\n== out/new/y.o\ny\n"; got != want {
		t.Errorf("the folder has\n%s", got)
	}
}

// A command has a repository of its own that reads the folder's objects, or the folder's.
func TestApartRepository(t *testing.T) {
	blob := ".git/objects/ab/" + strings.Repeat("c", 38)
	files := map[string]string{
		"a.txt": "a\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", blob: "x", ".git/refs/heads/main": strings.Repeat("1", 40) + "\n",
		"sub/.git/HEAD": "ref: refs/heads/main\n", "sub/.git/objects/info/packs": "\n", "sub/.git/refs/heads/main": strings.Repeat("2", 40) + "\n",
	}
	r := newApart(t, files)
	if err := ownfile.Chmod(r.path(blob), 0o444); err != nil { // as git does
		t.Fatal(err)
	}
	before := r.all()
	own := func(at tree) {
		t.Helper()
		for _, dir := range []string{".git", "sub/.git"} {
			at.has(map[string]string{dir + "/HEAD": "ref: refs/heads/main\n", dir + "/objects/info/alternates": filepath.ToSlash(r.path(dir+"/objects")) + "\n"})
		}
		at.has(map[string]string{blob: "-", ".git/config": "[core]\n"})
	}
	r.run(func(at tree) {
		own(at)
		at.write(".git/refs/heads/other", strings.Repeat("1", 40)+"\n")
		at.write(".git/objects/ab/"+strings.Repeat("d", 38), "y")
	}).is(t, "", "branch other (new)")
	if after := r.all(); after != before {
		t.Errorf("the folder has\n%s", after)
	}
	// The control: one that changes it for real.
	r.ask.Real = []string{r.path(".git"), r.path("sub/.git")}
	for range 2 {
		r.run(func(at tree) {
			at.has(map[string]string{".git": "gitdir: " + filepath.ToSlash(r.path(".git")) + "\n", "sub/.git": "gitdir: " + filepath.ToSlash(r.path("sub/.git")) + "\n"})
		}).is(t, "")
	}
	r.ask.Real = nil
	r.run(own).is(t, "")
	if after := r.all(); after != before {
		t.Errorf("the folder has\n%s", after)
	}
	// What the user does to it comes with the next command.
	r.write(".git/HEAD", "ref: refs/heads/new\n")
	r.run(func(at tree) {
		at.has(map[string]string{".git/HEAD": "ref: refs/heads/new\n", ".git/refs/heads/other": "-"})
	}).is(t, "")
}

// What no command may read is in no copy.
func TestApartSecrets(t *testing.T) {
	r := newApart(t, map[string]string{"a.txt": "a\n", ".env": "SECRET\n", "keys/one.pem": "SECRET\n", "tracked.pem": "SECRET\n"})
	secrets := func() (n int) {
		_ = filepath.WalkDir(os.Getenv("XDG_CACHE_HOME"), func(at string, _ fs.DirEntry, _ error) error {
			if text, err := os.ReadFile(at); err == nil { // what is sealed nobody can read
				n += strings.Count(string(text), "SECRET")
			}
			return nil
		})
		return n
	}
	tracked, err := os.Stat(r.path("tracked.pem"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.ask.Hidden, r.ask.Sealed = []string{r.path(".env"), r.path("keys")}, []string{r.path("tracked.pem")}
		run, at := r.begin()
		if n := secrets(); n != 0 {
			t.Errorf("%d of them are in the copy", n)
		}
		if text, err := os.ReadFile(at.path(".env")); err != nil || len(text) != 0 {
			t.Errorf(".env is %q, %v", text, err)
		}
		if info, err := os.Lstat(at.path("tracked.pem")); err != nil || info.Size() != tracked.Size() || !info.ModTime().Equal(tracked.ModTime()) {
			t.Errorf("what is tracked does not look as it is: %v, %v", info, err)
		}
		if os.Geteuid() != 0 && !wine.Running() { // nothing keeps root from writing
			if err := ownfile.WriteFile(at.path(".env"), []byte("x"), 0o600); err == nil {
				t.Error(".env can be written")
			}
		}
		at.has(map[string]string{"a.txt": "a\n", "keys": "/", "keys/one.pem": "-"})
		r.end(run).is(t, "")
		for _, name := range []string{".env", "keys", "tracked.pem"} {
			for what, do := range map[string]func(path string) error{
				"removed": ownfile.RemoveAll,
				"touched": func(path string) error { return ownfile.Chtimes(path, time.Time{}, time.Now()) },
				"replaced": func(path string) error {
					return errors.Join(ownfile.RemoveAll(path), ownfile.WriteFile(path, []byte("mine\n"), 0o600))
				},
			} {
				if name == "keys" && what == "touched" {
					continue // nothing is another then
				}
				r.run(func(at tree) {
					if err := do(at.path(name)); err != nil {
						t.Error(err)
					}
				}).is(t, "", name+": commands can't read it, and so they can't change it")
				if n := secrets(); n != 0 {
					t.Errorf("%s %s: %d of them are in the copy", name, what, n)
				}
				r.has(map[string]string{".env": "SECRET\n", "keys/one.pem": "SECRET\n", "tracked.pem": "SECRET\n"})
			}
		}
		r.ask.Hidden, r.ask.Sealed = nil, nil
		run, at = r.begin() // the control
		at.has(map[string]string{".env": "SECRET\n", "keys/one.pem": "SECRET\n", "tracked.pem": "SECRET\n"})
		if n := secrets(); n != 3 {
			t.Errorf("allowed, %d of them are in the copy", n)
		}
		r.end(run).is(t, "")
	}
}

// A directory that is removed, or gets another name, takes nothing with it that no command
// may read.
func TestApartSecretsBelow(t *testing.T) {
	files := map[string]string{".gitignore": "build/\n", "a.txt": "a\n", "config/x.txt": "x\n", "config/secret.txt": "SECRET\n", "config/sealed.txt": "SECRET 2\n", "build/o": "o\n", "build/secret.txt": "SECRET 3\n"}
	const says = "commands can't read it, and so they can't change it"
	for name, c := range map[string]struct {
		do   func(at tree)
		want string
		says string
	}{
		"removed":       {func(at tree) { at.remove("config") }, "delete config/x.txt", "config/sealed.txt, config/secret.txt: " + says},
		"renamed":       {func(at tree) { at.rename("config", "conf2") }, "rename config/x.txt conf2/x.txt", says},
		"another name":  {func(at tree) { at.rename("config/secret.txt", "config/s2.txt") }, "", says},
		"out of ignore": {func(at tree) { at.remove("build") }, "", "build/secret.txt: " + says},
	} {
		t.Run(name, func(t *testing.T) {
			r := newApart(t, files)
			r.ask.Hidden, r.ask.Sealed = []string{r.path("config/secret.txt"), r.path("build/secret.txt")}, []string{r.path("config/sealed.txt")}
			h := r.run(c.do)
			h.is(t, c.want, c.says)
			r.has(map[string]string{"config/secret.txt": "SECRET\n", "config/sealed.txt": "SECRET 2\n", "build/secret.txt": "SECRET 3\n"})
			r.sees(map[string]string{"a.txt": "a\n"})
		})
	}
}

// Files that can't be written are as they are in the folder, and go like others.
func TestApartReadOnly(t *testing.T) {
	r := newApart(t, map[string]string{"ro.txt": "ro\n", "other.txt": "o\n", "dir/a.txt": "a\n", "dir/sub/b.txt": "b\n"})
	modes := func(file, dir fs.FileMode) {
		t.Helper()
		for _, name := range []string{"ro.txt", "other.txt", "dir/a.txt"} {
			if err := ownfile.Chmod(r.path(name), file); err != nil {
				t.Fatal(err)
			}
		}
		if err := ownfile.Chmod(r.path("dir"), dir); err != nil {
			t.Fatal(err)
		}
	}
	modes(0o444, 0o555)
	t.Cleanup(func() { modes(0o644, 0o755) })
	readOnly := func(at tree, name string) {
		t.Helper()
		if info, err := os.Lstat(at.path(name)); err != nil || info.Mode().Perm()&0o200 != 0 {
			t.Errorf("%s is %v, %v", name, info.Mode(), err)
		}
	}
	r.edit("other.txt", "pending\n")
	r.run(func(at tree) {
		readOnly(at, "ro.txt")
		readOnly(at, "other.txt")
		at.has(map[string]string{"ro.txt": "ro\n", "other.txt": "pending\n", "dir/a.txt": "a\n", "dir/sub/b.txt": "b\n"})
		at.write("ro.txt", "written\n")
		at.write("dir/sub/b.txt", "written\n")
		at.remove("dir/a.txt")
	}).is(t, "delete dir/a.txt, modify dir/sub/b.txt, modify ro.txt")
	r.reject()
	r.sees(map[string]string{"ro.txt": "ro\n", "other.txt": "o\n", "dir/a.txt": "a\n"})
	r.run(func(at tree) { at.remove("dir"); at.remove("ro.txt") }).is(t, "delete dir/a.txt, delete dir/sub/b.txt, delete ro.txt")
	r.has(map[string]string{"ro.txt": "ro\n", "dir/a.txt": "a\n"})
	r.reject()
	r.sees(map[string]string{"ro.txt": "ro\n", "other.txt": "o\n", "dir/a.txt": "a\n"})
	r.m.CloseSession("s")
	r.m.Close()
	r.noneLeft()
}

// worlds are what is in the user's cache directory.
func (r *apartRig) worlds() []string {
	r.t.Helper()
	at, err := place(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (r *apartRig) noneLeft() {
	r.t.Helper()
	if left := r.worlds(); len(left) != 0 {
		r.t.Errorf("left are %q", left)
	}
}

// The next session has the copy of one that ended, and nothing of what that did.
func TestApartIsRecycled(t *testing.T) {
	r := newApart(t, map[string]string{".gitignore": "*.o\n", "a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n", "node_modules/m.js": "m\n"})
	r.sees(nil)
	kept := r.worlds()
	r.edit("a.txt", "pending\n")
	run, at := r.begin()
	at.write("mine.txt", "mine\n")
	at.write("mine.o", "mine\n")
	at.write("b.txt", "B\n") // as large as the folder's
	at.remove("d")
	at.write("e/f/g.o", "mine\n")
	if err := ownfile.Chmod(at.path("mine.o"), 0o444); err != nil {
		t.Fatal(err)
	}
	if h := r.end(run); kinds(h.Changes) != "create mine.txt, delete d/c.txt, modify b.txt" {
		t.Fatalf("changed %s", kinds(h.Changes))
	}
	at.has(map[string]string{"mine.o": "mine\n"})
	r.m.CloseSession("s")
	r.reject()
	r.write("a.txt", "a again\n")
	r.ask.Session = "t"
	r.sees(map[string]string{"a.txt": "a again\n", "b.txt": "b\n", "d/c.txt": "c\n", "mine.txt": "-", "mine.o": "-", "e": "-", "node_modules/m.js": "m\n"})
	if again := r.worlds(); !slices.Equal(again, kept) {
		t.Errorf("there is %q, and was %q", again, kept)
	}
	r.m.CloseSession("t")
	r.m.Close()
	r.noneLeft()
	r.has(map[string]string{"node_modules/m.js": "m\n"})
}

// A start removes what killed servers left, and nothing that is in use.
func TestApartSweep(t *testing.T) {
	r := newApart(t, map[string]string{"a.txt": "a\n", "node_modules/m.js": "m\n"})
	if InUse() {
		t.Error("before there is a world, one is in use")
	}
	r.sees(nil)
	if !InUse() {
		t.Error("a world is not in use")
	}
	used := r.worlds()
	at, err := place(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	left := tree{t, filepath.Join(at, prefix(r.dir)+"123")}
	other := tree{t, filepath.Join(at, prefix(filepath.Join(r.dir, "other"))+"123")}
	for _, d := range []tree{left, other} {
		d.write(upperDir+"/ro.txt", "x")
		if err := ownfile.Chmod(d.path(upperDir+"/ro.txt"), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "windows" { // where locks are files
		for _, dir := range []string{left.dir, left.dir + "4"} {
			if err := ownfile.WriteFile(dir+".lock", []byte("1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := osfile.LinkDir(r.path("node_modules"), left.path(upperDir+"/node_modules")); err != nil && !wine.Running() {
		t.Error(err)
	}
	if err := New(Options{}).Sweep(r.dir); err != nil {
		t.Error(err)
	}
	want := append(slices.Clone(used), filepath.Base(other.dir))
	slices.Sort(want)
	if got := r.worlds(); !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
	r.has(map[string]string{"node_modules/m.js": "m\n"})
	r.sees(map[string]string{"a.txt": "a\n"})
	r.m.CloseSession("s")
	r.m.Close()
	if InUse() {
		t.Error("after the end one is in use")
	}
}

// Where names that differ in letter case are one, a file that is spelled in another way
// is renamed, and that can be rejected.
func TestApartRespelled(t *testing.T) {
	r := newApartIn(t, folded.Dir(t), map[string]string{"readme.md": "r\n", "b.txt": "b\n", "dir/c.txt": "c\n"})
	r.run(func(at tree) {
		at.rename("readme.md", "README.md")
		at.rename("dir", "Dir")
		at.write("b.txt", "b 2\n")
		at.rename("b.txt", "B.txt")
	}).is(t, "modify b.txt", "B.txt, Dir, README.md: only the spelling of its name is new")
	r.listed(r.dir, "b.txt", "dir", "readme.md")
	r.reject()
	for range 2 {
		r.sees(map[string]string{"readme.md": "r\n", "dir/c.txt": "c\n", "b.txt": "b\n"})
	}
	// One that is pending is seen, and goes when it is rejected.
	r.q.texts = map[string][]byte{"readme.md": nil, "README.md": []byte("r\n")}
	for range 2 {
		run, at := r.begin()
		r.listed(at.dir, "README.md", "b.txt", "dir")
		at.has(map[string]string{"README.md": "r\n"})
		r.end(run).is(t, "")
	}
	r.reject()
	for range 2 {
		r.sees(map[string]string{"readme.md": "r\n", "b.txt": "b\n"})
	}
	// The user does it.
	r.rename("readme.md", "ReadMe.md")
	for range 2 {
		r.sees(map[string]string{"ReadMe.md": "r\n", "b.txt": "b\n"})
	}
	run, at := r.begin()
	r.listed(at.dir, "ReadMe.md", "b.txt", "dir")
	r.end(run).is(t, "")
}

func (r *apartRig) listed(dir string, want ...string) {
	r.t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, want) {
		r.t.Errorf("%s has %q, want %q", dir, names, want)
	}
}

func TestWritten(t *testing.T) {
	for path, want := range map[string][]string{
		"/home/me/a":       {"/home/me/a"},
		`/home/c:\x`:       {`/home/c:\x`},
		`C:\Us ers\ä`:      {`C:\Us ers\ä`, `C:\\Us ers\\ä`, "C:/Us ers/ä", "/c/Us ers/ä"},
		`\\nas\share\work`: {`\\nas\share\work`, `\\\\nas\\share\\work`, "//nas/share/work", "//nas/share/work"},
	} {
		if got := Written(path); !slices.Equal(got, want) {
			t.Errorf("%s is written %q, want %q", path, got, want)
		}
	}
}

// Files of git's that say where something is say where it is in the copy.
func TestApartPointers(t *testing.T) {
	r := newApart(t, map[string]string{
		"a.txt": "a\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/worktrees/wt/HEAD": "ref: refs/heads/wt\n", ".git/modules/sub/config": "[core]\n\tworktree = ../../../sub\n",
		"sub/.git": "gitdir: ../.git/modules/sub\n", "far/.git": "gitdir: ../../elsewhere/.git\n", "no/.git": "nothing\n",
	})
	r.write(".git/config", "[core]\n\tbare = false\n\tworktree = "+filepath.ToSlash(r.dir)+"\n")
	r.write("wt/.git", "gitdir: "+filepath.ToSlash(r.path(".git/worktrees/wt"))+"\n")
	slash := filepath.ToSlash
	r.run(func(at tree) {
		at.has(map[string]string{
			".git/config": "[core]\n\tbare = false\n", ".git/modules/sub/config": "[core]\n\tworktree = ../../../sub\n", "no/.git": "nothing\n",
			"wt/.git": "gitdir: " + slash(at.path(".git/worktrees/wt")) + "\n", "sub/.git": "gitdir: " + slash(at.path(".git/modules/sub")) + "\n",
			"far/.git": "gitdir: " + slash(filepath.Join(filepath.Dir(r.dir), "elsewhere", ".git")) + "\n",
		})
	}).is(t, "")
	// What would have git change the folder is a copy also for commands that change
	// others for real.
	r.ask.Real = []string{r.path(".git")}
	is := map[string]string{".git/HEAD": "ref: refs/heads/main\n"}
	r.run(func(at tree) { at.has(is) }).is(t, "")
	r.remove(".git/modules")
	r.run(func(at tree) { at.has(is) }).is(t, "")
	r.write(".git/config", "[core]\n")
	r.run(func(at tree) { at.has(map[string]string{".git": "gitdir: " + slash(r.path(".git")) + "\n"}) }).is(t, "") // the control
}

// What was built of the folder by its path would build the folder again.
func TestApartBuiltBefore(t *testing.T) {
	r := newApart(t, map[string]string{".gitignore": "build/\nother/\n", "build/obj": "x\x00\n", "other/deep/obj": "o\n"})
	r.write("build/deep/settings", "HOME="+r.dir+"\n")
	run, at := r.begin()
	at.has(map[string]string{"build": "-", "other/deep/obj": "o\n"})
	at.write("build/obj", "new\n")
	r.end(run).is(t, "", "build: text in it has the path of the workspace")
	r.has(map[string]string{"build/obj": "x\x00\n"})
	r.sees(map[string]string{"build/obj": "new\n", "build/deep": "-"})
}

// Who must not change the repository does not begin where another command has it.
func TestApartRealIsUsed(t *testing.T) {
	r := newApart(t, map[string]string{"a.txt": "a\n", ".git/HEAD": "ref: refs/heads/main\n"})
	r.ask.Real = []string{r.path(".git")}
	run, _ := r.begin()
	held := Request{Session: r.ask.Session, Kind: SeparateCopy, Root: r.dir, View: workspace.NewOverlay(r.disk, r.q)}
	if _, err := r.m.Begin(held); err == nil || !strings.Contains(err.Error(), "command_kill") {
		t.Errorf("it begins: %v", err)
	}
	other, _ := r.begin()
	r.end(run).is(t, "")
	r.end(other).is(t, "")
}

// A file of another clock, years ahead, was not changed just now: the command's change of
// it counts.
func TestApartOtherClock(t *testing.T) {
	r := newApart(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	ahead := time.Now().AddDate(30, 0, 0)
	if err := errors.Join(ownfile.Chtimes(r.path("a.txt"), ahead, ahead), ownfile.Chtimes(r.path("b.txt"), ahead, ahead)); err != nil {
		t.Fatal(err)
	}
	r.run(func(at tree) {
		at.has(map[string]string{"a.txt": "a\n"})
		at.write("a.txt", "changed\n")
		at.remove("b.txt")
	}).is(t, "delete b.txt, modify a.txt")
	now := time.Now().UnixNano()
	for ahead, want := range map[time.Duration]bool{-time.Hour: false, 0: true, time.Hour: true, 48 * time.Hour: false} {
		if got := (stamp{mtime: now + int64(ahead)}).changedSince(now); got != want {
			t.Errorf("what is %v ahead was changed since now: %v", ahead, got)
		}
	}
}
