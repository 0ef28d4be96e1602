package shell

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/procgroup"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// plain runs commands without a sandbox, which has tests of its own.
// World and its neighbours are those of a command on the disk.
func (plain) Outside(path string) string { return path }
func (plain) World() string              { return "disk" }
func (plain) Changed() (Changed, error)  { return Changed{}, nil }
func (plain) End(bool) (Changed, error)  { return Changed{}, nil }
func (plain) GiveUp() Changed            { return Changed{} }

type plain struct{ cmd *exec.Cmd }

func (p plain) Wait() error {
	err := p.cmd.Wait()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return ended(status.Signal())
	}
	return err
}

func (p plain) Kill()             { _ = procgroup.End(p.cmd) }
func (p plain) Words() string     { return "sandbox: none" }
func (p plain) Removed() []string { return nil }

// ended is the end of a command by a signal, as the sandbox tells it.
type ended syscall.Signal

func (e ended) Error() string { return "ended by a signal" }
func (e ended) ExitCode() int { return 128 + int(e) }

type rig struct {
	t      *testing.T
	root   string
	files  workspace.Files
	byName map[string]*tools.Tool
	closed chan struct{}
	refuse error
	env    []string

	sessions *sessions
	host     *host

	printers int
	notesMu  sync.Mutex
	noted    chan Note
	unread   int
}

// Closed implements Calls.
func (r *rig) Closed(string) <-chan struct{} { return r.closed }

// GivenUp implements Calls: nothing here is held.
func (r *rig) GivenUp(*tools.Tool, string, string) {}

// Ended implements Calls: nobody waits here.
func (r *rig) Ended(string, string) {}

// Lines implements Calls.
func (r *rig) Lines() Lines { return redact.NewStream(redact.New("s3cr3t-value").Text) }

// Note implements Calls: a step of the agent takes all at once.
func (r *rig) Note(_ string, n Note) int {
	r.notesMu.Lock()
	defer r.notesMu.Unlock()
	r.noted <- n
	r.unread++
	return r.unread
}

// host starts commands as they are.
type host struct {
	*rig
	home    string
	shell   func() (shells.Shell, error)
	offline bool

	listening []Listener
}

func (h *host) Start(ctx context.Context, run Run) (Process, error) {
	if h.refuse != nil {
		return nil, h.refuse
	}
	cmd := exec.CommandContext(ctx, run.Argv[0], run.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = run.Dir, run.Stdout, run.Stderr
	cmd.Env = append([]string{"HOME=" + h.home, HomeVariable + "=" + h.home, "PATH=" + os.Getenv("PATH")}, append(run.Env, h.env...)...)
	procgroup.Own(cmd)
	cmd.Cancel = func() error { return procgroup.End(cmd) }
	cmd.WaitDelay = time.Second
	return plain{cmd}, cmd.Start()
}

func (h *host) Isolate(context.Context, Run) (Process, error) {
	return nil, errors.New("there is no sandbox here")
}
func (h *host) Shell() (shells.Shell, error)      { return h.shell() }
func (h *host) Look(name string) (string, error)  { return exec.LookPath(name) }
func (h *host) Home(string) (string, error)       { return h.home, nil }
func (h *host) Offline(string) bool               { return h.offline }
func (h *host) Listening(string) []Listener       { return h.listening }
func (h *host) IsDir(string, string, string) bool { return false }
func (h *host) Leave(string)                      {}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, root: t.TempDir(), byName: map[string]*tools.Tool{}, closed: make(chan struct{}), noted: make(chan Note, 1000)}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: r.root}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	r.files = disk
	r.host = &host{rig: r, home: t.TempDir(), shell: func() (shells.Shell, error) { return shells.Bash, nil }}
	r.sessions = newSessions(Deps{Host: r.host, Calls: r})
	for _, tool := range r.sessions.tools() {
		r.byName[tool.Name] = tool
	}
	return r
}

// call runs a tool and returns its text, or that of its failure.
func (r *rig) call(name string, args any, emit func(string)) (string, tools.Result, *tools.Error) {
	r.t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		r.t.Fatal(err)
	}
	b, err := r.byName[name].Bind(data)
	if err != nil {
		return err.Error(), tools.Result{}, tools.AsError(err)
	}
	if err := b.Plan(r.t.Context(), r.files); err != nil {
		return err.Error(), tools.Result{}, tools.AsError(err)
	}
	res, _, err := b.Run(r.t.Context(), &tools.Call{Session: "s1", Files: r.files, Emit: emit})
	tooltest.Fits(r.t, r.byName[name], res, err)
	if err != nil {
		e := tools.AsError(err)
		return e.Message + "\n" + e.Detail, res, e
	}
	return res.Text, res, nil
}

