// Package mount makes the overlays that commands see, in a process that may mount
// where the server may not, and puts them in their places.
//
//	makes and copies overlays          mounter_linux.go
//	mounts one for a command           attach_linux.go
//	remounts it in a running command   remount_linux.go
package mount
