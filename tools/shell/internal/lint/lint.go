// Package lint knows linters: how to tell which one a project has, how it is
// run on a path, what its output says, and which edits its fixes are. It runs
// nothing and reads only through the files that it is given.
package lint

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
)

// Request says what is to be looked at.
type Request struct {
	Path string // a file or directory, a name of Files; "" is all
	Fix  bool   // the linter's fixes are wanted

	On detect.System

	// Installed reports whether there is a program of that name.
	Installed func(program string) bool
}

// Missing says which linter would have to be installed.
type Missing struct{ why string }

func (m Missing) Error() string { return m.why }

func missing(format string, args ...any) error { return Missing{fmt.Sprintf(format, args...)} }

// Detect finds the linter for what is at a path. It fails with
// detect.ErrNone, with what is missing, or says what can't be run.
func Detect(files detect.Files, r Request) (detect.Plan, error) {
	kinds := r.kinds()
	if info, err := fs.Stat(files, r.Path); r.Path != "" && err == nil && !info.IsDir() {
		known := slices.ContainsFunc(kinds, func(k detect.Kind) bool { return slices.Contains(k.Ext, path.Ext(r.Path)) })
		switch {
		case known:
		case forShell(files, r.Path):
			plan, err := r.shellcheck(detect.Project{Files: files, Dir: ".", Path: r.Path})
			if err != nil {
				return detect.Plan{}, err
			}
			plan.Dir = "."
			return *plan, nil
		default:
			return detect.Plan{}, detect.ErrNone // that of the project around it would not look at it
		}
	}
	return detect.Finder{Files: files, Kinds: kinds, Tells: isSource}.Find(r.Path)
}

// nodeData are what linters of Node look at besides its sources.
var nodeData = []string{".json", ".jsonc", ".css"}

// isSource reports whether a file tells which language a directory has, where
// files of data lie beside sources of any.
func isSource(name string) bool { return !slices.Contains(nodeData, path.Ext(name)) }

// IsSource reports whether a linter is known for such a file.
func IsSource(name string) bool {
	return isSource(name) && slices.ContainsFunc(Request{}.kinds(), func(k detect.Kind) bool { return slices.Contains(k.Ext, path.Ext(name)) })
}

// texts are what linters of Node read with plug-ins, and those of Python in notebooks.
var texts = []string{".md", ".mdx", ".html", ".yaml", ".yml", ".toml", ".graphql", ".gql", ".astro", ".ipynb"}

// Reads reports whether the linter of a plan may read a file, by its name.
func Reads(plan detect.Plan, name string) bool {
	ext := path.Ext(name)
	own := slices.Contains(plan.Ext, ext)
	switch plan.Runner {
	case "eslint", "biome":
		return own || slices.Contains(texts, ext)
	case "ruff", "flake8", "pyflakes":
		return own || ext == ".ipynb"
	}
	return own
}

// kinds are the kinds of project, in the order in which one is chosen among
// several.
func (r Request) kinds() []detect.Kind {
	return []detect.Kind{
		{Name: "npm", Marks: []string{"package.json", "biome.json", "biome.jsonc"}, Ext: slices.Concat(nodeData, detect.NodeSources), Plan: r.node},
		{Name: "python", Marks: append([]string{"ruff.toml", ".ruff.toml", ".flake8"}, detect.PythonMarks...), Ext: []string{".py", ".pyi"}, Plan: r.python, Bare: r.python},
		{Name: "cargo", Marks: []string{"Cargo.toml"}, Ext: []string{".rs"}, Plan: r.cargo},
		{Name: "go", Marks: []string{"go.mod"}, Ext: []string{".go"}, Apart: true, Plan: r.golang},
		{Name: "java", Marks: []string{"pom.xml", "build.gradle", "build.gradle.kts"}, Ext: []string{".java", ".kt", ".groovy", ".scala"}, Plan: java},
		{Name: "shell", Ext: []string{".sh", ".bash", ".ksh"}, Bare: r.shellcheck},
	}
}

