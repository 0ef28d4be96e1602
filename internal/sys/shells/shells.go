// Package shells finds the shell that command lines are for: bash, and on Windows
// PowerShell where there is none, or the one that the settings name. It knows what runs
// a line, who parses it and how words are written in it, but not what may run.
package shells

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
)

// Shell runs command lines.
type Shell struct {
	Path       string // of the program
	Name       string // for people
	Why        string // it is this one, for people
	PowerShell bool   // it is one; else it is bash

	// Variable says that a line reaches it in a variable: what reads the command line
	// of a bash for Windows changes backslashes, quotes and stars.
	Variable bool

	// Drives is where the bash of a Linux in WSL has the drives of Windows, as "/mnt/";
	// "": it is none of those.
	Drives string

	// Old says of a PowerShell that it gives programs their arguments as all did before
	// 7.3; see words.go.
	Old bool

	look func(program string) (string, error) // finds what lines start; nil: lookup.Confined
}

// bootVariable has the line of a shell that gets it so. One that it has is gone before
// the line begins.
const bootVariable = "__sc_boot"

// MaxLine bounds such a line, in UTF-16 units: Windows has room for so much in a variable.
const MaxLine = 32_000

// Bash is a bash that PATH has.
var Bash = Shell{Path: "bash", Name: "bash", Why: "it is the shell of this system"}

// Line is what runs a line, and the variables that it takes.
func (s Shell) Line(line string) (argv, env []string) {
	if s.PowerShell {
		argv = []string{s.Path, "-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-Command", "& ([scriptblock]::Create($env:" + bootVariable + "))"}
		return argv, []string{bootVariable + "=Remove-Item env:" + bootVariable + "; " + line}
	}
	return s.Script(nil, line)
}

