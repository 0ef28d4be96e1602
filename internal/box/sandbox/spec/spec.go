package spec

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Spec is what a command may see and do. All paths are absolute.
type Spec struct {
	Root     string   // the workspace: readable and writable, apart from what is protected
	LookOnly bool     // Root can only be read
	Merged   *Merged  // what is seen and changed as Root; nil is Root itself
	Beside   []Folder // of the workspace, readable and writable as Root is. They take bubblewrap.
	Writable []string // other directories that are
	ReadOnly []string // what can be read besides; inside Root and Writable: what can't be written
	Hidden   []string // files and directories that look empty, if they exist
	Sealed   []string // files that can't be read, but look as large and as old as they are

	// Repositories are the entries named .git, and the git directories of other
	// names, in Root and Writable: what makes git run something in them can't be
	// written, as it can't in that of Root itself, which need not be among them.
	Repositories []string

	// Settings says what a command sees of a file of such a repository's settings,
	// and names what in it decides on what is run or where something is sent. With it
	// the file may be replaced while the command runs, unless more of that is in it
	// then. nil: commands see the file itself.
	Settings func(file string) (shown []byte, decides []string)

	// Bundles are files in Root that may be bundles of git's. They are not hidden.
	Bundles []string

	// Included are files that such settings include: commands see of them what Settings says.
	Included []string

	// After is called when nothing is left of the command, or when it was not
	// started after all. What it returns goes to Removed.
	After func() []string

	// Record names a file that is handed to the function After of Init, by a
	// process that outlives the server, when the server is killed and nothing is
	// left of the command. It is locked (flock) as long as that process is there.
	Record string

	// Home is a private directory that stands in for the user's own home, and
	// outlives the command. "" is an empty one that does not. At the level None
	// the command has the user's own.
	Home string

	// Layers are directories below Home that the command sees and changes in a
	// mount of their own. They take bubblewrap, as Merged does.
	Layers []Layer

	// HomeDirs are directories in the home that come from elsewhere. They take bubblewrap.
	HomeDirs []HomeDir

	// HomeVariable names a variable in which the command finds Home, at every
	// level. "" is none.
	HomeVariable string

	// Temp is a private directory that stands in for /tmp and outlives the
	// command. "" is an empty one that does not.
	Temp string

	// Terminal says that the command's standard input is a terminal, which is to
	// be its own: it gets its signals, and is its standard output and error, too. Not at
	// the level None.
	Terminal bool

	Network bool

	// Session names whose commands share a localhost, where bubblewrap confines them and
	// there is no other network, and Ended is closed with the session, which ends them.
	// "" is a localhost for the command alone.
	Session string
	Ended   <-chan struct{}
	Joined  bool // it is in the network of its session; set by the sandbox

	// Names has the names of hosts lead to Options.Hand, in the network of the session; nil:
	// they lead nowhere.
	Names *Names
	Etc   string // a directory with what resolves names; set by the sandbox

	Env    []string // the whole environment, apart from HOME and TMPDIR
	Limits Limits
	Mode   Mode // "" is Auto
}

// Names says where names lead in the network of a session.
type Names struct {
	Ports []int // at which hosts are reached
	Here  []int // ports of the session's localhost that lead to this machine's
}

// Limits bound what a command takes. Zero is the default, a negative number
// is no limit.
type Limits struct {
	FileSize  int64 // bytes of one file
	Files     int64 // open descriptors of a process
	Processes int64 // of the whole tree; where cgroups, user namespaces or job objects allow
	Memory    int64 // bytes, of the whole tree; where cgroups or job objects allow
}

// The defaults. Memory is by default three quarters of the machine's.
const (
	defaultFileSize  = 4 << 30
	defaultFiles     = 8192
	defaultProcesses = 1024
)

// WithDefaults are the limits with the defaults for those that are zero.
func (l Limits) WithDefaults() Limits {
	for _, d := range []struct {
		limit *int64
		value int64
	}{{&l.FileSize, defaultFileSize}, {&l.Files, defaultFiles}, {&l.Processes, defaultProcesses}, {&l.Memory, DefaultMemory()}} {
		if *d.limit == 0 {
			*d.limit = d.value
		}
	}
	return l
}

// kept are the variables of the server that a command may have. None of them
// holds a secret.
var kept = []string{"PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "GOPATH", "GOMODCACHE", "GOTOOLCHAIN", "GOFLAGS", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "RUSTUP_HOME",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"}

