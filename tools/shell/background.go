package shell

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// maxJobs bounds what runs in the background of one session at a time, and
// maxKept how many of those that have ended can still be read.
const (
	maxJobs = 10
	maxKept = 20
)

// job is a command in the background.
type job struct {
	id, line string
	started  time.Time
	out      *output // both streams, as they came
	stop     context.CancelFunc
	done     chan struct{}
	end      outcome // when done is closed
	err      error
	p        Process
	watch    *watch // nil: nobody watches it; the shell's mu guards it
}

// code is its exit code, once it has ended by itself.
func (j *job) code() *int {
	if j.running() || j.err != nil || j.end.timedOut {
		return nil
	}
	return &j.end.code
}

func (j *job) running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// state says in words how a job is.
func (j *job) state() string { return j.stateAs(j.running()) }

// stateAs is state where it is known whether the command runs: it may have ended since.
func (j *job) stateAs(running bool) string {
	switch {
	case running:
		return fmt.Sprintf("running for %.0f s", time.Since(j.started).Seconds())
	case j.end.timedOut:
		return "ended by its time-out"
	case j.err != nil:
		return "killed"
	}
	return fmt.Sprintf("ended with exit code %d after %.1f s", j.end.code, j.end.took.Seconds())
}

// remarks are what is to be known of the run of one that has ended.
func (j *job) remarks() string {
	var b strings.Builder
	j.end.remarks(&b)
	return b.String()
}

// changed is what commands changed that nobody has taken over, and what is said of it.
func (j *job) changed(c *tools.Call) (said string, changes []workspace.Change) {
	if j.p == nil {
		return "", nil
	}
	o := outcome{}
	var err error
	if o.changed, err = j.p.Changed(); err != nil {
		o.changed.Said = append(o.changed.Said, "What was changed is not taken over: "+err.Error())
	}
	o.changed.Tell(c)
	var b strings.Builder
	o.remarks(&b)
	return b.String(), o.changed.Changes
}

