package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed code_exec.md
var codeDoc string

// maxCodeTime bounds a program, in seconds.
const maxCodeTime = 60

type codeIn struct {
	Language string `json:"language" jsonschema:"of the program" enum:"python,javascript"`
	Code     string `json:"code" jsonschema:"the whole program" minLength:"1" maxLength:"100000"`
	TimeoutS int    `json:"timeout_s,omitempty" jsonschema:"seconds until it is ended" default:"10" minimum:"1" maximum:"60"`
}

func (in codeIn) Effects() tools.Effects { return tools.Effects{Command: in.Code, Confined: true} }

// Computed is the structured result of code_exec.
type Computed struct {
	ExitCode   int    `json:"exitCode" jsonschema:"of the program"`
	DurationMs int64  `json:"durationMs" jsonschema:"milliseconds"`
	Stdout     string `json:"stdout" jsonschema:"what it printed, cut"`
	Stderr     string `json:"stderr" jsonschema:"what it printed as errors, cut"`
	Sandbox    string `json:"sandbox" jsonschema:"how it was confined"`
}

// maxStream bounds what of a stream is in the structured result, in bytes.
const maxStream = 8 << 10

// importRule finds JavaScript that only a module may have.
var importRule = regexp.MustCompile(`(?m)^\s*(?:import\b[^(]|export\b)`)

// program is the file that the code goes to, and what runs it there.
func (in codeIn) program() (file string, argv []string) {
	if in.Language == "python" {
		return "main.py", []string{"python3", "-I", "main.py"}
	}
	file = "main.cjs"
	if importRule.MatchString(in.Code) {
		file = "main.mjs"
	}
	return file, []string{"node", file}
}

// languages say of each what a program of it prints that lacks a package, how to
// ask what packages there are, and how the user could add one.
var languages = map[string]struct {
	missing       *regexp.Regexp
	list          []string
	base, install string
}{
	"python": {
		regexp.MustCompile(`(?m)^ModuleNotFoundError: No module named '([^'.]+)`),
		[]string{"python3", "-I", "-c", "import importlib.metadata as m; print(', '.join(sorted({d.metadata['Name'] or '' for d in m.distributions()} - {''})))"},
		"Python's standard library", "install it for the system's Python (on Debian as python3-%s)",
	},
	"javascript": {
		regexp.MustCompile(`(?m)^Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find (?:module|package) '((?:@[^'/]+/)?[^@'/.][^'/]*)`),
		nil, // it sees no node_modules
		"what is built into Node (node:fs, node:crypto and so on)", "add %s to a project and run it there",
	},
}

// missing is the package that a program lacked, or "".
func (in codeIn) missing(stderr string) string {
	if m := languages[in.Language].missing.FindStringSubmatch(stderr); m != nil {
		return m[1]
	}
	return ""
}

// maxPackages bounds how many bytes of the names of packages are told; of more, their number is.
const maxPackages = 200

// has says what programs of the language can import, asked where they run.
func (in codeIn) has(ctx context.Context, d Deps, r Run) string {
	l := languages[in.Language]
	if l.list == nil {
		return l.base + " and nothing else"
	}
	names := &output{}
	r.Argv, r.Stdout, r.Stderr = l.list, names, io.Discard
	p, err := d.Host.Isolate(ctx, r)
	if err != nil || p.Wait() != nil {
		return l.base
	}
	list := strings.TrimSpace(names.text())
	switch {
	case list == "":
		return l.base + " and nothing else"
	case len(list) > maxPackages:
		list = tools.Count(strings.Count(list, ", ")+1, "package") + ", not that one"
	}
	return l.base + " and " + list
}

func newCodeExec(d Deps) *tools.Tool {
	return tools.NewExec(tools.Def{
		Name: "code_exec", Title: "Run code", Example: `{"language": "python", "code": "print(sum(range(101)))"}`, Description: codeDoc,
		Category: category, Tags: []string{"python", "javascript", "calculate", "compute"}, Untrusted: true, Timeout: (maxCodeTime + 10) * time.Second,
		Output: Computed{}, InWorld: true,
	}, func(ctx context.Context, c *tools.Call, in codeIn) (tools.Result, error) {
		root, err := os.MkdirTemp("", "sidecar-code-")
		if err != nil {
			return tools.Result{}, err
		}
		defer func() { _ = os.RemoveAll(root) }() // what stays is in the system's temporary directory
		dir := filepath.Join(root, "work")        // what stands in for protected names is in root
		file, argv := in.program()
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, file), []byte(in.Code), 0o600)); err != nil {
			return tools.Result{}, err
		}
		limited, cancel := context.WithTimeout(ctx, time.Duration(in.TimeoutS)*time.Second)
		defer cancel()
		stdout, stderr := &output{emit: c.Emit}, &output{emit: c.Emit}
		started := time.Now()
		p, err := d.Host.Isolate(limited, Run{Session: c.Session, Unasked: c.Unasked, Root: root, Dir: dir, Argv: argv, Stdout: stdout, Stderr: stderr})
		if err != nil {
			return tools.Result{}, notStarted(err)
		}
		o, err := wait(limited, p, started)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return tools.Result{}, err
		}
		text := report(stdout.text(), stderr.text(), o)
		r := Computed{ExitCode: o.code, DurationMs: o.took.Milliseconds(), Stdout: clip(stdout.text()), Stderr: clip(stderr.text()), Sandbox: o.words}
		switch {
		case o.timedOut:
			return tools.Result{}, &tools.Error{Code: tools.Timeout, Message: fmt.Sprintf("the program was ended after %d s", in.TimeoutS), Detail: text, Structured: r}
		case o.code == 127:
			return tools.Result{}, &tools.Error{Code: tools.Unavailable, Message: argv[0] + " is not installed here, or not where a confined program can see it", Detail: text, Structured: r}
		case o.code != 0:
			failed := &tools.Error{Code: tools.CommandFailed, Message: fmt.Sprintf("exit code %d", o.code), Detail: text, Structured: r}
			if name := in.missing(stderr.text()); name != "" {
				failed.Message = fmt.Sprintf("%s is not installed for code_exec, which has %s. Do without it; or run the program with run_command and the project's own environment (.venv/bin/python, node_modules); or let the user %s",
					name, in.has(limited, d, Run{Session: c.Session, Root: root, Dir: dir}), fmt.Sprintf(languages[in.Language].install, name))
			}
			return tools.Result{}, failed
		}
		return tools.Result{Text: text, Structured: r}, nil
	})
}

// clip keeps the whole lines at the beginning of a stream: half of a secret
// would not be known for one.
func clip(s string) string {
	if len(s) > maxStream {
		return s[:strings.LastIndexByte(s[:maxStream], '\n')+1] + "…"
	}
	return s
}
