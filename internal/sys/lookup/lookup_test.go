package lookup

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// place is a machine of the test's own: directories on PATH, and a workspace.
type place struct {
	*testing.T
	dir string
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"STATE", "CACHE"} {
		t.Setenv("XDG_"+kind+"_HOME", filepath.Join(dir, "own"))
	}
	return place{t, dir}
}

func (p place) at(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// program makes one.
func (p place) program(name string) string {
	p.Helper()
	at := p.at(name)
	if runtime.GOOS == "windows" {
		at += ".exe"
	}
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(at), 0o755), ownfile.WriteFile(at, []byte("#!/bin/sh\n"), 0o755), ownfile.Chmod(filepath.Dir(at), 0o755)); err != nil {
		p.Fatal(err)
	}
	return at
}

func (p place) link(target, name string) {
	p.Helper()
	if err := errors.Join(ownfile.MkdirAll(filepath.Dir(p.at(name)), 0o755), ownfile.Symlink(target, p.at(name))); err != nil {
		needs.Skip(p, needs.Links, err)
	}
}

func (p place) path(dirs ...string) {
	for i, d := range dirs {
		if d != "" && !filepath.IsAbs(d) && !strings.HasPrefix(d, ".") {
			dirs[i] = p.at(d)
		}
	}
	p.Setenv("PATH", strings.Join(dirs, string(filepath.ListSeparator)))
}

// finder is one to which the test's temporary directory is a place as any other.
func (p place) finder() *Finder {
	f := New(Options{Temporary: []string{p.at("temporary")}})
	f.Forbid(p.at("folder"))
	return f
}

// TestNotTaken: each way by which others than the user choose a program, before a proper
// directory, whose program is taken: the control is that the proper one alone is found,
// and that the same program is taken where the way is not one.
func TestNotTaken(t *testing.T) {
	for _, c := range []struct {
		name  string
		first string // on PATH before the proper one
		why   string
		make  func(p place)
		mend  func(p place) // has it taken all the same
	}{
		{"below a workspace", "folder/.venv/bin", "workspace folder", func(p place) { p.program("folder/.venv/bin/git-tool") }, nil},
		{"a temporary directory", "temporary/bin", "temporary directory", func(p place) { p.program("temporary/bin/git-tool") }, nil},
		{"a world's", "own/sidecar-ls/world/bin", "server's own", func(p place) { p.program("own/sidecar-ls/world/bin/git-tool") }, nil},
		{"a relative entry", "./folder/bin", "relative", func(p place) { p.program("folder/bin/git-tool"); p.Chdir(p.dir) }, nil},
		{"an empty entry", "", "relative", func(p place) { p.program("folder/git-tool"); p.Chdir(p.at("folder")) }, nil},
		{"a link into the workspace", "links", "workspace folder", func(p place) { p.link(p.program("folder/git-tool"), "links/git-tool") }, nil},
		{"a directory that is a link into it", "linked", "workspace folder", func(p place) { p.program("folder/bin/git-tool"); p.link(p.at("folder/bin"), "linked") }, nil},
		{"links upon links", "links", "workspace folder", func(p place) {
			p.link(p.program("folder/git-tool"), "second/git-tool")
			p.link("../second/git-tool", "links/git-tool")
		}, nil},
		{"through the workspace and out again", "folder/out", "workspace folder", func(p place) { p.program("elsewhere/git-tool"); p.link(p.at("elsewhere"), "folder/out") }, nil},
		{"dots", "proper/../folder/bin", "workspace folder", func(p place) { p.program("folder/bin/git-tool") }, nil},
	} {
		t.Run(c.name, func(t *testing.T) { notTaken(newPlace(t), c.first, c.why, c.make, c.mend) })
	}
}

func notTaken(p place, first, why string, made, mend func(place)) {
	made(p)
	good := p.program("proper/git-tool")
	p.path(first, "proper")
	f := p.finder()
	if at, err := f.Find("git-tool"); err != nil || at != good {
		p.Errorf("%s, %v; want %s", at, err, good)
	}
	if said := f.Passed(); !strings.Contains(said, why) {
		p.Errorf("what was passed over: %q, which does not say %q", said, why)
	}
	if path := f.SearchPath(); path != p.at("proper") {
		p.Errorf("the search path is %s", path)
	}
	p.path(first)
	if at, _ := f.Find("git-tool"); at != good { // it was found once, and may be taken
		p.Errorf("what was found is forgotten: %s", at)
	}
	var e *Error
	if _, err := p.finder().Find("git-tool"); first != "" && (!errors.As(err, &e) || !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), why)) {
		p.Errorf("alone: %v", err)
	}
	if mend == nil {
		return
	}
	mend(p)
	if at, err := p.finder().Find("git-tool"); err != nil || !strings.HasPrefix(at, p.at(first)) {
		p.Errorf("the control: %s, %v", at, err)
	}
}

