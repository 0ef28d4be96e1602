package main

import (
	"fmt"
	"slices"
)

// target is a system that releases are for, by the names that each who packs one
// gives it, and how its binary is built.
type target struct {
	os, arch string   // as Go names them
	vscode   []string // as VS Code names it, which has names of their own for containers of Alpine
	mason    string   // as mason.nvim does
	cc       []string // the C compiler and its arguments
	link     []string // arguments of Go's linker
	zig      bool     // cc is zig's
}

// targets are all of them. Linux is linked statically, so that one binary runs on old
// distributions, on Alpine, and where there is nothing else. Threads of musl have small
// stacks unless the program asks for larger ones.
var targets = []target{
	{os: "linux", arch: "amd64", vscode: []string{"linux-x64", "alpine-x64"}, mason: "linux_x64", cc: []string{"musl-gcc"}, link: []string{"-linkmode=external", "'-extldflags=-static -Wl,-z,stack-size=8388608'"}},
	{os: "linux", arch: "arm64", vscode: []string{"linux-arm64", "alpine-arm64"}, mason: "linux_arm64", cc: []string{"aarch64-linux-gnu-gcc"}, link: []string{"-linkmode=external", "-extldflags=-static"}},
	{os: "darwin", arch: "amd64", vscode: []string{"darwin-x64"}, mason: "darwin_x64", cc: []string{"zig", "cc", "-target", "x86_64-macos.12.0"}, zig: true},
	{os: "darwin", arch: "arm64", vscode: []string{"darwin-arm64"}, mason: "darwin_arm64", cc: []string{"zig", "cc", "-target", "aarch64-macos.12.0"}, zig: true},
	{os: "windows", arch: "amd64", vscode: []string{"win32-x64"}, mason: "win_x64", cc: []string{"x86_64-w64-mingw32-gcc"}},
	{os: "windows", arch: "arm64", vscode: []string{"win32-arm64"}, mason: "win_arm64", cc: []string{"zig", "cc", "-target", "aarch64-windows-gnu"}, zig: true},
}

func (t target) String() string { return t.os + "-" + t.arch }

// program is the name of the binary there.
func (t target) program() string {
	if t.os == "windows" {
		return "sidecar-ls.exe"
	}
	return "sidecar-ls"
}

// archive is the extension of what the binary is packed in there.
func (t target) archive() string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// named are the targets of those names, all of them if there are none.
func named(names []string) ([]target, error) {
	if len(names) == 0 {
		return targets, nil
	}
	var some []target
	for _, name := range names {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no target %q: %v are all", name, targets)
		}
		some = append(some, targets[i])
	}
	return some, nil
}
