package testrun

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
)

// TestParse reads what runners printed: each file has a runner's name, what it
// printed, and the report that this makes.
func TestParse(t *testing.T) {
	tooltest.Recorded(t, 10, func(t *testing.T, a *txtar.Archive) any {
		var o Output
		for _, f := range a.Files {
			switch {
			case f.Name == "stdout":
				o.Stdout = string(f.Data)
			case f.Name == "stderr":
				o.Stderr = string(f.Data)
			case strings.HasSuffix(f.Name, ".xml"):
				o.Reports = append(o.Reports, string(f.Data))
			default:
				t.Fatalf("section %s", f.Name)
			}
		}
		runner, _, _ := strings.Cut(string(a.Comment), "\n")
		return Parse(strings.TrimPrefix(runner, "runner: "), o)
	})
}

// Whatever is printed, there is a report, and never more failures than it has.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		if a, err := txtar.ParseFile(file); err == nil && len(a.Files) > 0 {
			f.Add(string(a.Files[0].Data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, runner := range []string{"go", "vitest", "pytest", "cargo", "gradle", "make", ""} {
			r := Parse(runner, Output{Stdout: text, Stderr: text, Reports: []string{text}})
			if len(r.Failures) > maxFailures || r.Passed < 0 && !strings.Contains(text, "-") {
				t.Errorf("%s: %+v", runner, r)
			}
		}
	})
}

