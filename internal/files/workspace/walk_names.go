package workspace

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
)

// chunk is how many names a worker takes at a time: neighbours are mostly in
// one directory, and nobody waits long for the last one.
const chunk = 32

// visitNames visits opts.Names without listing anything. Links on the way are
// not followed, as in any walk.
func (d *Disk) visitNames(ctx context.Context, opts WalkOptions, visit func(*Entry) error) error {
	w := newWalk(opts, visit)
	defer context.AfterFunc(ctx, func() { w.end(nil) })()
	var next atomic.Int64
	work := func(i int) {
		k := newWorker(w, i)
		c := dirChain{disk: d}
		defer c.close()
		for {
			to := int(next.Add(chunk))
			if from := to - chunk; from >= len(opts.Names) || !k.visitChunk(&c, from, min(to, len(opts.Names))) {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for i := 1; i < min(w.opts.Workers, (len(opts.Names)+chunk-1)/chunk); i++ {
		wg.Go(func() { work(i) })
	}
	work(0)
	wg.Wait()
	return w.outcome(ctx)
}

// visitChunk visits some of the names. It returns false when the walk ends.
func (k *worker) visitChunk(c *dirChain, from, to int) bool {
	for i := from; i < to; i++ {
		if k.stop.Load() {
			return false
		}
		name := k.opts.Names[i]
		if k.opts.Keep != nil && !k.opts.Keep(name, false) {
			continue
		}
		parent, base := "", name
		if at := strings.LastIndexByte(name, '/'); at >= 0 {
			parent, base = name[:at], name[at+1:]
		}
		o, err := c.open(parent)
		if err != nil {
			continue
		}
		k.base = append(append(k.base[:0], base...), 0)
		k.dir, k.name, k.entry.Path, k.entry.Number = o, k.base, name, i
		if err := k.visit(&k.entry); err != nil {
			k.end(err)
			return false
		}
	}
	return true
}

// dirChain keeps the directories on the way to the last name open.
type dirChain struct {
	disk *Disk
	ends []int // in path, of the elements of which dirs are open
	dirs []*openDir
	path string
}

// open returns the directory path of the view.
func (c *dirChain) open(path string) (*openDir, error) {
	if len(c.dirs) > 0 && path == c.path {
		return c.dirs[len(c.dirs)-1], nil
	}
	keep := 0
	for keep < len(c.ends) && strings.HasPrefix(path, c.path[:c.ends[keep]]) &&
		(c.ends[keep] == 0 || c.ends[keep] == len(path) || path[c.ends[keep]] == '/') {
		keep++
	}
	for _, o := range c.dirs[keep:] {
		o.handle.close()
	}
	c.dirs, c.ends = c.dirs[:keep], c.ends[:keep]
	for {
		end := -1
		if n := len(c.ends); n > 0 {
			end = c.ends[n-1]
		}
		c.path = path[:max(end, 0)]
		if end == len(path) {
			return c.dirs[len(c.dirs)-1], nil
		}
		if err := c.push(path, end); err != nil {
			return nil, err
		}
	}
}

// push opens the next directory on the way to path, after the one that ends
// at end, or the root that it is in.
func (c *dirChain) push(path string, end int) error {
	if end < 0 {
		f, rel, err := c.disk.locate(path)
		if path == "" {
			f, rel, err = c.disk.locate(".")
		}
		if err != nil || f == nil {
			return fs.ErrNotExist
		}
		if end = 0; len(c.disk.folders) > 1 {
			end = len(path)
			if rel != "." {
				end -= len(rel) + 1
			}
		}
		handle, err := openRootDir(f.root, ".")
		return c.opened(handle, err, end)
	}
	from := end
	if from > 0 {
		from++
	}
	to := len(path)
	if n := strings.IndexByte(path[from:], '/'); n >= 0 {
		to = from + n
	}
	handle, err := c.dirs[len(c.dirs)-1].handle.openDir(append([]byte(path[from:to]), 0))
	return c.opened(handle, err, to)
}

func (c *dirChain) opened(handle dirHandle, err error, end int) error {
	if err != nil {
		return err
	}
	c.dirs, c.ends = append(c.dirs, &openDir{handle: handle}), append(c.ends, end)
	return nil
}

func (c *dirChain) close() {
	for _, o := range c.dirs {
		o.handle.close()
	}
}
