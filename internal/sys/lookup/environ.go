package lookup

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// base are the variables that programs outside of the sandbox have of the server's own
// environment: none names a program or a file with code.
var base = []string{
	"HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
	"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// Environ is the environment of a program outside of the sandbox: a few variables of the
// server's own, the search path without what Find would not take, and of the directories
// with libraries those alone that it would.
func (f *Finder) Environ() []string {
	env := []string{"PATH=" + f.SearchPath()}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		switch {
		case slices.Contains(base, name), strings.HasPrefix(name, "LC_"):
			env = append(env, v)
		case name == "LD_LIBRARY_PATH":
			if list := f.Directories(value); list != "" {
				env = append(env, name+"="+list)
			}
		}
	}
	return env
}

// Directories are those of a list, as PATH is one, of which something may be taken.
func (f *Finder) Directories(list string) string {
	if f == nil {
		f = New(Options{})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	forbidden := f.forbidden(nil)
	return strings.Join(slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return directory(dir, forbidden) != "" }), string(filepath.ListSeparator))
}

// SearchPath is PATH without the directories of which Find would not take anything: what
// a program outside of the sandbox starts is looked for there. besides are as for Find.
func (f *Finder) SearchPath(besides ...string) string {
	if f == nil {
		f = New(Options{})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := os.Getenv("PATH")
	key := strings.Join(append([]string{now}, besides...), "\x00")
	if path, ok := f.path[key]; ok {
		return path
	}
	forbidden := f.forbidden(besides)
	var dirs []string
	var passed []Passed
	for _, dir := range filepath.SplitList(now) {
		if why := directory(dir, forbidden); why == "" {
			if p := leadsAway(dir, forbidden); p.Why != "" {
				passed = append(passed, Passed{dir, "its " + filepath.Base(p.Path) + " is not taken: " + p.Why})
				continue
			}
			dirs = append(dirs, filepath.Clean(dir))
		} else if _, err := os.Stat(dir); err == nil || dir == "" {
			passed = append(passed, Passed{dir, why})
		}
	}
	f.note(passed)
	f.path[key] = strings.Join(dirs, string(filepath.ListSeparator))
	return f.path[key]
}

// isStarted reports whether git starts a program of this name, or what it starts does.
func isStarted(name string) bool {
	name = strings.TrimSuffix(name, ".exe")
	return slices.Contains([]string{"sh", "bash", "env", "less", "scp"}, name) ||
		slices.ContainsFunc([]string{"git", "ssh", "gpg", "pinentry"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// leadsAway is the first of those in a directory that is not to be taken, as a link to
// what lies in the workspace.
func leadsAway(dir string, forbidden []root) Passed {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Passed{dir, "it can't be read"}
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if !isStarted(e.Name()) {
			continue
		}
		if info, err := os.Stat(at); err != nil || !info.Mode().IsRegular() {
			continue // nothing that can be started
		}
		if why := program(at, forbidden); why != "" {
			return Passed{at, why}
		}
	}
	return Passed{}
}
