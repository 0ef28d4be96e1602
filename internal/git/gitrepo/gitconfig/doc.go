// Package gitconfig reads git's settings in this process, which runs nothing:
// a status needs them and takes less time than a git process to start. Of
// conditional includes it knows gitdir: alone, so that what may run is decided
// by what git itself lists, see package gitcmd.
package gitconfig
