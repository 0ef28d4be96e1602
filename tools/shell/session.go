package shell

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed wrapper.sh
var wrapper string

//go:embed wrapper.ps1
var powerWrapper string

// maxCommand bounds a command: one argument of a process may not be longer.
const maxCommand = 100 << 10

// sessions are the shells that there are.
type sessions struct {
	d Deps

	mu   sync.Mutex
	open map[string]*shell // by session and root
}

// shell is what one session has in one root.
type shell struct {
	d             Deps
	session, root string
	turn          chan struct{} // holds a token while a command runs that keeps its state

	mu      sync.Mutex
	folders folders
	dir     string // where the next command begins
	homeDir string // the home that commands had; "" before the first one
	jobs    []*job
	lastJob int
}

func newSessions(d Deps) *sessions { return &sessions{d: d, open: map[string]*shell{}} }

// get returns the shell of a call, which begins with the first one.
func (s *sessions) get(c *tools.Call) *shell {
	return s.of(c.Session, c.Files)
}

// of is the shell of a session for what it sees.
func (s *sessions) of(session string, files workspace.Files) *shell {
	root := files.Abs(".")
	key := session + "\x00" + root
	s.mu.Lock()
	defer s.mu.Unlock()
	if sh := s.open[key]; sh != nil {
		sh.sees(files)
		return sh
	}
	sh := &shell{d: s.d, session: session, root: root, turn: make(chan struct{}, 1), dir: root}
	sh.sees(files)
	s.open[key] = sh
	if s.d.Calls != nil {
		if closed := s.d.Calls.Closed(session); closed != nil {
			go func() {
				<-closed
				s.mu.Lock()
				delete(s.open, key)
				s.mu.Unlock()
				sh.end()
			}()
		}
	}
	return sh
}

// sees says which folders there are now.
func (sh *shell) sees(files workspace.Files) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.folders = foldersOf(files, sh.root)
}

// in are the folders that there are.
func (sh *shell) in() folders {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.folders == nil {
		return folders{{Name: ".", Dir: sh.root}}
	}
	return sh.folders
}

// end ends what runs in the background, and forgets the state.
func (sh *shell) end() {
	for _, j := range sh.all() {
		sh.mu.Lock()
		w := j.watch
		sh.mu.Unlock()
		if w != nil {
			w.end() // before the command, whose end is nobody's news
		}
		j.stop()
		<-j.done
	}
	sh.d.Host.Leave(sh.session)
	sh.mu.Lock()
	dir := sh.homeDir
	sh.mu.Unlock()
	if dir == "" {
		return
	}
	if home, err := os.OpenRoot(dir); err == nil { // the server may have ended, and the home be gone: it is not made again
		_ = home.RemoveAll(path.Join(StateDir, sh.session)) // nobody asks for it again
		home.Close()
	}
}

// home is the home of commands. What is in it was made by them: no link of it
// is followed out of it, and nothing but a file is read.
func (sh *shell) home() (*os.Root, error) {
	dir, err := sh.d.Host.Home(sh.root)
	if err != nil {
		return nil, err
	}
	sh.mu.Lock()
	sh.homeDir = dir
	sh.mu.Unlock()
	return os.OpenRoot(dir)
}

// readState reads a file of the state.
func readState(home *os.Root, name string, most int64) ([]byte, error) {
	info, err := home.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fs.ErrInvalid
	}
	return home.ReadFile(name) // none of its processes is left that could replace it
}

// StateDir is where the state of sessions is kept, each in a directory of its id, below
// the commands' home.
const StateDir = ".sidecar-shell"

// HomeVariable is where a command finds that home, which need not be the one
// that it is at home in.
const HomeVariable = "__sc_home"

// command is one command of a shell.
type command struct {
	line string
	dir  string   // relative to the shell's directory, or absolute; "" is that directory
	env  []string // NAME=value, for it alone
	keep bool     // what it leaves is for the next one
	take bool     // what it changes is taken over
}

func checkLine(line string) error {
	if len(line) > maxCommand || strings.ContainsRune(line, 0) {
		return tools.Errorf(tools.InvalidArguments, "command: at most %d bytes without a NUL; put a longer script into a file", maxCommand)
	}
	return nil
}

// start is where a command begins that asks for a directory, "" for that of the session. A
// directory that is gone, or that leads out of the root, is not begun in; note says so.
func (sh *shell) start(cwd string) (dir, note string, err error) {
	sh.mu.Lock()
	dir = sh.dir
	sh.mu.Unlock()
	if dir != sh.root && !sh.inside(dir) {
		note = fmt.Sprintf("The directory of the session, %s, is gone or outside of the workspace; this began in the workspace's root.", dir)
		dir = sh.root
	}
	if cwd != "" {
		if !filepath.IsAbs(cwd) {
			cwd = sh.in().abs(cwd)
		}
		if err := sh.begins(cwd); err != nil {
			return "", "", err
		}
		dir = cwd
	}
	return dir, note, nil
}

