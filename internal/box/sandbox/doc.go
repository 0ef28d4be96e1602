// Package sandbox runs commands so that they can change nothing but their
// workspace, see no secrets, reach no network unless their Spec allows it, and leave no
// process behind.
//
// A command is the end of a line of processes, each of which takes rights away:
//
//	server                       a Spec says what the command may see; the plan is made of it
//	 └─ keeper                   this program (InitCommand keep): adopts and ends all that is below it,
//	     │                       one command at a time, and stays for the next
//	     └─ bwrap                namespaces and mounts: what is hidden, read-only, protected by a stand-in
//	         └─ init             this program (InitCommand confine): Landlock, limits, seccomp;
//	             │               then it becomes the command
//	             └─ command …    its processes end with the keeper, and the keeper with the server
//
// A command may see an overlay, or another directory, in the place of its workspace
// (Spec.Merged). One process (InitCommand mount) makes the overlay and stays, because it
// may mount where the server may not. Another (InitCommand attach) mounts it for one
// command and becomes bwrap. A directory is bound by bwrap.
//
// Without bubblewrap the keeper starts init itself, and Landlock holds what it
// can; without either, commands run with the rights of the user, which is said.
// Which level holds is found by trying to escape (probe, with the attempts
// and the scene that they try to reach).
//
// On macOS a command runs under the system's sandbox-exec, with a profile made of its
// Spec, and what it must not reach is tried by lines of a shell.
//
//	to open and run           sandbox.go, command.go, streams.go
//	what a command may see    spec, with the names that are protected
//	what is kept from it      mask
//	the line of processes     command_linux.go, keeper, init_linux.go; child (how one starts the next)
//	rights taken away         rights (Landlock, seccomp, capabilities, limits)
//	overlays                  mount (and the processes that mount them)
//	how well it is held       probe
//	macOS                     seatbelt.go (the profile), escape.go, sandbox_darwin.go
//	unconfined, elsewhere     bare_other.go; other.go, system_*.go
package sandbox
