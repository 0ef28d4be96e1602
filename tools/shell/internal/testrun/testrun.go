// Package testrun knows the runners of tests: how to tell which one a project
// has, how a file or the name of a test is written for it, and what its output
// says. It runs nothing and reads only through the files that it is given.
package testrun

import (
	"errors"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
)

// Request says what to run. Both fields may be empty.
type Request struct {
	Path string // a file or directory, a name of Files
	Name string // of a test, as the runner writes it
	On   detect.System
}

// Plan is how to run tests. Its programs are go, vitest, jest, npm, pytest,
// cargo, gradle, maven and make.
type Plan = detect.Plan

// ErrNone means that no runner was found.
var ErrNone = errors.New("no test runner was found")

// project is a directory that may be of a runner, and what is to run in it.
type project struct {
	detect.Project
	name string // of a test
	on   detect.System
}

// kinds are the kinds of runner, in the order in which one is chosen among
// several.
func kinds(r Request) []detect.Kind {
	of := func(plan func(project) (*Plan, error)) func(detect.Project) (*Plan, error) {
		return func(p detect.Project) (*Plan, error) { return plan(project{p, r.Name, r.On}) }
	}
	java := []string{".java", ".kt", ".groovy", ".scala"}
	return []detect.Kind{
		{Name: "npm", Marks: []string{"package.json"}, Ext: detect.NodeSources, Plan: of(planNode)},
		{Name: "pytest", Marks: detect.PythonMarks, Weak: []string{"conftest.py"}, Ext: []string{".py"}, Plan: of(planPytest), Bare: of(planBare)},
		{Name: "cargo", Marks: []string{"Cargo.toml"}, Ext: []string{".rs"}, Plan: of(planCargo)},
		{Name: "go", Marks: []string{"go.mod"}, Ext: []string{".go"}, Apart: true, Plan: of(planGo)},
		{Name: "gradle", Marks: []string{"build.gradle", "build.gradle.kts"}, Ext: java, Plan: of(planGradle)},
		{Name: "maven", Marks: []string{"pom.xml"}, Ext: java, Plan: of(planMaven)},
		{Name: "make", Marks: []string{"Makefile", "makefile", "GNUmakefile"}, Plan: of(planMake)},
	}
}

// Detect finds the runner of what is to be tested. It fails with ErrNone, or
// says what can't be run.
func Detect(files detect.Files, r Request) (Plan, error) {
	if strings.HasPrefix(r.Name, "-") || strings.ContainsAny(r.Name, "\n\r\x00") {
		return Plan{}, detect.Refuse("name: %q is not the name of a test", r.Name)
	}
	plan, err := detect.Finder{Files: files, Kinds: kinds(r), Tells: testFile().MatchString}.Find(r.Path)
	if errors.Is(err, detect.ErrNone) {
		err = ErrNone
	}
	return plan, err
}

// IsTest reports whether a file has tests by its name.
func IsTest(name string) bool { return testFile().MatchString(name) }

var testFile = lazily(`^(?:test_.*\.py|.*_test\.(?:py|go)|.*\.(?:test|spec)\.[cm]?[jt]sx?|.*(?:Test|Tests|IT|Spec)\.(?:java|kt|groovy|scala))$`)
