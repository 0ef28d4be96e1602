package shell

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/testrun"
)

//go:embed run_tests.md
var testsDoc string

const noPytest = "pytest is not installed, so no test was run: let the user install it, in the project's .venv or for all, or give the command that runs the tests"

// maxReport is how much of each stream of a runner is read for its report.
const maxReport = 32 << 20

type testsIn struct {
	Path     string `json:"path,omitempty" jsonschema:"file or directory to test"`
	Name     string `json:"name,omitempty" jsonschema:"name of a test" maxLength:"500"`
	Command  string `json:"command,omitempty" jsonschema:"a command instead"`
	TimeoutS int    `json:"timeout_s,omitempty" jsonschema:"seconds until it is ended" default:"600" minimum:"1" maximum:"3600"`

	plan testrun.Plan
}

// Tested is the structured result of run_tests.
type Tested struct {
	Runner     string            `json:"runner" jsonschema:"go, vitest, jest, npm, pytest, cargo, gradle, maven or make; empty for a given command"`
	Command    string            `json:"command" jsonschema:"what was run"`
	Cwd        string            `json:"cwd" jsonschema:"where, relative to the workspace"`
	Counted    bool              `json:"counted" jsonschema:"the output says how many tests there were"`
	Passed     int               `json:"passed" jsonschema:"tests"`
	Failed     int               `json:"failed" jsonschema:"tests"`
	Skipped    int               `json:"skipped" jsonschema:"tests"`
	Failures   []testrun.Failure `json:"failures" jsonschema:"also what kept tests from running; at most 100"`
	ExitCode   int               `json:"exitCode" jsonschema:"of the command"`
	TimedOut   bool              `json:"timedOut,omitempty" jsonschema:"it was ended by its time-out"`
	DurationMs int64             `json:"durationMs" jsonschema:"milliseconds"`
	Sandbox    string            `json:"sandbox" jsonschema:"how it was confined"`
	World      string            `json:"world" jsonschema:"what it saw: overlay or copy (what the session sees, over the disk or in a copy of it), or disk"`
}

// TestReport implements tools.TestReport.
func (t Tested) TestReport() tools.Report {
	return tools.Report{Command: t.Command, Counted: t.Counted, Passed: t.Passed, Failed: t.Failed}
}

func newRunTests(s *sessions) *tools.Tool {
	t := tools.NewExecEdit(tools.Def{
		Name: "run_tests", Title: "Run tests", Example: `{"path": "src", "name": "TestLimit"}`, Description: testsDoc,
		Category: category, Core: true, Tags: []string{"test", "check", "unit"}, Untrusted: true, Timeout: (maxTimeout + 30) * time.Second,
		Output: Tested{}, Wrote: "run_tests", Tests: true, InWorld: true,
	}, func(ctx context.Context, c *tools.Call, in testsIn) (tools.Result, []workspace.Change, error) {
		return s.get(c).test(ctx, c, in)
	})
	return tools.Planned(t, s.planTests)
}

// planTests finds the command that runs the tests, which is then decided on as
// any other.
func (s *sessions) planTests(ctx context.Context, files workspace.Files, in testsIn) (testsIn, tools.Effects, error) {
	switch {
	case in.Command != "" && (in.Path != "" || in.Name != ""):
		return in, tools.Effects{}, tools.Errorf(tools.InvalidArguments, "command: it is run as it is; leave path and name out, or write them into it")
	case in.Command != "":
		in.plan = testrun.Plan{Dir: ".", Line: in.Command}
	default:
		name, err := files.Resolve(cmp.Or(in.Path, "."))
		if err != nil {
			return in, tools.Effects{}, err
		}
		shell, err := s.d.shell()
		if err != nil {
			return in, tools.Effects{}, err
		}
		on := systemOf(shell)
		in.plan, err = testrun.Detect(files, testrun.Request{Path: name, Name: in.Name, On: on})
		switch {
		case errors.Is(err, testrun.ErrNone):
			if dirs := withTests(ctx, files, on); dirs != "" {
				return in, tools.Effects{}, tools.Errorf(tools.NotFound, "no test runner was found in %s or above; there are tests in %s; or give the command that runs the tests", name, dirs)
			}
			return in, tools.Effects{}, tools.Errorf(tools.NotFound, "no test runner was found in %s or above; give the command that runs the tests", name)
		case errors.As(err, new(detect.Refused)):
			return in, tools.Effects{}, tools.Errorf(tools.InvalidArguments, "%v", err)
		case err != nil:
			return in, tools.Effects{}, err
		}
		if in.plan.Words[0] == "pytest" && !shell.Has("pytest") {
			return in, tools.Effects{}, tools.Errorf(tools.NotFound, "%s", noPytest)
		}
		if in.Path != "" && in.Name == "" {
			if err := noTests(ctx, files, name, in.plan, on); err != nil {
				return in, tools.Effects{}, err
			}
		}
		if in.plan.Line, err = lineOf(shell, in.plan); err != nil {
			return in, tools.Effects{}, err
		}
	}
	return in, tools.Effects{Command: in.plan.Line, Shell: true}, nil
}

