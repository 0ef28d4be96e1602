// Package shells finds the shell that command lines are for: bash, and on Windows
// PowerShell where there is none. It knows what runs a line and who parses it, but
// not what may run.
package shells

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/proctree"
)

// Shell runs command lines.
type Shell struct {
	Path       string // of the program
	Name       string // for people
	PowerShell bool   // it is one; else it is bash

	// Variable says that a line reaches it in a variable: what reads the command line
	// of a bash for Windows changes backslashes, quotes and stars.
	Variable bool
}

// bootVariable has the line of a shell that gets it so. One that it has is gone before
// the line begins.
const bootVariable = "__sc_boot"

// MaxLine bounds such a line, in UTF-16 units: Windows has room for so much in a variable.
const MaxLine = 32_000

// Bash is a bash that PATH has.
var Bash = Shell{Path: "bash", Name: "bash"}

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
	argv = append([]string{s.Path}, options...)
	if !s.Variable {
		argv = append(argv, "-c", script)
		if len(args) > 0 {
			argv = append(append(argv, "bash"), args...)
		}
		return argv, nil
	}
	boot := bootVariable + "=unset " + bootVariable + "; set --"
	for _, arg := range args {
		boot += " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return append(argv, "-c", `eval "$`+bootVariable+`"`), []string{boot + "; " + script}
}

// ErrNone says that there is no shell.
var ErrNone = errors.New("no shell was found that runs commands: install Git for Windows (https://gitforwindows.org), whose bash is used, or PowerShell 7; what was installed is found once its directory is on PATH and the server has started again")

// probeTime bounds how long a shell may take to say what it is.
const probeTime = 20 * time.Second

// Here looks for the shell of this system, once.
func Here() func() (Shell, error) {
	return sync.OnceValues(func() (Shell, error) {
		return find(system{
			name: runtime.GOOS, root: os.Getenv("SYSTEMROOT"), look: exec.LookPath,
			isFile: func(path string) bool { info, err := os.Stat(path); return err == nil && info.Mode().IsRegular() },
			ask:    ask,
		})
	})
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
	return strings.TrimSpace(out.String())
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
)

const powerShellVersion = "$PSVersionTable.PSVersion.ToString()"

// find returns the first shell that answers.
func find(s system) (Shell, error) {
	if s.name != "windows" {
		return Bash, nil
	}
	for _, path := range s.bashes() {
		if v := bashVersion.FindString(s.ask(path, "--noprofile", "--norc", "-c", "echo $BASH_VERSION")); v != "" {
			return Shell{Path: path, Name: "bash " + v + " (" + path + ")", Variable: true}, nil
		}
	}
	for _, p := range []struct{ program, name string }{{"pwsh", "PowerShell"}, {"powershell", "Windows PowerShell"}} {
		path, err := s.look(p.program)
		if err != nil {
			continue
		}
		if v := powerVersion.FindString(s.ask(path, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", powerShellVersion)); v != "" {
			return Shell{Path: path, Name: p.name + " " + v + " (" + path + ")", PowerShell: true}, nil
		}
	}
	return Shell{}, ErrNone
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

// Posix is a bash for the lines of who knows no other shell.
func Posix(here func() (Shell, error)) (Shell, error) {
	s, err := here()
	if err == nil && s.PowerShell {
		err = errors.New("no bash was found: install Git for Windows (https://gitforwindows.org), whose bash is used")
	}
	return s, err
}
