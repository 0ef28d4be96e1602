package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
)

// runArgs are what a person wants run, as the process sees it that runs it. The
// streams come beside it.
type runArgs struct {
	Session  string   `json:"session,omitempty"`
	Mode     string   `json:"mode,omitempty"`
	Argv     []string `json:"argv"`
	Dir      string   `json:"dir"`
	Terminal bool     `json:"terminal"`
	Env      []string `json:"env"`
	Title    string   `json:"title,omitempty"`   // of the agent that it is
	Further  string   `json:"further,omitempty"` // its flag for a further directory; see profile.Further

	// What its profile gives it besides; see confine.Hosted.
	Pass     []string `json:"pass,omitempty"`
	Writable []string `json:"writable,omitempty"`
	Readable []string `json:"readable,omitempty"`
	Home     string   `json:"home,omitempty"`
	Network  bool     `json:"network,omitempty"`

	Hosts []hosts.Host `json:"hosts,omitempty"`
	Idle  []string     `json:"idle,omitempty"`
}

// runQuery is the name of that query.
const runQuery = "run"

// runProgram runs a program in a session of its own.
func runProgram(ctx context.Context, c *cli) error {
	if len(c.args) == 0 {
		return usagef("run takes a program and its arguments after --, as in: sidecar-ls run -- make generate")
	}
	folders, err := c.folders()
	if err != nil {
		return err
	}
	if c.mode == "" && !c.yes && !c.json {
		if err := firstStart(ctx, c.Streams, c.folders); err != nil {
			return err
		}
	}
	a := runArgs{Session: c.session, Mode: c.mode, Argv: c.args, Env: environment(nil)}
	if a.Dir, err = beginning(folders); err != nil {
		return err
	}
	ended, err := c.profiled(ctx, &a)
	if err != nil {
		return err
	}
	defer ended()
	s, err := c.streams()
	if err != nil {
		return err
	}
	defer s.close()
	a.Terminal = s.terminal
	res, err := c.hostThere(ctx, a, s)
	if errors.Is(err, errNobodyHosts) {
		res, err = c.hostHere(ctx, a, s)
	}
	s.close()                                                                  // the terminal is the person's again
	if err != nil && strings.Contains(err.Error(), exec.ErrNotFound.Error()) { // of the process that runs it
		return fmt.Errorf("%w%s", err, didYouMean(filepath.Base(a.Argv[0]), profile.Programs()))
	}
	if err != nil {
		return err
	}
	c.sayRun(res)
	if res.Code != 0 {
		return exitCode(res.Code)
	}
	return nil
}

// beginning is where the program begins: here, if that is in one of the folders, else at
// the top of the first.
func beginning(folders []workspace.Folder) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return "", err
	}
	if i, rest := workspace.Holding(folders, here); i >= 0 {
		return filepath.Join(folders[i].Dir, rest), nil
	}
	return folders[0].Dir, nil
}

// environment is what the program may have of this process's environment: what is
// harmless, what tells about the terminal, and the names in pass.
func environment(pass []string) []string {
	env := spec.Environ(os.Environ())
	for _, name := range append([]string{"TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR"}, pass...) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// errNobodyHosts says that no process serves the workspace that could run a program.
var errNobodyHosts = errors.New("no process serves the workspace")

// hostHere runs the program in a workspace that is opened for it.
func (c *cli) hostHere(ctx context.Context, a runArgs, s *streams) (program.Result, error) {
	if err := c.makeRoom(ctx); err != nil {
		return program.Result{}, err
	}
	there, err := share(ctx, c)
	if err != nil {
		return program.Result{}, err
	}
	res, err := host(ctx, there.Workspace, a, s.theirs)
	s.close() // the terminal is the person's again
	_ = there.close(ctx)
	return res, err
}

// host runs a program in a workspace. files are its terminal alone, or its standard
// streams; they are closed here.
func host(ctx context.Context, w *app.Workspace, a runArgs, files []*os.File) (program.Result, error) {
	if err := w.Home.LockedOut(); err != nil {
		return program.Result{}, fmt.Errorf("what the program writes could not wait for review: %w", err)
	}
	more, left := profile.Further(a.Further, workspace.Others(w.Disk.Folders(), a.Dir))
	r := program.Request{
		Session: a.Session, Mode: a.Mode, Argv: slices.Insert(a.Argv, 1, more...), Title: a.Title, Dir: a.Dir,
		Host: confine.Hosted{Stdin: files[0], Terminal: a.Terminal, Env: a.Env, Pass: a.Pass, Writable: a.Writable, Readable: a.Readable, Home: a.Home, Network: a.Network, Hosts: a.Hosts, Idle: a.Idle},
	}
	if a.Terminal {
		r.Out = files[0]
	} else {
		r.Out, r.Err = files[1], files[2]
	}
	r.Started = func() { closeAll(files[:min(2, len(files))]) } // else nobody who reads the rest of a pipe comes to its end
	res, err := program.Run(ctx, serve.Programs(w), r)
	closeAll(files) // standard error is copied to until now
	if a.Further != "" && len(left) > 0 {
		res.Said = append(res.Said, fmt.Sprintf("%s was not told of %s, whose name it can't take", a.Title, strings.Join(left, ", ")))
	}
	switch {
	case errors.Is(err, session.ErrMode):
		err = noMode(w.Client.Settings, a.Mode)
	case errors.Is(err, session.ErrExists), errors.Is(err, session.ErrInvalid):
		err = &usageError{err.Error()}
	}
	return res, err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// sayRun says on standard error what became of what the program wrote.
func (c *cli) sayRun(r program.Result) {
	out := onTerminal(c.Err)
	if c.json {
		data, err := json.Marshal(r)
		if err == nil {
			fmt.Fprintf(c.Err, "%s\n", data)
		}
		return
	}
	for _, s := range r.Said {
		fmt.Fprintln(out, "sidecar-ls:", s)
	}
	switch {
	case len(r.Changed) == 0:
	case !r.Held:
		fmt.Fprintf(out, "sidecar-ls: %s: changed, as session %s\n", firstNames(r.Changed), r.Session)
	case len(r.Waits) == 0:
		fmt.Fprintf(out, "sidecar-ls: %s: decided, so nothing of session %s is pending\n", firstNames(r.Changed), r.Session)
	default:
		fmt.Fprintf(out, "sidecar-ls: %s: %s, as session %s\n", firstNames(r.Waits), heldWords, r.Session)
	}
}

// heldWords say what became of edits, and how to look at them.
const heldWords = "held for review (sidecar-ls review diff)"

// firstNames are the first few of a list of files.
func firstNames(names []string) string {
	const most = 5
	more := ""
	if n := len(names); n > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(names, ", ") + more
}
