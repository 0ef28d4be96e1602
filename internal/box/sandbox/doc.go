// Package sandbox runs commands so that they can change nothing but their
// workspace, see no secrets, reach no network, and leave no process behind.
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
// A command may see an overlay in the place of its workspace (Spec.Merged): the
// process before bwrap then is this program too (InitCommand attach), which mounts it
// for the command alone, and the overlay was made by another (InitCommand mount),
// which stays and may mount where the server may not. It may see another directory
// there as well, which bwrap binds.
//
// Without bubblewrap the keeper starts init itself, and Landlock holds what it
// can; without either, commands run with the rights of the user, which is said.
// Which level holds is found by trying to escape (probe_linux.go, with the attempts
// and the scene that they try to reach).
//
// On macOS a command runs under the system's sandbox-exec, with a profile made of its
// Spec, and what it must not reach is tried by lines of a shell.
//
//	what a command may see   spec.go, plan_linux.go
//	what stands for it       masks_linux.go, sealed_linux.go, protect_linux.go, protect_git_linux.go
//	the line of processes    command_linux.go, keeper_linux.go (the server's side), keep_linux.go (the keeper's), init_linux.go
//	rights taken away        bwrap_linux.go, landlock_linux.go, seccomp_linux.go, limits_linux.go, cgroup_linux.go
//	what stands for the root merged.go, mounter_linux.go, attach_linux.go
//	the end of a tree        tree_linux.go, orphans_linux.go
//	names, for all systems   names.go
//	macOS                    seatbelt.go (the profile), escape.go, sandbox_darwin.go
//	elsewhere                bare_other.go, other.go
package sandbox