// prepare returns what to run for c, and where it begins; note is as of start.
func (sh *shell) prepare(call *tools.Call, c command) (r Run, note string, err error) {
	if err := checkLine(c.line); err != nil {
		return r, "", err
	}
	dir, note, err := sh.start(c.dir)
	if err != nil {
		return r, "", err
	}
	if call.Frozen != nil && (dir != call.Frozen.Dir || sh.busy()) {
		return r, "", tools.ErrNotFrozen
	}
	keep := "0"
	switch {
	case call.Frozen != nil:
		keep = "clean"
	case call.Looks == tools.LooksClean || call.Looks == tools.LooksHistory:
		keep = "clean"
	case c.keep:
		keep = "1"
	}
	shell, err := sh.d.shell()
	if err != nil {
		return r, "", err
	}
	if home, err := sh.home(); err == nil {
		if dir := sh.state(shell); c.keep && home.MkdirAll(dir, 0o700) == nil { // without it nothing is kept
			// What is written again has the mode that a new file gets.
			_, _ = home.Remove(path.Join(dir, newState)), home.Remove(path.Join(dir, endDir))
		}
		home.Close()
	}
	root := sh.root
	if folder, ok := sh.in().of(dir); ok {
		root = folder.Dir
	}
	r = Run{Session: sh.session, Root: root, Dir: dir, Files: call.Files, Held: call.Held, Drop: call.Drop, Fresh: call.Fresh, Unasked: call.Unasked, Looks: call.Looks, Frozen: call.Frozen != nil}
	sets := c.env
	if sh.d.Host.Offline(root) {
		sets = slices.Concat(WithoutRetries, sets)
	}
	r.Line = c.line
	r.Moved = func(line string, in func(string) string) (argv, env []string, err error) {
		if shell.PowerShell {
			argv, env = sh.powerShell(shell, line, in(dir), keep, sets)
		} else if argv, env, err = sh.bash(shell, line, in(dir), keep, freeze(call.Frozen, in(dir)), sets); err != nil {
			return nil, nil, err
		}
		for _, v := range env {
			if len(v) > shells.MaxLine {
				return nil, nil, tools.Errorf(tools.InvalidArguments, "command: it is too long for this system; put it into a script file, and run that")
			}
		}
		return argv, env, nil
	}
	r.Argv, r.Env, err = r.Moved(c.line, func(path string) string { return path })
	return r, note, err
}

// state is the directory of the state that commands of a shell leave, below the home.
func (sh *shell) state(s shells.Shell) string { return path.Join(StateDir, sh.session, s.State()) }

// bash is what runs a line between the states of the session in bash.
// first runs before the line.
func (sh *shell) bash(s shells.Shell, line, dir, keep, first string, sets []string) (argv, env []string, err error) {
	state := `"$` + HomeVariable + `/` + sh.state(s) + `"` // a session's id has no character that a shell knows
	if s.Drives != "" {                                    // a Linux of its own, which has other names, and no variable but one
		home, err := sh.d.Host.Home(sh.root)
		if err != nil {
			return nil, nil, err
		}
		state, dir = tools.ShellWord(s.Inside(home)+"/"+sh.state(s)), s.Inside(dir)
	}
	// All in one line: bash counts the lines of the command from the one that
	// evaluates it.
	script := `__sc_begin=$1; set -- ` + state + ` "$2" ` + keep + ` "${@:3}"; unset ` + HomeVariable + `; eval "$__sc_begin"; ` + first +
		`eval "$__sc_line"; __sc_code=$?; eval "$__sc_save"; exit $__sc_code` // saved here for one that sets a trap of its own
	argv, env = s.Script([]string{"--noprofile", "--norc"}, script, append([]string{wrapper, line, dir}, sets...)...)
	return argv, env, nil
}

// powerShell is what runs it in PowerShell, which gets all in variables.
func (sh *shell) powerShell(s shells.Shell, line, dir, keep string, sets []string) (argv, env []string) {
	argv, env = s.Line(powerWrapper)
	var coded []string
	for _, set := range sets {
		name, value, _ := strings.Cut(set, "=")
		coded = append(coded, name+"="+base64.StdEncoding.EncodeToString([]byte(value)))
	}
	return argv, append(env, reserved+"_line="+line, reserved+"_at="+dir, reserved+"_keep="+keep,
		reserved+"_state="+sh.state(s), reserved+"_env="+strings.Join(coded, " "))
}

// inside reports whether dir is a directory in the root, links followed.
func (sh *shell) inside(dir string) bool { return sh.begins(dir) == nil }