func TestDetect(t *testing.T) {
	vitest := `{"scripts":{"test":"tsc && vitest run"}}`
	jest29 := `{"scripts":{"test":"jest"},"devDependencies":{"jest":"^29.1.0"}}`
	both := tree("go.mod", "", "a_test.go", "package a\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\n", "package.json", vitest, "src/x.test.ts", "", "sub/a_test.go", "")
	mixed := tree("go.mod", "", "shop/a_test.go", "", "py/stock.py", "", "py/tests/test_stock.py", "", "web/package.json", vitest, "web/src/a.test.ts", "")
	many := tree("a/go.mod", "", "b/package.json", vitest, "docs/readme", "")
	java := tree("build.gradle.kts", "", "gradlew", "", "app/build.gradle", "", "app/src/test/java/demo/CalcTest.java", "")
	maven := tree("pom.xml", "", "mvnw", "", "core/pom.xml", "", "core/src/test/java/demo/CalcTest.java", "")
	rust := tree("Cargo.toml", "", "src/lib.rs", "", "src/main.rs", "", "src/a/b.rs", "", "src/a/mod.rs", "", "src/bin/x.rs", "", "tests/t.rs", "", "tests/deep/main.rs", "", "crates/c/Cargo.toml", "", "crates/c/src/lib.rs", "")
	for name, c := range map[string]struct {
		files      fstest.MapFS
		path, test string
		want       string // dir: line, or the error
	}{
		"one of several":           {both, "", "", ".: npm test --silent -- --run --reporter=json (also go)"},
		"a file says which":        {both, "a_test.go", "", ".: go test -json '-run=^(TestA|TestB)$' ./. (also vitest)"},
		"a name in it":             {both, "a_test.go", "TestA/x y", ".: go test -json '-run=^TestA$/^x_y$' ./. (also vitest)"},
		"an expression":            {both, "a_test.go", "A|B", ".: go test -json '-run=A|B' ./. (also vitest)"},
		"a directory of another":   {tree("go.mod", "", "sub/a.go", ""), "sub", "", ".: go test -json ./sub/..."},
		"vitest, a file":           {both, "src/x.test.ts", "it's", `.: npm test --silent -- --run --reporter=json src/x.test.ts '--testNamePattern=it'\''s' (also go)`},
		"jest 29, a directory":     {tree("package.json", jest29, "src/x.js", ""), "src", "", `.: npm test --silent -- --json --testPathPattern=src/`},
		"no script, but installed": {tree("package.json", `{"devDependencies":{"vitest":"1"}}`), "", "", ".: npx --no-install vitest --run --reporter=json"},
		"mocha":                    {tree("package.json", `{"scripts":{"test":"mocha"}}`, "t.js", ""), "t.js", "adds", ".: npm test --silent -- t.js --grep adds"},
		"npm's empty script":       {tree("package.json", `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`), "", "", "no test runner was found"},
		"broken package.json":      {tree("package.json", `{`), "", "", "package.json can't be read"},
		"pytest":                   {tree("pyproject.toml", "[tool.pytest]", "tests/t.py", ""), "tests/t.py", "A::b", ".: pytest -ra --tb=short --color=no ./tests/t.py::A::b"},
		"pytest of its own":        {tree("setup.py", "", "tests/t.py", "", ".venv/bin/python", ""), "", "A.b", ".: .venv/bin/python -m pytest -ra --tb=short --color=no -k 'A and b'"},
		"python without tests":     {tree("pyproject.toml", "", "a.py", ""), "", "", "no test runner was found"},
		"cargo":                    {rust, "", "", ".: cargo test --no-fail-fast --color=never"},
		"cargo, a target":          {rust, "tests/t.rs", "x", ".: cargo test --no-fail-fast --color=never --test=t -- x"},
		"cargo, a deep target":     {rust, "tests/deep/main.rs", "", ".: cargo test --no-fail-fast --color=never --test=deep"},
		"cargo, a module":          {rust, "src/a/b.rs", "", ".: cargo test --no-fail-fast --color=never -- a::b::"},
		"cargo, a directory of it": {rust, "src/a/mod.rs", "", ".: cargo test --no-fail-fast --color=never -- a::"},
		"cargo, a program":         {rust, "src/bin/x.rs", "", ".: cargo test --no-fail-fast --color=never --bin=x"},
		"cargo, a crate":           {rust, "crates/c/src/lib.rs", "", "crates/c: cargo test --no-fail-fast --color=never --lib"},
		"gradle":                   {java, "", "adds", ".: ./gradlew cleanTest test --continue --console=plain --tests '*adds'"},
		"gradle, a module's class": {java, "app/src/test/java/demo/CalcTest.java", "adds", "app: ../gradlew cleanTest test --continue --console=plain --tests demo.CalcTest.adds"},
		"gradle, a package":        {java, "app/src/test/java/demo", "", "app: ../gradlew cleanTest test --continue --console=plain --tests 'demo.*'"},
		"maven":                    {maven, "", "", ".: ./mvnw --batch-mode --no-transfer-progress test"},
		"maven, a class":           {maven, "core/src/test/java/demo/CalcTest.java", "", "core: ../mvnw --batch-mode --no-transfer-progress test -Dtest=demo.CalcTest"},
		"maven, a method":          {maven, "", "adds", ".: ./mvnw --batch-mode --no-transfer-progress test '-Dtest=*#adds'"},
		"make":                     {tree("Makefile", "all:\ncheck: all\n\tx\n"), "", "", ".: make check"},
		"make can't choose":        {tree("Makefile", "test:\n"), "", "x", "make runs all tests"},
		"a variable of make":       {tree("Makefile", "test := 1\n"), "", "", "no test runner was found"},
		"a root of projects":       {many, "", "", "path: there are several projects, say which: a (go), b (vitest)"},
		"one of them":              {many, "b", "", "b: npm test --silent -- --run --reporter=json"},
		"the only one":             {tree("a/go.mod", "", "docs/x", ""), "", "", "a: go test -json ./..."},
		"python below go":          {mixed, "py/tests/test_stock.py", "", "py: python3 -m pytest -ra --tb=short --color=no ./tests/test_stock.py"},
		"its directory":            {mixed, "py", "", "py: python3 -m pytest -ra --tb=short --color=no"},
		"its tests":                {mixed, "py/tests", "test_a", "py: python3 -m pytest -ra --tb=short --color=no -k test_a ./tests"},
		"the others are named":     {mixed, "", "", ".: go test -json ./... (also pytest in py, vitest in web)"},
		"another one of them":      {mixed, "web/src/a.test.ts", "", "web: npm test --silent -- --run --reporter=json src/a.test.ts"},
		"go below it":              {mixed, "shop/a_test.go", "", ".: go test -json ./shop"},
		"no project at all":        {tree("test_x.py", "", "a.md", ""), "test_x.py", "", ".: python3 -m pytest -ra --tb=short --color=no ./test_x.py"},
		"no project in the root":   {tree("test_x.py", "", "a.md", ""), "", "", ".: python3 -m pytest -ra --tb=short --color=no"},
		"conftest is no project":   {tree("pyproject.toml", "", "a/tests/conftest.py", "", "a/tests/test_x.py", ""), "a/tests/test_x.py", "", ".: pytest -ra --tb=short --color=no ./a/tests/test_x.py"},
		"but where there is none":  {tree("a/conftest.py", "", "a/test_x.py", ""), "a/test_x.py", "", "a: pytest -ra --tb=short --color=no ./test_x.py"},
		"typescript without npm":   {tree("go.mod", "", "web/a.test.ts", ""), "web/a.test.ts", "", "no test runner was found"},
		"two languages":            {tree("go.mod", "", "package.json", vitest, "x/a_test.go", "", "x/b.test.ts", ""), "x", "", ".: npm test --silent -- --run --reporter=json x (also go)"},
		"one in a directory":       {tree("go.mod", "", "package.json", vitest, "x/a_test.go", "", "x/b.ts", ""), "x", "", ".: go test -json ./x/... (also vitest)"},
		"deeper projects":          {tree("go.mod", "", "packages/a/package.json", vitest, "packages/b/package.json", vitest), "", "", ".: go test -json ./... (also vitest in packages/a, vitest in packages/b)"},
		"workspaces":               {tree("package.json", vitest, "packages/a/package.json", vitest), "", "", ".: npm test --silent -- --run --reporter=json"},
		"modules":                  {tree("go.mod", "", "b/go.mod", "", "node_modules/x/package.json", vitest), "", "", ".: go test -json ./... (also go in b)"},
		"above a directory":        {tree("go.mod", "", "a/b/c.go", ""), "a/b", "", ".: go test -json ./a/b/..."},
		"nothing above":            {many, "docs", "", "no test runner was found"},
		"no such file":             {both, "none", "", "file does not exist"},
		"like an option":           {both, "", "-x", "is not the name of a test"},
		"two lines":                {both, "", "a\nb", "is not the name of a test"},
		"a name for the shell":     {both, "a_test.go", "$(x); `y`", ".: go test -json '-run=$(x); `y`' ./. (also vitest)"},
		"a file for the shell":     {tree("go.mod", "", "a b;c/d_test.go", ""), "a b;c/d_test.go", "", ".: go test -json './a b;c'"},
		"an option for a file":     {tree("package.json", jest29, "-x.js", ""), "-x.js", "", ".: npm test --silent -- --json --runTestsByPath ./-x.js"},
	} {
		plan, err := Detect(c.files, Request{Path: c.path, Name: c.test})
		line, _ := shells.Bash.Command(plan.Words...)
		got := plan.Dir + ": " + line
		if err != nil {
			got = err.Error()
		}
		if len(plan.Others) > 0 {
			got += " (also " + strings.Join(plan.Others, ", ") + ")"
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestOnWindows: programs have other names there, and PowerShell starts no script for sh.
func TestOnWindows(t *testing.T) {
	power, bash, linux := detect.System{Windows: true, Batch: true}, detect.System{Windows: true}, detect.System{}
	jest := `{"scripts": {"test": "jest"}}`
	for _, c := range []struct {
		files fstest.MapFS
		on    detect.System
		path  string
		test  string
		want  string
	}{
		{tree("go.mod", "", "a b_test.go", ""), power, "", "TestÄ", "go test -json '-run=TestÄ' ./..."},
		{tree("package.json", jest), power, "", `it's`, `npm.cmd test --silent '"--"' --json '"--testNamePattern=it''s"'`},
		{tree("package.json", jest), power, "", "a&calc", `npm.cmd test --silent '"--"' --json '"--testNamePattern=a&calc"'`},
		{tree("package.json", jest), power, "", "100%", "would not reach the batch file"},
		{tree("package.json", jest), bash, "", "100%", `npm test --silent -- --json --testNamePattern=100%`},
		{tree("package.json", `{"devDependencies": {"vitest": "1"}}`), power, "", "", "npx.cmd --no-install vitest"},
		{tree("build.gradle", "", "gradlew", "", "gradlew.bat", ""), power, "", "", "./gradlew.bat cleanTest test --continue '\"--console=plain\"'"},
		{tree("build.gradle", "", "gradlew", "", "gradlew.bat", ""), bash, "", "", "./gradlew cleanTest test --continue --console=plain"},
		{tree("build.gradle", "", "gradlew", ""), power, "", "", "gradle cleanTest"},
		{tree("pom.xml", "", "mvnw.cmd", "", "core/pom.xml", "", "core/src/test/java/A.java", ""), power, "core/src/test/java/A.java", "", "../mvnw.cmd --batch-mode --no-transfer-progress test '\"-Dtest=A\"'"},
		{tree("pytest.ini", "", ".venv/Scripts/python.exe", "", ".venv/bin/python", ""), power, "", "", ".venv/Scripts/python.exe -m pytest"},
		{tree("pytest.ini", "", ".venv/Scripts/python.exe", ""), bash, "", "", ".venv/Scripts/python.exe -m pytest"},
		{tree("pytest.ini", "", ".venv/Scripts/python.exe", ""), linux, "", "", "pytest -ra"},
		{tree("test_x.py", ""), power, "test_x.py", "a and b", "python -m pytest -ra '--tb=short' '--color=no' -k 'a and b' ./test_x.py"},
		{tree("test_x.py", ""), linux, "test_x.py", "", "python3 -m pytest"},
	} {
		plan, err := Detect(c.files, Request{Path: c.path, Name: c.test, On: c.on})
		got := ""
		if err == nil {
			got, err = shells.Shell{PowerShell: c.on.Batch, Old: true}.Command(plan.Words...)
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v, %q:\n got %s\nwant %s", c.on, c.test, got, c.want)
		}
	}
}

// tree is a project of files, by name and text.
func tree(names ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(names); i += 2 {
		m[names[i]] = &fstest.MapFile{Data: []byte(names[i+1])}
	}
	return m
}