// linter is one of those that a kind of project may have.
type linter struct {
	name       string
	configured bool   // the project says that it wants it
	program    string // how it is called, "" where it is not installed
	fixes      bool   // its output has its fixes
	words      func(program string) []string
}

// choose takes the first linter that is configured and installed, else the
// first that is installed. advice says what to do when none is.
func (r Request) choose(linters []linter, advice string) (*detect.Plan, error) {
	note := ""
	for _, configured := range []bool{true, false} {
		for _, l := range linters {
			switch {
			case configured && !l.configured:
			case l.program == "":
				if configured && note == "" {
					note = l.name + " is configured here, but is not installed."
				}
			case r.Fix && !l.fixes:
				return nil, detect.Refuse("fix: %s gives no fixes that could be reviewed first; leave fix out, and edit by what it finds", l.name)
			default:
				return &detect.Plan{Runner: l.name, Words: l.words(l.program), Note: note}, nil
			}
		}
	}
	if note != "" {
		note += " "
	}
	return nil, Missing{note + advice}
}

// program is a linter's program: that of the project, or the one that is
// installed; "" where there is none.
func (r Request) program(p detect.Project, own func(name string) []string, names ...string) string {
	for _, name := range names {
		if own == nil {
			break
		}
		for _, at := range own(name) {
			if at := p.Above(at); at != "" {
				return at
			}
		}
	}
	for _, name := range names {
		if r.Installed(name) {
			return name
		}
	}
	return ""
}

func anyAbove(p detect.Project, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return p.Above(name) != "" })
}

// target is the path of a project, as an argument.
func target(p detect.Project) string {
	if p.Path == "" {
		return "."
	}
	return p.Path
}

// inModules and inVenv are where a project has a program of its own.
func (r Request) inModules(name string) []string {
	return []string{"node_modules/.bin/" + r.On.Script(name, ".cmd")}
}

func (r Request) inVenv(name string) []string {
	return []string{r.On.InVenv(".venv", name), r.On.InVenv("venv", name)}
}

func (r Request) node(p detect.Project) (*detect.Plan, error) {
	manifest := p.Read("package.json")
	eslint := []string{".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml"}
	for _, ext := range []string{"js", "mjs", "cjs", "ts", "mts", "cts"} {
		eslint = append(eslint, "eslint.config."+ext)
	}
	return r.choose([]linter{
		{"eslint", anyAbove(p, eslint...) || strings.Contains(manifest, `"eslintConfig"`) || strings.Contains(manifest, `"eslint"`), r.program(p, r.inModules, "eslint"), true, func(program string) []string {
			words := []string{program, "--format", "json"}
			if r.Fix {
				words = append(words, "--fix-dry-run")
			}
			return append(words, target(p))
		}},
		{"biome", anyAbove(p, "biome.json", "biome.jsonc") || strings.Contains(manifest, `"@biomejs/biome"`), r.program(p, r.inModules, "biome"), false, func(program string) []string {
			return []string{program, "lint", "--reporter=json", "--max-diagnostics=none", target(p)}
		}},
	}, "No linter for JavaScript and TypeScript is installed: let the user run npm install --save-dev eslint (or @biomejs/biome) in "+p.Dir+" and configure it")
}

func (r Request) python(p detect.Project) (*detect.Plan, error) {
	old := p.Read("setup.cfg") + p.Read("tox.ini")
	return r.choose([]linter{
		{"ruff", anyAbove(p, "ruff.toml", ".ruff.toml") || strings.Contains(p.Read("pyproject.toml"), "[tool.ruff"), r.program(p, r.inVenv, "ruff"), true, func(program string) []string {
			return []string{program, "check", "--no-fix", "--output-format=json", target(p)} // a project may have its fixes written otherwise
		}},
		{"flake8", p.Has(".flake8") || strings.Contains(old, "[flake8]"), r.program(p, r.inVenv, "flake8"), false, func(program string) []string {
			return []string{program, "--format=%(path)s:%(row)d:%(col)d: %(code)s %(text)s", target(p)}
		}},
		{"pyflakes", false, r.program(p, r.inVenv, "pyflakes", "pyflakes3"), false, func(program string) []string { return []string{program, target(p)} }},
	}, "No linter for Python is installed: let the user install ruff, flake8 or pyflakes, in the project's .venv or for all")
}

