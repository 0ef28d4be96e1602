package shell

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/testrun"
)

// TestNoTests: where there are no tests, a model does not read that all is well.
func TestNoTests(t *testing.T) {
	for _, c := range []struct {
		t    Tested
		want string
	}{
		{Tested{Command: "x", Counted: true}, "$ x\nno test was run: there is none\n"},
		{Tested{Command: "x", Counted: true, Skipped: 1}, "$ x\n0 passed, 0 failed, 1 skipped\n"},
		{Tested{Command: "x", Counted: true, Failures: []testrun.Failure{{Name: "compilation"}}}, "$ x\nno test was run\n\nFAILED compilation\n\n"},
		{Tested{Command: "x"}, "$ x\n"},
	} {
		var b strings.Builder
		if c.t.write(&b); b.String() != c.want {
			t.Errorf("%+v: %q", c.t, b.String())
		}
	}
}

// sample is a small project of one runner: it has a test that passes, one that
// fails and one that is skipped.
type sample struct {
	needs []string // programs, or packages of SIDECAR_TEST_NODE_MODULES
	files map[string]string
	all   string // runner, passed, failed, skipped, the names of what failed
	calls []sampleCall
	slow  bool
}

type sampleCall struct {
	args map[string]any
	code tools.Code
	want string
}