// keptOnWindows are those besides without which programs there don't start, or don't
// find what is installed and the user's directories.
var keptOnWindows = []string{"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
	"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC",
	"HOME", "HOMEDRIVE", "HOMEPATH", "USERPROFILE", "USERNAME", "USERDOMAIN", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP"}

// noEditor is an editor that says why there is none. Git has its own shell run it, on each
// system. EDITOR and VISUAL stay unset: many programs start those without a shell, and an
// editor that finds no terminal ends by itself.
const noEditor = `echo "There is no editor here. Give git the text: commit -m TEXT or -F FILE, tag -m TEXT, --no-edit to keep the message that it has. For rebase, set GIT_EDITOR=true to keep messages, and GIT_SEQUENCE_EDITOR to a command that edits the list." >&2; false`

// Unattended are the variables by which programs ask nobody. What is set for a command, or in
// its session, comes after them and holds.
func Unattended() []string {
	return []string{"GIT_EDITOR=" + noEditor, "GIT_SEQUENCE_EDITOR=" + noEditor, "DEBIAN_FRONTEND=noninteractive"}
}

// Environ picks from an environment what a command may have, and makes
// programs write for something that is no terminal, and ask nobody. The editor of git that
// the server was started with is the user's, for a terminal that the command has not.
func Environ(from []string) []string { return environOn(runtime.GOOS, from) }

// environOn is Environ on a system. The case of names does not matter on Windows.
func environOn(system string, from []string) []string {
	var env []string
	for _, v := range from {
		name, value, _ := strings.Cut(v, "=")
		keep := slices.Contains(kept, name)
		if system == "windows" {
			name = strings.ToUpper(name)
			keep = slices.Contains(kept, name) || slices.Contains(keptOnWindows, name)
		}
		if keep || strings.HasPrefix(name, "LC_") {
			env = append(env, name+"="+value)
		}
	}
	return append(append(env, "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat"), Unattended()...)
}

// LoginPath is the variable with the PATH that a login shell goes back to. The system's
// own start-up files set another, without what the user has installed.
const LoginPath = "SIDECAR_PATH"

// Environ is the environment of a command that sees its private home as home.
func (s Spec) Environ(home string, set map[string]string) []string {
	if s.HomeVariable != "" {
		set[s.HomeVariable] = home
	}
	return environment(s.Env, set)
}

// environment is env with other values for some names, each name once.
func environment(env []string, set map[string]string) []string {
	last := map[string]string{}
	for _, v := range env {
		if name, value, ok := strings.Cut(v, "="); ok && name != "" && !strings.ContainsRune(v, 0) {
			last[name] = value
		}
	}
	maps.Copy(last, set)
	if last["PATH"] == "" && runtime.GOOS != "windows" {
		last["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	last[LoginPath] = last["PATH"]
	out := make([]string, 0, len(last))
	for _, name := range slices.Sorted(maps.Keys(last)) {
		out = append(out, name+"="+last[name])
	}
	return out
}

// WritableDirs are the directories that a command may change.
func (s Spec) WritableDirs() []string {
	if s.LookOnly {
		return s.Writable
	}
	return append(s.Folders(), s.Writable...)
}

// RepositoriesIn are those of Repositories that are to be protected in dir: not
// what commands don't see, or can't write.
func (s Spec) RepositoriesIn(dir string) []string {
	var list []string
	for _, path := range s.Repositories {
		in := func(other string) bool { return Within(path, other) }
		if Within(path, dir) && !slices.ContainsFunc(s.Hidden, in) && !slices.ContainsFunc(s.ReadOnly, in) {
			list = append(list, path)
		}
	}
	return list
}

// Resolve checks a Spec and replaces its paths by those without links, so
// that rules and mounts are about the same files.
func (s Spec) Resolve() (Spec, error) {
	if s.Root == "" {
		return s, errors.New("the sandbox needs a root")
	}
	var err error
	real := func(name string) string {
		if name == "" || err != nil {
			return name
		}
		if !filepath.IsAbs(name) {
			err = fmt.Errorf("%s is not an absolute path", name)
			return name
		}
		var got string
		got, err = filepath.EvalSymlinks(name)
		return got
	}
	s.Root, s.Home, s.Temp = real(s.Root), real(s.Home), real(s.Temp)
	s.Beside = slices.Clone(s.Beside)
	for i := range s.Beside {
		s.Beside[i].Dir = real(s.Beside[i].Dir)
	}
	all := func(list []string, mustExist bool) []string {
		var out []string
		for _, name := range list {
			if _, e := os.Lstat(name); e != nil && !mustExist {
				continue
			}
			out = append(out, real(name))
		}
		return out
	}
	s.Writable = all(s.Writable, true)
	s.ReadOnly = all(s.ReadOnly, false)
	s.Hidden = all(s.Hidden, false)
	s.Sealed = all(s.Sealed, false)
	slices.Sort(s.Repositories) // what lies in another one comes after it
	s.Limits = s.Limits.WithDefaults()
	if err != nil {
		return s, err
	}
	for _, dir := range append(s.Folders(), s.Writable...) {
		info, err := os.Stat(dir)
		if err != nil {
			return s, err
		}
		if !info.IsDir() {
			return s, fmt.Errorf("%s is not a directory", dir)
		}
		if err := Confinable(dir); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Confinable returns a *RefusedError if a directory, by its path without links, has
// directories of the system in it, so that no command is ever confined to it.
func Confinable(dir string) error {
	for _, system := range SystemDirs {
		if Within(system, dir) {
			return &RefusedError{fmt.Sprintf("commands can't be confined to %s, because %s is in it: open a directory that is not the system's", dir, system)}
		}
	}
	return nil
}

// SystemDirs may never be writable as a whole.
var SystemDirs = []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/sys", "/dev", "/run", "/var", "/boot", "/opt", "/tmp"}

// Within reports whether path is dir or below it.
func Within(path, dir string) bool {
	const separator = string(filepath.Separator)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, separator)+separator)
}