// listening says on which ports the session's programs listen; "" is on none.
func (sh *shell) listening() string {
	var words []string
	for _, l := range sh.d.Host.Listening(sh.session) {
		word := strconv.Itoa(l.Port)
		if l.Program != "" {
			word += " (" + l.Program + ")"
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return ""
	}
	return fmt.Sprintf("[This session listens on %s of a localhost of its own. Its later commands reach that. The user can open a port in a browser: sidecar-ls port open %s PORT.]\n", strings.Join(words, ", "), sh.session)
}

// background starts a command that goes on after the call.
func (sh *shell) background(c *tools.Call, in runIn) (tools.Result, error) {
	if why := sh.d.NoBackground; why != "" {
		return tools.Result{}, tools.Errorf(tools.Unavailable, "background: %s; nothing was run", why)
	}
	r, note, err := sh.prepare(c, command{line: in.Command, dir: in.Cwd, env: in.variables()})
	if err != nil {
		return tools.Result{}, err
	}
	shell, err := sh.d.shell()
	if err != nil {
		return tools.Result{}, err
	}
	sh.mu.Lock()
	running := 0
	for _, j := range sh.jobs {
		if j.running() {
			running++
		}
	}
	if running >= maxJobs {
		sh.mu.Unlock()
		return tools.Result{}, tools.Errorf(tools.BudgetExceeded, "%d commands run in the background already; end one with command_kill", running)
	}
	sh.lastJob++
	// A time-out that nobody gave is that of a command that is waited for.
	ctx, stop := context.WithTimeout(context.Background(), maxTimeout*time.Second)
	j := &job{id: "bg" + strconv.Itoa(sh.lastJob), line: in.spelled(shell), started: time.Now(), out: &output{}, stop: stop, done: make(chan struct{})}
	sh.jobs = append(sh.jobs, j)
	for i := 0; i < len(sh.jobs) && len(sh.jobs) > maxKept; {
		if sh.jobs[i].running() {
			i++
			continue
		}
		sh.jobs = append(sh.jobs[:i:i], sh.jobs[i+1:]...)
	}
	sh.mu.Unlock()
	out := sh.d.decoded(j.out)
	r.Stdout, r.Stderr, r.Stays = out, out, true
	p, err := sh.d.Host.Start(ctx, r)
	if err != nil {
		j.err = err
		stop()
		close(j.done)
		return tools.Result{}, notStarted(err)
	}
	j.p = p
	if p.World() != "disk" {
		c.SawFiles()
	}
	go func() {
		defer stop()
		j.end, j.err = wait(ctx, p, j.started)
		_ = out.Close()
		_, _ = p.End(false)
		close(j.done)
		if j.err == nil && sh.d.Calls != nil {
			sh.d.Calls.Ended(sh.session, j.id)
		}
	}()
	text := fmt.Sprintf("Runs in the background as %s. command_output reads it, command_watch notes its lines, command_kill ends it; it ends with the session, at the latest after %d s.\n[%s]", j.id, maxTimeout, p.Words())
	if note != "" {
		text += "\n[" + note + "]"
	}
	return tools.Result{Text: text, Structured: Ran{ID: j.id, Cwd: sh.relative(), Sandbox: p.Words(), World: p.World()}}, nil
}

// job returns a job by its id.
func (sh *shell) job(id string) (*job, error) {
	var known []string
	for _, j := range sh.all() {
		if j.id == id {
			return j, nil
		}
		known = append(known, j.id)
	}
	if len(known) == 0 {
		return nil, tools.Errorf(tools.NotFound, "id: %q is not known: nothing was run in the background of this session", id)
	}
	return nil, tools.Errorf(tools.NotFound, "id: %q is not known; there are %s", id, strings.Join(known, ", "))
}

//go:embed command_kill.md
var killDoc string

type killIn struct {
	ID string `json:"id" jsonschema:"from run_command"`
}

func newCommandKill(s *sessions) *tools.Tool {
	return tools.NewReadEdit(tools.Def{
		Name: "command_kill", Title: "End a command", Example: `{"id": "bg1"}`, Description: killDoc,
		Category: category, Tags: []string{"background"}, Names: []string{"command_list", "command_output"},
		Output: tools.NoOutput{}, Wrote: "run_command",
	}, func(ctx context.Context, c *tools.Call, in killIn) (tools.Result, []workspace.Change, error) {
		j, err := s.get(c).job(in.ID)
		if err != nil {
			return tools.Result{}, nil, err
		}
		if !j.running() {
			return tools.Result{Text: fmt.Sprintf("%s runs no more (%s).", j.id, j.state())}, nil, nil
		}
		j.stop()
		select {
		case <-j.done:
		case <-ctx.Done():
			return tools.Result{}, nil, ctx.Err()
		}
		said, changes := j.changed(c)
		return tools.Result{Text: strings.TrimSpace(j.id + " and all its processes have been ended.\n" + j.remarks() + said)}, changes, nil
	})
}

//go:embed command_list.md
var listDoc string

// Job describes a command in the background, for command_list.
type Job struct {
	ID      string `json:"id" jsonschema:"for command_output and command_kill"`
	Command string `json:"command" jsonschema:"as it was given"`
	Running bool   `json:"running" jsonschema:"it has not ended"`
	Bytes   int64  `json:"bytes" jsonschema:"of its output"`
}

// Jobs is the structured result of command_list.
type Jobs struct {
	Commands []Job `json:"commands" jsonschema:"in the order of their start"`
}

func newCommandList(s *sessions) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: "command_list", Title: "List commands", Example: `{}`, Description: listDoc,
		Category: category, Tags: []string{"background"}, Names: []string{"command_kill", "command_output"},
		Output: Jobs{},
	}, func(_ context.Context, c *tools.Call, _ struct{}) (tools.Result, error) {
		list := []Job{}
		var b strings.Builder
		sh := s.get(c)
		for _, j := range sh.all() {
			list = append(list, Job{j.id, j.line, j.running(), j.out.bytes()})
			line, _, more := strings.Cut(j.line, "\n")
			if more {
				line += " …"
			}
			fmt.Fprintf(&b, "%s  %s  %d bytes  %s\n", j.id, j.state(), j.out.bytes(), line)
		}
		if len(list) == 0 {
			b.WriteString("Nothing was run in the background of this session.")
		} else {
			b.WriteString(sh.listening())
		}
		return tools.Result{Text: b.String(), Structured: Jobs{list}}, nil
	})
}
