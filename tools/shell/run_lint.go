package shell

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/lint"
)

//go:embed run_lint.md
var lintDoc string

// Bounds of a linter's run.
const (
	lintSeconds       = 600
	maxFindings       = 200  // in the structured result
	maxFindingLines   = 2000 // in the text, which is cut where it is shown
	maxFindingMessage = 300
	maxListed         = 5 // of files in a remark
)

type lintIn struct {
	Path string `json:"path,omitempty" jsonschema:"file or directory to look at"`
	Fix  bool   `json:"fix,omitempty" jsonschema:"make the linter's fixes"`

	plan detect.Plan
	name string // of Path
}

// Linted is the structured result of run_lint.
type Linted struct {
	Linter     string         `json:"linter" jsonschema:"its name"`
	Command    string         `json:"command" jsonschema:"what was run"`
	Cwd        string         `json:"cwd" jsonschema:"where, relative to the workspace"`
	Total      int            `json:"total" jsonschema:"findings that are left"`
	Errors     int            `json:"errors" jsonschema:"of them"`
	Warnings   int            `json:"warnings" jsonschema:"of them"`
	Findings   []lint.Finding `json:"findings" jsonschema:"those that are left, at most 200"`
	Fixed      []string       `json:"fixed,omitempty" jsonschema:"files that the fixes change"`
	NotFixed   []string       `json:"notFixed,omitempty" jsonschema:"files whose fixes were left out"`
	Unseen     []string       `json:"unseen,omitempty" jsonschema:"files with text that is not on the disk, where the linter looked"`
	ExitCode   int            `json:"exitCode" jsonschema:"of the command"`
	TimedOut   bool           `json:"timedOut,omitempty" jsonschema:"it was ended by its time-out"`
	DurationMs int64          `json:"durationMs" jsonschema:"milliseconds"`
	Sandbox    string         `json:"sandbox" jsonschema:"how it was confined"`
}

func newRunLint(s *sessions) *tools.Tool {
	t := tools.NewExecEdit(tools.Def{
		Name: "run_lint", Title: "Run linter", Example: `{"path": "src"}`, Description: lintDoc,
		Category: category, Tags: []string{"lint", "check", "style", "fix"}, Untrusted: true, Timeout: (lintSeconds + 30) * time.Second,
		Output: Linted{}, InWorld: true,
	}, func(ctx context.Context, c *tools.Call, in lintIn) (tools.Result, []workspace.Change, error) {
		return s.get(c).lint(ctx, c, in)
	})
	return tools.Planned(t, s.planLint)
}

// planLint finds the command that runs the linter, which is then decided on as
// any other.
func (s *sessions) planLint(ctx context.Context, files workspace.Files, in lintIn) (lintIn, tools.Effects, error) {
	shell, err := s.d.shell()
	if err != nil {
		return in, tools.Effects{}, err
	}
	if in.name, err = files.Resolve(cmp.Or(in.Path, ".")); err != nil {
		return in, tools.Effects{}, err
	}
	r := lint.Request{Path: in.name, Fix: in.Fix, On: systemOf(shell), Installed: shell.Has}
	in.plan, err = lint.Detect(files, r)
	switch {
	case errors.Is(err, detect.ErrNone):
		return in, tools.Effects{}, tools.Errorf(tools.NotFound, "no linter is known for %s; run_command runs any", in.name)
	case errors.As(err, new(lint.Missing)):
		return in, tools.Effects{}, tools.Errorf(tools.NotFound, "%v", err)
	case errors.As(err, new(detect.Refused)):
		return in, tools.Effects{}, tools.Errorf(tools.InvalidArguments, "%v", err)
	case err != nil:
		return in, tools.Effects{}, err
	}
	if err := nothingToLint(ctx, files, in.name, in.plan, r); err != nil {
		return in, tools.Effects{}, err
	}
	if in.plan.Line, err = lineOf(shell, in.plan); err != nil {
		return in, tools.Effects{}, err
	}
	return in, tools.Effects{Command: in.plan.Line, Shell: true}, nil
}

