package index

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// unwatched is how old a look at the whole tree may be where nobody tells
// what changes.
const unwatched = 2 * time.Second

// fresh is how long after its last change a file may change again without
// another time on it.
const fresh = 100 * time.Millisecond

// refresh brings the index up to date before a question. It waits for the
// first look no longer than it may.
func (x *Index) refresh(ctx context.Context, wait time.Duration) {
	x.Start()
	ready := x.Ready()
	select {
	case <-ready:
	default:
		patience := time.NewTimer(wait)
		defer patience.Stop()
		select {
		case <-ready:
		case <-patience.C:
			return // the first look is under way
		case <-ctx.Done():
			return
		}
	}
	x.follow.Lock()
	defer x.follow.Unlock()
	told := x.changes(ctx)
	x.mu.Lock()
	complete, age := x.status.Ready, time.Since(x.looked)
	x.mu.Unlock()
	if !complete || !told && (x.eager || age > unwatched) {
		x.rescan(ctx)
	}
	x.tidy()
}

// changes takes in what is told. It returns false when that is not enough.
// x.follow is held.
func (x *Index) changes(ctx context.Context) bool {
	if x.o.Changes == nil {
		return false
	}
	names, dirs, lost, err := x.o.Changes(ctx)
	if err != nil {
		return false
	}
	if lost {
		x.distrust()
		return false
	}
	relinked := false
	for _, name := range names {
		relinked = x.update(name) || relinked
	}
	for _, dir := range dirs {
		x.refreshBelow(ctx, dir)
	}
	if relinked { // the name of which nobody told may be of any file
		x.distrust()
		return false
	}
	x.relook()
	return true
}

// update looks at one name again. It reports whether the file was seen to have
// further names, and was not known to.
func (x *Index) update(name string) (relinked bool) {
	info, err := x.o.Files.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, workspace.ErrSensitive):
		x.mu.Lock()
		defer x.mu.Unlock()
		x.forget(name)
		delete(x.linked, name)
		for known := range x.byPath {
			if strings.HasPrefix(known, name) && len(known) > len(name) && known[len(name)] == '/' {
				x.forget(known)
			}
		}
		return false
	case err != nil || !info.Mode().IsRegular() || x.leftOut(name):
		return false
	}
	if real, err := x.o.Files.RealName(name); err != nil || real != name {
		return false // walks follow no links either
	}
	relinked = x.link(name, workspace.Linked(x.o.Files.Abs(name), info))
	var data []byte
	size := x.room(info.Size())
	if size <= MaxSource {
		if data, err = x.o.Files.ReadFile(name); err != nil {
			return relinked
		}
	}
	x.indexFile(name, data, size, stampOf(info.Size(), info.ModTime().UnixNano()))
	return relinked
}

// leftOut reports whether a walk would not come to name.
func (x *Index) leftOut(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return true
		}
	}
	return x.o.Files.Ignored(name, false)
}

// room is the size that a file counts as: more than is read, once there is no
// room for more than its path.
func (x *Index) room(size int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.full {
		return MaxSource + 1
	}
	return size
}

// indexFile takes in a file's content, if it is new.
func (x *Index) indexFile(name string, data []byte, size int64, now stamp) {
	if !x.same(name, data, now) {
		x.publish(x.build(name, data, size), []stamp{now})
	}
}

// same reports whether a file's content is what is known of it, and then
// notes how the file is now.
func (x *Index) same(name string, data []byte, now stamp) bool {
	hash := segment.Hash(data)
	x.mu.Lock()
	defer x.mu.Unlock()
	old, known := x.byPath[name]
	if !known || old.record().Hash != hash || data == nil && old.stamp.size != now.size {
		return false
	}
	if old.stamp != now {
		old.stamp, x.changed = now, true
		x.byPath[name] = old
	}
	return true
}

// stampOf doubts a time that is too young to tell a later change.
func stampOf(size, mtime int64) stamp {
	if time.Now().UnixNano()-mtime < int64(fresh) {
		mtime = 0
	}
	return stamp{size, mtime}
}