// Script is what a bash runs a script with, which has args as $1 and so on, and the
// variables that it takes.
func (s Shell) Script(options []string, script string, args ...string) (argv, env []string) {
	argv = []string{s.Path}
	if s.Drives != "" {
		// Nothing else of the environment comes along to a Linux.
		argv, env = append(argv, "-e", "bash"), []string{"WSLENV=" + bootVariable + "/u"}
	}
	argv = append(argv, options...)
	if !s.Variable {
		argv = append(argv, "-c", script)
		if len(args) > 0 {
			argv = append(append(argv, "bash"), args...)
		}
		return argv, env
	}
	boot := bootVariable + "=unset " + bootVariable + "; set --"
	for _, arg := range args {
		boot += " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return append(argv, "-c", `eval "$`+bootVariable+`"`), append(env, boot+"; "+script)
}

// The shells that a person may ask for: the values of the setting commands.shell.
const (
	Auto       = "auto" // a bash, else a PowerShell; never that of WSL
	UseBash    = "bash"
	UseWSL     = "wsl"
	UseWindows = "powershell" // Windows PowerShell, which is part of Windows
	UsePwsh    = "pwsh"       // PowerShell 7
)

// Setting is the name of that setting, for people.
const Setting = "sidecar.commands.shell"

// ErrNone says that there is no shell.
var ErrNone = errors.New("no shell was found that runs commands: install Git for Windows (https://gitforwindows.org), whose bash is used, or PowerShell 7; what was installed is found once its directory is on PATH and the server has started again")

// ErrNoBash says that there is none for lines that are for bash alone.
var ErrNoBash = errors.New("no bash was found: install Git for Windows (https://gitforwindows.org), whose bash is used")

// probeTime bounds how long a shell may take to say what it is.
const probeTime = 20 * time.Second

// Here looks for a shell of this system, once. want names it; nil is any.
func Here(programs *lookup.Finder, want func() string) func() (Shell, error) {
	return sync.OnceValues(func() (Shell, error) {
		if want == nil {
			return Find(programs, Auto)
		}
		return Find(programs, want())
	})
}

// Find looks for a shell of this system by the value of the setting. It and what is
// asked on the way run outside of a sandbox, so that programs finds them.
func Find(programs *lookup.Finder, want string) (Shell, error) {
	sh, err := find(system{
		name: runtime.GOOS, root: os.Getenv("SYSTEMROOT"), look: func(name string) (string, error) { return programs.Find(name) },
		isFile: func(path string) bool { info, err := os.Stat(path); return err == nil && info.Mode().IsRegular() },
		ask:    ask,
	}, want)
	sh.look = nil // what a line starts may lie anywhere
	return sh, err
}

// ask runs a program and returns what it prints.
func ask(program string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	if proctree.Run(cmd) != nil {
		return ""
	}
	return strings.TrimSpace(plain(out.Bytes()))
}

// plain is what a program printed, whose text may be in UTF-16: that of wsl.exe is.
func plain(said []byte) string {
	if len(said)%2 != 0 || !bytes.Contains(said, []byte{0}) {
		return string(said)
	}
	units := make([]uint16, len(said)/2)
	for i := range units {
		units[i] = uint16(said[2*i]) | uint16(said[2*i+1])<<8
	}
	return strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff")
}

// system is what is asked of a system.
type system struct {
	name   string // as runtime.GOOS has it
	root   string // of Windows itself
	look   func(program string) (string, error)
	isFile func(path string) bool
	ask    func(program string, args ...string) string
}

// What shells that work and are new enough say of themselves: a stand-in says nothing.
var (
	bashVersion  = regexp.MustCompile(`^([4-9]|\d\d)\.\d+`)
	powerVersion = regexp.MustCompile(`^(5\.[1-9]|[6-9]\.\d+|\d\d\.\d+)`)
	oldPassing   = regexp.MustCompile(`^([56]\.|7\.[0-2]$)`)
	wslDrives    = regexp.MustCompile(`^(/(?:.*/)?)c/?$`)
)

const powerShellVersion = "$PSVersionTable.PSVersion.ToString()"

// find returns the shell that is wanted, or the first that answers.
func find(s system, want string) (Shell, error) {
	if s.name != "windows" {
		switch want {
		case "", Auto, UseBash:
			return Bash, nil
		}
		return Shell{}, fmt.Errorf("the setting %s asks for %s, which is for Windows alone: set it to auto or bash", Setting, want)
	}
	var sh Shell
	var ok bool
	missing := ""
	switch want {
	case UseBash:
		if sh, ok = s.bash(); !ok {
			return Shell{}, fmt.Errorf("the setting %s asks for bash, and %w; start the server again then, or set it to auto", Setting, ErrNoBash)
		}
	case UseWSL:
		sh, missing = s.wsl()
	case UseWindows:
		if sh, ok = s.powerShell("powershell"); !ok {
			missing = "Windows PowerShell 5.1 does not answer: it is part of Windows, and its directory belongs on PATH"
		}
	case UsePwsh:
		if sh, ok = s.powerShell("pwsh"); !ok {
			missing = "PowerShell 7 does not answer: install it (winget install Microsoft.PowerShell)"
		}
	default:
		for _, try := range []struct {
			find func() (Shell, bool)
			why  string
		}{
			{s.bash, "it was found first"},
			{func() (Shell, bool) { return s.powerShell("pwsh") }, "no bash was found"},
			{func() (Shell, bool) { return s.powerShell("powershell") }, "neither a bash nor PowerShell 7 was found"},
		} {
			if sh, ok := try.find(); ok {
				sh.Why = try.why
				return sh, nil
			}
		}
		return Shell{}, ErrNone
	}
	if missing != "" {
		return Shell{}, fmt.Errorf("the setting %s asks for %s, and %s; start the server again then, or set it to auto", Setting, want, missing)
	}
	sh.Why, sh.look = "the setting "+Setting+" says so", s.look
	return sh, nil
}

// bash is the first bash for Windows that answers.
func (s system) bash() (Shell, bool) {
	for _, path := range s.bashes() {
		if v := bashVersion.FindString(s.ask(path, "--noprofile", "--norc", "-c", "echo $BASH_VERSION")); v != "" {
			return Shell{Path: path, Name: "bash " + v + " (" + path + ")", Variable: true}, true
		}
	}
	return Shell{}, false
}

// powerShell is a PowerShell that answers.
func (s system) powerShell(program string) (Shell, bool) {
	path, err := s.look(program)
	if err != nil {
		return Shell{}, false
	}
	v := powerVersion.FindString(s.ask(path, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", powerShellVersion))
	if v == "" || program == "powershell" && !strings.HasPrefix(v, "5.") {
		return Shell{}, false
	}
	name := map[string]string{"pwsh": "PowerShell ", "powershell": "Windows PowerShell "}[program]
	return Shell{Path: path, Name: name + v + " (" + path + ")", PowerShell: true, Old: oldPassing.MatchString(v), look: s.look}, true
}

// wsl is the bash of the Linux that WSL begins by default. That wsl.exe is there says
// nothing: it is where WSL is not, and where it has no Linux.
func (s system) wsl() (_ Shell, missing string) {
	program := join(s.root, "System32", "wsl.exe")
	if s.root == "" || !s.isFile(program) {
		var err error
		if program, err = s.look("wsl"); err != nil {
			return Shell{}, "there is no wsl.exe: install WSL (wsl --install)"
		}
	}
	if s.ask(program, "-l", "-q") == "" {
		return Shell{}, "WSL has no Linux: install one (wsl --install)"
	}
	// -e: no shell of the Linux reads these words.
	version, drive, _ := strings.Cut(s.ask(program, "-e", "bash", "--noprofile", "--norc", "-c", `echo $BASH_VERSION; wslpath 'C:\'`), "\n")
	v := bashVersion.FindString(version)
	if v == "" {
		return Shell{}, "the Linux that WSL begins by default has no bash that answers: install bash there, or set another Linux (wsl --set-default NAME)"
	}
	drives := wslDrives.FindStringSubmatch(strings.TrimSpace(drive))
	if drives == nil {
		return Shell{}, "its Linux does not show the drives of Windows: turn automount on in its /etc/wsl.conf"
	}
	return Shell{Path: program, Name: "bash " + v + " of WSL (" + program + ")", Variable: true, Drives: drives[1]}, ""
}

// State names what a session's commands leave to the next one in the shell: that of
// another one does not understand it. It is "" for a bash of this system.
func (s Shell) State() string {
	switch {
	case s.PowerShell:
		return UseWindows
	case s.Drives != "":
		return UseWSL
	}
	return ""
}

// Inside is the name that the shell has for a path of this system.
func (s Shell) Inside(path string) string {
	if s.Drives == "" || len(path) < 2 || path[1] != ':' || !isLetter(path[0]) {
		return path
	}
	return s.Drives + strings.ToLower(path[:1]) + strings.TrimSuffix("/"+strings.TrimLeft(strings.ReplaceAll(path[2:], `\`, "/"), "/"), "/")
}

// Outside is the path of this system for a name that the shell has, or that name where
// there is none.
func (s Shell) Outside(name string) string {
	rest, ok := strings.CutPrefix(name, s.Drives)
	if s.Drives == "" || !ok || rest == "" || !isLetter(rest[0]) || len(rest) > 1 && rest[1] != '/' {
		return name
	}
	return strings.ToUpper(rest[:1]) + `:\` + strings.ReplaceAll(strings.TrimPrefix(rest[1:], "/"), "/", `\`)
}

// Native is Outside for whatever name of a file may stand in a line, and also for a bash
// for Windows, which has the drives at /c/ and /cygdrive/c/.
func (s Shell) Native(name string) string {
	if !s.Variable || !strings.HasPrefix(name, "/") {
		return name
	}
	clean, drives := path.Clean(name), []string{s.Drives}
	if s.Drives == "" {
		drives = []string{"/cygdrive/", "/"}
	}
	for _, at := range drives {
		if there := (Shell{Drives: at}).Outside(clean); there != clean {
			return there
		}
	}
	return name
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// Has reports whether the shell would find a program of that name.
func (s Shell) Has(program string) bool {
	if s.Drives != "" {
		return ask(s.Path, "-e", "bash", "--noprofile", "--norc", "-c", "type -P -- "+bashWord(program)) != ""
	}
	_, err := lookup.Confined(program)
	return err == nil
}

// bashes are the programs that may be a bash for Windows, best first: that of Git for
// Windows, which knows the user's files by their names, and then what PATH has.
func (s system) bashes() (list []string) {
	if git, err := s.look("git"); err == nil {
		dir := parent(git)
		list = append(list, join(parent(dir), "bin", "bash.exe"), join(parent(parent(dir)), "bin", "bash.exe"))
		if core := s.ask(git, "--exec-path"); core != "" { // of a git that PATH has a stand-in for
			list = append(list, join(parent(parent(parent(strings.ReplaceAll(core, "/", `\`)))), "bin", "bash.exe"))
		}
	}
	if path, err := s.look("bash"); err == nil && !s.isStub(path) {
		list = append(list, path)
	}
	var there []string
	for _, path := range list {
		if s.isFile(path) {
			there = append(there, path)
		}
	}
	return there
}

// isStub reports whether a program is the door to the Linux of WSL, which has other
// files under other names.
func (s system) isStub(path string) bool {
	lower := strings.ToLower(path)
	return s.root != "" && strings.HasPrefix(lower, strings.ToLower(s.root)+`\`) || strings.Contains(lower, `\microsoft\windowsapps\`)
}

// parent and join work on paths of Windows, wherever they run.
func parent(path string) string { return path[:max(strings.LastIndexByte(path, '\\'), 0)] }

func join(dir string, names ...string) string {
	return strings.Join(append([]string{dir}, names...), `\`)
}
