// Package box is the wing of confinement: the sandbox of a process, and the world of files that commands see and change.
//
// A room belongs here when it confines a process, or keeps the changes of one. Exec decides which files a command sees,
// gate what becomes of its changes. Exec and app use this wing; it uses sys, files and git.
package box
