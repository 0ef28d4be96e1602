//go:build !unix

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
)

var errNoStreams = errors.New("on this system no program can be run so that what it writes waits for review. Run it in a shadow workspace instead: sidecar-ls shadow create NAME, run it in the directory that this names, then sidecar-ls shadow merge NAME, which brings what it wrote into the review queue")

// streams are never had here.
type streams struct {
	terminal bool
	theirs   []*os.File
}

func (*streams) close() {}

func (c *cli) streams() (*streams, error) { return nil, errNoStreams }

func (c *cli) hostThere(context.Context, runArgs, *streams) (program.Result, error) {
	return program.Result{}, errNoStreams
}

func hostFor(context.Context, *app.Client, net.Conn, json.RawMessage) (any, error) {
	return nil, errNoStreams
}
