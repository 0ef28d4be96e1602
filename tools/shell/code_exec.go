package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
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
	ExitCode   int    `json:"exitCode"`
	DurationMs int64  `json:"durationMs"`
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	Sandbox    string `json:"sandbox"`
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

func newCodeExec(d Deps) *tools.Tool {
	return tools.NewExec(tools.Def{
		Name: "code_exec", Title: "Run code", Example: `{"language": "python", "code": "print(sum(range(101)))"}`, Description: codeDoc,
		Category: category, Tags: []string{"python", "javascript", "calculate", "compute"}, Untrusted: true, Timeout: (maxCodeTime + 10) * time.Second,
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
		p, err := d.Isolate(limited, Run{Session: c.Session, Root: root, Dir: dir, Argv: argv, Stdout: stdout, Stderr: stderr})
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
			return tools.Result{}, &tools.Error{Code: tools.CommandFailed, Message: fmt.Sprintf("exit code %d", o.code), Detail: text, Structured: r}
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
