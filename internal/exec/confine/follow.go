package confine

import (
	"context"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
)

// following forwards what changes on the disk to the worlds of programs that stay:
// of changes below an overlay the kernel tells nobody in it.
type following struct {
	once   sync.Once
	mu     sync.Mutex
	closed bool
	end    context.CancelFunc
	done   chan struct{}
}

// follow begins it, with the first program that stays. What changed before is seen
// too, once the kernel has forgotten what it knew of it.
func (c *Confiner) follow() {
	defer c.worlds.Forget()
	f := &c.following
	f.once.Do(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.closed {
			return
		}
		feed := c.o.Watch.Subscribe()
		if feed == nil {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		f.end, f.done = cancel, make(chan struct{})
		go c.forward(ctx, feed)
	})
}

func (c *Confiner) forward(ctx context.Context, feed *watch.Feed) {
	defer close(c.following.done)
	defer feed.Close()
	disk := c.o.Watch.Disk()
	for {
		select {
		case <-feed.Ready():
		case <-ctx.Done():
			return
		}
		b, err := feed.Sync(ctx)
		if err != nil {
			return // the workspace closes
		}
		for _, name := range b.Names {
			c.worlds.Saved(disk.Abs(name))
		}
	}
}

func (f *following) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.end != nil {
		f.end()
		<-f.done
	}
}
