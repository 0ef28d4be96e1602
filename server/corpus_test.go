package server

import (
	"context"
	"io"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/test/framecorpus"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

// Hostile frames and messages, each against a server of its own.
func TestCorpus(t *testing.T) {
	cases, err := framecorpus.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	framecorpus.Run(t, workspace.FileURI(t.TempDir()), cases, func(t *testing.T) framecorpus.Server {
		var open func(Start) (*Core, error)
		open = func(st Start) (*Core, error) {
			disk, err := workspace.OpenDisk(st.Folders, workspace.DiskOptions{})
			if err != nil {
				return nil, err
			}
			st.Editor(disk)
			return &Core{Parts: commands.Parts{Sessions: session.NewStore(session.Options{})}, Lifecycle: &life{open: open, start: st, close: disk.Close}}, nil
		}
		s := New(Options{Start: func(_ context.Context, st Start) (*Core, error) { return open(st) }})
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			err := s.Serve(context.Background(), in, out)
			_ = in.Close()
			_ = out.Close()
			ended <- err
		}()
		return framecorpus.Server{In: toServer, Out: fromServer, Wait: func() error { return <-ended }}
	})
}
