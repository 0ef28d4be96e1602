package spec

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

// Outside says which hosts a command reaches.
type Outside string

// What it may be.
const (
	NoHost  Outside = "no network"
	ByHost  Outside = "network by host" // each is decided on
	AnyHost Outside = "network allowed" // the machine's
)

// Words say how a command was confined, for its result.
func (l Level) Words(reaches Outside) string {
	if l == None {
		return "sandbox: none; the command ran with all rights of the user"
	}
	return "sandbox: " + l.String() + "; " + string(reaches)
}

// Mode is the setting sandbox.mode.
type Mode string

// What the user wants.
const (
	Auto    Mode = "auto"    // the best that the machine has
	Require Mode = "require" // a level above None, else nothing runs
	Off     Mode = "off"     // None
)

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