// begins says why a command can't begin in a directory.
func (sh *shell) begins(dir string) error {
	dir = filepath.Clean(dir)
	folders := sh.in()
	outside := tools.Errorf(tools.OutsideWorkspace, "cwd: %s lies outside of the workspace; give a directory relative to its root", dir)
	if len(folders) > 1 {
		outside = tools.Errorf(tools.OutsideWorkspace, "cwd: %s lies outside of the workspace; give a directory that begins with the name of a folder, such as %s", dir, folders[0].Name)
	}
	real, err := filepath.EvalSymlinks(dir)
	named, inside := false, false // by its name; with its links followed
	for _, folder := range folders {
		root, rootErr := filepath.EvalSymlinks(folder.Dir) // to compare; the sandbox decides again where the command begins
		if rootErr != nil {
			continue
		}
		if err != nil && within(dir, folder.Dir) && sh.d.Host.IsDir(sh.session, folder.Dir, dir) {
			return nil
		}
		named = named || within(dir, folder.Dir) || within(dir, root)
		inside = inside || err == nil && within(real, root)
	}
	switch {
	case err != nil && !named:
		return outside
	case errors.Is(err, fs.ErrNotExist):
		return tools.Errorf(tools.NotFound, "cwd: there is no directory %s; list_directory shows what there is", folders.name(dir))
	case err != nil || !inside:
		return outside
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return tools.Errorf(tools.InvalidArguments, "cwd: %s is not a directory; give the directory it is in", folders.name(dir))
	}
	return nil
}

// within reports whether path is dir or below it; both are clean.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// The files that a command leaves, and how large the first may be, in bytes.
const (
	newState = "state.new"
	endDir   = "cwd"
	maxState = 16 << 20
)

// stateEnd is the last line of a state.
const stateEnd = "\n# the end\n"

// left takes over the state that a command left, and the directory that it
// ended in. What stands in the files was written by the command, so it is for
// its own session alone, and the directory is believed only when it leads inside.
func (sh *shell) left(outside func(path string) string) {
	home, err := sh.home()
	if err != nil {
		return
	}
	defer home.Close()
	s, err := sh.d.shell()
	if err != nil {
		return
	}
	dir := sh.state(s)
	// A new state is taken over when it is there to its end.
	if data, err := readState(home, path.Join(dir, newState), maxState); err == nil && bytes.HasSuffix(data, []byte(stateEnd)) {
		_ = home.Rename(path.Join(dir, newState), path.Join(dir, "state"))
	}
	data, err := readState(home, path.Join(dir, endDir), 4096)
	if err != nil {
		return
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.dir = outside(filepath.FromSlash(s.Outside(strings.TrimSuffix(string(data), "\n"))))
}

// outcome is how a command ended.
type outcome struct {
	code     int
	timedOut bool
	took     time.Duration
	words    string
	removed  []string
	note     string // what the model must know of where it ran
	world    string // what it saw
	outside  func(path string) string
	changed  Changed
}

// end leaves the world of a process that has ended.
func (o *outcome) end(c *tools.Call, p Process, take bool) {
	o.outside = p.Outside
	if o.world = p.World(); o.world != "disk" {
		c.SawFiles()
	}
	var err error
	if o.changed, err = p.End(take); err != nil {
		o.changed.Said = append(o.changed.Said, "What was changed is not taken over: "+err.Error())
	}
	o.changed.Tell(c)
}

// giveUp leaves the world of a process whose call was cancelled. It may have been cut off
// in the middle, so nothing of it is applied unseen: what it changed waits for review.
func (sh *shell) giveUp(c *tools.Call, p Process, line string) {
	said := p.GiveUp()
	if p.World() == "disk" {
		return // it changed the files themselves
	}
	c.SawFiles()
	if sh.d.Calls == nil {
		return
	}
	sh.d.Calls.GivenUp(tools.NewReadEdit(tools.Def{
		Name: "cancelled_command", Title: "Hold what a cancelled command changed", Description: "Holds what a command had changed whose call was cancelled.", Example: "{}",
		Category: category, Output: tools.NoOutput{}, Wrote: "run_command", OnDisk: true,
	}, func(_ context.Context, c *tools.Call, _ struct{}) (tools.Result, []workspace.Change, error) {
		changed, err := p.Changed()
		if err != nil {
			return tools.Result{}, nil, err
		}
		changed.Tell(c)
		return tools.Result{Text: strings.Join(append(said.Said, changed.Said...), "\n")}, changed.Changes, nil
	}), sh.session, line)
}

// wait waits for p and reads its end.
func wait(ctx context.Context, p Process, started time.Time) (outcome, error) {
	err := p.Wait()
	o := outcome{took: time.Since(started), words: p.Words(), removed: p.Removed()}
	var exit interface {
		error
		ExitCode() int
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		o.timedOut = true
	case ctx.Err() != nil:
		return o, ctx.Err()
	case errors.As(err, &exit):
		o.code = exit.ExitCode()
	case err != nil:
		return o, err
	}
	return o, nil
}

// all are the jobs, oldest first.
func (sh *shell) all() []*job {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return slices.Clone(sh.jobs)
}
