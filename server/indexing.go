package server

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// indexing shows the user how far the project index is: as progress while the
// files are looked at, and to clients that know it as a notification whenever
// something has changed.
type indexing struct {
	s    *Server
	wake chan struct{} // has room for one
}

func newIndexing(s *Server) *indexing { return &indexing{s, make(chan struct{}, 1)} }

// changed says that the status may be another one. It never waits.
func (i *indexing) changed() {
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// run tells the client until ctx ends.
func (i *indexing) run(ctx context.Context) {
	var shown *job
	defer func() {
		if shown != nil {
			shown.end()
		}
	}()
	var last KnowledgeStatus
	for {
		select {
		case <-i.wake:
		case <-ctx.Done():
			return
		}
		k, err := i.s.knowledge()
		if err != nil {
			continue
		}
		now, err := k.Status()
		if err != nil || now == last {
			continue
		}
		last = now
		switch building := !now.Ready && now.Error == ""; {
		case building && shown == nil:
			shown = i.s.progress.show(ctx, "Indexing the project")
			shown.say(now.progress())
		case building:
			shown.say(now.progress())
		case shown != nil:
			shown.end()
			shown = nil
		}
		if i.s.client.can.sidecar.Knowledge {
			i.s.client.notify(ctx, "sidecar/knowledge", now)
		}
	}
}

// progress says in words how far a look at the files is.
func (s KnowledgeStatus) progress() string {
	return tools.Count(max(s.Files, s.Looked), "file") + ", " + tools.Count(s.Symbols, "symbol")
}
