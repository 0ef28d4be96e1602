// Package gitcmd runs the git command for what writes the index, or needs
// hooks, filters, signing or the network. Only the operations of one table are
// run, with nothing in the environment and in the settings that a repository
// could use to run programs, and what fails is put into words. What may run is
// decided by the settings that git itself lists: the reader of gitconfig knows
// not all conditions of includes, and a setting that it misses could name a
// program.
package gitcmd
