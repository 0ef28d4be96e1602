package detect

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Files is what is looked at to tell what a project is.
type Files interface {
	fs.StatFS
	fs.ReadFileFS
	fs.ReadDirFS
}

// Plan is how a program is run on a path of a project.
type Plan struct {
	Runner string   // the program, by the name that people know it by
	Dir    string   // where it runs, a name of Files
	Words  []string // the program and its arguments
	Line   string   // the same as a line for the shell that runs it
	Ext    []string // of the sources that it is for
	Note   string   // what else is to be known of the choice
	Others []string // what else there is, and is not run: "go", "vitest in web"
	Missed []string // what else there is, and can't be run: "web", "npm in ."
}

// System is where the programs run: their names differ.
type System struct {
	Windows bool

	// Batch says that batch files are started, and no scripts for sh: by PowerShell.
	Batch bool
}

// Python is the interpreter that a system has.
func (s System) Python() string {
	if s.Windows {
		return "python"
	}
	return "python3"
}

// InVenv is a program of an environment of Python.
func (s System) InVenv(dir, program string) string {
	if s.Windows {
		return dir + "/Scripts/" + program + ".exe"
	}
	return dir + "/bin/" + program
}

// Script is the name of what is a script elsewhere, as npm and gradlew are; ending is
// that of the batch file beside it.
func (s System) Script(name, ending string) string {
	if s.Batch {
		return name + ending
	}
	return name
}

// ErrNone means that no kind fits.
var ErrNone = errors.New("no project was found")

// Refused says why a request can't be run.
type Refused struct{ why string }

func (r Refused) Error() string { return r.why }

// Refuse is an error of the type Refused.
func Refuse(format string, args ...any) error { return Refused{fmt.Sprintf(format, args...)} }

// Kind is one kind of project, and how its program is run.
type Kind struct {
	Name  string
	Marks []string // files, any of which says that a directory is such a project
	Weak  []string // the same where nothing above it says so
	Ext   []string // of its sources: which of several kinds a path is for
	Apart bool     // a project inside of another one is not run with it

	// Plan is nil when the directory is no such project after all.
	Plan func(p Project) (*Plan, error)

	// Bare, if set, is Plan for sources that no project is around.
	Bare func(p Project) (*Plan, error)
}

// What several kinds of project have in common.
var (
	NodeSources = []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}
	PythonMarks = []string{"pytest.ini", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini"}
)

// Project is a directory that may be of a kind, and what is to run in it.
type Project struct {
	Files Files
	Dir   string
	Path  string // relative to Dir, "" for all of it
	IsDir bool   // Path is a directory
}

// Has reports whether there is a file of that name in the project.
func (p Project) Has(name string) bool {
	_, err := fs.Stat(p.Files, path.Join(p.Dir, name))
	return err == nil
}

// Read is the text of a file of the project, "" when it can't be read.
func (p Project) Read(name string) string {
	data, err := p.Files.ReadFile(path.Join(p.Dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// Above finds a file in the project's directory or the nearest one above it
// that has it, as it is written from there: "../../gradlew", or "".
func (p Project) Above(name string) string {
	for up := ""; ; up += "../" {
		switch {
		case p.Has(name):
			return up + name
		case p.Dir == ".":
			return ""
		}
		p.Dir = path.Dir(p.Dir)
	}
}
