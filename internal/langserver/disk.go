package langserver

import (
	"context"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// OnDisk is the disk of a workspace.
type OnDisk struct {
	Watch *watch.Lazy
	Texts *textindex.Index // nil: files are read
}

// Having implements Disk.
func (d OnDisk) Having(ctx context.Context, files workspace.Files, text string, like func(string) bool, limit int) []string {
	return d.Texts.Having(ctx, files, text, like, limit)
}

// Changes implements Disk: the main tree is watched anyway, a shadow's disk is
// watched for its servers.
func (d OnDisk) Changes(files workspace.Files) Changes {
	disk, _ := files.Base()
	switch {
	case disk == nil:
		return nil
	case disk == d.Watch.Disk():
		if feed := d.Watch.Subscribe(); feed != nil {
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
