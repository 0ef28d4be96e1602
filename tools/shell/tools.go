// Package shell holds the tools that run commands. Each command is a process
// of its own, confined by whoever starts it; what a session's commands leave
// to the next one (directory, exported variables, functions, aliases) is kept
// in between.
package shell

import (
	"context"
	"io"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Deps are the parts that the tools need.
type Deps struct {
	Host     Host
	Calls    Calls         // nil: nobody asks
	CodePage func() uint32 // what programs print in that don't print UTF-8; nil: that of the system

	// NoBackground says why no command can go on after its call; "" means that it
	// can.
	NoBackground string
}

// Host starts commands, confined as they must be.
type Host interface {
	// Start starts a command so that all of its processes end with ctx. It
	// fails, and nothing runs, when the command can't be confined.
	Start(ctx context.Context, r Run) (Process, error)

	// Isolate starts a command that sees its root and the system's programs,
	// nothing else, and has no network. It fails where that can't be had.
	Isolate(ctx context.Context, r Run) (Process, error)

	Shell() (shells.Shell, error)         // runs command lines
	Look(name string) (string, error)     // finds the program of a custom tool
	Home(root string) (string, error)     // the directory that commands in root have as their home; it outlives them
	Offline(root string) bool             // whether commands in root have no network
	IsDir(session, root, dir string) bool // whether a directory inside of root is there for the commands of a session, although the disk has none
	Listening(session string) []Listener  // ports on the localhost that a session's commands share, and nobody else
	Leave(session string)                 // gives up what a session's commands left for each other
}

// Listener is a port that a program listens on.
type Listener struct {
	Port    int
	Program string // its name; "" is not known
}

// Calls are what the calls of the tools leave behind.
type Calls interface {
	// Closed is closed when a session ends; nil means that it never does.
	Closed(session string) <-chan struct{}

	// GivenUp has what a command had changed wait for review whose call was cancelled: t
	// takes it, and line is how the review names it.
	GivenUp(t *tools.Tool, session, line string)

	// Ended is called when a command in the background has ended by itself.
	Ended(session, id string)

	// Lines makes of what a command prints the lines that a model may see.
	Lines() Lines

	// Note tells the session's agent at its next step what a command printed. It returns how
	// many such notes there were since the last step.
	Note(session string, n Note) (unread int)
}

// Lines takes an output in pieces. Write returns the lines that are whole, without secrets
// and signs for a terminal. Pause returns those besides that wait for more without need,
// when none comes, and Close the rest.
type Lines interface {
	Write(piece string) string
	Pause() string
	Close() string
}

// Note is what a command printed, between words of ours.
type Note struct {
	Head    string
	Printed string // of Lines; "": nothing
	Tail    string
}

// shell is what runs command lines.
func (d Deps) shell() (shells.Shell, error) {
	s, err := d.Host.Shell()
	if err != nil {
		err = notStarted(err)
	}
	return s, err
}

// decoded is where a stream of a command goes that is to be UTF-8 in the end. It is to be
// closed once the command has ended.
func (d Deps) decoded(w io.Writer) io.WriteCloser {
	page := shells.CodePage
	if d.CodePage != nil {
		page = d.CodePage
	}
	if p := page(); p != 0 {
		return shells.Decode(w, p)
	}
	return asItIs{w}
}

type asItIs struct{ io.Writer }

func (asItIs) Close() error { return nil }

// Run is a command to start.
type Run struct {
	Session string
	Root    string // the session's root: all it may change

	// Files are what the session sees, and Held says that what the command changes
	// waits for review. nil: it is to see the disk.
	Files workspace.Files
	Held  bool // edits and output wait for review
	Drop  bool // nothing of what it makes outlives the session
	Fresh bool // it sees no output that other sessions hold
	Stays bool // it goes on after the call

	Unasked bool // nobody was asked: it runs only in a complete world
	Looks   tools.Looks
	Frozen  bool // nothing else changes what it sees, and it finds no program that commands made

	// Moved makes Argv and Env anew, of a command line instead of Line, where Root is
	// elsewhere for the command: in is where it finds a path. nil: it is no line, and
	// they name no directory.
	Line  string
	Moved func(line string, in func(path string) string) (argv, env []string, err error)

	Dir            string // where the command begins, inside of Root
	Argv           []string
	Env            []string // NAME=value, besides what every command gets
	Readable       []string // directories outside of Root that it may read besides
	Own            bool     // the program is one of the user's, which may lie anywhere
	LookOnly       bool     // it can't write in Root
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Process is a command that was started.
type Process interface {
	Wait() error       // for the end of all its processes; an error with a method ExitCode for another code than 0
	Kill()             // ends all its processes
	Words() string     // how it is confined
	Removed() []string // files that it made and that were taken away after it
	World() string     // what it sees, in a word

	// Outside is the path in the workspace of what the command knows as path.
	Outside(path string) string

	// Changed is what commands of the session changed of the files since it was
	// asked last, as far as they did not change the disk. The process may run.
	Changed() (Changed, error)

	// End is called once after Wait. With take it is what Changed is; without it
	// nobody takes that, and the session's next command brings it.
	End(take bool) (Changed, error)

	// GiveUp is End for a command that was cut off in the middle: output of it is held,
	// whatever becomes of output otherwise, and Changed still has the rest.
	GiveUp() Changed
}

// Changed is what commands changed.
type Changed struct {
	Changes []workspace.Change
	Said    []string           // what was not taken over, in sentences
	Commits []workspace.Commit // that only the session's commands see
	Output  int                // files of output that went to the workspace
	Settled func()             // is called once what becomes of Changes is decided; may be nil
}

// Tell says to a call what it takes over besides Changes, which are its result.
func (ch Changed) Tell(c *tools.Call) {
	for _, commit := range ch.Commits {
		c.MadeCommit(commit)
	}
	c.WroteOutput(ch.Output)
	if ch.Settled != nil {
		c.AtEnd(ch.Settled)
	}
}

const category = "shell"

// Tools returns the tools of this family.
func Tools(d Deps) []*tools.Tool { return newSessions(d).tools() }

func (s *sessions) tools() []*tools.Tool {
	return []*tools.Tool{
		newRunCommand(s),
		newRunTests(s),
		newRunLint(s),
		newCodeExec(s.d),
		newCommandOutput(s),
		newCommandKill(s),
		newCommandList(s),
		newCommandWatch(s),
	}
}