// systemOf is where the programs of a shell run.
func systemOf(s shells.Shell) detect.System {
	return detect.System{Windows: runtime.GOOS == "windows" && s.Drives == "", Batch: s.PowerShell}
}

// lineOf is the line for a shell that runs a plan.
func lineOf(s shells.Shell, p detect.Plan) (string, error) {
	line, err := s.Command(p.Words...)
	if err != nil {
		return "", tools.Errorf(tools.InvalidArguments, "%v", err)
	}
	return line, nil
}

// test runs the planned command and reads what it says.
func (sh *shell) test(ctx context.Context, c *tools.Call, in testsIn) (tools.Result, []workspace.Change, error) {
	stdout, stderr := &capture{output: &output{}}, &capture{output: &output{emit: c.Emit}}
	switch in.plan.Runner {
	case "go":
		stdout.tell = &goEvents{emit: c.Emit}
	case "vitest", "jest": // one line of JSON at the end
	default:
		stdout.emit = c.Emit
	}
	began := time.Now()
	dir := c.Files.Abs(in.plan.Dir)
	if in.Command != "" {
		dir = "" // the session's own directory
	}
	o, err := sh.wait(ctx, c, command{line: in.plan.Line, dir: dir, take: true}, in.TimeoutS, stdout, stderr)
	if err != nil {
		return tools.Result{}, nil, err
	}
	r := testrun.Parse(in.plan.Runner, testrun.Output{
		Stdout: stdout.full.String(), Stderr: stderr.full.String(),
		Reports: testrun.Reports(c.Files, in.plan, began),
	})
	known := [][2]string{} // beginnings of paths, with that of names
	for _, folder := range sh.in() {
		name := ""
		if folder.Name != "." {
			name = folder.Name + "/"
		}
		known = append(known, [2]string{folder.Dir + string(filepath.Separator), name}, [2]string{filepath.ToSlash(folder.Dir) + "/", name})
		if s, err := sh.d.shell(); err == nil {
			known = append(known, [2]string{s.Inside(folder.Dir) + "/", name})
		}
	}
	for i := range r.Failures { // a model knows files by their names in the workspace
		f := &r.Failures[i]
		for _, k := range known {
			for _, text := range []*string{&f.File, &f.Name} {
				if rest, ok := strings.CutPrefix(*text, k[0]); ok {
					*text = k[1] + rest
				}
			}
			f.Message = strings.ReplaceAll(f.Message, k[0], k[1])
		}
		f.File = filepath.ToSlash(f.File)
	}
	t := Tested{
		Runner: in.plan.Runner, Command: in.plan.Line, Cwd: in.plan.Dir, Counted: r.Counted, Passed: r.Passed, Failed: r.Failed, Skipped: r.Skipped,
		Failures: append([]testrun.Failure{}, r.Failures...), ExitCode: o.code, TimedOut: o.timedOut, DurationMs: o.took.Milliseconds(), Sandbox: o.words, World: o.world,
	}
	var b strings.Builder
	t.write(&b)
	if unexplained := o.code != 0 && len(t.Failures) == 0; !t.Counted || unexplained || o.timedOut {
		b.WriteString(strings.TrimSuffix(report(stdout.text(), stderr.text(), o), "\n"))
	} else {
		o.remarks(&b)
		fmt.Fprintf(&b, "[exit code %d, %.1f s; %s]", o.code, o.took.Seconds(), o.words)
	}
	if len(in.plan.Others) > 0 {
		fmt.Fprintf(&b, "\n[Not run: %s. A path there, or command, runs its tests.]", strings.Join(in.plan.Others, ", "))
	}
	if len(in.plan.Missed) > 0 {
		fmt.Fprintf(&b, "\n[Can't be run: %s. A path there says why.]", listed(in.plan.Missed))
	}
	fail := func(code tools.Code, format string, args ...any) (tools.Result, []workspace.Change, error) {
		return tools.Result{}, o.changed.Changes, &tools.Error{Code: code, Message: fmt.Sprintf(format, args...), Detail: b.String(), Structured: t}
	}
	switch {
	case o.timedOut:
		return fail(tools.Timeout, "the tests were ended after %d s; run fewer with path or name, or give them more with timeout_s", in.TimeoutS)
	case t.Failed > 0:
		return fail(tools.TestsFailed, "%d of %d tests failed", t.Failed, t.Passed+t.Failed+t.Skipped)
	case len(t.Failures) > 0:
		return fail(tools.TestsFailed, "not all tests could be run")
	case t.Counted && t.Passed+t.Skipped == 0 && (in.Path != "" || in.Name != ""):
		return fail(tools.NotFound, "no test was run: none fits path and name")
	case in.plan.Runner == "pytest" && strings.Contains(stderr.text(), "No module named pytest"):
		return fail(tools.NotFound, noPytest)
	case o.code != 0:
		return fail(tools.CommandFailed, "no test is said to have failed, but the exit code is %d", o.code)
	}
	return tools.Result{Text: b.String(), Structured: t}, o.changed.Changes, nil
}

