package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// FillOptions say how the files of a tree come into a directory.
type FillOptions struct {
	Dir  string       // there already, and nobody else's
	Want *index.Index // the files; they get the stat data of those that are made

	// Have is what a tree that is used again has in Dir. What is still as Have
	// says and wanted stays, all else is removed. nil: Dir is empty.
	Have *index.Index

	// From is a working tree from which files are copied that are as its index
	// says; "" copies none. Racy is when that index was written.
	From      string
	FromIndex *index.Index
	Racy      int64

	// Converted reports whether a file's bytes may differ from those of its
	// object. It is copied or not made at all: Fill fails with ErrConversion.
	// nil: none is.
	Converted func(name string) bool

	// Smudge, when set, returns the bytes of such a file that can't be copied.
	Smudge func(name string, id plumbing.Hash) ([]byte, error)

	Progress func(begun int) // called now and then, from several goroutines
	Workers  int             // 0 means as many as pays, see workers
}

// Filled says where the files came from.
type Filled struct{ Kept, Copied, Decoded int }

// ErrConversion says that a file's bytes are not those of its object, so that
// the git command has to write it.
var ErrConversion = errors.New("the file's attributes ask for a conversion")

// youngest is how old a file that is made pretends to be at least. An index
// can't vouch for files that are as young as itself, so that git would read
// all of them at the first status.
const youngest = 3 * time.Second

// workers are how many make files. Each waits for the disk again and again, at
// least for tables of inodes: two for each processor took a tenth to a fifth
// less time than one (ext4, 8,000 files, two processors). Machines with many
// were not measured.
func workers() int {
	n := runtime.GOMAXPROCS(0)
	return max(n, min(2*n, 16))
}

// Fill makes the files of f.Want. Links come last, so that nothing is written
// through one; a submodule is an empty directory.
func Fill(ctx context.Context, r *gitrepo.Repo, f FillOptions) (Filled, error) {
	w := &filling{FillOptions: f, r: r, ctx: ctx, past: time.Now().Add(-youngest)}
	if w.Workers == 0 {
		w.Workers = workers()
	}
	if f.Have != nil {
		if err := w.reuse(); err != nil {
			return Filled{}, err
		}
	}
	w.match()
	err := w.run(func(e *gitindex.Entry) bool { return e.Mode != filemode.Symlink })
	if err == nil {
		err = w.run(func(e *gitindex.Entry) bool { return e.Mode == filemode.Symlink })
	}
	return Filled{w.kept, int(w.copied.Load()), int(w.decoded.Load())}, err
}

// filling is a Fill under way.
type filling struct {
	FillOptions
	r    *gitrepo.Repo
	ctx  context.Context
	past time.Time

	sources []*gitindex.Entry // of Want's entries: what From has for them, or nil
	ready   []bool            // they are there already
	kept    int
	copied  atomic.Int64
	decoded atomic.Int64
}

// Files that follow each other share their directories, and whoever makes one
// in a directory has that to itself for so long. So a worker takes at least
// block files at a time, and up to maxBlock where they are in one directory.
const (
	block    = 64
	maxBlock = 512
	progress = 32 * block // how many files are made between two reports
)

// share returns where the files end that a worker takes who begins at lo.
func (w *filling) share(lo int) int {
	entries := w.Want.Entries
	hi := min(lo+block, len(entries))
	if hi == len(entries) {
		return hi
	}
	for dir, _ := split(entries[hi-1].Name); hi < min(lo+maxBlock, len(entries)); hi++ {
		if next, _ := split(entries[hi].Name); next != dir {
			break
		}
	}
	return hi
}

// run makes the files that pick chooses.
func (w *filling) run(pick func(*gitindex.Entry) bool) error {
	var (
		mu    sync.Mutex
		next  int
		first error
		work  sync.WaitGroup
	)
	entries := w.Want.Entries
	take := func() (lo, hi int) {
		mu.Lock()
		defer mu.Unlock()
		if first != nil {
			return 0, 0
		}
		lo, next = next, w.share(next)
		return lo, next
	}
	for range w.Workers {
		work.Go(func() {
			m := &maker{w: w}
			defer m.leave(0)
			for lo, hi := take(); lo < hi; lo, hi = take() {
				if w.Progress != nil && hi/progress > lo/progress {
					w.Progress(lo)
				}
				for i := lo; i < hi; i++ {
					if w.ready != nil && w.ready[i] && entries[i].Mode != filemode.Submodule || !pick(entries[i]) {
						continue
					}
					err := w.ctx.Err()
					if err == nil {
						err = m.make(i)
					}
					if err != nil {
						mu.Lock()
						if first == nil {
							first = fmt.Errorf("%s: %w", entries[i].Name, err)
						}
						mu.Unlock()
						return
					}
				}
			}
		})
	}
	work.Wait()
	return first
}

// match finds what From has for each file that is wanted.
func (w *filling) match() {
	if w.From == "" || w.FromIndex == nil {
		w.sources = make([]*gitindex.Entry, len(w.Want.Entries))
		return
	}
	w.sources = sources(w.Want.Entries, w.FromIndex.Entries)
}

// sources returns, for each entry that is wanted, the one that a working tree's
// index has for the same content under the same name, or nil.
func sources(want, have []*gitindex.Entry) []*gitindex.Entry {
	found := make([]*gitindex.Entry, len(want))
	for i, k := 0, 0; i < len(want) && k < len(have); {
		switch c := strings.Compare(want[i].Name, have[k].Name); {
		case c < 0:
			i++
		case c > 0:
			k++
		default:
			h := have[k]
			if h.Stage == 0 && !h.SkipWorktree && !h.IntentToAdd && h.Hash == want[i].Hash {
				found[i] = h
			}
			i, k = i+1, k+1
		}
	}
	return found
}

// reuse finds out what of a tree that is used again can stay, and removes the
// rest.
func (w *filling) reuse() error {
	differs, err := Scan(w.ctx, w.r, w.Dir, w.Have, ScanOptions{Whole: true})
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	dirty := map[string]bool{}
	remove := func(name string) error {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		for dir := path.Dir(name); dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
		}
		return nil
	}
	for _, f := range differs {
		dirty[f.Path] = true
		if f.Mode != 0 && f.Path != ".git" {
			if err := remove(f.Path); err != nil {
				return err
			}
		}
	}
	want, have := w.Want.Entries, w.Have.Entries
	w.ready = make([]bool, len(want))
	i := 0
	for k := range have {
		h := have[k]
		for i < len(want) && want[i].Name < h.Name {
			i++
		}
		if i < len(want) && want[i].Name == h.Name && want[i].Hash == h.Hash && want[i].Mode == h.Mode && !h.SkipWorktree && !dirty[h.Name] {
			*want[i] = *h
			w.ready[i] = true
			w.kept++
			continue
		}
		if !dirty[h.Name] {
			if err := remove(h.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
