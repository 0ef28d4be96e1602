// Package probe finds out how well commands are held on this machine: it tries to
// escape, at each level, and remembers what came of it.
//
//	the levels, and what is remembered   probe_linux.go, remember_linux.go, status.go
//	attempts to escape                   attempts_linux.go (files), attempts_kernel_linux.go (kernel, network), try_linux.go
//	what there is to reach               scene_linux.go
package probe
