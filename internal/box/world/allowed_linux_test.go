package world

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// dataOf are directories that the user has named.
type dataOf []string

func (d dataOf) AllowedOutput() []string { return d }

// dataRig is a rig whose user lets data of some directories through.
func dataRig(t *testing.T, kind Kind, files map[string]string, dirs ...string) *rig {
	t.Helper()
	r := newRig(t, kind, files)
	r.m.Close()
	r.m = New(Options{Box: r.box, Allowed: dataOf(dirs), Tracked: func(string) func(string) bool {
		return func(name string) bool { return name == "data/tracked.csv" }
	}})
	return r
}

// saysOf is the sentence that names a file.
func saysOf(said []string, name string) string {
	for _, s := range said {
		if strings.Contains(s, name) {
			return s
		}
	}
	return ""
}

// Data of directories that the user has named goes to the folder at a command's end; what a
// program may run, load or obey, and what git would show, is held, and the result says why.
func TestAllowed(t *testing.T) { eachKind(t, testAllowed) }

func testAllowed(t *testing.T, kind Kind) {
	files := map[string]string{".gitignore": "data/\nout/\nmine/*.csv\n.reports/\n", "data/old.csv": "old\n", "data/tracked.csv": "t\n", "src/a.c": "a\n"}
	r := dataRig(t, kind, files, "data/", "./mine", "coverage", ".reports", "..", "/etc", "", ".")
	if err := ownfile.MkdirAll(filepath.Join(r.root, "data", "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Join(r.root, "data", "tools"))
	const any = "-" // it is held, or an edit, and nothing is said of it
	var there []string
	for _, c := range []struct {
		what, line string // makes a file
		file       string
		why        string // it is held; "" passes
	}{
		{"data", "echo 1 > data/a.csv", "data/a.csv", ""},
		{"deeper", "mkdir -p data/x/y; echo 1 > data/x/y/b.json", "data/x/y/b.json", ""},
		{"bytes", `printf '\211PNG\r\n' > data/p.png`, "data/p.png", ""},
		{"over an older one", "echo new > data/old.csv", "data/old.csv", ""},
		{"over its own", "echo 2 > data/a.csv", "data/a.csv", ""},
		{"a rule of files", "mkdir -p mine; echo 1 > mine/a.csv", "mine/a.csv", ""},
		{"a dot in the user's own name", "mkdir -p .reports; echo 1 > .reports/r.txt", ".reports/r.txt", ""},
		{"executable", "echo 1 > data/run; chmod +x data/run", "data/run", isProgram},
		{"script", "echo '#!/bin/sh' > data/s.txt", "data/s.txt", isProgram},
		{"script after a mark", `printf '\357\273\277#!/bin/sh\n' > data/m.txt`, "data/m.txt", isProgram},
		{"script by its name", "echo 1 > data/s.Py", "data/s.Py", isProgram},
		{"path of Python", "echo 1 > data/x.pth", "data/x.pth", isProgram},
		{"tests that run by themselves", "echo 1 > data/ConfTest.PY", "data/ConfTest.PY", isProgram},
		{"what make includes", "echo 1 > data/x.d", "data/x.d", isProgram},
		{"pickle", "echo 1 > data/x.pkl", "data/x.pkl", isProgram},
		{"executable later", "chmod +x data/a.csv", "data/a.csv", isProgram},
		{"script later", "echo '#!/bin/sh' > data/x/y/b.json", "data/x/y/b.json", isProgram},
		{"settings of shells", "echo 1 > data/.envrc", "data/.envrc", beginsByDot},
		{"settings of builds in other case", "echo 1 > data/makeFILE", "data/makeFILE", obeysIt},
		{"dependency in other case", "mkdir -p data/Node_Modules/m; echo 1 > data/Node_Modules/m/i.csv", "data/Node_Modules/m/i.csv", onSearchPath},
		{"object", `printf '\177ELF' > data/elf.dat`, "data/elf.dat", isProgram},
		{"archive of objects", `printf '!<arch>\n' > data/ar.dat`, "data/ar.dat", isProgram},
		{"page", "echo 1 > data/p.html", "data/p.html", isPage},
		{"page by its text", "echo ' <!DOCTYPE html>' > data/p.txt", "data/p.txt", isPage},
		{"link", "ln -s a.csv data/l", "data/l", isLink},
		{"link that leads out", "ln -s ../../x data/l.csv", "data/l.csv", isLink},
		{"hidden", "echo 1 > data/.rc", "data/.rc", beginsByDot},
		{"settings of editors", "mkdir -p data/.vscode; echo 1 > data/.vscode/x.txt", "data/.vscode/x.txt", beginsByDot},
		{"dependency", "mkdir -p data/node_modules/m; echo 1 > data/node_modules/m/i.csv", "data/node_modules/m/i.csv", onSearchPath},
		{"search path", "mkdir -p data/Bin; echo 1 > data/Bin/i.csv", "data/Bin/i.csv", onSearchPath},
		{"on PATH", "echo 1 > data/tools/i.csv", "data/tools/i.csv", onSearchPath},
		{"key", "echo 1 > data/server.pem", "data/server.pem", obeysIt},
		{"settings of builds", "echo 1 > data/Makefile", "data/Makefile", obeysIt},
		{"settings of packages", "echo 1 > data/package.json", "data/package.json", obeysIt},
		{"another directory", "mkdir -p out; echo 1 > out/a.csv", "out/a.csv", any},
		{"by-product", "mkdir -p coverage; echo 1 > coverage/a.csv", "coverage/a.csv", gitShows},
		{"tracked", "echo 2 > data/tracked.csv", "data/tracked.csv", gitTracks},
		{"a name like it", "mkdir -p data2; echo 1 > data2/a.csv", "data2/a.csv", any},
		{"odd name", `echo 1 > "$(printf 'data/a\nb.csv')"`, "data/a\nb.csv", oddName},
	} {
		was := r.file(c.file)
		_, h := r.holding("one", c.line)
		now := r.file(c.file)
		edit, said := strings.Contains(kinds(h.Changes), c.file), strings.Join(h.Said, "\n")
		passed := now != was && !edit && strings.Contains(said, "Moved to the workspace, as sidecar.output.allow says: 1 file in ")
		switch {
		case c.why == "" && (!passed || strings.Contains(said, "eld")):
			t.Errorf("%s did not pass: %q, said %q, changed %s", c.what, now, said, kinds(h.Changes))
		case c.why != "" && now != was:
			t.Errorf("%s passed: %q, said %q", c.what, now, said)
		case c.why != "" && c.why != any && !edit && !strings.Contains(said, c.why):
			t.Errorf("%s: said %q, want %q", c.what, said, c.why)
		}
		if !edit && c.why != oddName { // copies leave such names out
			there = append(there, "'"+c.file+"'")
		}
	}
	see := "ls " + strings.Join(there, " ") + " | wc -l"
	for _, session := range []string{"one", "two"} {
		if out, _ := r.holding(session, see); strings.TrimSpace(out) != strconv.Itoa(len(there)) {
			t.Errorf("session %s sees %s of %d", session, out, len(there))
		}
		r.m.CloseSession(session)
	}
}

// Of a directory that is made anew, what is new passes, and what is gone is held.
func TestAllowedAnew(t *testing.T) { eachKind(t, testAllowedAnew) }

func testAllowedAnew(t *testing.T, kind Kind) {
	r := dataRig(t, kind, map[string]string{".gitignore": "data/\n", "data/old.csv": "old\n", "data/sub/old.csv": "old\n", "data/both.csv": "1\n"}, "data")
	for round := range 3 {
		_, h := r.holding("one", "rm -rf data; mkdir -p data/sub; echo new > data/new.csv; echo new > data/sub/new.csv; echo 2 > data/both.csv; echo '#!/bin/sh' > data/run")
		r.has(map[string]string{"data/old.csv": "old\n", "data/sub/old.csv": "old\n", "data/new.csv": "new\n", "data/sub/new.csv": "new\n", "data/both.csv": "2\n", "data/run": "-"})
		if out, _ := r.holding("one", "find data -type f | sort"); out != "data/both.csv\ndata/new.csv\ndata/run\ndata/sub/new.csv\n" {
			t.Errorf("round %d: the session sees %q; said %q", round, out, h.Said)
		}
	}
	r.m.CloseSession("one")
	if list := r.held(); kind == Overlay && (len(list) != 1 || strings.Join(list[0].Deleted, " ") != "data/old.csv data/sub/old.csv") {
		t.Errorf("held are %+v", list)
	}
	if _, said, err := r.m.AcceptOutput(r.root, ""); err != nil || len(said) > 0 {
		t.Fatal(said, err)
	}
	r.has(map[string]string{"data/old.csv": "-", "data/sub/old.csv": "-", "data/new.csv": "new\n", "data/run": "#!/bin/sh\n"})
}

// What the user changed meanwhile stays, a link in the place of the directory leads nowhere,
// a rule of git that waits for review counts for nothing, and another name of the same file
// does not reach the folder.
func TestAllowedHostile(t *testing.T) { eachKind(t, testAllowedHostile) }

func testAllowedHostile(t *testing.T, kind Kind) {
	t.Run("changed meanwhile", func(t *testing.T) {
		r := dataRig(t, kind, map[string]string{".gitignore": "data/\n", "data/a.csv": "1\n"}, "data")
		r.holding("one", "echo 2 > data/a.csv; : the first")
		r.has(map[string]string{"data/a.csv": "2\n"})
		run, err := r.m.Begin(Request{Session: "one", Hold: true, Kind: kind, Root: r.root, View: r.disk})
		if err != nil {
			t.Fatal(err)
		}
		r.start(run, "echo 3 > data/a.csv")
		r.write("data/a.csv", "the user's\n")
		if _, err := settled(run.End(true)); err != nil {
			t.Fatal(err)
		}
		r.has(map[string]string{"data/a.csv": "the user's\n"})
	})
	t.Run("a link", func(t *testing.T) {
		r := dataRig(t, kind, map[string]string{".gitignore": "data\n"}, "data")
		decoy := t.TempDir()
		if err := ownfile.Symlink(decoy, filepath.Join(r.root, "data")); err != nil {
			t.Fatal(err)
		}
		r.holding("one", "rm -f data; mkdir data && echo 1 > data/a.csv; true")
		if names, err := os.ReadDir(decoy); err != nil || len(names) > 0 {
			t.Errorf("the decoy has %v, %v", names, err)
		}
	})
	t.Run("a rule that waits", func(t *testing.T) {
		r := dataRig(t, kind, map[string]string{".gitignore": "data/\n"}, "src")
		r.q.set(r.disk, ".gitignore", []byte("src/\n"))
		_, h := r.holding("one", "mkdir -p src; echo 1 > src/new.csv")
		r.has(map[string]string{"src/new.csv": "-"})
		if says := saysOf(h.Said, gitShows); says == "" {
			t.Errorf("said %q, changed %s", h.Said, kinds(h.Changes))
		}
	})
	t.Run("a rule of the command", func(t *testing.T) {
		r := dataRig(t, kind, map[string]string{".gitignore": "data/\n"}, "src")
		r.holding("one", "mkdir -p src; echo '*' > src/.gitignore; echo 1 > src/new.csv")
		r.has(map[string]string{"src/new.csv": "-"})
	})
	t.Run("another repository", func(t *testing.T) {
		r := dataRig(t, kind, map[string]string{".gitignore": "data/\n", "data/.git/HEAD": "x\n", "data/a.csv": "1\n"}, "data")
		r.holding("one", "echo 2 > data/a.csv; echo 1 > data/b.csv")
		r.has(map[string]string{"data/a.csv": "1\n", "data/b.csv": "-"})
	})
	t.Run("another name", func(t *testing.T) {
		r := dataRig(t, kind, map[string]string{".gitignore": "data/\nout/\n"}, "data")
		r.holding("one", "mkdir -p data out; echo 1 > out/x; ln out/x data/a.csv")
		r.has(map[string]string{"data/a.csv": "1\n"})
		r.holding("one", "echo evil > out/x")
		r.has(map[string]string{"data/a.csv": "1\n"})
	})
	t.Run("cut off", func(t *testing.T) {
		r := dataRig(t, kind, map[string]string{".gitignore": "data/\n"}, "data")
		run, err := r.m.Begin(Request{Session: "one", Hold: true, Kind: kind, Root: r.root, View: r.disk})
		if err != nil {
			t.Fatal(err)
		}
		r.start(run, "mkdir data; echo 1 > data/a.csv")
		run.GiveUp()
		r.has(map[string]string{"data/a.csv": "-"})
	})
	t.Run("what is held already", func(t *testing.T) {
		r := newRig(t, kind, map[string]string{".gitignore": "data/\n", "data/a.csv": "1\n"})
		r.holding("one", "echo 2 > data/a.csv; echo 2 > data/b.csv")
		r.m.CloseSession("one")
		r.m.Close()
		r.m = New(Options{Box: r.box, Allowed: dataOf{"data"}})
		_, h := r.holding("two", "echo 3 > data/a.csv; echo 3 > data/c.csv")
		r.has(map[string]string{"data/a.csv": "1\n", "data/b.csv": "-", "data/c.csv": "3\n"})
		if saysOf(h.Said, earlierHeld) == "" {
			t.Errorf("said %q", h.Said)
		}
		if out, _ := r.holding("two", "cat data/*.csv"); out != "3\n2\n3\n" {
			t.Errorf("the session sees %q", out)
		}
	})
	t.Run("nothing is allowed", func(t *testing.T) {
		r := dataRig(t, kind, map[string]string{".gitignore": "data/\n"})
		r.holding("one", "mkdir data; echo 1 > data/a.csv")
		r.has(map[string]string{"data/a.csv": "-"})
	})
}
