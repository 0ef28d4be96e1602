package sandbox

import (
	"fmt"
	"io"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/keeper"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mount"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/probe"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/rights"
)

// Init is the life of a process between the server and a command; args is what
// follows InitCommand. It returns an exit code if there is no command to
// become. after is what is left to do for a command with a Spec.Record whose
// server was killed; nil is nothing.
func Init(args []string, out, stderr io.Writer, after func(record string)) int {
	role := ""
	if len(args) > 0 {
		role = args[0]
	}
	switch role {
	case child.RoleConfine:
		return rights.Confine(stderr)
	case child.RoleKeep:
		return keeper.RunKeeper(after, func(dir string) { mask.Sweep(dir) })
	case child.RoleAttach:
		return mount.Attach(stderr)
	case child.RoleMount:
		return mount.RunMounter()
	case child.RoleNetwork:
		return boxnet.Reside(args[1:])
	case child.RoleTry:
		return probe.Try(args[1:], out, stderr)
	}
	fmt.Fprintln(stderr, "this command is for the server's own use")
	return child.ExitSetup
}
