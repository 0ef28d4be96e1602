package lint

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
)

// TestParse reads what linters printed: each file has a linter's name, its exit
// code, what it printed, and the report that this makes. That of ruff was
// written by its documentation; the others were recorded.
func TestParse(t *testing.T) {
	tooltest.Recorded(t, 15, func(t *testing.T, a *txtar.Archive) any {
		r := Parse(recorded(t, a))
		type fixed struct {
			Finding
			Fix []Edit `json:",omitempty"`
		}
		shown := struct {
			Read     bool
			Findings []fixed
			Fixed    map[string]string `json:",omitempty"`
		}{r.Read, nil, r.Fixed}
		for _, f := range Sort(r.Findings) {
			shown.Findings = append(shown.Findings, fixed{f, f.Fix})
		}
		return shown
	})
}

func recorded(t *testing.T, a *txtar.Archive) (linter string, o Output) {
	t.Helper()
	for l := range strings.Lines(string(a.Comment)) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(l), ": "); key {
		case "linter":
			linter = value
		case "code":
			o.Code = number(value)
		}
	}
	for _, f := range a.Files {
		switch f.Name {
		case "stdout":
			o.Stdout = string(f.Data)
		case "stderr":
			o.Stderr = string(f.Data)
		default:
			t.Fatalf("section %s", f.Name)
		}
	}
	return linter, o
}

// Whatever is printed, there is a report, and what it says to edit can be made
// or is left.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		if a, err := txtar.ParseFile(file); err == nil && len(a.Files) > 0 {
			f.Add(string(a.Files[0].Data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for linter := range parsers {
			r := Parse(linter, Output{Stdout: text, Stderr: text})
			texts := map[string][]byte{}
			for _, finding := range r.Findings {
				for _, e := range finding.Fix {
					texts[e.File] = []byte("one\ntwo\nthree\n")
				}
			}
			if _, left := Apply(r.Findings, texts); len(left) > len(r.Findings) {
				t.Errorf("%s: more is left than was found", linter)
			}
		}
	})
}

func TestApply(t *testing.T) {
	at := func(start, end int, text string) Edit {
		return Edit{File: "a", Start: Position{Offset: start}, End: Position{Offset: end}, New: text}
	}
	row := func(line, column, endLine, endColumn int, text string) Edit {
		return Edit{File: "a", Start: Position{Line: line, Column: column}, End: Position{Line: endLine, Column: endColumn}, New: text}
	}
	elsewhere := Edit{File: "b", New: "x"}
	for name, c := range map[string]struct {
		text  string
		fixes [][]Edit
		want  string
		left  int
	}{
		"two":                  {"one two\n", [][]Edit{{at(4, 7, "2")}, {at(0, 3, "1")}}, "1 2\n", 0},
		"none":                 {"one\n", [][]Edit{nil}, "", 1},
		"the first of two":     {"one two\n", [][]Edit{{at(0, 5, "1")}, {at(4, 7, "2")}}, "1wo\n", 1},
		"at the same place":    {"one\n", [][]Edit{{at(0, 0, "a ")}, {at(0, 0, "b ")}}, "a one\n", 1},
		"all of it or nothing": {"one two\n", [][]Edit{{at(0, 3, "1"), at(4, 70, "2")}, {at(4, 7, "2")}}, "one 2\n", 1},
		"not of another file":  {"one\n", [][]Edit{{at(0, 3, "1"), elsewhere}}, "", 1},
		"that meets itself":    {"one two\n", [][]Edit{{at(0, 5, "1"), at(3, 6, "2")}}, "", 1},
		"side by side":         {"one two\n", [][]Edit{{at(0, 3, "1"), at(3, 4, "")}}, "1two\n", 0},
		"before the beginning": {"one\n", [][]Edit{{at(-1, 2, "")}}, "", 1},
		"end before start":     {"one\n", [][]Edit{{at(2, 1, "")}}, "", 1},
		"lines and characters": {"é = 1\r\nüb = 2\r\n", [][]Edit{{row(2, 2, 2, 3, "x")}, {row(1, 1, 2, 1, "")}}, "üx = 2\r\n", 0},
		"a line too many":      {"one\n", [][]Edit{{row(3, 1, 3, 1, "x")}}, "", 1},
		"the end of a file":    {"one\n", [][]Edit{{row(2, 1, 2, 1, "two\n")}}, "one\ntwo\n", 0},
	} {
		var list []Finding
		for _, fix := range c.fixes {
			list = append(list, Finding{Fix: fix})
		}
		changed, left := Apply(list, map[string][]byte{"a": []byte(c.text)})
		if string(changed["a"]) != c.want || len(left) != c.left || changed["b"] != nil {
			t.Errorf("%s: %q, %d left; want %q, %d", name, changed["a"], len(left), c.want, c.left)
		}
	}
}

