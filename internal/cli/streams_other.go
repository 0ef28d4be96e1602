//go:build !unix

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/programs"
)

var errNoStreams = errors.New("programs can't be run in a session on this system")

// streams are never had here.
type streams struct {
	terminal bool
	theirs   []*os.File
}

func (*streams) close() {}

func (c *cli) streams() (*streams, error) { return nil, errNoStreams }

func (c *cli) hostThere(context.Context, runArgs, *streams) (programs.Result, error) {
	return programs.Result{}, errNoStreams
}

func hostFor(context.Context, *app.Client, net.Conn, json.RawMessage) (any, error) {
	return nil, errNoStreams
}