var samples = map[string]sample{
	"go": {
		needs: []string{"go"},
		files: map[string]string{
			"go.mod":     "module example.org/calc\n\ngo 1.24\n",
			"calc.go":    "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
			"a_test.go":  "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {}\n\nfunc TestAddMore(t *testing.T) { t.Skip(\"later\") }\n",
			"b_test.go":  "package calc\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) {\n\tt.Run(\"in side\", func(t *testing.T) { t.Error(\"sums are off\") })\n}\n",
			"sub/s.go":   "package sub\n",
			"bad/bad.go": "package bad\n\nvar x int = \"text\"\n",
		},
		all: "go 1 2 1 example.org/calc.TestBad/in_side, example.org/calc/bad",
		calls: []sampleCall{
			{map[string]any{"path": "a_test.go"}, "", "go 1 0 1 "},
			{map[string]any{"path": "b_test.go"}, tools.TestsFailed, "go 0 2 0 example.org/calc.TestBad/in_side"},
			{map[string]any{"path": "a_test.go", "name": "TestAdd"}, "", "go 1 0 0 "},
			{map[string]any{"name": "TestBad/in side", "path": "b_test.go"}, tools.TestsFailed, "go 0 2 0 example.org/calc.TestBad/in_side"},
			{map[string]any{"path": "sub", "name": "TestNone"}, tools.NotFound, "go 0 0 0 "},
			{map[string]any{"path": "sub"}, tools.NotFound, ""},
			{map[string]any{"command": "go test ."}, tools.TestsFailed, " 0 2 0 TestBad, TestBad/in_side"},
		},
	},
	"pytest": {
		needs: []string{"pytest"},
		files: map[string]string{
			"pytest.ini":      "[pytest]\n",
			"tests/test_a.py": "import pytest\n\ndef test_good():\n    pass\n\nclass TestThings:\n    def test_bad(self):\n        assert 1 + 1 == 3, 'sums are off'\n\n@pytest.mark.skip(reason='later')\ndef test_later():\n    pass\n",
			"tests/test_b.py": "def test_other():\n    pass\n",
		},
		all: "pytest 2 1 1 tests/test_a.py::TestThings::test_bad",
		calls: []sampleCall{
			{map[string]any{"path": "tests/test_b.py"}, "", "pytest 1 0 0 "},
			{map[string]any{"path": "tests/test_a.py", "name": "TestThings::test_bad"}, tools.TestsFailed, "pytest 0 1 0 tests/test_a.py::TestThings::test_bad"},
			{map[string]any{"name": "test_good"}, "", "pytest 1 0 0 "},
			{map[string]any{"name": "test_nowhere"}, tools.NotFound, "pytest 0 0 0 "},
		},
	},
	"cargo": {
		needs: []string{"cargo"},
		files: map[string]string{
			"Cargo.toml":    "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs":    "pub mod deep;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n\n    #[test]\n    fn bad() {\n        assert_eq!(1 + 1, 3, \"sums are off\");\n    }\n\n    #[test]\n    #[ignore]\n    fn later() {}\n}\n",
			"src/deep.rs":   "#[cfg(test)]\nmod tests {\n    #[test]\n    fn inside() {}\n}\n",
			"tests/over.rs": "#[test]\nfn whole() {}\n",
		},
		all: "cargo 3 1 1 tests::bad",
		calls: []sampleCall{
			{map[string]any{"path": "tests/over.rs"}, "", "cargo 1 0 0 "},
			{map[string]any{"path": "src/deep.rs"}, "", "cargo 1 0 0 "},
			{map[string]any{"name": "tests::bad"}, tools.TestsFailed, "cargo 0 1 0 tests::bad"},
			{map[string]any{"name": "nowhere"}, tools.NotFound, "cargo 0 0 0 "},
		},
	},
	"vitest": {
		slow:  true,
		needs: []string{"npm", "node_modules/vitest"},
		files: map[string]string{
			"package.json":  `{"type":"module","scripts":{"test":"vitest"}}`,
			"src/a.test.js": "import { expect, test } from 'vitest'\n\ntest('adds', () => {})\ntest('is bad', () => { console.log('{\"num\":1}'); expect(1 + 1, 'sums are off').toBe(3) })\ntest.skip('later', () => {})\n",
			"lib/b.test.js": "import { test } from 'vitest'\n\ntest('other (x)', () => {})\n",
		},
		all: "vitest 2 1 1 is bad",
		calls: []sampleCall{
			{map[string]any{"path": "lib/b.test.js"}, "", "vitest 1 0 0 "},
			{map[string]any{"path": "src"}, tools.TestsFailed, "vitest 1 1 1 is bad"},
			{map[string]any{"path": "lib", "name": "other (x)"}, "", "vitest 1 0 0 "},
		},
	},
	"jest": {
		slow:  true,
		needs: []string{"npm", "node_modules/jest"},
		files: map[string]string{
			"package.json":  `{"scripts":{"test":"jest"}}`,
			"src/a.test.js": "test('adds', () => {})\ntest('is bad', () => { console.log('x'); expect(1 + 1).toBe(3) })\ntest.skip('later', () => {})\n",
			"lib/b.test.js": "test('other (x)', () => {})\n",
			"c.test.js":     "throw new Error('broken file')\n",
		},
		all: "jest 2 1 1 c.test.js, is bad",
		calls: []sampleCall{
			{map[string]any{"path": "lib/b.test.js"}, "", "jest 1 0 0 "},
			{map[string]any{"path": "src"}, tools.TestsFailed, "jest 1 1 1 is bad"},
			{map[string]any{"path": "lib", "name": "other (x)"}, "", "jest 1 0 0 "},
			{map[string]any{"command": "npx --no-install jest src lib"}, tools.TestsFailed, " 2 1 1 is bad"},
		},
	},
	"npm with node --test": {
		needs: []string{"npm"},
		files: map[string]string{
			"package.json": `{"scripts":{"test":"node --test --test-reporter=tap"}}`,
			"a.test.js":    "const test = require('node:test'); const assert = require('node:assert');\ntest('adds', () => {});\ntest('is bad', () => { assert.equal(1 + 1, 3) });\ntest('later', { skip: true }, () => {});\ntest('outer', async (t) => { await t.test('inner', () => {}) });\n",
		},
		all: "npm 2 1 1 is bad",
	},
	"make": {
		needs: []string{"make", "go"},
		files: map[string]string{
			"Makefile":      "test:\n\t@cd src && go test -v ./...\n",
			"src/go.mod":    "module x\n\ngo 1.24\n",
			"src/x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) {}\n\nfunc TestBad(t *testing.T) { t.Error(\"sums are off\") }\n",
		},
		all: "make 1 1 0 TestBad",
		calls: []sampleCall{
			{map[string]any{"name": "TestGood"}, tools.InvalidArguments, ""},
			{map[string]any{"path": "src", "name": "TestGood"}, "", "go 1 0 0 "},
		},
	},
	"maven": {
		slow:  true,
		needs: []string{"mvn", "/etc/maven/settings-debian.xml", "/usr/share/maven-repo/org/apache/maven/surefire/surefire-junit4", "/usr/share/maven-repo/junit/junit"},
		files: map[string]string{
			".mvn/maven.config": "--offline\n--settings=/etc/maven/settings-debian.xml\n",
			"pom.xml": `<project><modelVersion>4.0.0</modelVersion><groupId>demo</groupId><artifactId>demo</artifactId><version>1</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency></dependencies></project>`,
			"src/test/java/demo/CalcTest.java": "package demo;\nimport org.junit.*;\npublic class CalcTest {\n  @Test public void adds() {}\n  @Test public void bad() { Assert.assertEquals(\"sums are off\", 3, 1 + 1); }\n" +
				"  @Ignore @Test public void later() {}\n}\n",
			"src/test/java/demo/OtherTest.java": "package demo;\nimport org.junit.*;\npublic class OtherTest {\n  @Test public void other() {}\n}\n",
		},
		all: "maven 2 1 1 demo.CalcTest.bad",
		calls: []sampleCall{
			{map[string]any{"path": "src/test/java/demo/OtherTest.java"}, "", "maven 1 0 0 "},
			{map[string]any{"path": "src/test/java/demo/CalcTest.java", "name": "adds"}, "", "maven 1 0 0 "},
			{map[string]any{"name": "bad"}, tools.TestsFailed, "maven 0 1 0 demo.CalcTest.bad"},
			{map[string]any{"command": "mvn --batch-mode test"}, tools.TestsFailed, " 2 1 1 CalcTest.bad:5"},
		},
	},
	"gradle": {
		slow:  true,
		needs: []string{"gradle", "/usr/share/java/junit4.jar"},
		files: map[string]string{
			"build.gradle": "apply plugin: 'java'\ndependencies { testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }\n",
			"src/test/java/demo/CalcTest.java": "package demo;\nimport org.junit.*;\npublic class CalcTest {\n  @Test public void adds() {}\n  @Test public void bad() { Assert.assertEquals(\"sums are off\", 3, 1 + 1); }\n" +
				"  @Ignore @Test public void later() {}\n}\n",
			"src/test/java/demo/OtherTest.java": "package demo;\nimport org.junit.*;\npublic class OtherTest {\n  @Test public void other() {}\n}\n",
		},
		all: "gradle 2 1 1 demo.CalcTest.bad",
		calls: []sampleCall{
			{map[string]any{"path": "src/test/java/demo/OtherTest.java"}, "", "gradle 1 0 0 "},
			{map[string]any{"path": "src/test/java/demo/CalcTest.java", "name": "adds"}, "", "gradle 1 0 0 "},
		},
	},
}

