package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Streams are the standard streams of a run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	// Self is the path of this program, which starts itself to parse what may
	// bring a parser down; "" parses in this process.
	Self string

	// Programs finds what runs outside of the sandbox; nil: as it is found on this
	// system.
	Programs *lookup.Finder

	// Machine is where the machine's settings are; the zero value: there are none.
	Machine config.MachineFile

	// EditWait is how long an edit waits for what it broke; 0: as usual.
	EditWait time.Duration

	// Exit ends the process when its work does not end in time after the editor
	// has left; nil waits for it. Where it is set, the process is a sidecar-ls and
	// nothing else.
	Exit func(code int)
}

// MachineHere is where this machine's settings are.
func MachineHere() config.MachineFile { return config.MachineHere() }

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // what was asked for failed; standard error says why
	exitUsage = 2 // the command line is wrong
)

// command is one sub-command.
type command struct {
	name  string
	usage string // what follows the name
	help  string
	run   func(ctx context.Context, c *cli) error
	words completer // offers what may come next besides flags; nil offers nothing
}

// cli is one run of a sub-command.
type cli struct {
	Streams
	flags *flag.FlagSet
	args  []string // what is left after the flags
	help  bool
	who   peers.Who // for whom it is run

	roots   rootFlag
	mode    string
	session string
	json    bool
	stdio   bool

	detached bool

	format   string
	strict   *bool  // nil: as the settings say
	tools    string // families, with commas between them
	logLevel string
	logFile  string
	expect   string
	days     int
	reason   string
	line     string // a command line
	build    string // likewise, of held output
	query    auditlog.Query
	since    time.Duration

	base        string
	into        string
	take        string
	uncommitted bool
	lazy        bool
	max         int
	profile     string
	yes         bool
	door        string
	model       string
	resume      string
	all         bool
	list        bool
	purge       bool
	mine        bool
	override    string
	hash        string
	setup       setupFlags
	said        map[string]bool // problems that were printed
	eval        evalFlags
}

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errReported ends a run whose failure has been reported already.
var errReported = errors.New("failed")

// exitCode is the end of a process that stands in for another program.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
