package trust

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// folder is a project, and a home of the user's beside it.
type folder struct {
	t   *testing.T
	dir string
	Book
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "APPDATA", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	f := &folder{t: t, dir: t.TempDir()}
	f.write(".sidecar/settings.json", `{"mode": "review"}`)
	f.write(".sidecar/hooks.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "sh \"$CLAUDE_PROJECT_DIR/guard.sh\" x && ./b.sh"}]}]}}`)
	f.write(".claude/settings.json", `{"model": "m", "hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}`)
	f.write("guard.sh", "exit 2\n")
	f.write(".agents/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nbody\n")
	f.write("other.txt", "other\n")
	return f
}

func (f *folder) write(name, text string) {
	f.t.Helper()
	name = filepath.Join(f.dir, name)
	if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := ownfile.WriteFile(name, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) remove(name string) {
	f.t.Helper()
	if err := ownfile.Remove(filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) look() *State {
	f.t.Helper()
	s, err := f.Look(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// TestContent: what is there first is what was trusted; from then on each change of a
// file that counts is one, and shown, until it is taken. No other file matters.
func TestContent(t *testing.T) {
	f := newFolder(t)
	want := []string{".agents/skills/s/SKILL.md", ".claude/settings.json", ".sidecar/hooks.json", ".sidecar/settings.json", "guard.sh"}
	s := f.look()
	for _, name := range want {
		if s.Now[name].Hash == "" {
			t.Errorf("%s is not among what counts", name)
		}
	}
	if len(s.Now) != len(want) || len(s.Changed()) > 0 || s.Diff() != "" {
		t.Fatalf("at first: %+v, %q", s.Now, s.Changed())
	}
	f.write("other.txt", "changed\n")
	f.write(".claude/settings.json", `{"model": "another", "hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}`)
	if s := f.look(); len(s.Changed()) > 0 {
		t.Errorf("what does not count: %q\n%s", s.Changed(), s.Diff())
	}
	for _, c := range []struct {
		name, shown string
		change      func()
	}{
		{".sidecar/settings.json", "+{\"mode\": \"autonomous\"}", func() { f.write(".sidecar/settings.json", `{"mode": "autonomous"}`) }},
		{".sidecar/settings.json", "deleted file", func() { f.remove(".sidecar/settings.json") }},
		{".sidecar/settings.json", "new file", func() { f.write(".sidecar/settings.json", `{}`) }},
		{".sidecar/hooks.json", "-{\"hooks\"", func() {
			f.write(".sidecar/hooks.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "./guard.sh"}]}]}}`)
		}},
		{".claude/settings.json", "+  \"disableAllHooks\": true", func() {
			f.write(".claude/settings.json", `{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}`)
		}},
		{".claude/settings.json", "deleted file", func() { f.write(".claude/settings.json", `{"model": "m"}`) }},
		{"guard.sh", "+exit 0", func() { f.write("guard.sh", "exit 0\n") }},
		{"guard.sh", "deleted file", func() { f.remove("guard.sh") }},
		{".agents/skills/s/SKILL.md", "+other body", func() { f.write(".agents/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nother body\n") }},
		{".sidecar/skills/t/SKILL.md", "new file", func() { f.write(".sidecar/skills/t/SKILL.md", "---\nname: t\ndescription: d\n---\nbody\n") }},
	} {
		c.change()
		s := f.look()
		if !slices.Equal(s.Changed(), []string{c.name}) || !strings.Contains(s.Diff(), c.shown) || !strings.Contains(s.Words(), c.name) {
			t.Errorf("%s: %q\n%s", c.name, s.Changed(), s.Diff())
		}
		if again := f.look(); len(again.Changed()) != 1 {
			t.Errorf("%s: it is taken because it was looked at", c.name)
		}
		var other Book // another process
		if err := other.Take(s); err != nil {
			t.Fatal(err)
		}
		if s := f.look(); len(s.Changed()) > 0 {
			t.Errorf("%s: it was taken: %q", c.name, s.Changed())
		}
	}
}

// TestLinks: a file that a link stands for says nothing.
func TestLinks(t *testing.T) {
	f := newFolder(t)
	f.look()
	for _, name := range []string{".sidecar/settings.json", ".sidecar/hooks.json"} {
		f.remove(name)
		f.write("elsewhere.json", `{"mode": "autonomous"}`)
		symlink(t, filepath.Join(f.dir, "elsewhere.json"), filepath.Join(f.dir, name))
		if s := f.look(); s.Now[name].Text != "" || s.Now[name].Problem == "" || !slices.Contains(s.Changed(), name) {
			t.Errorf("%s: %+v", name, s.Now[name])
		}
	}
}

// TestSpecial: what is no file with a text is not what was trusted, also where it is so
// from the start.
func TestSpecial(t *testing.T) {
	f := newFolder(t)
	f.remove("guard.sh")
	decoy := filepath.Join(t.TempDir(), "decoy")
	if err := ownfile.WriteFile(decoy, []byte("exit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	symlink(t, decoy, filepath.Join(f.dir, "guard.sh"))
	s := f.look()
	if got := s.ProgramChanged(f.dir, "./guard.sh"); got != "guard.sh" {
		t.Errorf("a link that leads out: %q", got)
	}
	f.remove("guard.sh")
	f.write("dir/x", "x\n")
	if got := s.ProgramChanged(f.dir, "./dir"); got != "" {
		t.Errorf("a directory is no program: %q", got)
	}
}

// TestRefused: a refusal is for that content; what was trusted stays.
func TestRefused(t *testing.T) {
	f := newFolder(t)
	then := f.look().Now
	f.write("guard.sh", "exit 0\n")
	s := f.look()
	if s.Refused {
		t.Fatal("nobody has said no")
	}
	if err := f.Refuse(s); err != nil {
		t.Fatal(err)
	}
	if s := f.look(); !s.Refused || s.Then["guard.sh"] != then["guard.sh"] || len(s.Changed()) != 1 {
		t.Errorf("after a no: %v %q", s.Refused, s.Changed())
	}
	f.write("guard.sh", "exit 1\n")
	if f.look().Refused {
		t.Error("the no holds for something else")
	}
	f.write("guard.sh", "exit 2\n")
	if s := f.look(); len(s.Changed()) != 0 {
		t.Errorf("it is again what was trusted: %q", s.Changed())
	}
}

// TestProgramChanged: the files that a hook's line may run are compared when it is run,
// in the root where it is.
func TestProgramChanged(t *testing.T) {
	f := newFolder(t)
	s := f.look()
	const line = `sh "$CLAUDE_PROJECT_DIR/guard.sh" x && ./b.sh`
	if got := s.ProgramChanged(f.dir, line); got != "" {
		t.Errorf("as it was: %s", got)
	}
	f.write("b.sh", "exit 0\n") // was missing
	if got := s.ProgramChanged(f.dir, line); got != "b.sh" {
		t.Errorf("one that comes later: %q", got)
	}
	f.remove("b.sh")
	f.remove("guard.sh")
	if got := s.ProgramChanged(f.dir, line); got != "guard.sh" {
		t.Errorf("one that is gone: %q", got)
	}
	shadow := &folder{t: t, dir: filepath.Join(f.dir, ".sidecar", "shadows", "s")}
	shadow.write("guard.sh", "exit 2\n")
	if got := s.ProgramChanged(shadow.dir, "sh "+f.dir+"/guard.sh"); got != "guard.sh" {
		t.Errorf("one that is named by its whole path: %q", got)
	}
	shadow.remove("guard.sh")
	if got := s.ProgramChanged(shadow.dir, line); got != "guard.sh" {
		t.Errorf("elsewhere, one that is not there: %q", got)
	}
	shadow.write("guard.sh", "exit 0\n")
	if got := s.ProgramChanged(shadow.dir, line); got != "guard.sh" {
		t.Errorf("elsewhere, another one: %q", got)
	}
	shadow.write("guard.sh", "exit 2\n")
	if got := s.ProgramChanged(shadow.dir, line); got != "" {
		t.Errorf("elsewhere, the same: %q", got)
	}
}

// TestPages: a page that is damaged, or about another folder, trusts nothing; where none
// can be written, what was there first holds in this process.
func TestPages(t *testing.T) {
	f := newFolder(t)
	f.look()
	page := Page(f.dir)
	if info, err := os.Stat(page); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	for _, text := range []string{"{", `{"folder": "elsewhere", "trusted": {}}`, "{}"} {
		if err := ownfile.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := f.Look(f.dir); err == nil || len(s.Then) != 0 || len(s.Changed()) == 0 {
			t.Errorf("%s: %v, %q", text, err, s.Changed())
		}
	}
	if err := f.Forget(f.dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "APPDATA", "USERPROFILE"} {
		t.Setenv(name, "") // then there is no directory for pages
	}
	if s, err := f.Look(f.dir); err == nil || len(s.Changed()) > 0 {
		t.Errorf("at first: %v, %q", err, s.Changed())
	}
	f.write("guard.sh", "exit 0\n")
	if s, _ := f.Look(f.dir); !slices.Equal(s.Changed(), []string{"guard.sh"}) {
		t.Errorf("after a change: %q", s.Changed())
	}
}

// symlink makes a link. Windows makes none without a privilege.
func symlink(t *testing.T, target, name string) {
	t.Helper()
	err := ownfile.Symlink(target, name)
	if err != nil && runtime.GOOS == "windows" {
		needs.Skip(t, needs.Links, err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