// everything runs the slow ones too: a minute or more.
var everything = flag.Bool("everything", false, "run all runners of tests, and all that they are tried with")

func TestRunners(t *testing.T) {
	slow.Test(t)
	for name, s := range samples {
		t.Run(name, func(t *testing.T) {
			if s.slow {
				slow.Sweep(t, *everything)
			}
			r := newRig(t)
			r.env = toolchains(t)
			lay(t, r.root, s)
			calls := append([]sampleCall{{map[string]any{}, tools.TestsFailed, s.all}}, s.calls...)
			for _, c := range calls {
				text, res, e := r.call("run_tests", c.args, func(string) {})
				code, structured := tools.Code(""), res.Structured
				if e != nil {
					code, structured = e.Code, e.Structured
				}
				got := ""
				if tested, ok := structured.(Tested); ok {
					got = summary(r.root, tested)
				}
				if code != c.code || got != c.want {
					t.Errorf("%v: %q, %q; want %q, %q\n%s", c.args, code, got, c.code, c.want, text)
				}
				if code == tools.TestsFailed && c.want == s.all && !strings.Contains(text, "sums are off") && !strings.Contains(text, "3") {
					t.Errorf("%v: the message is missing:\n%s", c.args, text)
				}
			}
		})
	}
}

// lay writes the files of a sample, or skips the test when what it needs is
// missing here.
func lay(t *testing.T, root string, s sample) {
	t.Helper()
	for _, need := range s.needs {
		if pkg, ok := strings.CutPrefix(need, "node_modules/"); ok {
			modules := os.Getenv("SIDECAR_TEST_NODE_MODULES")
			if _, err := os.Stat(filepath.Join(modules, pkg)); modules == "" || err != nil {
				needs.Skip(t, needs.Programs, fmt.Sprintf("%s is not in the directory that SIDECAR_TEST_NODE_MODULES names", pkg))
			}
			if err := ownfile.Symlink(modules, filepath.Join(root, "node_modules")); err != nil {
				t.Fatal(err)
			}
		} else if strings.HasPrefix(need, "/") {
			if _, err := os.Stat(need); err != nil {
				needs.Skip(t, needs.Programs, err)
			}
		} else if _, err := exec.LookPath(need); err != nil {
			needs.Skip(t, needs.Programs, err)
		}
	}
	for name, text := range s.files {
		at := filepath.Join(root, name)
		if err := ownfile.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// toolchains are the variables by which compilers find what they cached: the
// home of commands is empty.
func toolchains(t *testing.T) []string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"GOCACHE=" + filepath.Join(cache, "go-build"), "GOFLAGS=-mod=mod", "CARGO_HOME=" + filepath.Join(home, ".cargo"), "RUSTUP_HOME=" + filepath.Join(home, ".rustup")}
	for _, name := range []string{"GOCACHE", "CARGO_HOME", "RUSTUP_HOME"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func summary(root string, x Tested) string {
	var names []string
	for _, f := range x.Failures {
		names = append(names, strings.TrimPrefix(f.Name, root+"/"))
	}
	slices.Sort(names)
	return strings.Join([]string{x.Runner, num(x.Passed), num(x.Failed), num(x.Skipped), strings.Join(names, ", ")}, " ")
}

func num(n int) string { return string(rune('0' + n)) }
