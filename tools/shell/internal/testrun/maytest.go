package testrun

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
)

// MayTest reports of a file, by its name, whether the runner of a plan may find tests in it. It
// goes by the names that runners look for, unless the project says other ones.
func MayTest(files detect.Files, plan Plan) func(name string) bool {
	p := detect.Project{Files: files, Dir: plan.Dir}
	says := func(what *regexp.Regexp, configs ...string) bool {
		return slices.ContainsFunc(configs, func(name string) bool { return what.MatchString(p.Read(name)) })
	}
	source := func(name string) bool { return slices.Contains(plan.Ext, path.Ext(name)) }
	switch plan.Runner {
	case "go":
		return func(name string) bool { return strings.HasSuffix(name, "_test.go") }
	case "pytest":
		if says(ownPython(), "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py") {
			return func(string) bool { return true }
		}
		return func(name string) bool { return source(name) && IsTest(path.Base(name)) }
	case "vitest", "jest":
		configs := []string{"package.json"}
		for _, base := range []string{"jest.config.", "vitest.config.", "vite.config.", "vitest.workspace."} {
			for _, ext := range []string{"js", "ts", "mjs", "cjs", "mts", "cts", "json"} {
				configs = append(configs, base+ext)
			}
		}
		if says(ownNode(), configs...) {
			return source
		}
		return func(name string) bool {
			return source(name) && (IsTest(path.Base(name)) || strings.Contains("/"+name, "/__tests__/"))
		}
	case "npm": // a script takes anything for a test
		return func(name string) bool { return source(name) || aTest().MatchString(name) }
	case "cargo", "gradle", "maven":
		return source
	}
	return func(string) bool { return true }
}

var (
	ownPython = lazily(`python_files|doctest|addopts|pytest_collect|pytest_plugins`)
	ownNode   = lazily(`testMatch|testRegex|include|projects|preset|rootDir|roots`)
	aTest     = lazily(`(?i)test|spec`)
)

// Projects are the projects that a runner is known for: that of the root, and those below.
func Projects(files detect.Files, on detect.System) []Plan {
	return detect.Finder{Files: files, Kinds: kinds(Request{On: on}), Tells: testFile().MatchString}.All()
}