// lint runs the planned command and reads what it says.
func (sh *shell) lint(ctx context.Context, c *tools.Call, in lintIn) (tools.Result, []workspace.Change, error) {
	stdout, stderr := &capture{output: &output{}}, &capture{output: &output{}}
	began := time.Now()
	o, err := sh.wait(ctx, c, command{line: in.plan.Line, dir: c.Files.Abs(in.plan.Dir)}, lintSeconds, stdout, stderr)
	if err != nil {
		return tools.Result{}, nil, err
	}
	r := lint.Parse(in.plan.Runner, lint.Output{Stdout: stdout.full.String(), Stderr: stderr.full.String(), Code: o.code})
	shell, err := sh.d.shell()
	if err != nil {
		return tools.Result{}, nil, err
	}
	names := linted{c.Files, in.plan.Dir, o.world != "disk", shell}
	l := Linted{
		Linter: in.plan.Runner, Command: in.plan.Line, Cwd: in.plan.Dir, Unseen: names.unseen(in.name), Findings: []lint.Finding{},
		ExitCode: o.code, TimedOut: o.timedOut, DurationMs: o.took.Milliseconds(), Sandbox: o.words,
	}
	fail := func(code tools.Code, format string, args ...any) (tools.Result, []workspace.Change, error) {
		return tools.Result{}, nil, &tools.Error{
			Code: code, Message: fmt.Sprintf(format, args...), Structured: l,
			Detail: "$ " + l.Command + "\n" + strings.TrimSuffix(report(stdout.text(), stderr.text(), o), "\n"),
		}
	}
	switch {
	case o.timedOut:
		return fail(tools.Timeout, "%s was ended after %d s; look at less with path", l.Linter, lintSeconds)
	case !r.Read:
		return fail(tools.CommandFailed, "%s did not work, so what it would find is not known; what it printed says why", l.Linter)
	}
	findings := lint.Sort(names.within(r.Findings, in.name))
	var changes []workspace.Change
	if in.Fix {
		changes, findings = names.fix(findings, r.Fixed, &l, in.name, began)
	}
	l.count(findings)

	var b strings.Builder
	l.write(&b, findings)
	o.remarks(&b)
	if in.plan.Note != "" {
		b.WriteString("[" + in.plan.Note + "]\n")
	}
	fmt.Fprintf(&b, "[exit code %d, %.1f s%s]", o.code, o.took.Seconds(), o.unusual())
	if len(in.plan.Others) > 0 {
		fmt.Fprintf(&b, "\n[Not run: %s. A path there runs it.]", strings.Join(in.plan.Others, ", "))
	}
	if len(in.plan.Missed) > 0 {
		fmt.Fprintf(&b, "\n[Not looked at: %s. No linter of theirs can run; a path there says why.]", listed(in.plan.Missed))
	}
	return tools.Result{Text: b.String(), Structured: l}, changes, nil
}

// unseen are the files at a path whose text the linter did not see.
func (l linted) unseen(at string) (names []string) {
	for _, name := range workspace.Overlaid(l.files) {
		if below(name, at) && !l.seen(name) {
			names = append(names, name)
		}
	}
	return names
}

// onDisk reports whether a file is on the disk as the view shows it. A name may
// lie over the disk without a difference, as that of an open file that is saved.
func onDisk(files workspace.Files, name string) bool {
	disk, over := files.Base()
	if !slices.Contains(over, name) {
		return true
	}
	if disk == nil {
		return false
	}
	here, err := files.ReadFile(name)
	there, errDisk := disk.ReadFile(name)
	return err == nil && errDisk == nil && bytes.Equal(here, there)
}

// below reports whether a name is that of a file or directory, or lies in it.
func below(name, at string) bool {
	return at == "." || name == at || strings.HasPrefix(name, at+"/")
}

// linted are the files that a linter looked at.
type linted struct {
	files workspace.Files
	dir   string // where it ran
	all   bool   // it saw the files as they are here
	shell shells.Shell
}

// seen reports whether the linter saw a file as it is here.
func (l linted) seen(name string) bool { return l.all || onDisk(l.files, name) }

// name is the name in the workspace of a file as a linter calls it: by its
// path, or as seen from where it ran, or, of a part of a larger project, from
// where that begins. What lies elsewhere keeps its path.
func (l linted) name(file string) string {
	file = l.shell.Outside(file)
	if filepath.IsAbs(file) {
		if name, err := l.files.Resolve(file); err == nil {
			return name
		}
		return file
	}
	file = filepath.ToSlash(file)
	for dir := l.dir; ; dir = path.Dir(dir) {
		if _, err := l.files.Stat(path.Join(dir, file)); err == nil {
			return path.Join(dir, file)
		}
		if dir == "." {
			return path.Join(l.dir, file)
		}
	}
}

// within are the findings at a path, with the names of the workspace, and what
// kept the linter from looking there.
func (l linted) within(found []lint.Finding, at string) (list []lint.Finding) {
	for _, f := range found {
		f.File = l.name(f.File)
		for i := range f.Fix {
			f.Fix[i].File = l.name(f.Fix[i].File)
		}
		f.Message = short(f.Message)
		switch {
		case below(f.File, at):
			list = append(list, f)
		case f.Broken:
			f.Fix = nil
			list = append(list, f)
		}
	}
	return list
}

