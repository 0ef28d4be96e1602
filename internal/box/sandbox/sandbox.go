package sandbox

import (
	"fmt"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Level is how well commands can be confined on this machine, worst first.
type Level int

// The levels. docs/sandbox.md says what each one holds off.
const (
	None       Level = iota // limits, and an end of the whole tree of processes
	Landlock                // file and TCP rules of the kernel, and a filter of system calls
	Seatbelt                // macOS: a profile that the kernel holds a command to
	Bubblewrap              // namespaces, and a filter of system calls: a kernel without Landlock
	Full                    // all three
)

// levels has the words for what is shown.
var levels = [...]string{
	None:       "none",
	Landlock:   "Landlock, seccomp",
	Seatbelt:   "Seatbelt",
	Bubblewrap: "bubblewrap, seccomp",
	Full:       "bubblewrap, Landlock, seccomp",
}

func (l Level) String() string { return levels[l] }

// Words say how a command was confined, for its result.
func (l Level) Words(network bool) string {
	switch {
	case l == None:
		return "sandbox: none; the command ran with all rights of the user"
	case network:
		return "sandbox: " + l.String() + "; network allowed"
	}
	return "sandbox: " + l.String() + "; no network"
}

// Mode is the setting sandbox.mode.
type Mode string

// What the user wants.
const (
	Auto    Mode = "auto"    // the best that the machine has
	Require Mode = "require" // a level above None, else nothing runs
	Off     Mode = "off"     // None
)

// Status is what trying out told of this machine.
type Status struct {
	Level Level

	// Why says what is missing for the levels above Level; "" at Full.
	Why string

	// Broken is set when a level could be set up and then did not hold what it
	// must hold, or kept ordinary programs from working. Nothing runs then,
	// unless the user turns the sandbox off.
	Broken string
}

// Options are what a Sandbox is made of.
type Options struct {
	Bwrap    string         // the program; "" looks for it
	Programs *lookup.Finder // by this
	CacheDir string         // where what was found out is kept until the next boot; "" finds out again
}

// Sandbox starts confined commands. It may be used by many goroutines.
type Sandbox struct {
	self string
	opts Options

	once    sync.Once
	status  Status
	tools   machine // where there is a sandbox
	keepers keepers // Linux only
	mounter mounter // likewise
}

// Open returns a Sandbox. self is the path of a program that hands its
// arguments after InitCommand to Init; the server's own. Nothing is tried out
// before it is needed.
func Open(self string, o Options) *Sandbox { return &Sandbox{self: self, opts: o} }

// Close ends the processes that wait for commands. Commands that run go on, and
// more can be started.
func (s *Sandbox) Close() {
	s.keepers.close()
	s.mounter.close()
}

// InitCommand is the first argument of a process that Init is to take over.
const InitCommand = "sandbox-init"

// Status finds out, once, what this machine can do.
func (s *Sandbox) Status() Status {
	s.once.Do(s.probe)
	return s.status
}

// RefusedError says why a command was not started at all.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// LevelFor is the level at which a command runs, which is never less than what
// was wanted. It fails when none may run.
func (s *Sandbox) LevelFor(mode Mode) (Level, error) {
	switch mode {
	case Off:
		return None, nil
	case Auto, Require, "":
	default:
		return None, &RefusedError{fmt.Sprintf("there is no sandbox mode %q", mode)}
	}
	st := s.Status()
	switch {
	case st.Broken != "":
		return None, &RefusedError{"the sandbox does not hold on this machine (" + st.Broken + "), so no command is run; `sidecar-ls doctor` shows more, and the setting sidecar.sandbox.mode = off runs commands without it"}
	case st.Level == None && mode == Require:
		return None, &RefusedError{"the setting sidecar.sandbox.mode requires a sandbox, and this machine has none: " + st.Why}
	}
	return st.Level, nil
}

// join makes one text of the reasons that are there.
func join(reasons ...string) string {
	var said []string
	for _, r := range reasons {
		if r != "" {
			said = append(said, r)
		}
	}
	return strings.Join(said, "; ")
}

// Weak says in words what a level that hides nothing leaves open; "" for the
// others.
func (l Level) Weak() string {
	switch l {
	case None:
		return "sandbox: none; commands run with all rights of the user"
	case Landlock:
		return "sandbox: " + l.String() + "; secrets and git's hooks in the workspace can be reached"
	}
	return ""
}

// Hides reports whether files can be hidden from a command, and kept from being
// written where it writes.
func (l Level) Hides() bool { return l >= Seatbelt }

// Trial is one attempt to escape, and its control.
type Trial struct {
	Name    string `json:"name"`
	Must    bool   `json:"must"`    // the level is meant to hold it
	Held    bool   `json:"held"`    // it failed in the sandbox
	Control bool   `json:"control"` // it worked outside of it; else its failure shows nothing on this machine
	Error   string `json:"error"`   // what it met in the sandbox
}
