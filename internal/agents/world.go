package agents

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// world is what an agent reaches through us: files as its session sees them, and
// commands in its world.
type world struct{ *external }

// ReadFile implements acp.Files.
func (w world) ReadFile(ctx context.Context, _, path string) (string, error) {
	name, ok := w.below(path)
	if !ok {
		return "", acp.Errorf(acp.CodeInvalidParams, "%s is outside of the workspace", path)
	}
	if e := w.explain(ctx, "read_file", map[string]string{"path": name}); e.Decision != policy.Allow {
		return "", acp.Errorf(acp.CodeInvalidParams, "reading %s is not allowed: %s", name, e.Rule)
	}
	w.catchUp()
	var text string
	var missing bool
	read := tools.NewRead(tools.Def{
		Name: "agent_read", Title: "Read a file", Description: "Reads a file for an agent.", Example: "{}", Category: "files", Output: tools.NoOutput{},
	}, func(_ context.Context, c *tools.Call, _ struct{}) (tools.Result, error) {
		resolved, err := c.Files.Resolve(name)
		if err != nil {
			return tools.Result{}, err
		}
		data, err := c.Files.ReadFile(resolved)
		missing = errors.Is(err, fs.ErrNotExist)
		text = string(data)
		return tools.Result{}, err
	})
	res, err := w.m.o.Parts().Dispatch.CallOwn(ctx, read, w.session.ID, "")
	switch {
	case err != nil:
		return "", err
	case missing:
		return "", acp.Errorf(acp.CodeNotFound, "%s does not exist", name)
	case !res.OK:
		return "", acp.Errorf(acp.CodeInvalidParams, "%s", res.Content)
	}
	return text, nil
}

// catchUp takes over what the agent wrote by itself just before.
func (w world) catchUp() {
	if a := w.here(); a != nil {
		a.program.Collect()
	}
}

// again has the agent see the edit that it is about to be told of. What fails is said
// by the next command.
func (w world) again() {
	if a := w.here(); a != nil {
		_ = a.program.Again()
	}
}

// WriteFile implements acp.Files: it is an edit like any other.
func (w world) WriteFile(ctx context.Context, _, path, text string) error {
	name, ok := w.below(path)
	if !ok {
		return acp.Errorf(acp.CodeInvalidParams, "%s is outside of the workspace", path)
	}
	w.catchUp()
	args, err := json.Marshal(map[string]string{"path": name, "content": text})
	if err != nil {
		return err
	}
	res, err := w.m.o.Gate().Call(ctx, dispatch.Request{Name: "write_file", Arguments: args, Session: w.session.ID, Whole: true})
	if err != nil {
		return err
	}
	if !res.OK {
		return acp.Errorf(acp.CodeInvalidParams, "%s", res.Content)
	}
	w.again()
	return nil
}

// Create implements acp.Terminals: a command in the agent's world, once the policy
// or a person has allowed it.
func (w world) Create(ctx context.Context, r acp.TerminalRequest) (acp.Terminal, error) {
	argv := append([]string{r.Command}, r.Args...)
	line := words(argv)
	var boot []string
	if len(r.Args) == 0 { // a command line
		shell, err := w.m.o.Parts().Shell()
		if err != nil {
			return nil, acp.Errorf(acp.CodeInternal, "%v", err)
		}
		line = r.Command
		argv, boot = shell.Line(line)
	}
	if err := w.mayRun(ctx, spelled(r.Env, line)); err != nil {
		return nil, err
	}
	dir := w.session.Root
	if r.Dir != "" {
		if _, ok := w.below(r.Dir); !ok {
			return nil, acp.Errorf(acp.CodeInvalidParams, "%s is outside of the workspace", r.Dir)
		}
		dir = r.Dir
	}
	env := os.Environ()
	var pass []string
	for _, v := range r.Env {
		env = append(env, v.Name+"="+v.Value)
		pass = append(pass, v.Name)
	}
	for _, v := range boot {
		name, _, _ := strings.Cut(v, "=")
		env, pass = append(env, v), append(pass, name)
	}
	t := &terminal{limit: maxTerminal, done: make(chan struct{})}
	if r.OutputLimit != nil && *r.OutputLimit >= 0 && *r.OutputLimit < maxTerminal {
		t.limit = int(*r.OutputLimit)
	}
	p, err := program.Begin(w.m.ctx, w.m.o.Parts(), w.session, program.Request{
		Argv: argv, Dir: dir, Host: confine.Hosted{Env: env, Pass: pass, InPlace: true}, Out: t, Err: t,
	})
	if err != nil {
		return nil, err
	}
	t.program = p
	go t.run()
	return t, nil
}