// short is a message that is not too long, cut after a whole word.
func short(message string) string {
	if len(message) <= maxFindingMessage {
		return message
	}
	return message[:max(strings.LastIndexByte(message[:maxFindingMessage], ' '), 0)] + "…"
}

// fix is what the linter's fixes change, and the findings that are left.
func (l linted) fix(findings []lint.Finding, whole map[string]string, told *Linted, at string, began time.Time) ([]workspace.Change, []lint.Finding) {
	texts, after := map[string][]byte{}, map[string][]byte{}
	refused := map[string]bool{}
	read := func(name string) bool {
		if texts[name] != nil || refused[name] {
			return texts[name] != nil
		}
		data, ok := l.asLinted(name, began)
		if ok {
			texts[name] = data
		} else {
			refused[name] = true
		}
		return ok
	}
	for file, text := range whole {
		if name := l.name(file); below(name, at) && read(name) && utf8.Valid(texts[name]) {
			after[name] = []byte(text)
		}
	}
	for _, f := range findings {
		for _, e := range f.Fix {
			read(e.File)
		}
	}
	changed, left := lint.Apply(findings, texts)
	maps.Copy(after, changed)
	told.Fixed, told.NotFixed = slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(refused))
	var changes []workspace.Change
	for _, name := range told.Fixed {
		changes = append(changes, workspace.Change{Path: name, Before: texts[name], After: after[name]})
	}
	return changes, left
}

// asLinted is the text of a file, if it is the one that the linter saw: the
// view has it from the disk, and it is older than the run.
func (l linted) asLinted(name string, began time.Time) ([]byte, bool) {
	real, err := l.files.RealName(name)
	if err != nil || !l.seen(real) {
		return nil, false
	}
	data, err := l.files.ReadFile(name)
	if err != nil {
		return nil, false
	}
	info, err := l.files.Stat(name)
	return data, err == nil && data != nil && info.ModTime().Before(began)
}

func (l *Linted) count(findings []lint.Finding) {
	l.Total = len(findings)
	for _, f := range findings {
		switch f.Severity {
		case lint.Error:
			l.Errors++
		case lint.Warning:
			l.Warnings++
		}
	}
	l.Findings = append([]lint.Finding{}, findings[:min(len(findings), maxFindings)]...)
}

// write writes what a model reads of the findings.
func (l *Linted) write(b *strings.Builder, findings []lint.Finding) {
	fmt.Fprintf(b, "$ %s\n", l.Command)
	switch {
	case l.Total == 0 && len(l.Fixed) > 0:
		b.WriteString("nothing is left to find\n")
	case l.Total == 0:
		b.WriteString("nothing was found\n")
	default:
		fmt.Fprintf(b, "%s: %s, %s\n", tools.Count(l.Total, "finding"), tools.Count(l.Errors, "error"), tools.Count(l.Warnings, "warning"))
	}
	for _, f := range findings[:min(len(findings), maxFindingLines)] {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(b, ":%d", f.Line)
		}
		if f.Column > 0 {
			fmt.Fprintf(b, ":%d", f.Column)
		}
		fmt.Fprintf(b, ": %s: %s", f.Severity, f.Message)
		if f.Rule != "" {
			fmt.Fprintf(b, " (%s)", f.Rule)
		}
		b.WriteString("\n")
	}
	if more := len(findings) - maxFindingLines; more > 0 {
		fmt.Fprintf(b, "%d more; look at less with path\n", more)
	}
	if len(l.Fixed) > 0 {
		fmt.Fprintf(b, "[Fixes change %s.", tools.Count(len(l.Fixed), "file")+": "+listed(l.Fixed))
		if l.Total > 0 && l.Linter != "eslint" { // which says what is left in the new text
			b.WriteString(" The lines above are those before the fixes.")
		}
		b.WriteString("]\n")
	}
	if len(l.NotFixed) > 0 {
		fmt.Fprintf(b, "[Fixes were left out of %s: the text here is not the one that the linter saw, or can't be read. Have it accepted or saved, and fix again.]\n", listed(l.NotFixed))
	}
	if len(l.Unseen) > 0 {
		fmt.Fprintf(b, "[The linter looks at the disk: text that is pending or not saved was not looked at in %s.]\n", listed(l.Unseen))
	}
}

// listed names the first of some files.
func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}