func (r *rig) run(command string) string {
	r.t.Helper()
	text, _, _ := r.call("run_command", map[string]any{"command": command}, nil)
	return text
}

// What a session's commands leave to the next is for their user alone, and their
// own umask stays.
func TestStateIsPrivate(t *testing.T) {
	r := newRig(t)
	home, err := r.host.Home(r.root)
	if err != nil {
		t.Fatal(err)
	}
	r.run("umask 022; export TOKEN=x")
	stale := filepath.Join(home, StateDir, "s1", "state.new")
	if err := ownfile.WriteFile(stale, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out := r.run("umask 022; touch made; stat -c %a made"); !strings.HasPrefix(out, "644\n") {
		t.Errorf("the command's own file: %s", out)
	}
	for _, name := range []string{"state", "cwd"} {
		info, err := os.Stat(filepath.Join(home, StateDir, "s1", name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if out := r.run("echo $TOKEN"); !strings.HasPrefix(out, "x\n") {
		t.Error(out)
	}
}

// What a command puts in the place of its state leads the server nowhere, and
// does not keep it waiting.
func TestStateIsNoWayOut(t *testing.T) {
	for what, c := range map[string]struct{ script, then string }{
		"control":            {"cd sub", "pwd"},
		"a link":             {`trap "" EXIT; __sc_keep=0; ln -sf "$SECRET" "$__sc_dir/cwd"`, "pwd"},
		"a pipe":             {`trap "" EXIT; __sc_keep=0; rm -f "$__sc_dir/cwd" "$__sc_dir/state.new"; mkfifo "$__sc_dir/cwd" "$__sc_dir/state.new"`, "pwd"},
		"a link on the way":  {`trap "" EXIT; __sc_keep=0; rm -r "$HOME/.sidecar-shell"; ln -s "$OUTSIDE" "$HOME/.sidecar-shell"`, "pwd"},
		"a link to the file": {`trap "" EXIT; __sc_keep=0; ln -sf "$SECRET" "$__sc_dir/state.new"`, "pwd"},
	} {
		r := newRig(t)
		outside := t.TempDir()
		secret := filepath.Join(outside, "secret")
		if err := errors.Join(ownfile.WriteFile(secret, []byte("known-to-nobody\n"), 0o600), ownfile.Mkdir(filepath.Join(outside, "s1"), 0o700), ownfile.Mkdir(filepath.Join(r.root, "sub"), 0o755)); err != nil {
			t.Fatal(err)
		}
		r.env = append(r.env, "SECRET="+secret, "OUTSIDE="+outside)
		r.run(c.script)
		out := r.run(c.then)
		if strings.Contains(out, "known-to-nobody") || (what == "control") != strings.Contains(out, "/sub\n") {
			t.Errorf("%s: %s", what, out)
		}
		sh := r.sessions.get(&tools.Call{Session: "s1", Files: r.files})
		sh.end()
		if left, err := os.ReadDir(outside); err != nil || len(left) != 2 {
			t.Errorf("%s: outside is %v, %v", what, left, err)
		}
	}
}

// What one command leaves is there for the next.
func TestState(t *testing.T) {
	r := newRig(t)
	if err := ownfile.MkdirAll(filepath.Join(r.root, "a b", "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, says string }{
		{"cd 'a b/c'", "exit code 0"},
		{"pwd; echo $PWD", "a b/c\n" + r.root + "/a b/c"},
		{"export TOKEN='x \"y\"\nz' PLAIN=1; LOCAL=1", ""},
		{`printf '<%s>' "$TOKEN" "$PLAIN" "$LOCAL"`, "<x \"y\"\nz><1><>"},
		{"greet() { echo \"hello $1\"; }; alias hi='greet there'", ""},
		{"hi; greet you", "hello there\nhello you"},
		{"export LATE=1; exit 7", "exit code 7"},
		{"echo late $LATE", "late 1"},
		{"cd /", "exit code 0"},
		{"pwd", "is gone or outside of the workspace"},
		{"pwd", r.root + "\n"},
		{"mkdir d; cd d; rmdir ../d", ""},
		{"echo alive", "alive"},
		{"unset PLAIN; unalias hi", ""},
		{"echo \"<$PLAIN>\"; hi", "<>"},
		{"trap 'echo bye' EXIT; export AFTER=1", "bye"},
		{"echo after $AFTER", "after 1"},
	} {
		if got := r.run(c.command); !strings.Contains(got, c.says) {
			t.Errorf("%q says\n%s\nwithout %q", c.command, got, c.says)
		}
	}
}

func TestOutcomes(t *testing.T) {
	slow.Test(t)
	r := newRig(t)
	for name, c := range map[string]struct {
		args map[string]any
		code tools.Code
		says []string
	}{
		"both streams":           {map[string]any{"command": "echo out; echo err >&2"}, "", []string{"out\n[stderr]\nerr\n[exit code 0"}},
		"nothing":                {map[string]any{"command": "true"}, "", []string{"(no output)", "sandbox: none"}},
		"a code":                 {map[string]any{"command": "echo why >&2; exit 3"}, tools.CommandFailed, []string{"exit code 3", "why"}},
		"no such program":        {map[string]any{"command": "no_such_program_x"}, tools.CommandFailed, []string{"exit code 127", "not found"}},
		"a quote too few":        {map[string]any{"command": "echo 'x"}, tools.CommandFailed, []string{"unexpected EOF"}},
		"reads standard input":   {map[string]any{"command": "cat; echo end"}, "", []string{"end"}},
		"killed by a signal":     {map[string]any{"command": "kill -9 $$"}, tools.CommandFailed, []string{"137"}},
		"too long":               {map[string]any{"command": "sleep 60", "timeout_s": 1}, tools.Timeout, []string{"ended after 1 s"}},
		"a directory":            {map[string]any{"command": "pwd", "cwd": "sub"}, "", []string{"/sub\n"}},
		"a directory outside":    {map[string]any{"command": "pwd", "cwd": "../.."}, tools.OutsideWorkspace, []string{"cwd"}},
		"a directory of nowhere": {map[string]any{"command": "pwd", "cwd": "none"}, tools.NotFound, []string{"cwd"}},
		"a file as directory":    {map[string]any{"command": "pwd", "cwd": "file"}, tools.InvalidArguments, []string{"cwd"}},
		"a link out":             {map[string]any{"command": "pwd", "cwd": "out"}, tools.OutsideWorkspace, []string{"cwd"}},
		"empty":                  {map[string]any{"command": ""}, tools.InvalidArguments, []string{"command"}},
		"a NUL":                  {map[string]any{"command": "echo \x00"}, tools.InvalidArguments, []string{"NUL"}},
		"far too long":           {map[string]any{"command": "echo " + strings.Repeat("x", maxCommand)}, tools.InvalidArguments, []string{"bytes"}},
		"a time of nothing":      {map[string]any{"command": "true", "timeout_s": 0}, tools.InvalidArguments, []string{"timeout_s"}},
		"bytes that are no text": {map[string]any{"command": `printf '\xff\xfe'`}, "", []string{"\uFFFD"}},
		"exec":                   {map[string]any{"command": "exec echo gone"}, "", []string{"gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for _, dir := range []string{"sub"} {
				if err := ownfile.Mkdir(filepath.Join(r.root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(ownfile.WriteFile(filepath.Join(r.root, "file"), nil, 0o644), ownfile.Symlink(t.TempDir(), filepath.Join(r.root, "out"))); err != nil {
				t.Fatal(err)
			}
			text, _, e := r.call("run_command", c.args, nil)
			code := tools.Code("")
			if e != nil {
				code = e.Code
			}
			if code != c.code {
				t.Fatalf("code %q, want %q: %s", code, c.code, text)
			}
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("%q is missing in\n%s", part, text)
				}
			}
		})
	}
	r.refuse = errors.New("no sandbox here")
	if text, _, e := r.call("run_command", map[string]any{"command": "true"}, nil); e == nil || e.Code != tools.Unavailable || !strings.Contains(text, "no sandbox here") {
		t.Errorf("%v: %s", e, text)
	}
}

// Without a sandbox no code is run.
func TestCodeNeedsSandbox(t *testing.T) {
	r := newRig(t)
	if text, _, e := r.call("code_exec", map[string]any{"language": "python", "code": "open('/tmp/x', 'w')"}, nil); e == nil || e.Code != tools.Unavailable || !strings.Contains(text, "no sandbox here") {
		t.Errorf("%v: %s", e, text)
	}
}

// A command that prints without end costs no memory, and what is shown is its
// beginning and its end.
func TestEndlessOutput(t *testing.T) {
	r := newRig(t)
	streamed := 0
	text, res, e := r.call("run_command", map[string]any{"command": "seq 1 3000000"}, func(s string) { streamed += len(s) })
	if e != nil {
		t.Fatal(text)
	}
	ran := res.Structured.(Ran)
	if !strings.HasPrefix(text, "1\n2\n") || !strings.Contains(text, "3000000\n[exit code 0") || !strings.Contains(text, "bytes are not kept") || len(text) > keepHead+keepTail+1000 {
		t.Errorf("%d bytes: %.50q … %q", len(text), text, text[len(text)-100:])
	}
	if int64(streamed) != ran.Stdout || ran.Stdout != 22888896 {
		t.Errorf("%d bytes streamed, %d printed", streamed, ran.Stdout)
	}
}

func TestOutput(t *testing.T) {
	o := &output{}
	var all []byte
	for i := 0; len(all) < 3*(keepHead+keepTail); i++ {
		line := []byte(strings.Repeat(string(rune('a'+i%26)), 1+i%997) + "\n")
		all = append(all, line...)
		if _, err := o.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	text, total := o.from(0)
	if total != int64(len(all)) || !strings.HasPrefix(text, string(all[:keepHead])) || !strings.HasSuffix(text, string(all[len(all)-keepTail:])) {
		t.Error("the beginning or the end is not what was written")
	}
	for _, back := range []int{0, 1, 100, keepTail} {
		if got, _ := o.from(total - int64(back)); got != string(all[len(all)-back:]) {
			t.Errorf("the last %d bytes are %d others", back, len(got))
		}
	}
	if got, _ := o.from(10); !strings.HasPrefix(got, string(all[10:100])) {
		t.Error("reading on in the beginning begins elsewhere")
	}
}

// A rune is passed on whole, however it is written.
func TestRunesAreStreamedWhole(t *testing.T) {
	var got []string
	o := &output{emit: func(s string) { got = append(got, s) }}
	for _, b := range []byte("aä€😀z") {
		if _, err := o.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if s := strings.Join(got, "|"); s != "a|ä|€|😀|z" {
		t.Errorf("%q", s)
	}
}

func TestBackground(t *testing.T) {
	r := newRig(t)
	started := func(command string) string {
		t.Helper()
		text, res, e := r.call("run_command", map[string]any{"command": command, "background": true}, nil)
		if e != nil {
			t.Fatal(text)
		}
		return res.Structured.(Ran).ID
	}
	r.run("export NAME=world")
	id := started("echo one $NAME; until [ -e go ]; do sleep 0.05; done; echo two; exit 4")
	until := func(want string) Printed {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			text, res, e := r.call("command_output", map[string]any{"id": id}, nil)
			if e != nil {
				t.Fatal(text)
			}
			if strings.Contains(text, want) {
				return res.Structured.(Printed)
			}
			if time.Now().After(deadline) {
				t.Fatalf("no %q in %q", want, text)
			}
		}
	}
	first := until("one world")
	if !first.Running || first.ExitCode != nil {
		t.Errorf("%+v", first)
	}
	if err := ownfile.WriteFile(filepath.Join(r.root, "go"), nil, fs.ModePerm); err != nil {
		t.Fatal(err)
	}
	until("ended with exit code 4")
	text, res, _ := r.call("command_output", map[string]any{"id": id, "cursor": first.Cursor}, nil)
	if last := res.Structured.(Printed); !strings.HasPrefix(text, "two\n") || last.ExitCode == nil || *last.ExitCode != 4 {
		t.Errorf("%q, %+v", text, last)
	}
	if text, _, e := r.call("command_output", map[string]any{"id": id, "cursor": "zzzz"}, nil); e == nil || e.Code != tools.ExpiredCursor {
		t.Errorf("%v %s", e, text)
	}
	for _, tool := range []string{"command_output", "command_kill"} {
		if text, _, e := r.call(tool, map[string]any{"id": "bg99"}, nil); e == nil || e.Code != tools.NotFound || !strings.Contains(text, "bg1") {
			t.Errorf("%s: %v %s", tool, e, text)
		}
	}

	id = started("sleep 100 & sleep 100")
	if text, _, e := r.call("command_kill", map[string]any{"id": id}, nil); e != nil || !strings.Contains(text, "have been ended") {
		t.Errorf("%v %s", e, text)
	}
	if text, _, _ := r.call("command_list", struct{}{}, nil); !strings.Contains(text, "bg1  ended with exit code 4") || !strings.Contains(text, "bg2  killed") {
		t.Error(text)
	}
	for range maxJobs {
		id = started("sleep 100")
	}
	if text, _, e := r.call("run_command", map[string]any{"command": "true", "background": true}, nil); e == nil || e.Code != tools.BudgetExceeded {
		t.Errorf("one too many: %v %s", e, text)
	}
	last, err := r.sessions.get(&tools.Call{Session: "s1", Files: r.files}).job(id)
	if err != nil {
		t.Fatal(err)
	}
	close(r.closed) // the session ends, and with it what runs
	select {
	case <-last.done:
	case <-time.After(time.Minute):
		t.Error("a command outlives its session")
	}
}

// Where bash names a line, it is one of the command, not of what is around it.
func TestLinesAreTheCommands(t *testing.T) {
	for name, c := range map[string]struct{ command, want string }{
		"one line":    {"nosuch", "line 1: nosuch:"},
		"the third":   {"true\n\nnosuch", "line 3: nosuch:"},
		"here-doc":    {"cat <<X\na\nb\nX\nnosuch", "line 5: nosuch:"},
		"function":    {"f() {\n\tnosuch\n}\n\nf", "line 2: nosuch:"},
		"eval":        {"true\neval nosuch", "line 2: nosuch:"},
		"syntax":      {"echo a\necho )", "line 2: syntax error"},
		"no end":      {"if true; then\necho a", "line 3: syntax error"},
		"subshell":    {"true\n(\nnosuch)", "line 3: nosuch:"},
		"expansion":   {"true\necho ${gone?not set}", "line 2: gone:"},
		"builtin":     {"true\ncd nowhere", "line 2: cd:"},
		"redirection": {"true\n: <nowhere", "line 2: nowhere:"},
		"LINENO":      {"true\necho line $LINENO: here", "line 2: here"},
		"a trap":      {"trap 'echo end' EXIT\nnosuch", "line 2: nosuch:"},
	} {
		t.Run(name, func(t *testing.T) {
			if out := newRig(t).run(c.command); !strings.Contains(out, c.want) {
				t.Errorf("no %q in:\n%s", c.want, out)
			}
		})
	}
}

// What the wrapper is given is nothing of the command's.
func TestNoArguments(t *testing.T) {
	if out := newRig(t).run(`echo "$#:$1"`); !strings.HasPrefix(out, "0:\n") {
		t.Error(out)
	}
}

// A variable of one command is its alone: what the session has comes back.
func TestVariablesOfOneCommand(t *testing.T) {
	r := newRig(t)
	with := func(command string, env map[string]string) string {
		text, _, _ := r.call("run_command", map[string]any{"command": command, "env": env}, nil)
		return text
	}
	r.run("export KEPT=before; plain=1")
	if out := with(`bash -c 'echo "$KEPT|$NEW"'; export OTHER=stays`, map[string]string{"KEPT": "now", "NEW": "it's $HOME\nand more"}); !strings.HasPrefix(out, "now|it's $HOME\nand more\n") {
		t.Error(out)
	}
	if out := r.run(`echo "$KEPT|${NEW-unset}|$OTHER"`); !strings.HasPrefix(out, "before|unset|stays\n") {
		t.Error(out)
	}
	if out := with("exit 3", map[string]string{"NEW": "x"}); !strings.Contains(out, "exit code 3") {
		t.Error(out)
	}
	if out := r.run(`echo "${NEW-unset}"`); !strings.HasPrefix(out, "unset\n") {
		t.Errorf("after one that exits: %s", out)
	}
}

// The variables are part of the line that is shown, decided on and remembered.
func TestVariablesAreDecidedOn(t *testing.T) {
	b, err := newRig(t).byName["run_command"].Bind([]byte(`{"command": "make test", "env": {"LD_PRELOAD": "./x.so", "A": "two words"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := "export A='two words' LD_PRELOAD=./x.so; make test"; b.Effects.Command != want || !b.Effects.Shell {
		t.Errorf("%+v, want %s", b.Effects, want)
	}
	for _, name := range []string{"", "1A", "A-B", "A=B", "A;id", "__sc_line", "A\nB"} {
		data, _ := json.Marshal(map[string]any{"command": "true", "env": map[string]string{name: "x"}})
		if _, err := newRig(t).byName["run_command"].Bind(data); err == nil || !strings.Contains(err.Error(), "env: ") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := newRig(t).byName["run_command"].Bind([]byte(`{"command": "true", "env": {"A": "x\u0000y"}}`)); err == nil {
		t.Error("a NUL was taken")
	}
}

// TestBehaviours: each fixture shows one behaviour of a tool.
func TestBehaviours(t *testing.T) {
	tooltest.Run(t, "testdata/behaviour", newRig(t).sessions.tools())
}
