// Package spec says what a confinement asks for: the paths that a command sees and
// changes, its limits, its environment, how strictly it is held, and the protected
// names: files that other programs run or trust. It starts no process.
//
//	what is asked for         spec.go, merged.go (an overlay in the place of the root)
//	how well it is held       level.go
//	why nothing was started   refused.go
//	protected names           names.go
package spec