// cargo has no argument for a path: what lies elsewhere is left out afterwards.
func (r Request) cargo(p detect.Project) (*detect.Plan, error) {
	line := func(command string) func(string) []string {
		return func(program string) []string {
			words := []string{"cargo", command, "--quiet", "--message-format=json", "--all-targets"}
			if p.Path == "" {
				words = append(words, "--workspace")
			}
			return words
		}
	}
	cargo := r.program(p, nil, "cargo")
	clippy := ""
	if cargo != "" {
		clippy = r.program(p, nil, "cargo-clippy")
	}
	plan, err := r.choose([]linter{
		{"cargo clippy", false, clippy, true, line("clippy")},
		{"cargo check", false, cargo, true, line("check")},
	}, "No linter for Rust is installed: let the user install cargo and clippy")
	if err == nil && plan.Runner == "cargo check" {
		plan.Note = "Only the compiler looked: clippy is not installed."
	}
	return plan, err
}

func (r Request) golang(p detect.Project) (*detect.Plan, error) {
	pkg := "./..."
	switch {
	case p.Path != "" && p.IsDir:
		pkg = "./" + p.Path + "/..."
	case p.Path != "":
		pkg = "./" + path.Dir(p.Path)
	}
	return r.choose([]linter{
		{"golangci-lint", anyAbove(p, ".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"), r.program(p, nil, "golangci-lint"), true, func(program string) []string {
			// A project may have its fixes written otherwise.
			return []string{program, "run", "--fix=false", "--output.json.path=stdout", "--show-stats=false", "--path-mode=abs", "--max-issues-per-linter=0", "--max-same-issues=0", "--uniq-by-line=false", pkg}
		}},
		{"go vet", false, r.program(p, nil, "go"), true, func(program string) []string { return []string{program, "vet", "-json", pkg} }},
	}, "No linter for Go is installed: let the user install Go, or golangci-lint")
}

func java(detect.Project) (*detect.Plan, error) {
	return nil, missing("No linter for Java, Kotlin, Groovy or Scala is known here: run that of the project, such as checkstyle, with run_command")
}

// maxScripts bounds the scripts of one call.
const maxScripts = 200

func (r Request) shellcheck(p detect.Project) (*detect.Plan, error) {
	scripts := []string{p.Path}
	note := ""
	if p.Path == "" || p.IsDir {
		scripts = nil
		detect.EachFile(p.Files, path.Join(p.Dir, p.Path), func(name string) {
			if slices.Contains([]string{".sh", ".bash", ".ksh"}, path.Ext(name)) {
				scripts = append(scripts, strings.TrimPrefix(name, strings.TrimPrefix(p.Dir+"/", "./")))
			}
		})
		if len(scripts) > maxScripts {
			note = fmt.Sprintf("Only the first %d of %d scripts were looked at; give a path for the others.", maxScripts, len(scripts))
			scripts = scripts[:maxScripts]
		}
	}
	plan, err := r.choose([]linter{
		{"shellcheck", false, r.program(p, nil, "shellcheck"), false, func(program string) []string {
			return append([]string{program, "--format=json", "--"}, scripts...)
		}},
	}, "No linter for shell scripts is installed: let the user install shellcheck")
	if err == nil {
		plan.Note = note
	}
	return plan, err
}

var shebang = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#!\s*\S*(?:/|\s)(?:ba|da|k)?sh\b`) })

// forShell reports whether a file's first line says that a shell runs it.
func forShell(files detect.Files, name string) bool {
	f, err := files.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 100)
	n, err := f.Read(head)
	return err == nil && shebang().Match(head[:n])
}