// TestLaterFolders: what was found is not used any more once a folder is opened that it
// lies in, and a folder that was closed stays one.
func TestLaterFolders(t *testing.T) {
	p := newPlace(t)
	first, second := p.program("project/bin/git-tool"), p.program("proper/git-tool")
	p.path("project/bin", "proper")
	f := p.finder()
	if at, err := f.Find("git-tool"); err != nil || at != first {
		t.Fatalf("the control: %s, %v", at, err)
	}
	if f.SearchPath() != p.at("project/bin")+string(filepath.ListSeparator)+p.at("proper") {
		t.Errorf("the control: %s", f.SearchPath())
	}
	f.Forbid(p.at("project"))
	f.Forbid(p.at("other"))
	if at, err := f.Find("git-tool"); err != nil || at != second {
		t.Errorf("%s, %v", at, err)
	}
	if f.SearchPath() != p.at("proper") {
		t.Errorf("%s", f.SearchPath())
	}
	if at, err := f.Find(first); err == nil {
		t.Errorf("by its path: %s", at)
	}
	if at, err := f.Find(second, p.at("proper")); err == nil {
		t.Errorf("besides: %s", at)
	}
	if at, err := f.Find(second); err != nil || at != second {
		t.Errorf("the control: %s, %v", at, err)
	}
}

// TestHelpers: a directory is not searched by what git starts if git would find there
// what lies in the workspace.
func TestHelpers(t *testing.T) {
	p := newPlace(t)
	p.program("proper/ssh")
	p.program("mine/helper")
	p.link(p.program("folder/ssh"), "mine/ssh")
	p.link(p.at("folder/nothing"), "proper/git-nothing")
	p.link(p.program("folder/mine"), "proper/shown") // git starts no such program
	p.path("mine", "proper")
	f := p.finder()
	if got := f.SearchPath(); got != p.at("proper") {
		t.Errorf("%s", got)
	}
	if said := f.Passed(); !strings.Contains(said, "its ssh is not taken") {
		t.Errorf("%s", said)
	}
}

// TestEnviron: what a program outside is started with leads nowhere else.
func TestEnviron(t *testing.T) {
	p := newPlace(t)
	p.program("proper/git-tool")
	p.program("folder/lib/x.so")
	p.path("folder/lib", "proper")
	for name, value := range map[string]string{
		"HOME": p.dir, "LC_TIME": "C", "LD_PRELOAD": p.at("folder/lib/x.so"), "LD_AUDIT": p.at("folder/lib/x.so"), "LD_LIBRARY_PATH": strings.Join([]string{p.at("folder/lib"), "", "lib", p.at("proper")}, string(filepath.ListSeparator)),
		"PYTHONPATH": p.at("folder/lib"), "NODE_OPTIONS": "--require ./x.js", "GIT_EXEC_PATH": p.at("folder/lib"), "GIT_SSH_COMMAND": "./evil", "SSH_ASKPASS": "./evil", "BASH_ENV": "./evil",
	} {
		t.Setenv(name, value)
	}
	has := map[string]string{}
	for _, v := range p.finder().Environ() {
		name, value, _ := strings.Cut(v, "=")
		has[name] = value
	}
	for _, name := range []string{"LD_PRELOAD", "LD_AUDIT", "PYTHONPATH", "NODE_OPTIONS", "GIT_EXEC_PATH", "GIT_SSH_COMMAND", "SSH_ASKPASS", "BASH_ENV"} {
		if value, ok := has[name]; ok {
			t.Errorf("%s=%s", name, value)
		}
	}
	for name, want := range map[string]string{"PATH": p.at("proper"), "LD_LIBRARY_PATH": p.at("proper"), "HOME": p.dir, "LC_TIME": "C"} {
		if has[name] != want {
			t.Errorf("the control: %s is %q, not %q", name, has[name], want)
		}
	}
}

// TestSystem: without anything of a test's, the system's own programs are found, and a
// temporary directory of the system's is none to take programs from.
func TestSystem(t *testing.T) {
	name := map[bool]string{false: "ls", true: "cmd"}[runtime.GOOS == "windows"]
	var f *Finder
	if at, err := f.Find(name); err != nil || !filepath.IsAbs(at) {
		t.Errorf("the control: %s, %v", at, err)
	}
	p := newPlace(t)
	p.program("bin/git-tool")
	p.path("bin")
	if at, err := New(Options{}).Find("git-tool"); err == nil || !strings.Contains(err.Error(), "a temporary directory") {
		t.Errorf("%s, %v", at, err)
	}
}
