// Package lookup finds programs. What runs outside of the sandbox runs as the user, so it
// is taken from places alone that nobody else fills: never from the workspace, whatever
// PATH says. What runs inside may come from anywhere.
package lookup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// Options say where programs are looked for. Nothing but code sets them.
type Options struct {
	// Temporary are the directories that any program may fill; nil: those of the system.
	Temporary []string
}

// Finder finds the programs that run outside of the sandbox. It is safe for concurrent
// use; nil is one that knows of no workspace.
type Finder struct {
	mu     sync.Mutex
	always []root            // temporary directories and the server's own
	never  []root            // workspace folders, also former ones: their calls may still run
	found  map[string]string // programs, by their names
	path   map[string]string // the search path, by the PATH that it was made of
	passed []Passed
}

// Passed is a program or a directory of PATH that was not taken.
type Passed struct{ Path, Why string }

// root is a directory below which nothing is taken.
type root struct {
	what, path string
	info       os.FileInfo // nil: it is not there
}

// New returns a Finder.
func New(o Options) *Finder {
	f := &Finder{found: map[string]string{}, path: map[string]string{}}
	temporary := o.Temporary
	if temporary == nil {
		temporary = temporaryDirs()
	}
	f.always = rootsOf("a temporary directory", temporary)
	for _, kind := range []userdirs.Kind{userdirs.State, userdirs.Cache} {
		if dir, err := userdirs.Here().Dir(kind); err == nil {
			f.always = append(f.always, rootsOf("the server's own directory", []string{dir})...)
		}
	}
	return f
}

func temporaryDirs() []string {
	dirs := []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"}
	if runtime.GOOS == "windows" {
		dirs = []string{os.TempDir()}
		for _, name := range []string{"TEMP", "TMP"} {
			dirs = append(dirs, os.Getenv(name))
		}
		if system := os.Getenv("SYSTEMROOT"); system != "" {
			dirs = append(dirs, filepath.Join(system, "Temp"))
		}
	}
	return dirs
}

// rootsOf are directories by the names that they have, links resolved and not.
func rootsOf(what string, dirs []string) (list []root) {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		info, _ := os.Stat(dir)
		list = append(list, root{what, dir, info})
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			list = append(list, root{what, real, info})
		}
	}
	return list
}

// Forbid has nothing taken from these workspace folders from now on, also not what was
// found before.
func (f *Finder) Forbid(folders ...string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rootsOf("a workspace folder", folders) {
		if !slices.ContainsFunc(f.never, func(have root) bool { return have.path == r.path }) {
			f.never = append(f.never, r)
			clear(f.path)
		}
	}
}

// Error says that a program was not found, or not where it may be taken from.
type Error struct {
	Name   string
	Passed []Passed // what was found and not taken
}

func (e *Error) Error() string {
	if len(e.Passed) == 0 {
		return e.Name + " is not on PATH"
	}
	return fmt.Sprintf("%s is not taken from PATH: %s; it runs outside of the sandbox, so install it where only you or the system's administrator can write, outside of the workspace", e.Name, words(e.Passed))
}

// Unwrap lets it be found as the error of package exec.
func (e *Error) Unwrap() error { return exec.ErrNotFound }

func words(list []Passed) string {
	text := make([]string, len(list))
	for i, p := range list {
		text[i] = p.Path + " (" + p.Why + ")"
	}
	return strings.Join(text, ", ")
}

// Find returns the absolute path by which a program is to be started. It is looked for
// once; later it is only seen to that it may still be taken. A name with a separator must
// be absolute. besides are more directories below which nothing is taken.
func (f *Finder) Find(name string, besides ...string) (string, error) {
	if f == nil {
		f = New(Options{})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	forbidden := f.forbidden(besides)
	if strings.ContainsAny(name, `/\`) {
		if why := program(name, forbidden); why != "" {
			return "", f.pass(name, []Passed{{name, why}})
		}
		return filepath.Clean(name), nil
	}
	if at := f.found[name]; at != "" && program(at, forbidden) == "" {
		return at, nil
	}
	var passed []Passed
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				passed = append(passed, Passed{filepath.Join(dir, name), relative})
			}
			continue
		}
		at, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if why := program(at, forbidden); why != "" {
			passed = append(passed, Passed{at, why})
			continue
		}
		f.note(passed)
		f.found[name] = at
		return at, nil
	}
	return "", f.pass(name, passed)
}

const relative = "PATH names its directory relative to wherever the server runs"

func (f *Finder) pass(name string, passed []Passed) error {
	f.note(passed)
	return &Error{name, passed}
}

// note keeps what was passed over, for Passed.
func (f *Finder) note(passed []Passed) {
	for _, p := range passed {
		if !slices.Contains(f.passed, p) {
			f.passed = append(f.passed, p)
		}
	}
}

// Passed is what was not taken so far, and why.
func (f *Finder) Passed() string {
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return words(f.passed)
}

func (f *Finder) forbidden(besides []string) []root {
	return slices.Concat(f.always, f.never, rootsOf("the repository", besides))
}

// Forbidden reports whether a file lies where no program is taken from by where it lies,
// whoever owns it.
func (f *Finder) Forbidden(path string, besides ...string) bool {
	if f == nil {
		f = New(Options{})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !filepath.IsAbs(path) || below(path, slices.Concat(f.never, rootsOf("the repository", besides)))
}

// Confined finds a program that runs inside the sandbox, wherever PATH leads to. Without
// a sandbox it is to be found by a Finder.
func Confined(name string) (string, error) { return exec.LookPath(name) }
