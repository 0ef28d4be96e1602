// Package testrun knows the runners of tests: how to tell which one a project
// has, how a file or the name of a test is written for it, and what its output
// says. It runs nothing and reads only through the files that it is given.
package testrun

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Files is what is looked at to tell which runner a project has.
type Files interface {
	fs.StatFS
	fs.ReadFileFS
	fs.ReadDirFS
}

// Request says what to run. Both fields may be empty.
type Request struct {
	Path string // a file or directory, a name of Files
	Name string // of a test, as the runner writes it
}

// Plan is how to run tests.
type Plan struct {
	Runner string   // go, vitest, jest, npm, pytest, cargo, gradle, maven, make
	Dir    string   // where it runs, a name of Files
	Line   string   // what a shell runs there
	Others []string // what else there is, and is not run: "go", "vitest in web"
}

// ErrNone means that no runner was found.
var ErrNone = errors.New("no test runner was found")

// Refused says why a request can't be run.
type Refused struct{ why string }

func (r Refused) Error() string { return r.why }

func refused(format string, args ...any) error { return Refused{fmt.Sprintf(format, args...)} }

// runner is one kind of runner.
type runner struct {
	name  string
	marks []string // files, any of which says that a directory is such a project
	weak  []string // the same where nothing above it says so
	ext   []string // of its sources: which of several runners a path is for

	// plan is nil when the directory is no such project after all.
	plan func(p project) (*Plan, error)
}

// project is a directory that may be of a runner, and what is to run in it.
type project struct {
	files Files
	dir   string
	path  string // relative to dir, "" for all of it
	isDir bool   // path is a directory
	name  string
}

// runners are in the order in which one is chosen among several.
var runners = []runner{
	{"npm", []string{"package.json"}, nil, []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}, planNode},
	{"pytest", []string{"pytest.ini", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini"}, []string{"conftest.py"}, []string{".py"}, planPytest},
	{"cargo", []string{"Cargo.toml"}, nil, []string{".rs"}, planCargo},
	{"go", []string{"go.mod"}, nil, []string{".go"}, planGo},
	{"gradle", []string{"build.gradle", "build.gradle.kts"}, nil, []string{".java", ".kt", ".groovy", ".scala"}, planGradle},
	{"maven", []string{"pom.xml"}, nil, []string{".java", ".kt", ".groovy", ".scala"}, planMaven},
	{"make", []string{"Makefile", "makefile", "GNUmakefile"}, nil, nil, planMake},
}

func (p project) has(name string) bool {
	_, err := fs.Stat(p.files, path.Join(p.dir, name))
	return err == nil
}

func (p project) read(name string) string {
	data, err := p.files.ReadFile(path.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// line joins words to a command, each quoted as a shell needs it.
func line(words ...string) string {
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

func quote(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=:@%+,", r)
	}
	if w != "" && strings.TrimFunc(w, plain) == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
