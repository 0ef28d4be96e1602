// Package platforms tries a server of any system, as an editor and a shell use it: under
// Wine, under qemu, and where it is at home. The variable SIDECAR_SERVER names the
// program, with what starts it: "qemu-aarch64-static dist/linux-arm64/sidecar-ls".
// `make platforms` runs it for all that can be run here.
package platforms
