// Package gitfile reads the files of a git repository that came with the code:
// regular ones of bounded size, never waiting for the other end of a pipe, and
// without following a link where none belongs.
package gitfile
