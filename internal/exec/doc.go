// Package exec is the wing of child processes: what each may see and reach, programs of the user's in a session, and our
// own program started again with limits.
//
// A room belongs here when it starts a process for somebody. How a process is held is in box, whether it may run in gate.
// App and agents use this wing.
package exec
