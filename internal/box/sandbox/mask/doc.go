// Package mask says what a command sees of the machine, and hides or write-protects the
// rest by mounts over paths, for as long as the command runs.
//
//	the view, as arguments of bwrap     bwrap_linux.go
//	names that must not be changed      protect_linux.go, protect_git_linux.go
//	copies that stand over files        sealed_linux.go, settings_linux.go
//	mounts that are lost come back      watch_linux.go
package mask
