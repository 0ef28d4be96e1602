package world

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var everything = flag.Bool("everything", false, "races run for a minute each")

// holding runs a line in a session whose edits and output wait for review.
func (r *rig) holding(session, line string) (string, Collected) {
	r.t.Helper()
	return r.request(Request{Session: session, Hold: true}, line)
}

func (r *rig) request(q Request, line string) (string, Collected) {
	r.t.Helper()
	q.Kind, q.Root, q.View = r.kind, r.root, workspace.NewOverlay(r.disk, r.q)
	run, err := r.m.Begin(q)
	if err != nil {
		r.t.Fatal(err)
	}
	out := r.start(run, line)
	h, err := settled(run.End(true))
	if err != nil {
		r.t.Fatal(err)
	}
	r.take(h)
	return out, h
}

// file is what the disk has; "-" is nothing.
func (r *rig) file(name string) string {
	data, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		return "-"
	}
	return string(data)
}

func (r *rig) has(want map[string]string) {
	r.t.Helper()
	for name, text := range want {
		if got := r.file(name); got != text {
			r.t.Errorf("the disk has %s: %q, want %q", name, got, text)
		}
	}
}

// held is the output of the sessions, the newest first.
func (r *rig) held() []workspace.Held {
	r.t.Helper()
	list, err := r.m.Output(r.root, "")
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// Output of a session whose edits wait stays off the disk, whatever the session and the
// server do, until a person accepts it.
func TestHeld(t *testing.T) { eachKind(t, testHeld) }

func testHeld(t *testing.T, kind Kind) {
	files := map[string]string{
		".gitignore": "out/\n*.sqlite\ndata/\n", "a.c": "a\n", "out/old.o": "old\n", "app.sqlite": "users\n", "data/d": "d\n",
		"node_modules/m/index.js": "dep\n", "src/app.js": "app\n",
	}
	const line = "cp a.c out/a.o; echo evil > node_modules/m/index.js; mkdir -p src/node_modules/lodash node_modules/.bin; echo evil > src/node_modules/lodash/index.js; " +
		"echo '#!/bin/sh' > node_modules/.bin/eslint; chmod +x node_modules/.bin/eslint; rm -rf data; echo x > app.sqlite; rm -f out/old.o"
	asItWas := map[string]string{
		"out/a.o": "-", "out/old.o": "old\n", "app.sqlite": "users\n", "data/d": "d\n",
		"node_modules/m/index.js": "dep\n", "src/node_modules/lodash/index.js": "-", "node_modules/.bin/eslint": "-",
	}
	const see = "cat out/a.o src/node_modules/lodash/index.js app.sqlite node_modules/.bin/eslint; ls -d data out/old.o || true"
	seen := "a\nevil\nx\n#!/bin/sh\n"
	begin := func(t *testing.T) *rig {
		r := newRig(t, kind, files)
		_, h := r.holding("one", line)
		if len(h.Changes) != 0 || len(h.Said) == 0 || !strings.Contains(strings.Join(h.Said, " "), "Output held for review") {
			if kind != SeparateCopy {
				t.Errorf("changed %s, said %q", kinds(h.Changes), h.Said)
			}
		}
		r.has(asItWas)
		if out, _ := r.holding("one", see); !strings.HasPrefix(out, seen) {
			t.Errorf("the session sees %q", out)
		}
		return r
	}
	t.Run("next session", func(t *testing.T) {
		r := begin(t)
		r.m.CloseSession("one")
		r.has(asItWas)
		if out, _ := r.holding("two", see); !strings.HasPrefix(out, seen) {
			t.Errorf("the next session sees %q", out)
		}
		r.m.CloseSession("two")
		r.has(asItWas)
	})
	t.Run("next server", func(t *testing.T) {
		r := begin(t)
		r.m.Close()
		r.m = New(Options{Box: r.box})
		if out, _ := r.holding("two", see); !strings.HasPrefix(out, seen) {
			t.Errorf("a session of the next server sees %q", out)
		}
		r.has(asItWas)
	})
	t.Run("accept", func(t *testing.T) {
		r := begin(t)
		r.m.CloseSession("one")
		list := r.held()
		if len(list) != 1 || list[0].Session != "one" || list[0].Files < 4 || !slices.Contains(list[0].Programs, "node_modules/.bin/eslint") {
			t.Errorf("held are %+v", list)
		}
		if kind != SeparateCopy && !slices.ContainsFunc(list[0].Deleted, func(name string) bool { return strings.HasPrefix(name, "data") }) {
			t.Errorf("deleted are %q", list[0].Deleted)
		}
		files, said, err := r.m.AcceptOutput(r.root, "one")
		if err != nil || len(said) > 0 || files == 0 {
			t.Errorf("accepted %d, said %q, %v", files, said, err)
		}
		r.has(map[string]string{
			"out/a.o": "a\n", "out/old.o": "-", "app.sqlite": "x\n", "data/d": "-",
			"src/node_modules/lodash/index.js": "evil\n", "node_modules/.bin/eslint": "#!/bin/sh\n", "a.c": "a\n", "src/app.js": "app\n",
		})
		if list := r.held(); len(list) != 0 {
			t.Errorf("held still are %+v", list)
		}
		if out, _ := r.holding("two", see); !strings.HasPrefix(out, seen) {
			t.Errorf("afterwards a session sees %q", out)
		}
	})
	t.Run("drop", func(t *testing.T) {
		r := begin(t)
		r.m.CloseSession("one")
		if err := r.m.DropOutput(r.root, "one"); err != nil {
			t.Fatal(err)
		}
		r.has(asItWas)
		if out, _ := r.holding("two", "cat app.sqlite data/d out/old.o; ls out/a.o || true"); !strings.HasPrefix(out, "users\nd\nold\n") {
			t.Errorf("afterwards a session sees %q", out)
		}
		if list := r.held(); len(list) != 0 {
			t.Errorf("held still are %+v", list)
		}
	})
	t.Run("what the user changed since stays", func(t *testing.T) {
		r := begin(t)
		r.m.CloseSession("one")
		r.write("app.sqlite", "more users\n")
		r.write("data/d", "more\n")
		_, said, err := r.m.AcceptOutput(r.root, "")
		if err != nil || !strings.Contains(strings.Join(said, " "), "app.sqlite") {
			t.Errorf("said %q, %v", said, err)
		}
		r.has(map[string]string{"out/a.o": "a\n", "app.sqlite": "more users\n", "data/d": "more\n"})
		if kind != SeparateCopy && len(r.held()) != 1 {
			t.Errorf("held are %+v", r.held())
		}
	})
	t.Run("a damaged record loses nothing", func(t *testing.T) {
		r := begin(t)
		r.m.Close()
		o, err := openOutputs(r.root)
		if err != nil || len(o.list) != 1 {
			t.Fatal(o, err)
		}
		ownfile.WriteFile(filepath.Join(o.list[0].dir, entryFile), []byte("{"), 0o600)
		r.m = New(Options{Box: r.box})
		if _, said, err := r.m.AcceptOutput(r.root, ""); err != nil {
			t.Errorf("said %q, %v", said, err)
		}
		r.has(map[string]string{"out/a.o": "a\n", "src/node_modules/lodash/index.js": "evil\n", "src/app.js": "app\n"})
	})
	t.Run("what is only to be tested is dropped", func(t *testing.T) {
		r := newRig(t, kind, files)
		r.request(Request{Session: "test", Drop: true}, line)
		r.has(asItWas)
		r.m.CloseSession("test")
		r.has(asItWas)
		if list := r.held(); len(list) != 0 {
			t.Errorf("held are %+v", list)
		}
	})
	t.Run("what was built of rejected text goes", func(t *testing.T) {
		r := newRig(t, kind, files)
		r.edit("a.c", "pending\n")
		r.holding("one", line)
		r.m.CloseSession("one")
		r.reject()
		out, _ := r.holding("two", "ls out/a.o || true; cat src/node_modules/lodash/index.js")
		if !strings.HasSuffix(out, "evil\n") || strings.HasPrefix(out, "out/a.o") {
			t.Errorf("the next session sees %q", out)
		}
	})
	t.Run("what was built of accepted text stays", func(t *testing.T) {
		r := newRig(t, kind, files)
		r.edit("a.c", "pending\n")
		r.holding("one", line)
		r.m.CloseSession("one")
		r.accept()
		if out, _ := r.holding("two", "cat out/a.o"); out != "pending\n" {
			t.Errorf("the next session sees %q", out)
		}
	})
	t.Run("it goes after 14 days", func(t *testing.T) {
		r := begin(t)
		r.m.Close()
		o, err := openOutputs(r.root)
		if err != nil || len(o.list) != 1 {
			t.Fatal(o, err)
		}
		for age, want := range map[time.Duration]int{outputAge - time.Hour: 1, outputAge + time.Hour: 0} {
			o.list[0].At = time.Now().Add(-age)
			if err := ownfile.MkdirAll(o.list[0].tree(), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := o.list[0].write(); err != nil {
				t.Fatal(err)
			}
			if again, err := openOutputs(r.root); err != nil || len(again.list) != want {
				t.Errorf("after %v there are %d entries, %v", age, len(again.list), err)
			}
			if want == 1 {
				continue
			}
			break
		}
	})
}

// More than the quota is not held: commands are refused until a person decides.
func TestHeldQuota(t *testing.T) {
	r := newRig(t, Overlay, map[string]string{".gitignore": "out/\n"})
	r.m.o.Quota = func() int64 { return 1 << 20 }
	r.holding("one", "mkdir out; head -c 900000 /dev/zero > out/a")
	r.holding("one", "head -c 900000 /dev/zero > out/a") // replaced: it is counted anew
	r.holding("one", "head -c 900000 /dev/zero > out/b")
	_, err := r.m.Begin(Request{Session: "two", Root: r.root, Hold: true, View: workspace.NewOverlay(r.disk, r.q)})
	if full := (*FullError)(nil); !errors.As(err, &full) {
		t.Fatalf("it begins: %v", err)
	}
	r.request(Request{Session: "three"}, "true") // the control: where nothing is held, nothing is refused
	if err := r.m.DropOutput(r.root, ""); err != nil {
		t.Fatal(err)
	}
	r.holding("two", "true")
}

// Where edits are applied, output goes to the disk; what programs obey and links that
// lead out are decided on like any other file, wherever they lie.
func TestDecidedApart(t *testing.T) { eachKind(t, testDecidedApart) }

func testDecidedApart(t *testing.T, kind Kind) {
	names := []string{
		"build/.vscode/tasks.json", "build/.envrc", "build/deep/er/.npmrc", "build/.env", "build/.bashrc", "build/x.code-workspace", "build/.cargo/config.toml",
		"node_modules/pkg/.vscode/tasks.json", "build/.VSCODE/Settings.json",
	}
	for _, first := range []string{"", "rm -rf build node_modules; "} {
		r := newRig(t, kind, map[string]string{".gitignore": "build/\n*.log\n", "build/old": "old\n", "node_modules/old/index.js": "old\n"})
		decoy := filepath.Join(t.TempDir(), "decoy")
		line := first
		for _, name := range names {
			line += "mkdir -p " + filepath.Dir(name) + "; echo evil > " + name + "; "
		}
		line += "ln -s " + decoy + " build/outlink; ln -s ../../.. build/deep/up; ln -s .. build/deep/in; ln -s in/../outside build/deep/via; ln -s " + decoy + " a.log; ln -s old build/inlink; echo control > build/control; echo control > node_modules/pkg/index.js"
		_, h := r.request(Request{Session: "s"}, line)
		for _, name := range append(names, "build/outlink", "build/deep/up", "build/deep/via", "a.log") {
			if _, err := os.Lstat(filepath.Join(r.root, name)); !errors.Is(err, fs.ErrNotExist) && (kind != SeparateCopy || !strings.HasPrefix(name, "node_modules")) {
				t.Errorf("%q: %s is on the disk", first, name)
			}
			if got := kinds(h.Changes) + strings.Join(h.Said, " "); !strings.Contains(got, filepath.Base(name)) && !strings.Contains(strings.Join(h.Said, " "), "more") {
				t.Errorf("%q: %s is neither a change nor said: %s", first, name, got)
			}
		}
		r.has(map[string]string{"build/control": "control\n", "node_modules/pkg/index.js": "control\n"})
		if target, err := os.Readlink(filepath.Join(r.root, "build/inlink")); target != "old" {
			t.Errorf("%q: a link that stays inside is %q, %v", first, target, err)
		}
	}
}

// Nothing leads a later command to what a person has accepted: not another name of the same
// file in the session. What was accepted of a directory names what it takes the place of.
func TestHeldNames(t *testing.T) {
	r := newRig(t, Overlay, map[string]string{".gitignore": "build/\ndata/\n", "data/d": "d\n", "data/e": "e\n"})
	r.holding("s", "git init -q keep; mkdir build; echo ok > build/t.sh; ln build/t.sh keep/t; mkfifo build/pipe; rm -r data; mkdir data; echo 1 > data/x")
	list := r.held()
	if len(list) != 1 || !slices.Contains(list[0].Deleted, "data/d") || !slices.Contains(list[0].Deleted, "data/e") {
		t.Errorf("held are %+v", list)
	}
	if out, _ := r.holding("s", "echo EVIL > keep/t; cat build/t.sh"); out != "ok\n" {
		t.Errorf("held is %q", out)
	}
	if files, said, err := r.m.AcceptOutput(r.root, ""); err != nil || files == 0 || len(said) > 0 {
		t.Errorf("%d files, said %q, %v", files, said, err)
	}
	r.has(map[string]string{"build/t.sh": "ok\n", "data/x": "1\n", "data/d": "-"})
	r.holding("s", "echo EVIL > keep/t; echo EVIL >> build/t.sh")
	r.has(map[string]string{"build/t.sh": "ok\n"})

	if err := r.m.DropOutput(r.root, ""); err != nil {
		t.Fatal(err)
	}
	r.request(Request{Session: "a"}, "echo ok > build/u.sh; ln build/u.sh keep/u") // where edits are applied
	r.has(map[string]string{"build/u.sh": "ok\n"})
	r.request(Request{Session: "a", Hold: true}, "echo EVIL > keep/u")
	r.has(map[string]string{"build/u.sh": "ok\n"})
}

// What a session makes of another one's output is as old as that: the user's change in
// between is not overwritten.
func TestHeldOfOthers(t *testing.T) {
	r := newRig(t, Overlay, map[string]string{".gitignore": "*.sqlite\n", "app.sqlite": "users\n"})
	r.holding("one", "echo one > app.sqlite")
	r.write("app.sqlite", "more users\n")
	r.holding("two", "echo two >> app.sqlite")
	if _, said, err := r.m.AcceptOutput(r.root, "two"); err != nil || len(said) == 0 {
		t.Errorf("said %q, %v", said, err)
	}
	r.has(map[string]string{"app.sqlite": "more users\n"})
}

// A test of chosen edits decides nothing about what others built of the rest.
func TestHeldBesideTests(t *testing.T) {
	r := newRig(t, Overlay, map[string]string{".gitignore": "out/\n", "a.c": "a\n"})
	r.edit("a.c", "pending\n")
	r.holding("one", "mkdir out; cp a.c out/a.o")
	run, err := r.m.Begin(Request{Session: "test", Drop: true, Kind: Overlay, Root: r.root, View: workspace.NewOverlay(r.disk, &queue{texts: map[string][]byte{}})})
	if err != nil {
		t.Fatal(err)
	}
	r.start(run, "echo x > out/x")
	if _, err := run.End(true); err != nil {
		t.Fatal(err)
	}
	r.m.CloseSession("test")
	if out, _ := r.holding("one", "cat out/a.o; ls out"); out != "pending\na.o\n" {
		t.Errorf("the session sees %q", out)
	}
}

// Where edits are applied, a command takes nothing away that programs obey or that may
// hold secrets, whatever is around it.
func TestObeyedStays(t *testing.T) {
	for _, line := range []string{"rm build/.envrc build/.vscode/tasks.json", "rm -rf build", "rm -rf build; mkdir build; echo x > build/x", "rm -rf build; echo x > build"} {
		r := newRig(t, Overlay, map[string]string{".gitignore": "build\nother\n", "build/.envrc": "mine\n", "build/.vscode/tasks.json": "{}", "build/o": "o\n", "other/o": "o\n"})
		_, h := r.request(Request{Session: "s"}, line+"; rm -rf other")
		if len(h.Said) == 0 {
			t.Errorf("%s: nothing is said", line)
		}
		r.has(map[string]string{"build/.envrc": "mine\n", "build/.vscode/tasks.json": "{}", "other/o": "-"})
	}
}

// A Python environment is whole on the disk: its program is the system's.
func TestEnvironmentLinks(t *testing.T) {
	r := newRig(t, Overlay, map[string]string{"a.py": "a\n"})
	program, err := exec.LookPath("sh")
	if err != nil || filepath.Dir(program) != "/usr/bin" && filepath.Dir(program) != "/bin" {
		needs.Skip(t, needs.Programs, "no sh in /usr/bin")
	}
	r.request(Request{Session: "s"}, "mkdir -p .venv/bin .venv/lib; ln -s "+program+" .venv/bin/python; ln -s python .venv/bin/python3; ln -s "+program+" .venv/lib/x; ln -s /no/such/program .venv/bin/y; echo v > .venv/pyvenv.cfg")
	for name, want := range map[string]bool{".venv/bin/python": true, ".venv/bin/python3": true, ".venv/pyvenv.cfg": true, ".venv/lib/x": false, ".venv/bin/y": false} {
		if _, err := os.Lstat(filepath.Join(r.root, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A neighbour that puts links in the place of directories leads nothing outside: neither
// what is written nor what is taken away.
func TestSwappedDirectories(t *testing.T) {
	for _, c := range []struct {
		name string
		hold bool
	}{{"applied", false}, {"accepted", true}} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Overlay, map[string]string{".gitignore": "build/\n", "build/sub/old": "old\n", "build/sub/deep/x": "x\n"})
			decoy := t.TempDir()
			for _, name := range []string{"f1", "victim", "deep/x"} {
				if err := errors.Join(ownfile.MkdirAll(filepath.Dir(filepath.Join(decoy, name)), 0o700), ownfile.WriteFile(filepath.Join(decoy, name), []byte("mine"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			at := func(name string) string { return filepath.Join(r.root, "build", name) }
			if err := ownfile.Symlink(decoy, at("link")); err != nil {
				t.Fatal(err)
			}
			stop := make(chan struct{})
			var end sync.WaitGroup
			end.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_ = unix.Renameat2(unix.AT_FDCWD, at("sub"), unix.AT_FDCWD, at("link"), unix.RENAME_EXCHANGE)
					}
				}
			})
			rounds := 12
			if *everything {
				rounds = 1200
			}
			landed := 0
			for range rounds {
				_, h := r.request(Request{Session: "s", Hold: c.hold}, "mkdir -p build/sub; for i in 1 2 3 4 5 6 7 8; do echo evil > build/sub/f$i; done; rm -f build/sub/old build/sub/victim; rm -rf build/sub/deep")
				_ = h
				if c.hold {
					if _, _, err := r.m.AcceptOutput(r.root, ""); err != nil {
						t.Fatal(err)
					}
				}
				for _, dir := range []string{"sub", "link"} {
					if data, err := os.ReadFile(at(dir + "/f1")); err == nil && string(data) == "evil\n" {
						landed++
					}
				}
			}
			close(stop)
			end.Wait()
			for name, want := range map[string]string{"f1": "mine", "victim": "mine", "deep/x": "mine"} {
				if data, err := os.ReadFile(filepath.Join(decoy, name)); string(data) != want {
					t.Errorf("outside, %s is %q, %v", name, data, err)
				}
			}
			entries, err := os.ReadDir(decoy)
			if err != nil || len(entries) != 3 {
				t.Errorf("outside are %v, %v", entries, err)
			}
			t.Log(rounds, "rounds,", landed, "landed inside")
		})
	}
}

// A deep tree and thousands of special files cost a moment.
func TestManyDirectories(t *testing.T) {
	r := newRig(t, Overlay, map[string]string{".gitignore": "out/\n"})
	_, h := r.holding("s", "d=.; for i in $(seq 1000); do d=$d/d; done; mkdir -p $d; echo x > $d/f; mkdir out; cd out; d=.; for i in $(seq 1000); do d=$d/d; done; mkdir -p $d; echo x > $d/f; cd ..; mkdir p; cd p; for i in $(seq 1000); do mkfifo $i; done")
	if len(h.Said) == 0 {
		t.Error("nothing is said")
	}
	_, _ = r.holding("s", "true")
}

// Output survives a server that is killed at any point, whole or not at all.
func TestHeldKilled(t *testing.T) { eachKind(t, testHeldKilled) }

func testHeldKilled(t *testing.T, kind Kind) {
	for _, at := range []string{"prepared", "running", "walked", "ended", "held"} {
		if at == "held" && kind != Overlay {
			continue // a copy keeps it until the session ends
		}
		t.Run(at, func(t *testing.T) {
			r := newRig(t, kind, map[string]string{".gitignore": "out/\n", "a.txt": "a\n", "b.txt": "b\n", "out/old.o": "old\n"})
			before := r.tree()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), self, r.root)
			cmd.Env = append(os.Environ(), dieAt+"="+at, dieIn+"="+string(kind), dieHolding+"=1")
			out, err := cmd.CombinedOutput()
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Fatalf("it ended with %v: %s", err, out)
			}
			if after := r.tree(); after != before {
				t.Errorf("the files are\n%s\nwere\n%s", after, before)
			}
			r.m = New(Options{Box: r.box})
			if err := r.m.Sweep(r.root); err != nil {
				t.Fatal(err)
			}
			list := r.held()
			if at == "prepared" {
				if len(list) != 0 {
					t.Errorf("held are %+v", list)
				}
				return
			}
			if len(list) != 1 || list[0].Session != "s" || list[0].Files < 1 || len(list[0].Programs) > 0 {
				t.Fatalf("held are %+v", list)
			}
			if got, _ := r.holding("two", "cat out/one.o out/dir/two.o"); got != "o\no\n" {
				t.Errorf("the next session sees %q", got)
			}
			if after := r.tree(); after != before {
				t.Errorf("the files are\n%s\nwere\n%s", after, before)
			}
		})
	}
}
