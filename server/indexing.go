package server

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// indexing shows the user how far the project index is: as progress while the
// files are looked at, and to clients that know it as a notification whenever
// something has changed.
type indexing struct {
	client   *client.Client
	progress *client.Progress
	now      func() commands.Knowledge // nil: there is none
	wake     chan struct{}             // has room for one
}

// changed says that the status may be another one. It never waits.
func (i *indexing) changed() {
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// run tells the client until ctx ends.
func (i *indexing) run(ctx context.Context) {
	var shown *client.Job
	defer func() {
		if shown != nil {
			shown.End()
		}
	}()
	var last commands.KnowledgeStatus
	for {
		select {
		case <-i.wake:
		case <-ctx.Done():
			return
		}
		k := i.now()
		if k == nil {
			continue
		}
		now, err := k.Status()
		if err != nil || now == last {
			continue
		}
		last = now
		switch building := !now.Ready && now.Error == ""; {
		case building && shown == nil:
			shown = i.progress.Show(ctx, "Indexing the project")
			shown.Say(progressOf(now))
		case building:
			shown.Say(progressOf(now))
		case shown != nil:
			shown.End()
			shown = nil
		}
		if i.client.Can.Sidecar.Knowledge {
			i.client.Notify(ctx, "sidecar/knowledge", now)
		}
	}
}

// progressOf says in words how far a look at the files is.
func progressOf(s commands.KnowledgeStatus) string {
	return tools.Count(max(s.Files, s.Looked), "file") + ", " + tools.Count(s.Symbols, "symbol")
}