// rescan walks the whole tree and takes in what is new or different. What is
// there no more is forgotten. x.follow is held.
func (x *Index) rescan(ctx context.Context) {
	began := time.Now()
	seen, err := x.walk(ctx, "")
	x.mu.Lock()
	defer x.mu.Unlock()
	defer func() {
		select {
		case <-x.ready:
		default:
			close(x.ready) // also after a failure: the next question looks again
		}
	}()
	if err != nil {
		x.status.Failed, x.status.Ready, x.looked = err.Error(), false, time.Time{}
		x.notify(true)
		return
	}
	for name := range x.byPath {
		if !seen[name] {
			x.forget(name)
		}
	}
	x.status.Failed, x.status.Ready, x.status.IndexedAt, x.looked = "", true, time.Now(), began
	x.notify(true)
}

// refreshBelow is rescan for one directory.
func (x *Index) refreshBelow(ctx context.Context, dir string) {
	if dir != "." && (x.leftOut(dir) || x.o.Files.Ignored(dir, true)) {
		return
	}
	seen, err := x.walk(ctx, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for name := range x.byPath {
		if !seen[name] && (dir == "." || strings.HasPrefix(name, dir+"/")) {
			x.forget(name)
		}
	}
}

// taker is one worker of a walk.
type taker struct {
	x      *Index
	in     *Intake
	b      *segment.Builder
	stamps []stamp // of what b has
	buf    []byte
	seen   []string
}

// walk visits the files below dir and returns the names of all.
func (x *Index) walk(ctx context.Context, dir string) (map[string]bool, error) {
	takers := make([]taker, runtime.GOMAXPROCS(0))
	for i := range takers {
		takers[i] = taker{x: x, in: NewIntake(x.o.Sources.Language, x.o.Hide)}
	}
	err := x.o.Files.Walk(ctx, workspace.WalkOptions{Dir: dir, Workers: len(takers)}, func(e *workspace.Entry) error {
		takers[e.Worker].visit(e)
		return nil
	})
	var wg sync.WaitGroup
	for i := range takers {
		wg.Go(takers[i].finish)
	}
	wg.Wait()
	if err != nil {
		return nil, err
	}
	n := 0
	for i := range takers {
		n += len(takers[i].seen)
	}
	seen := make(map[string]bool, n)
	for i := range takers {
		for _, name := range takers[i].seen {
			seen[name] = true
		}
	}
	return seen, nil
}

// visit takes in a file, unless it is as it was. What can't be read is left
// out.
func (t *taker) visit(e *workspace.Entry) {
	now := stamp{}
	if e.Stat != nil {
		s, err := e.Stat()
		if err != nil {
			return
		}
		now = stampOf(s.Size, s.Mtime)
		t.x.link(e.Path, s.Linked)
	}
	t.x.mu.Lock()
	old, known := t.x.byPath[e.Path]
	t.x.status.Looked++
	if t.x.status.Looked%256 == 0 {
		t.x.notify(false)
	}
	t.x.mu.Unlock()
	if known && now.mtime != 0 && old.stamp == now {
		t.seen = append(t.seen, e.Path)
		return
	}
	var data []byte
	size := t.x.room(now.size)
	if size <= MaxSource {
		var err error
		if t.buf, err = e.Read(t.buf); err != nil && !errors.Is(err, workspace.ErrTooLarge) {
			return
		}
		data = t.buf
	}
	t.seen = append(t.seen, e.Path)
	if known && t.x.same(e.Path, data, now) {
		return
	}
	if t.b == nil {
		t.b = segment.NewBuilder(false)
	}
	t.in.Add(t.b, e.Path, data, size)
	if t.stamps = append(t.stamps, now); t.b.Full() {
		t.finish()
	}
}

// finish hands over what was taken in.
func (t *taker) finish() {
	if t.b != nil {
		t.x.publish(t.b.Finish(), t.stamps)
		t.stamps = nil
	}
}
