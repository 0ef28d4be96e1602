package world

import (
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Options are what a Manager works with.
type Options struct {
	Box *sandbox.Sandbox

	// Tracked reports whether git tracks a file, by the path of the folder and the
	// name in it: a file that is tracked is reviewed, whatever the ignore rules
	// say. nil: none is.
	Tracked func(root string) func(name string) bool

	Ignores workspace.Ignores // as in workspace.DiskOptions

	Limits Limits // of what is taken over of a command

	// Quota bounds the output that is held of a folder, in bytes. nil, or 0, is 4 GiB, or a
	// fifth of the free space where that is less.
	Quota func() int64

	Allowed Allowed // nil: no data goes to the folder where output is held

	// Copied bounds a shadow without what git ignores, and Output that: what is more
	// of it is left out, directory by directory.
	Copied, Output Limits

	// Dependencies bounds a directory of dependencies in a shadow: a larger one is the
	// folder's own there, which commands can only read.
	Dependencies Limits

	// Left is called when there are texts that a command changed and nobody took, so that
	// somebody calls TakeLeft. It is not to wait for a world.
	Left func()

	// Fail is called at the points where a process may die. Tests set it.
	Fail func(point string)
}

// Limits are numbers of files, and of bytes in them. Zero is the default.
type Limits struct {
	Files int
	Bytes int64
}

// The defaults.
const (
	defaultFiles = 5000
	defaultBytes = 256 << 20

	defaultCopiedFiles = 200_000
	defaultCopiedBytes = 2 << 30
	defaultOutputFiles = 50_000
	defaultOutputBytes = 1 << 30

	defaultDependencyFiles = 200_000
	defaultDependencyBytes = 4 << 30
)

// Kind says how a world is made.
type Kind string

// The kinds of worlds. The values are in the files of worlds, also of earlier versions.
const (
	Overlay      Kind = "overlay" // a layer over the folder
	Copy         Kind = "shadow"  // a copy of the folder, in its place
	SeparateCopy Kind = "apart"   // a copy of the folder, at a path of its own
)

// Word is the kind as users know it, and as the setting commands.world has it.
func (k Kind) Word() string {
	if k == Copy || k == SeparateCopy {
		return "copy"
	}
	return string(k)
}

// NoCopyError is why there can be no copy of a folder.
type NoCopyError struct{ Why string }

func (e *NoCopyError) Error() string { return e.Why }

// Request is a command that is about to run.
type Request struct {
	Session string
	Kind    Kind            // "" is Overlay
	Root    string          // the folder
	View    workspace.Files // what the session sees
	Hold    bool            // output is held, too, until a person accepts it
	Drop    bool            // nothing of what the session's commands make outlives it
	Fresh   bool            // they see no output that other sessions hold
	Still   bool            // the command runs alone, and meanwhile it sees no other pending text; else ErrOthersRun
	Hidden  []string        // paths that look empty to the command: they are in no copy
	Sealed  []string        // files that can't be read, and look as large and as old as they are
	Real    []string        // directories in Root that the command changes for real: repositories

	// Linked is the repository of Root as a linked working tree, of which the command has
	// a copy; nil: it is in Root, there is none, or the command changes it for real.
	Linked *Linked
}

// Linked is where the repository of a linked working tree is.
type Linked struct {
	Own    string // the tree's part of it
	Common string // what the tree shares with others

	// Settings is the text of a file of its settings, for a copy of it elsewhere. nil: as
	// the file has it.
	Settings func(file string) ([]byte, error) `json:"-"`
}

// Collected is what commands changed since the last harvest.
type Collected struct {
	Changes []workspace.Change
	Said    []string           // what was not taken over, and why, in sentences
	Commits []workspace.Commit // that were made in the world alone
	Output  int                // files of output that went to the workspace

	// Settled is to be called once the view has what becomes of Changes: until then
	// programs that run keep what they wrote. nil: there are none.
	Settled func()
}

// dependencyDirs hold what package managers put there: it is never reviewed, and
// the same whatever text is pending.
var dependencyDirs = map[string]bool{"node_modules": true, ".venv": true, "bower_components": true, ".pnpm-store": true, ".tox": true}

// some names at most three of a list.
func some(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