// mayRun has the policy, or else a person, decide about a command line.
func (w world) mayRun(ctx context.Context, line string) error {
	e := w.explain(ctx, "run_command", map[string]string{"command": line})
	switch e.Decision {
	case policy.Allow:
		return nil
	case policy.Deny:
		return acp.Errorf(acp.CodeInvalidParams, "the command is not run: %s", e.Rule)
	}
	yes := "allow"
	q := conversation.Question{Text: "Run `" + line + "`?\n" + e.Reason, Irrecoverable: e.Rule == "irrecoverable"}
	if q.Irrecoverable {
		yes = confirmed
	}
	q.Options = []conversation.Option{{ID: yes, Label: "Allow", Kind: "allow_once"}, {ID: "deny", Label: "Deny", Kind: "reject_once"}}
	if answer, _, err := w.run.Ask(ctx, q); err != nil || answer != yes {
		return acp.Errorf(acp.CodeInvalidParams, "the command is not run: the user did not allow it")
	}
	return nil
}

// spelled is a command line with the variables that it gets, so that they count where
// it is decided about.
func spelled(env []acp.Variable, line string) string {
	if len(env) == 0 {
		return line
	}
	set := "export"
	for _, v := range env {
		set += " " + v.Name + "=" + tools.ShellWord(v.Value)
	}
	return set + "; " + line
}

// words is an argument list as a command line.
func words(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = tools.ShellWord(a)
	}
	return strings.Join(quoted, " ")
}

// maxTerminal bounds what is kept of a command's output, in bytes.
const maxTerminal = 1 << 20

// terminal is a command that an agent has started.
type terminal struct {
	program *program.Running
	limit   int

	mu      sync.Mutex
	out     []byte
	cut     bool
	stopped bool // by a person
	exit    *acp.Exit
	done    chan struct{}
}

func (t *terminal) run() {
	defer close(t.done)
	res, err := t.program.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exit = &acp.Exit{}
	if t.stopped {
		t.keep([]byte(stopped))
	}
	if err != nil || t.stopped {
		signal := "SIGKILL"
		t.exit.Signal = &signal
	} else {
		t.exit.Code = &res.Code
	}
}

// Write implements io.Writer: it keeps the end of the output.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(p)
	return len(p), nil
}

func (t *terminal) keep(p []byte) {
	t.out = append(t.out, p...)
	if over := len(t.out) - t.limit; over > 0 {
		t.out, t.cut = append([]byte(nil), t.out[over:]...), true
	}
}

// Output implements acp.Terminal.
func (t *terminal) Output() (string, bool, *acp.Exit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.out), "\uFFFD"), t.cut, t.exit
}

// Wait implements acp.Terminal.
func (t *terminal) Wait(ctx context.Context) (acp.Exit, error) {
	select {
	case <-t.done:
		_, _, exit := t.Output()
		return *exit, nil
	case <-ctx.Done():
		return acp.Exit{}, ctx.Err()
	}
}

// Kill implements acp.Terminal.
func (t *terminal) Kill() error {
	t.program.Kill()
	return nil
}

// Release implements acp.Terminal.
func (t *terminal) Release() { t.program.Kill() }
