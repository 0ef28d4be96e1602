// Package rights is the process that takes rights away from itself and becomes a
// command: capabilities, limits, Landlock, and a filter of system calls. A Plan, which
// it reads from an inherited file, says which, and what to run.
package rights
