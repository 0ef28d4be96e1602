package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
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

	root    string
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

// folder is the workspace that a sub-command works in: --root, else the
// nearest directory around the current one that is a project, else that.
func (c *cli) folder() (workspace.Folder, error) {
	dir := c.root
	if dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return workspace.Folder{}, err
		}
		if dir = projectAround(here); tooWide(dir) {
			return workspace.Folder{}, fmt.Errorf("%s %w: too much is below it; go to a project's directory, or name one with --root", dir, errNoProject)
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return workspace.Folder{}, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return workspace.Folder{}, err
	}
	if !info.IsDir() {
		return workspace.Folder{}, fmt.Errorf("%s is not a directory", dir)
	}
	return workspace.Folder{Name: filepath.Base(dir), Dir: dir}, nil
}

// projectAround is the nearest directory around here that is a project, else here. What
// is in a directory such as /tmp may be anybody's: a project there, whose settings would
// count, has to be named.
func projectAround(here string) string {
	for dir := here; dir == here || !shared(dir) && !tooWide(dir); dir = filepath.Dir(dir) {
		for _, mark := range []string{".sidecar", ".git"} {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return here
}

// errNoProject is why there is no workspace where a command is typed.
var errNoProject = errors.New("is no project")

// tooWide reports whether a directory holds all that a user has, or that everybody has:
// an agent would see it whole. Its .sidecar is no reason to take it for the project of
// what is below.
func tooWide(dir string) bool {
	home, err := os.UserHomeDir()
	return dir == filepath.Dir(dir) || shared(dir) || err == nil && sameDir(dir, home)
}

func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// shared reports whether a directory is one where every user puts files.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&os.ModeSticky != 0 && info.Mode().Perm()&0o002 != 0
}
