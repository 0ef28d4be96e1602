package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestFrozen: a command that was allowed because of files runs only where they are as they were,
// and without what earlier commands left in the shell.
func TestFrozen(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Skip(t, needs.Bash, "nothing is allowed so there")
	}
	r := newRig(t)
	write := func(name, text string) {
		t.Helper()
		if err := ownfile.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock, gone, home := filepath.Join(r.root, "lock"), filepath.Join(r.root, "it's gone"), filepath.Join(r.host.home, ".npmrc")
	write(lock, "one\n")
	sum := sha256.Sum256([]byte("one\n"))
	f := &tools.Frozen{Program: "cat", Dir: r.root, Env: []string{"SET=by the rule"}, Scratch: []string{"STORE"}, Files: []tools.FrozenFile{{Name: "lock", Sum: hex.EncodeToString(sum[:])}, {Name: "it's gone"}, {Name: "~/.npmrc"}}}
	run := func(line string, f *tools.Frozen) (string, error) {
		t.Helper()
		b, err := r.byName["run_command"].Bind([]byte(`{"command": "` + line + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Plan(t.Context(), r.files); err != nil {
			t.Fatal(err)
		}
		if dir := b.Effects.Dir("s1"); dir != r.root {
			t.Errorf("it begins in %q", dir)
		}
		res, _, err := b.Run(t.Context(), &tools.Call{Session: "s1", Files: r.files, Frozen: f})
		return res.Text, err
	}
	const line = `cat lock; [ -d $STORE ] && echo $SET stored`
	holds := func(what string) {
		t.Helper()
		if out, err := run(line, f); err != nil || !strings.HasPrefix(out, "one\nby the rule stored\n") {
			t.Errorf("%s: %v, %s", what, err, out)
		}
	}
	fails := func(what string, f *tools.Frozen) {
		t.Helper()
		if out, err := run(line, f); !errors.Is(err, tools.ErrNotFrozen) {
			t.Errorf("%s: %v, %s", what, err, out)
		}
	}
	holds("control")
	if out, err := run("cat() { echo evil; }; export -f cat; export SET=set; alias cat=evil", nil); err != nil {
		t.Fatal(out, err)
	}
	holds("a function, an alias and a variable of before")
	for _, c := range []struct{ name, file, text string }{{"another text", lock, "two\n"}, {"a file that must not be", gone, ""}, {"one in the home", home, ""}} {
		was, err := os.ReadFile(c.file)
		write(c.file, c.text)
		fails(c.name, f)
		if err == nil {
			write(c.file, string(was))
		} else if err := ownfile.Remove(c.file); err != nil {
			t.Fatal(err)
		}
		holds("control of " + c.name)
	}
	if err := ownfile.Symlink("nowhere", gone); err != nil {
		t.Fatal(err)
	}
	fails("a link to nothing", f)
	if err := ownfile.Remove(gone); err != nil {
		t.Fatal(err)
	}
	other := *f
	other.Dir = filepath.Join(r.root, "sub")
	fails("another directory", &other)
	other = *f
	other.Program = "no-such-program"
	fails("no such program", &other)
	b, err := r.byName["run_command"].Bind([]byte(`{"command": "read x <p", "background": true}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run("mkfifo p", nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Plan(t.Context(), r.files); err != nil || b.Effects.Dir != nil {
		t.Fatal("one in the background can be frozen", err)
	}
	if _, _, err := b.Run(t.Context(), &tools.Call{Session: "s1", Files: r.files}); err != nil {
		t.Fatal(err)
	}
	fails("something runs beside it", f)
	if _, err := run("echo >p", nil); err != nil {
		t.Fatal(err)
	}
	<-r.sessions.get(&tools.Call{Session: "s1", Files: r.files}).all()[0].done
	holds("control")
}