// write writes what a model reads of the tests.
func (t Tested) write(b *strings.Builder) {
	fmt.Fprintf(b, "$ %s\n", t.Command)
	switch {
	case t.Counted && t.Passed+t.Failed+t.Skipped == 0 && len(t.Failures) > 0:
		b.WriteString("no test was run\n")
	case t.Counted && t.Passed+t.Failed+t.Skipped == 0:
		b.WriteString("no test was run: there is none\n")
	case t.Counted:
		fmt.Fprintf(b, "%d passed, %d failed, %d skipped\n", t.Passed, t.Failed, t.Skipped)
	}
	for _, f := range t.Failures {
		fmt.Fprintf(b, "\nFAILED %s", f.Name)
		if f.Line > 0 {
			fmt.Fprintf(b, " (%s:%d)", f.File, f.Line)
		}
		b.WriteString("\n")
		if f.Message != "" {
			b.WriteString(f.Message + "\n")
		}
	}
	if len(t.Failures) < t.Failed {
		fmt.Fprintf(b, "\n%d more failed.\n", t.Failed-len(t.Failures))
	}
	if len(t.Failures) > 0 {
		b.WriteString("\n")
	}
}

// capture is output of which more is kept, to be read by a program.
type capture struct {
	*output
	full bytes.Buffer
	tell io.Writer // also gets all; nil: nobody
}

func (c *capture) Write(b []byte) (int, error) {
	if free := maxReport - c.full.Len(); free > 0 {
		c.full.Write(b[:min(free, len(b))])
	}
	if c.tell != nil {
		if n, err := c.tell.Write(b); err != nil {
			return n, err
		}
	}
	return c.output.Write(b)
}

// goEvents passes on what tests print, out of the events of go test -json.
type goEvents struct {
	emit func(string)
	rest []byte
}

func (g *goEvents) Write(b []byte) (int, error) {
	if g.emit == nil {
		return len(b), nil
	}
	g.rest = append(g.rest, b...)
	for {
		end := bytes.IndexByte(g.rest, '\n')
		if end < 0 {
			if len(g.rest) > 1<<20 {
				g.rest = nil // no event is that long
			}
			return len(b), nil
		}
		var e struct{ Output string }
		if json.Unmarshal(g.rest[:end], &e) == nil && e.Output != "" {
			g.emit(e.Output)
		}
		g.rest = g.rest[end+1:]
	}
}
