// Package world is what the commands of a session see of a workspace folder, and
// what they change there, as data.
//
//	the session's view   pending edits over open buffers over the folder
//	     │ what differs from the folder          ▲ what a command changed: workspace.Change
//	     ▼ prepare.go                            │ collect.go
//	upper layer          a private directory outside of the folder; commands write here
//	lower layer          the folder, which no command changes
//
// An overlay of the two is mounted for commands alone (internal/box/sandbox). Between
// commands the upper layer holds what the view has and the folder has not, and
// what was built and nobody reviews (export.go). It goes with the session.
//
// Where there are no overlays the private directory is a copy of the folder, and a
// table of what was put there tells the two layers apart (copy.go, renew.go). All
// else is the same for both (layer.go). Where nothing can put the copy in the place
// of the folder, commands begin in it where it is (separatecopy.go).
package world
