package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// copyOf is the copy that a session has.
func (r *rig) copyOf(session string) (*world, *folderCopy) {
	r.t.Helper()
	w := r.m.worlds[key{session, r.root, Copy}]
	if w == nil {
		r.t.Fatalf("%s has no copy", session)
	}
	return w, w.layer.(*folderCopy)
}

// as runs a line for a session.
func (r *rig) as(session, line string) (string, Collected) {
	r.t.Helper()
	run, err := r.m.Begin(Request{Session: session, Kind: Copy, Root: r.root, View: workspace.NewOverlay(r.disk, r.q)})
	if err != nil {
		r.t.Fatal(err)
	}
	out := r.start(run, line)
	h, err := settled(run.End(true))
	if err != nil {
		r.t.Fatal(err)
	}
	return out, h
}

// listing is a line that prints what there is below a directory, and of what kind.
const listing = `find . -mindepth 1 -path ./.git -prune -o -printf '%P %y %l %m ' -type f -exec cat {} \; -o -printf '%P %y %l ' -printf '\n' | sort`

// A copy is the folder, whatever the user does between commands.
func TestCopyFollowsTheFolder(t *testing.T) {
	for seed := range 4 {
		r := newRig(t, Copy, map[string]string{".gitignore": "*.o\nout/\n", "a": "a\n", "d/a": "a\n", "d/e/a": "a\n", "out/x": "x\n"})
		rnd := rand.New(rand.NewPCG(uint64(seed), 11))
		names := []string{"a", "b", "d", "d/a", "d/e", "d/e/a", "d/b.o", "out/x", "out/new/y", "g/h/a"}
		var did []string
		for step := range 25 {
			name := names[rnd.IntN(len(names))]
			path := filepath.Join(r.root, name)
			op := rnd.IntN(6)
			did = append(did, fmt.Sprint(op, " ", name))
			switch op {
			case 0:
				_ = ownfile.RemoveAll(path) // fails where a file is in the way
			case 1:
				_ = ownfile.Chmod(path, 0o755)
			case 2:
				_ = ownfile.RemoveAll(path)
				if ownfile.MkdirAll(filepath.Dir(path), 0o755) == nil {
					_ = ownfile.Symlink("a", path)
				}
			case 3:
				_ = ownfile.Rename(path, filepath.Join(r.root, names[rnd.IntN(len(names))]))
			default:
				if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err == nil { // else a file is there
					_ = ownfile.WriteFile(path, []byte(strings.Repeat("x", step)+"\n"), 0o644)
				}
			}
			if rnd.IntN(2) == 0 {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-c", listing)
			cmd.Dir = r.root
			want, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			saw, h := r.run(listing)
			if own := ownLines(saw); own != ownLines(string(want)) {
				t.Fatalf("seed %d, after %q a command saw\n%s\nand the folder has\n%s", seed, did, own, ownLines(string(want)))
			}
			if len(h.Changes)+len(h.Said) != 0 {
				t.Fatalf("seed %d, after %q it changed %s, said %q", seed, did, kinds(h.Changes), h.Said)
			}
		}
	}
}

// ownLines are those of a listing that are not of what the sandbox puts there.
func ownLines(listing string) string {
	lines := slices.DeleteFunc(strings.Split(listing, "\n"), func(line string) bool {
		return strings.HasPrefix(line, ".") && !strings.HasPrefix(line, ".gitignore")
	})
	return strings.Join(lines, "\n")
}

// The next session has the copy of one that ended, and nothing of what that did.
func TestCopyIsRecycled(t *testing.T) {
	r := newRig(t, Copy, map[string]string{".gitignore": "*.o\n", "a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n"})
	r.as("one", "true")
	w, _ := r.copyOf("one")
	r.edit("a.txt", "pending\n")
	if _, h := r.as("one", "echo mine > mine.txt; echo mine > mine.o; rm b.txt; rm -r d; mkdir -p e/f; echo mine > e/f/g.o; chmod 0 e"); kinds(h.Changes) != "create mine.txt, delete b.txt, delete d/c.txt" {
		t.Fatalf("changed %s", kinds(h.Changes))
	}
	if data, err := os.ReadFile(filepath.Join(w.upper(), "mine.o")); err != nil || string(data) != "mine\n" { // the control
		t.Fatalf("mine.o in the copy is %q, %v", data, err)
	}
	r.m.CloseSession("one")
	r.reject()
	r.write("b.txt", "b again\n")
	out, h := r.as("two", "cat a.txt b.txt d/c.txt; ls")
	if again, _ := r.copyOf("two"); again.dir != w.dir {
		t.Errorf("another copy was made: %s, not %s", again.dir, w.dir)
	}
	if out != "a\nb again\nc\na.txt\nb.txt\nd\n" || len(h.Changes)+len(h.Said) != 0 {
		t.Errorf("the next session saw %q, changed %s, said %q", out, kinds(h.Changes), h.Said)
	}
	if out, _ := r.as("three", "ls"); out != "a.txt\nb.txt\nd\n" {
		t.Errorf("beside it, a third saw %q", out)
	}
	r.m.CloseSession("two")
	r.m.CloseSession("three")
	if left, err := filepath.Glob(w.dir[:strings.LastIndex(w.dir, ".")] + "*"); err != nil || len(left) != 1 {
		t.Errorf("kept are %q, %v", left, err)
	}
}

// Directories of dependencies are copied, with what commands do to them. One that is too
// large is the folder's own, and can't be written.
func TestCopyHasDependencies(t *testing.T) {
	files := map[string]string{".gitignore": "node_modules/\n", "node_modules/m/index.js": "dep\n", "pkg/.venv/lib/x.py": "x\n", "a.txt": "a\n"}
	const line = "cat node_modules/m/index.js pkg/.venv/lib/x.py; echo new > node_modules/new.js || echo refused"
	r := newRig(t, Copy, files)
	if out, h := r.run(line); out != "dep\nx\n" || len(h.Changes)+len(h.Said) != 0 {
		t.Errorf("it saw %q and changed %s, said %q", out, kinds(h.Changes), h.Said)
	}
	before := r.tree()
	if !strings.Contains(before, "== node_modules/new.js\nnew\n") {
		t.Errorf("the disk has\n%s", before)
	}
	r.edit("node_modules/m/index.js", "patched\n")
	out, h := r.run("cat node_modules/m/index.js node_modules/new.js; echo more >> node_modules/m/index.js")
	if out != "patched\nnew\n" || kinds(h.Changes) != "modify node_modules/m/index.js" {
		t.Errorf("it saw %q and changed %s", out, kinds(h.Changes))
	}
	if r.tree() != before {
		t.Errorf("the disk has\n%s", r.tree())
	}

	r = newRig(t, Copy, files)
	r.m.o.Dependencies = Limits{Files: 1, Bytes: 2}
	before = r.tree()
	if out, _ := r.run(line); !strings.HasPrefix(out, "dep\nx\n") || !strings.HasSuffix(out, "refused\n") {
		t.Errorf("it saw %q", out)
	}
	if r.tree() != before {
		t.Errorf("the disk has\n%s", r.tree())
	}
}

// A folder that is too large has no copy, and is asked about once.
func TestCopyTooLarge(t *testing.T) {
	r := newRig(t, Copy, map[string]string{".gitignore": "*.o\n", "a.txt": "a\n", "b.txt": "b\n", "c.o": "c\n", "node_modules/d": "d\n"})
	r.m.o.Copied = Limits{Files: 2, Bytes: 1 << 20}
	begin := func(session string) (*Run, error) {
		return r.m.Begin(Request{Session: session, Kind: Copy, Root: r.root, View: workspace.NewOverlay(r.disk, r.q)})
	}
	for range 2 {
		if _, err := begin("s"); !errors.As(err, new(*NoCopyError)) || !strings.Contains(err.Error(), "more than 2 files") {
			t.Errorf("got %v", err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sidecar-ls", "worlds", prefix(r.root)+"*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	r.m.o.Copied.Files = 3 // the control, where what git ignores does not count
	run, err := begin("t")
	if err != nil {
		t.Fatal(err)
	}
	if out := r.start(run, "cat a.txt b.txt c.o"); out != "a\nb\nc\n" {
		t.Errorf("it saw %q", out)
	}
}

// What git ignores and is too large is left out. Output that takes its place stays
// in the session, and the folder keeps its own.
func TestCopyLeavesOut(t *testing.T) {
	r := newRig(t, Copy, map[string]string{".gitignore": "target/\nsmall/\nbig.o\n", "a.txt": "a\n", "small/s": "s\n", "target/1": "1\n", "target/2": "2\n", "target/3": "3\n", "big.o": strings.Repeat("x", 2000)})
	r.m.o.Output = Limits{Files: 2, Bytes: 1000}
	before := r.tree()
	for range 3 { // what is copied again counts once
		r.write("small/s", "s\n")
		out, h := r.run("cat small/s; ls target big.o 2>/dev/null; mkdir -p target; echo mine > target/1; echo mine > big.o")
		if out == "s\n" { // the first
			if len(h.Said) != 1 || !strings.Contains(h.Said[0], "big.o, target: git ignores it, and it is too large") {
				t.Errorf("said %q", h.Said)
			}
		} else if out != "s\nbig.o\n\ntarget:\n1\n" || len(h.Said) != 0 {
			t.Errorf("it saw %q, said %q", out, h.Said)
		}
		if len(h.Changes) != 0 || r.tree() != before {
			t.Errorf("changed %s; the disk has\n%s", kinds(h.Changes), r.tree())
		}
	}
}

// What no command may read is in no copy.
func TestCopyHasNoSecrets(t *testing.T) {
	r := newRig(t, Copy, map[string]string{"a.txt": "a\n", ".env": "SECRET\n", "keys/one.pem": "SECRET\n"})
	hidden := []string{filepath.Join(r.root, ".env"), filepath.Join(r.root, "keys")}
	grep := func() string {
		out, _ := exec.CommandContext(t.Context(), "grep", "-rl", "SECRET", os.Getenv("XDG_CACHE_HOME")).Output() // fails when there is nothing
		return string(out)
	}
	begin := func(hidden []string) {
		t.Helper()
		run, err := r.m.Begin(Request{Session: "s", Kind: Copy, Root: r.root, View: workspace.NewOverlay(r.disk, r.q), Hidden: hidden})
		if err != nil {
			t.Fatal(err)
		}
		if h, err := settled(run.End(true)); err != nil || len(h.Changes)+len(h.Said) != 0 {
			t.Errorf("changed %s, said %q, %v", kinds(h.Changes), h.Said, err)
		}
	}
	w := func() string { w, _ := r.copyOf("s"); return w.upper() }
	begin(hidden)
	if got := grep(); got != "" {
		t.Errorf("it is in %s", got)
	}
	for _, name := range []string{".env", "keys"} { // else nothing could lie over them
		if _, err := os.Lstat(filepath.Join(w(), name)); err != nil {
			t.Error(err)
		}
	}
	begin(nil) // the control
	if got := grep(); strings.Count(got, "\n") != 2 {
		t.Errorf("allowed, they are in %q", got)
	}
	begin(hidden)
	if got := grep(); got != "" {
		t.Errorf("hidden again, it is in %s", got)
	}
}

// A command has a repository of its own, which reads the objects of the folder's.
func TestCopyOfARepository(t *testing.T) {
	r := newRig(t, Copy, map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n"})
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", r.root, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("config", "user.name", "A")
	git("config", "user.email", "a@example.org")
	git("add", ".")
	git("commit", "-qm", "first")
	head := git("rev-parse", "HEAD")
	r.write(".git/index.lock", "") // of the user's git, at work
	out, h := r.run("git log --format=%s; git show HEAD:sub/b.txt; git status --short; echo more >> a.txt; git commit -qam second; git log --format=%s")
	if out != "first\nb\nsecond\nfirst\n" || kinds(h.Changes) != "modify a.txt" || len(h.Commits) != 1 || h.Commits[0].Message != "second" || len(h.Commits[0].Files) != 1 {
		t.Errorf("it said %q, changed %s, committed %v", out, kinds(h.Changes), h.Commits)
	}
	if err := ownfile.Remove(filepath.Join(r.root, ".git/index.lock")); err != nil {
		t.Fatal(err)
	}
	if git("rev-parse", "HEAD") != head || strings.Contains(git("log", "--all", "--format=%s"), "second") {
		t.Error("the folder's repository has the commit")
	}
	w, _ := r.copyOf("s")
	first := strings.TrimSpace(head)
	if _, err := os.Stat(filepath.Join(w.upper(), ".git/objects", first[:2], first[2:])); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("objects were copied: %v", err)
	}
	if out, h := r.run("git reset -q --hard HEAD~1; git log --format=%s"); out != "first\n" || len(h.Commits) != 1 || h.Commits[0].Message != "" || len(h.Commits[0].Replaces) != 1 {
		t.Errorf("it said %q, committed %v", out, h.Commits)
	}
	git("commit", "-q", "--allow-empty", "-m", "of the user")
	if out, _ := r.run("git log --format=%s; git fsck 2>&1"); !strings.HasPrefix(out, "of the user\nfirst\n") || strings.Contains(out, "missing") {
		t.Errorf("after a commit of the user's, it said %q", out)
	}
}

// What nobody can read is there, and empty, until somebody can.
func TestCopyOfWhatIsClosed(t *testing.T) {
	r := newRig(t, Copy, map[string]string{"a.txt": "a\n", "closed.txt": "c\n", "closed/d.txt": "d\n"})
	closed := func(file, dir fs.FileMode) {
		t.Helper()
		if err := errors.Join(ownfile.Chmod(filepath.Join(r.root, "closed.txt"), file), ownfile.Chmod(filepath.Join(r.root, "closed"), dir)); err != nil {
			t.Fatal(err)
		}
	}
	closed(0, 0)
	t.Cleanup(func() { closed(0o644, 0o755) })
	if out, h := r.run("cat a.txt; ls -d closed.txt closed"); out != "a\nclosed\nclosed.txt\n" || len(h.Changes)+len(h.Said) != 0 {
		t.Errorf("it saw %q, changed %s, said %q", out, kinds(h.Changes), h.Said)
	}
	closed(0o644, 0o755)
	if out, h := r.run("cat a.txt closed.txt closed/d.txt"); out != "a\nc\nd\n" || len(h.Changes)+len(h.Said) != 0 {
		t.Errorf("open, it saw %q, changed %s, said %q", out, kinds(h.Changes), h.Said)
	}
}

// What the user saves comes to programs that run, and never to where a command
// leads it.
func TestCopyFollowsLive(t *testing.T) {
	r := newRig(t, Copy, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "in/c.txt": "c\n", "e.txt": "e\n", "gone.txt": "gone\n", "of/d.txt": "d\n"})
	outside := t.TempDir()
	run := r.begin()
	r.start(run, "echo mine > b.txt; rm e.txt; rm -r in; ln -s "+outside+" in")
	save := func(name, text string) {
		r.write(name, text)
		r.m.Saved(filepath.Join(r.root, name))
	}
	save("a.txt", "saved\n")
	save("b.txt", "saved\n")
	save("e.txt", "saved\n")
	save("in/c.txt", "saved\n")
	save("in/new.txt", "saved\n")
	save("new/dir/n.txt", "saved\n")
	if err := ownfile.Remove(filepath.Join(r.root, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	r.m.Saved(filepath.Join(r.root, "gone.txt"))
	r.write("of/d.txt", "not told\n")
	if out := r.start(run, "cat a.txt b.txt new/dir/n.txt of/d.txt; ls gone.txt e.txt 2>/dev/null"); out != "saved\nmine\nsaved\nd\n" {
		t.Errorf("it saw %q", out)
	}
	r.m.Forget()
	if out := r.start(run, "cat of/d.txt b.txt"); out != "not told\nmine\n" {
		t.Errorf("brought up, it saw %q", out)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("outside there is %v, %v", left, err)
	}
	if _, err := run.End(false); err != nil {
		t.Fatal(err)
	}
}

// TestStandInsOnDisk: a program in a copy goes on when one on the disk ends and takes along
// what stood in for missing names there. What the user made in the meantime is copied.
func TestStandInsOnDisk(t *testing.T) {
	r := newRig(t, Copy, map[string]string{"a": "a\n"})
	stand := filepath.Join(r.root, ".envrc")
	if err := errors.Join(ownfile.Mkdir(stand, 0o755), ownfile.Chmod(stand, 0o755|fs.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	run := r.begin()
	defer func() { _, _ = run.End(false) }()
	in, toIt, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	fromIt, out := io.Pipe()
	cmd, err := r.box.Command(t.Context(), specOf(run, r.root), run.In(r.root), "bash", "-c", `echo begun; read line; echo "$line"; cat .vscode/settings.json .envrc`)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		out.Close()
	}()
	said := bufio.NewReader(fromIt)
	if line, err := said.ReadString('\n'); line != "begun\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := ownfile.Remove(stand); err != nil {
		t.Fatal(err)
	}
	r.write(".env.example", "theirs\n")
	r.m.Forget()
	if text, err := os.ReadFile(filepath.Join(run.w.upper(), ".env.example")); string(text) != "theirs\n" {
		t.Errorf("the control: %q, %v", text, err)
	}
	if _, err := toIt.WriteString("goes on\n"); err != nil {
		t.Fatal(err)
	}
	toIt.Close()
	rest, err := io.ReadAll(said)
	if err != nil || !strings.HasPrefix(string(rest), "goes on\n") || !strings.Contains(string(rest), ".envrc: Is a directory") {
		t.Errorf("it said %q, %v", rest, err)
	}
	if err := <-ended; !errors.As(err, new(*sandbox.ExitError)) {
		t.Errorf("it ended with %v", err)
	}
}
