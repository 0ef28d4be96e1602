// Package files is the wing of the user's files: the view that every read goes through, changes as data, events of the
// disk, the text index, what a tree holds by names, checkpoints, and where secrets are.
//
// A room belongs here when it reads or follows files of a workspace. It knows no session, no policy and no tool. Everyone
// above may use this wing; it uses sys and text.
package files
