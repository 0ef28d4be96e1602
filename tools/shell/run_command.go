package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed run_command.md
var runDoc string

// maxTimeout bounds how long a command may take, in seconds.
const maxTimeout = 3600

type runIn struct {
	Command    string `json:"command" jsonschema:"what bash runs" minLength:"1"`
	TimeoutS   int    `json:"timeout_s,omitempty" jsonschema:"seconds until it is ended" default:"120" minimum:"1" maximum:"3600"`
	Background bool   `json:"background,omitempty" jsonschema:"return at once; see command_output"`
	Cwd        string `json:"cwd,omitempty" jsonschema:"directory to begin in, instead of the session's"`

	Env map[string]string `json:"env,omitempty" jsonschema:"variables for this command alone"`
}

// Check refuses what bash can't be given.
func (in runIn) Check() error {
	for name, value := range in.Env {
		switch {
		case !variable.MatchString(name) || strings.HasPrefix(name, reserved):
			return tools.Errorf(tools.InvalidArguments, "env: %q is not a variable name; use letters, digits and _, not beginning with a digit", name)
		case strings.ContainsRune(value, 0) || !utf8.ValidString(value):
			return tools.Errorf(tools.InvalidArguments, "env: the value of %s is not text; put it into a file", name)
		}
	}
	return checkLine(in.spelled(shells.Bash))
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved begins the names that the wrapper uses.
const reserved = "__sc"

// variables are those of env, as NAME=value.
func (in runIn) variables() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(in.Env)) {
		list = append(list, name+"="+in.Env[name])
	}
	return list
}

// spelled is the command as it would be written without env: what is shown,
// decided on and remembered, so that a variable counts wherever it stands.
func (in runIn) spelled(s shells.Shell) string { return s.Set(in.variables()...) + in.Command }

func (in runIn) Effects() tools.Effects {
	return tools.Effects{Command: in.spelled(shells.Bash), Shell: true, Background: in.Background}
}

// planCommand spells the command as the shell does that runs it. Where there is none, its
// end says so.
func (s *sessions) planCommand(_ context.Context, files workspace.Files, in runIn) (runIn, tools.Effects, error) {
	effects := in.Effects()
	if shell, err := s.d.shell(); err == nil {
		effects.Command = in.spelled(shell)
		if canFreeze(shell) && !in.Background {
			effects.Dir = func(session string) string { return s.begin(session, files, in.Cwd) }
		}
	}
	return in, effects, nil
}

// Ran is the structured result of run_command.
type Ran struct {
	ExitCode   int      `json:"exitCode" jsonschema:"of the command; 0 in the background"`
	TimedOut   bool     `json:"timedOut,omitempty" jsonschema:"it was ended by its time-out"`
	DurationMs int64    `json:"durationMs" jsonschema:"milliseconds"`
	Stdout     int64    `json:"stdoutBytes" jsonschema:"how much it printed"`
	Stderr     int64    `json:"stderrBytes" jsonschema:"how much it printed as errors"`
	Cwd        string   `json:"cwd" jsonschema:"of the session after it, relative to the root"`
	Sandbox    string   `json:"sandbox" jsonschema:"how it was confined"`
	World      string   `json:"world" jsonschema:"what it saw: overlay or copy (what the session sees, over the disk or in a copy of it), or disk"`
	Removed    []string `json:"removed,omitempty" jsonschema:"files that were taken away after it"`
	ID         string   `json:"id,omitempty" jsonschema:"of a command in the background"`
}

func newRunCommand(s *sessions) *tools.Tool {
	t := tools.NewExecEdit(tools.Def{
		Name: "run_command", Title: "Run command", Example: `{"command": "go build ./..."}`, Description: runDoc,
		Category: category, Core: true, Tags: []string{"shell", "bash", "run", "terminal", "install", "package"}, Names: []string{"command_kill", "command_list", "command_output"}, Untrusted: true, Timeout: (maxTimeout + 30) * time.Second,
		Output: Ran{}, Wrote: "run_command", InWorld: true,
	}, func(ctx context.Context, c *tools.Call, in runIn) (tools.Result, []workspace.Change, error) {
		sh := s.get(c)
		if in.Background {
			r, err := sh.background(c, in)
			return r, nil, err
		}
		return sh.run(ctx, c, in)
	})
	return tools.Planned(t, s.planCommand)
}

