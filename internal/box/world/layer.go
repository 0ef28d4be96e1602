package world

import (
	"io/fs"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// layer is where commands change what they see of a folder: over it, or in a copy
// of it. What it has lies in world.upper(), with the names of the folder.
type layer interface {
	// renew makes it show what the folder is now, where commands did not make
	// something else of it. live: programs run in it.
	renew(v view, live bool) error

	// begin comes before the first command, and end after the last.
	begin() error
	end()

	// follow is renew for one name, while programs run; false leaves it to the caller.
	follow(rel string) bool

	// seen is what the sandbox shows as the folder, and path where this process has
	// that while commands run.
	seen() spec.Merged
	path() string

	// forReal are those of some repositories of the folder that commands can have as
	// they are.
	forReal(repositories []string) []string

	// met reports that the folder has not got another file under a name since commands
	// met it, as far as a layer knows that better than the time of the file.
	met(rel string, now stamp) bool

	// original reports that a name in the layer is the folder's own, shut that no command
	// may know what is there, stays why the folder's own stays whatever commands did, or
	// that something below it does, hollows what stands in for what no command may know,
	// whatever its name, replaces that a
	// directory is there in the place of the folder's, not over it, whole that nothing
	// is in a directory of it, and keeps that what is built there is not for the folder.
	// gone are names of the folder that a directory hides besides by what was seen in it.
	original(rel string, info fs.FileInfo) bool
	shut(rel string) bool
	stays(rel string) (why string, below bool)
	hollows() map[stamp]bool
	replaces(rel string) bool
	whole(rel string) bool
	keeps(rel string) bool
	gone(rel string, seen map[string]bool) []gone

	// parents makes the directories that a name is in, with what else they show as
	// it was. hide hides what the folder has under a name, of which the layer has
	// nothing. reset gives a name up, with the directories that were there for it
	// alone, so that the folder's own is seen; drop does it for output. moved says
	// that what was there went to the folder. No command runs.
	parents(rel string) error
	hide(rel string) error
	reset(rel string) error
	drop(rel string) error
	moved(rel string)

	// said are sentences for the next result.
	said() []string
}

// gone is a name that the folder has, and commands do not see.
type gone struct {
	name string
	dir  bool
}
