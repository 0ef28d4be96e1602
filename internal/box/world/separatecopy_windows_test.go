package world

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wine"
)

// hold opens a file as programs do that share it with nobody, or for reading alone.
func hold(t *testing.T, path string, share uint32) (release func()) {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	held := true
	release = func() {
		if held {
			held = false
			_ = windows.CloseHandle(h)
		}
	}
	t.Cleanup(release)
	return release
}

// What another program has open for itself alone is left out and said once, and is seen
// when that closes it. Nothing of it is taken for deleted.
func TestApartInUse(t *testing.T) {
	r := newApart(t, map[string]string{"a.txt": "a\n", "locked.txt": "l\n", "read.txt": "r\n"})
	release := hold(t, r.path("locked.txt"), 0)
	hold(t, r.path("read.txt"), windows.FILE_SHARE_READ) // the control
	look := func(at tree) {
		at.has(map[string]string{"locked.txt": "-", "read.txt": "r\n", "a.txt": "a\n"})
	}
	r.run(look).is(t, "", "locked.txt: another program has it open for itself alone")
	r.run(look).is(t, "")
	r.run(func(at tree) { at.write("locked.txt", "the command's\n") }).is(t, "", "locked.txt: ")
	r.m.CloseSession("s")
	r.ask.Session = "t"
	r.run(look)
	release()
	r.sees(map[string]string{"locked.txt": "l\n", "read.txt": "r\n"})
	// Once it was copied, the copy is what commands see, until the file is another.
	release = hold(t, r.path("locked.txt"), 0)
	r.sees(map[string]string{"locked.txt": "l\n"})
	release()
	r.write("locked.txt", "another\n")
	r.sees(map[string]string{"locked.txt": "another\n"})
}

// Output that can't take the place of the folder's, because a program has that open,
// stays in the session. The folder keeps what it has.
func TestApartOutputInUse(t *testing.T) {
	files := map[string]string{".gitignore": "out/\n*.o\n", "out/sub/old.o": "old\n", "b.o": "b\n", "node_modules/m.js": "m\n"}
	t.Run("a file", func(t *testing.T) {
		r := newApart(t, files)
		release := hold(t, r.path("b.o"), windows.FILE_SHARE_READ)
		r.run(func(at tree) {
			at.write("b.o", "new\n")
			at.write("out/new.o", "new\n")
		}).is(t, "", "b.o: it seems to be open in another program")
		r.has(map[string]string{"b.o": "b\n", "out/new.o": "new\n"})
		release()
		r.run(func(at tree) { at.has(map[string]string{"b.o": "new\n"}) }).is(t, "")
		r.has(map[string]string{"b.o": "new\n"})
	})
	for name, held := range map[string]func(r *apartRig, at tree) string{
		"what is replaced":     func(r *apartRig, _ tree) string { return r.path("node_modules/m.js") },
		"what takes its place": func(_ *apartRig, at tree) string { return at.path("node_modules/new.js") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newApart(t, files)
			run, at := r.begin()
			at.remove("node_modules")
			at.write("node_modules/new.js", "new\n")
			hold(t, held(r, at), windows.FILE_SHARE_READ)
			h := r.end(run)
			m, n := r.read("node_modules/m.js"), r.read("node_modules/new.js")
			if n == "-" && len(h.Said) == 0 {
				t.Errorf("the folder has %q and %q, and nothing is said", m, n)
			}
			// Under Wine it is no link, so that each file moves for itself, or what is open is renamed.
			if !wine.Running() && (m != "m\n" || n != "-") {
				t.Errorf("the folder has %q and %q, said %q", m, n, h.Said)
			}
		})
	}
}

// The letter case of a drive, or of what the folder lies in, makes no difference.
func TestNameIn(t *testing.T) {
	for path, want := range map[string]string{
		`C:\Work\a.txt`: "a.txt", `c:\work\Dir\ä.txt`: "Dir/ä.txt", `C:\Work\d\..\a.txt`: "a.txt",
		`C:\Work`: "", `C:\Work\`: "", `C:\Works\a.txt`: "", `C:\a.txt`: "", `D:\Work\a.txt`: "", `\\nas\Work\a.txt`: "",
	} {
		if got, ok := nameIn(`C:\Work`, path); ok != (want != "") || ok && got != want {
			t.Errorf("%s is %q, %v", path, got, ok)
		}
	}
	if got, ok := nameIn(`C:\`, `c:\a.txt`); !ok || got != "a.txt" {
		t.Errorf("on a drive, it is %q, %v", got, ok)
	}
	// So what is hidden is hidden.
	r := newApart(t, map[string]string{"Secret.txt": "SECRET\n"})
	drive, rest, _ := strings.Cut(r.dir, ":")
	r.ask.Hidden = []string{filepath.Join(strings.ToLower(drive)+":"+rest, "Secret.txt")}
	r.sees(map[string]string{"Secret.txt": ""})
}

// What is put there with an old time was made now.
func TestStampTellsWhenItWasMade(t *testing.T) {
	if wine.Running() {
		needs.Skip(t, needs.Wine, "Wine says that a file was made when it was written")
	}
	r := newApart(t, nil)
	then, old := time.Now().Add(-time.Minute).UnixNano(), time.Now().Add(-time.Hour)
	r.write("new.txt", "new\n")
	if err := ownfile.Chtimes(r.path("new.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	if s := stampOf(r.path("new.txt")); !s.changedSince(then) || s.mtime >= then || s.changedSince(time.Now().Add(time.Minute).UnixNano()) {
		t.Errorf("it is %v", s)
	}
}