// run runs a command and waits for it. Commands of one session follow each
// other, because each begins with what the one before left.
func (sh *shell) run(ctx context.Context, c *tools.Call, in runIn) (tools.Result, []workspace.Change, error) {
	select {
	case sh.turn <- struct{}{}:
		defer func() { <-sh.turn }()
	case <-ctx.Done():
		return tools.Result{}, nil, ctx.Err()
	}
	stdout, stderr := &output{emit: c.Emit}, &output{emit: c.Emit}
	o, err := sh.wait(ctx, c, command{line: in.Command, dir: in.Cwd, env: in.variables(), keep: true, take: true}, in.TimeoutS, stdout, stderr)
	if err == nil && c.Frozen != nil && o.code == notFrozen {
		err = tools.ErrNotFrozen
	}
	if err != nil {
		return tools.Result{}, nil, err
	}
	sh.left(o.outside)
	ran := Ran{
		ExitCode: o.code, TimedOut: o.timedOut, DurationMs: o.took.Milliseconds(), Stdout: stdout.bytes(), Stderr: stderr.bytes(),
		Cwd: sh.relative(), Sandbox: o.words, World: o.world, Removed: o.removed,
	}
	text := report(stdout.text(), stderr.text(), o)
	switch {
	case o.timedOut:
		message := fmt.Sprintf("the command was ended after %d s; give it more with timeout_s", in.TimeoutS)
		if sh.d.NoBackground == "" {
			message += ", or run it with background"
		}
		return tools.Result{}, o.changed.Changes, &tools.Error{Code: tools.Timeout, Message: message, Detail: text, Structured: ran}
	case o.code != 0:
		return tools.Result{}, o.changed.Changes, &tools.Error{Code: tools.CommandFailed, Message: fmt.Sprintf("exit code %d", o.code), Detail: text, Structured: ran}
	}
	return tools.Result{Text: text, Structured: ran}, o.changed.Changes, nil
}

// wait runs a command to its end, or to that of its time.
func (sh *shell) wait(ctx context.Context, call *tools.Call, c command, seconds int, stdout, stderr io.Writer) (outcome, error) {
	r, note, err := sh.prepare(call, c)
	if err != nil {
		return outcome{}, err
	}
	out, said := sh.d.decoded(stdout), sh.d.decoded(stderr)
	r.Stdout, r.Stderr = out, said
	limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	started := time.Now()
	p, err := sh.d.Host.Start(limited, r)
	if errors.Is(err, tools.ErrNotFrozen) {
		return outcome{}, err
	}
	if err != nil {
		return outcome{}, notStarted(err)
	}
	o, err := wait(limited, p, started)
	_, _ = out.Close(), said.Close()
	if err == nil {
		err = ctx.Err()
	}
	o.note = note
	if s, bad := sh.d.shell(); bad == nil && s.PowerShell && o.code != 0 { // models write bash where nothing says otherwise
		o.note = strings.TrimSpace(note + " Command lines are run by " + s.Name + " here, not by bash.")
	}
	if err != nil && c.take && !call.Drop && !call.Fresh {
		sh.giveUp(call, p, c.line)
		return o, err
	}
	ran := call.Frozen == nil || o.code != notFrozen // else what an earlier one left waits for the next
	o.end(call, p, c.take && err == nil && ran)
	return o, err
}

// notStarted says why there was no command.
func notStarted(err error) error {
	return tools.Errorf(tools.Unavailable, "nothing was run: %v", err)
}

// relative is the directory of the session, as the tools take it.
func (sh *shell) relative() string {
	folders := sh.in()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return folders.name(sh.dir)
}

// report is what a model reads of a command's end.
func report(stdout, stderr string, o outcome) string {
	var b strings.Builder
	b.WriteString(stdout)
	if stderr != "" {
		newline(&b)
		b.WriteString("[stderr]\n" + stderr)
	}
	newline(&b)
	if b.Len() == 0 {
		b.WriteString("(no output)\n")
	}
	o.remarks(&b)
	if hint := o.offline(stdout, stderr); hint != "" {
		b.WriteString("[" + hint + "]\n")
	}
	how := fmt.Sprintf("exit code %d", o.code)
	if o.timedOut {
		how = "ended by its time-out"
	}
	fmt.Fprintf(&b, "[%s, %.1f s%s]\n", how, o.took.Seconds(), o.unusual())
	return b.String()
}

// unusual says how a command was confined, where that is not as usual: fully, and without a
// network.
func (o outcome) unusual() string {
	switch o.words {
	case "sandbox: bubblewrap, Landlock, seccomp; no network", "sandbox: bubblewrap, seccomp; no network", "sandbox: Seatbelt; no network",
		"sandbox: bubblewrap, Landlock, seccomp; network by host", "sandbox: bubblewrap, seccomp; network by host":
		return ""
	}
	return "; " + o.words
}

// remarks writes what else is to be known of a command's run.
func (o outcome) remarks(b *strings.Builder) {
	if o.note != "" {
		b.WriteString("[" + o.note + "]\n")
	}
	for _, said := range o.changed.Said {
		b.WriteString("[" + said + "]\n")
	}
	if len(o.removed) > 0 {
		fmt.Fprintf(b, "[taken away again, because other programs would obey it: %s]\n", strings.Join(o.removed, ", "))
	}
}

func newline(b *strings.Builder) {
	if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
}
