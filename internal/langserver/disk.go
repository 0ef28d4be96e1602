package langserver

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// ChangesOf returns what changes on the disk of files: main is watched anyway,
// a shadow's disk is watched for its servers.
func ChangesOf(files workspace.Files, main *watch.Lazy) Changes {
	disk, _ := files.Base()
	switch {
	case disk == nil:
		return nil
	case disk == main.Disk():
		if feed := main.Subscribe(); feed != nil {
			return &diskChanges{feed: feed}
		}
		return nil
	}
	w := watch.New(disk)
	return &diskChanges{feed: w.Subscribe(), own: w}
}

// diskChanges is a feed of changes as language servers are told of them.
type diskChanges struct {
	feed *watch.Feed
	own  *watch.Watcher // that ends with the feed; nil: it is shared
	last time.Time      // when everything was reported to have changed
}

const (
	changesTime = 500 * time.Millisecond // for the events that are under way
	blindTime   = 5 * time.Second        // between two looks at a disk that can't be watched
)

// Next implements Changes.
func (d *diskChanges) Next(ctx context.Context) (names []string, lost bool) {
	ctx, cancel := context.WithTimeout(ctx, changesTime)
	defer cancel()
	batch, err := d.feed.Sync(ctx)
	if err != nil {
		return nil, false
	}
	if !d.feed.State().Watching {
		if time.Since(d.last) < blindTime {
			return nil, false
		}
		d.last = time.Now()
	}
	return batch.Names, batch.Lost || len(batch.Dirs) > 0
}

// Close implements Changes.
func (d *diskChanges) Close() {
	d.feed.Close()
	if d.own != nil {
		_ = d.own.Close()
	}
}
