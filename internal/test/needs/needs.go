// Package needs is what a machine may lack that tests need: one table. Tests are skipped
// for nothing else, except by package slow. Where Variable names a file, each skip is a
// line of it, which CI prints.
package needs

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Variable names the file that skips are written to.
const Variable = "SIDECAR_SKIPS"

// Need is what a machine may lack.
type Need string

// What make tools installs.
const (
	Agents   Need = "agents"  // those that make tools does not install are in the directory that SIDECAR_AGENTS names
	Ctags    Need = "ctags"   // Universal Ctags
	Emacs    Need = "Emacs"   // with Eglot
	Git      Need = "git"     // with its HTTP backend
	Neovim   Need = "Neovim"  //
	Node     Need = "Node"    // with npm
	Ripgrep  Need = "ripgrep" //
	Sandbox  Need = "sandbox" // bubblewrap, and a kernel that lets users have namespaces
	Servers  Need = "language servers"
	Shells   Need = "shells" // zsh, fish
	Bash     Need = "bash"
	Programs Need = "programs" // others on PATH, which the reason names
	Python   Need = "Python"
)

// What the system has, or has not.
const (
	Cgo         Need = "cgo" // the parsers are C
	ExactNames  Need = "exact names"
	FileModes   Need = "file modes"
	FoldedNames Need = "names without letter case" // a directory of SIDECAR_FOLDED, or a mount
	History     Need = "history"                   // of this repository: a clone that is not shallow
	Kernel      Need = "kernel"                    // what the reason names
	Keyring     Need = "keyring"
	Landlock    Need = "Landlock"
	Links       Need = "links"
	Linux       Need = "Linux"
	Mounts      Need = "mounts"       // a right to mount, or a file system with what the reason names
	OtherDisk   Need = "another disk" // at /dev/shm
	OtherUser   Need = "another user" // root can be any
	Overlay     Need = "overlay"
	Platform    Need = "platform" // internal/test/platforms runs it
	Sources     Need = "sources"  // of Go's and other libraries, to read
	Terminals   Need = "terminals"
	Windows     Need = "Windows" // as it may be set up
	Wine        Need = "Windows itself"
)

// Skip ends a test for what this machine lacks. The reason says more.
func Skip(t testing.TB, lacks Need, reason ...any) {
	t.Helper()
	why := strings.TrimSpace(fmt.Sprint(reason...))
	if err := note(os.Getenv(Variable), lacks, t.Name(), why); err != nil {
		t.Fatal(err)
	}
	t.Skipf("needs %s: %s", lacks, why)
}

// note appends a line to a file; packages do so beside each other.
func note(name string, lacks Need, test, why string) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	why, _, _ = strings.Cut(why, "\n")
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\n", lacks, test, why)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
