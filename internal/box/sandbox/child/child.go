package child

// InitCommand is the first argument of a process that Init is to take over.
const InitCommand = "sandbox-init"

// Exit codes of commands that can't be run, as shells have them.
const (
	ExitSetup = 125
	ExitNoRun = 126
)

// The roles of such a process.
const (
	RoleConfine = "confine" // takes rights away from itself and becomes the command
	RoleKeep    = "keep"    // starts such processes, and ends their whole trees
	RoleTry     = "try"     // is the command, and tries to escape
	RoleAttach  = "attach"  // puts a Merged in its place and becomes bubblewrap
	RoleMount   = "mount"   // makes overlays
	RoleNetwork = "network" // lives in the network namespace of a session
)

// Started marks standard error where the command begins: the last process before it
// writes it when everything is set up. The sandbox wrote what comes before, the command
// writes what follows.
const Started = "\x00sandbox is set up\x00"