// What is deleted leaves no blank line in a file of Go that was formatted, and
// one that was not is not formatted by the way.
func TestApplyFormats(t *testing.T) {
	good := "package a\n\nfunc f(s string) {\n\ts = s\n}\n"
	bad := strings.Replace(good, "func f(", "func f( ", 1)
	for _, text := range []string{good, bad} {
		at := strings.Index(text, "\ts = s") + 1
		fix := []Finding{{Fix: []Edit{{File: "a.go", Start: Position{Offset: at}, End: Position{Offset: at + 5}}}}}
		changed, _ := Apply(fix, map[string][]byte{"a.go": []byte(text)})
		if got := string(changed["a.go"]); strings.Contains(got, "\t") != (text == bad) || got == text {
			t.Errorf("%q", got)
		}
	}
}

func TestDetect(t *testing.T) {
	goes := tree("go.mod", "", "a.go", "", "sub/a_test.go", "", "README.md", "", "run", "#!/usr/bin/env bash\n", "data", "x")
	golangci := tree("go.mod", "", "a.go", "", ".golangci.yml", "version: \"2\"\n")
	eslint := tree("package.json", "{}", "eslint.config.js", "", "node_modules/.bin/eslint", "", "src/a.ts", "", "-x.js", "")
	monorepo := tree("package.json", "{}", "eslint.config.js", "", "node_modules/.bin/eslint", "", "packages/a/package.json", "{}", "packages/a/i.ts", "")
	biome := tree("package.json", "{}", "biome.json", "{}", "node_modules/.bin/biome", "", "node_modules/.bin/eslint", "", "a.css", "")
	python := tree("pyproject.toml", "[tool.ruff.lint]\n", "a.py", "", ".venv/bin/ruff", "")
	flake8 := tree("setup.cfg", "[flake8]\n", "a.py", "")
	rust := tree("Cargo.toml", "", "src/lib.rs", "")
	mixed := tree("shop/a.go", "", "shop/b.json", "", "data/b.json", "", "go.mod", "", "package.json", "{}", "eslint.config.js", "", "node_modules/.bin/eslint", "", "py/a.py", "", "scripts/x.sh", "", "scripts/y.bash", "", "tools/go.mod", "", "java/pom.xml", "")
	golangciLine := "golangci-lint run --fix=false --output.json.path=stdout --show-stats=false --path-mode=abs --max-issues-per-linter=0 --max-same-issues=0 --uniq-by-line=false "
	const noFixes = "gives no fixes that could be reviewed first"
	for name, c := range map[string]struct {
		files     fstest.MapFS
		path      string
		fix       bool
		installed string
		want      string // dir: line, or the error
	}{
		"go vet":                         {goes, "", false, "go", ".: go vet -json ./..."},
		"go vet, fix":                    {goes, "", true, "go", ".: go vet -json ./..."},
		"a file":                         {goes, "a.go", false, "go", ".: go vet -json ./."},
		"a directory":                    {goes, "sub", false, "go", ".: go vet -json ./sub/..."},
		"golangci-lint is there":         {goes, "", false, "go golangci-lint", ".: " + golangciLine + "./..."},
		"golangci-lint is wanted":        {golangci, "", true, "go golangci-lint", ".: " + golangciLine + "./..."},
		"but is not there":               {golangci, "", false, "go", ".: go vet -json ./... [golangci-lint is configured here, but is not installed.]"},
		"nothing for go":                 {goes, "", false, "", "No linter for Go is installed"},
		"nothing that is wanted":         {golangci, "", false, "", "golangci-lint is configured here, but is not installed. No linter for Go is installed"},
		"a language that nobody knows":   {goes, "README.md", false, "go", detect.ErrNone.Error()},
		"no language":                    {goes, "data", false, "go shellcheck", detect.ErrNone.Error()},
		"a script by its first line":     {goes, "run", false, "go shellcheck", ".: shellcheck --format=json -- run"},
		"no linter for it":               {goes, "run", false, "go", "let the user install shellcheck"},
		"eslint":                         {eslint, "", false, "", ".: node_modules/.bin/eslint --format json ."},
		"eslint, fix":                    {eslint, "src/a.ts", true, "", ".: node_modules/.bin/eslint --format json --fix-dry-run src/a.ts"},
		"eslint, no option":              {eslint, "-x.js", false, "", ".: node_modules/.bin/eslint --format json ./-x.js"},
		"of the project around it":       {monorepo, "packages/a/i.ts", false, "eslint", "packages/a: ../../node_modules/.bin/eslint --format json i.ts"},
		"biome is configured":            {biome, "a.css", false, "", ".: node_modules/.bin/biome lint --reporter=json --max-diagnostics=none a.css"},
		"biome, fix":                     {biome, "", true, "", "biome " + noFixes},
		"nothing for node":               {tree("package.json", "{}"), "", false, "go", "npm install --save-dev eslint"},
		"ruff of its own":                {python, "a.py", false, "", ".: .venv/bin/ruff check --no-fix --output-format=json a.py"},
		"flake8 is configured":           {flake8, "", false, "ruff flake8", ".: flake8 '--format=%(path)s:%(row)d:%(col)d: %(code)s %(text)s' ."},
		"flake8, fix":                    {flake8, "", true, "ruff flake8", "flake8 " + noFixes},
		"pyflakes by its other name":     {flake8, "", false, "pyflakes3", ".: pyflakes3 . [flake8 is configured here, but is not installed.]"},
		"no project around it":           {tree("x/a.py", "", "b.md", ""), "x/a.py", false, "ruff", "x: ruff check --no-fix --output-format=json a.py"},
		"nothing for python":             {flake8, "", false, "", "let the user install ruff, flake8 or pyflakes"},
		"clippy":                         {rust, "", true, "cargo cargo-clippy", ".: cargo clippy --quiet --message-format=json --all-targets --workspace"},
		"no clippy":                      {rust, "src/lib.rs", false, "cargo", ".: cargo check --quiet --message-format=json --all-targets [Only the compiler looked: clippy is not installed.]"},
		"nothing for java":               {tree("pom.xml", "", "src/A.java", ""), "src/A.java", false, "mvn", "No linter for Java"},
		"scripts":                        {mixed, "scripts", false, "shellcheck", "scripts: shellcheck --format=json -- x.sh y.bash"},
		"scripts, fix":                   {mixed, "scripts", true, "shellcheck", "shellcheck " + noFixes},
		"a root of several":              {mixed, "", false, "go ruff shellcheck", ".: node_modules/.bin/eslint --format json . (also go vet, ruff in py, shellcheck in scripts, go vet in tools)"},
		"those that are not there":       {mixed, "", false, "ruff", ".: node_modules/.bin/eslint --format json . (also ruff in py)"},
		"data beside sources":            {mixed, "shop", false, "go ruff", ".: go vet -json ./shop/... (also eslint)"},
		"data alone":                     {mixed, "data", false, "go ruff", ".: node_modules/.bin/eslint --format json data (also go vet)"},
		"one of them":                    {mixed, "py", false, "go ruff", "py: ruff check --no-fix --output-format=json ."},
		"the only one that lies deeper":  {tree("a/go.mod", "", "docs/x", ""), "", false, "go", "a: go vet -json ./..."},
		"why the only one does not work": {tree("a/go.mod", "", "docs/x", ""), "", false, "", "No linter for Go is installed"},
		"no project at all":              {tree("docs/x.md", ""), "", false, "go", detect.ErrNone.Error()},
		"no such file":                   {goes, "none.go", false, "go", "file does not exist"},
		"a name for the shell":           {tree("x/$(y).py", ""), "x/$(y).py", false, "ruff", "x: ruff check --no-fix --output-format=json '$(y).py'"},
	} {
		plan, err := Detect(c.files, Request{Path: c.path, Fix: c.fix, Installed: func(program string) bool { return slices.Contains(strings.Fields(c.installed), program) }})
		line, _ := shells.Bash.Command(plan.Words...)
		got := plan.Dir + ": " + line
		if err != nil {
			got = err.Error()
		}
		if plan.Note != "" {
			got += " [" + plan.Note + "]"
		}
		if len(plan.Others) > 0 {
			got += " (also " + strings.Join(plan.Others, ", ") + ")"
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
		if err == nil && parsers[plan.Runner] == nil {
			t.Errorf("%s: the output of %s can't be read; these can: %v", name, plan.Runner, slices.Sorted(maps.Keys(parsers)))
		}
		if strings.Contains(c.want, "install") && err != nil && !errors.As(err, new(Missing)) {
			t.Errorf("%s: %T", name, err)
		}
	}
}

// A directory with more scripts than one call takes says so.
func TestManyScripts(t *testing.T) {
	files := fstest.MapFS{}
	for i := range maxScripts + 1 {
		files["s/"+strings.Repeat("x", i+1)+".sh"] = &fstest.MapFile{}
	}
	plan, err := Detect(files, Request{Path: "s", Installed: func(string) bool { return true }})
	if err != nil || strings.Count(strings.Join(plan.Words, " "), ".sh") != maxScripts || !strings.Contains(plan.Note, "first 200 of 201") {
		t.Errorf("%v, %q", err, plan.Note)
	}
	delete(files, "s/x.sh")
	if plan, err := Detect(files, Request{Path: "s", Installed: func(string) bool { return true }}); err != nil || plan.Note != "" {
		t.Errorf("control: %v, %q", err, plan.Note)
	}
}

// TestOnWindows: the programs of a project have other names there.
func TestOnWindows(t *testing.T) {
	files := tree("package.json", `{"eslintConfig": {}}`, "node_modules/.bin/eslint", "", "node_modules/.bin/eslint.cmd", "", "a.js", "", "py/ruff.toml", "", "py/.venv/Scripts/ruff.exe", "", "py/.venv/bin/ruff", "", "py/a b.py", "")
	for _, c := range []struct {
		on   detect.System
		path string
		want string
	}{
		{detect.System{Windows: true, Batch: true}, "a.js", "node_modules/.bin/eslint.cmd --format json a.js"},
		{detect.System{Windows: true}, "a.js", "node_modules/.bin/eslint --format json a.js"},
		{detect.System{Windows: true, Batch: true}, "py/a b.py", ".venv/Scripts/ruff.exe check --no-fix '--output-format=json' 'a b.py'"},
		{detect.System{}, "py/a b.py", ".venv/bin/ruff check --no-fix --output-format=json 'a b.py'"},
	} {
		plan, err := Detect(files, Request{Path: c.path, On: c.on, Installed: func(string) bool { return false }})
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if got, err := (shells.Shell{PowerShell: c.on.Batch}).Command(plan.Words...); err != nil || got != c.want {
			t.Errorf("%+v:\n got %s, %v\nwant %s", c.on, got, err, c.want)
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
