// Package box is the wing of confinement: the sandbox of a process, and the world of files that commands see and change.
//
// A room belongs here when it holds a process in, or keeps what the process changed. What a command may see is decided in
// exec, what becomes of its changes in gate. Exec and app use this wing; it uses sys, files and git.
package box
