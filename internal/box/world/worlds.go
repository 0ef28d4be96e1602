package world

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// world is what the commands of one session see of one folder.
type world struct {
	o     Options
	kind  Kind
	layer layer
	root  string // the folder
	dir   string

	session string
	out     *outputs // of the folder
	drops   bool     // nothing of what it makes outlives it
	lock    dirLock  // held as long as the server lives

	mu   sync.Mutex
	held map[string]*held // by name, relative to root, with slashes

	// made is the text that was pending while output was built that stays in
	// the session: when one of them is rejected, the output goes.
	made map[string]node

	committed string             // the last commit of commands that was reported
	reported  []string           // all of them, as long as HEAD or the branch leads to them
	elsewhere []string           // those of them that are of another branch than the user's
	offered   map[string]offered // branches and tags that were reported, by their whole name

	git    gitState          // of the folder, when commands last saw its repository
	linked *Linked           // where that is, if it is not in the folder
	told   map[string]string // what was said of the repository that commands have
	away   []string          // files of which the stash of commands has what the view has
	lost   []string          // sentences about what went with an earlier one, for the next harvest

	closed bool // its session has ended

	hidden map[string]bool // names whose text no command may see
	sealed map[string]bool // those of them that look as large and as old as they are
	real   map[string]bool // repositories that commands change for real
	lacks  bool            // there are more that they should

	// While commands run:
	users int
	view  view  // of the last command that began
	began int64 // when nothing of the folder had been seen, in nanoseconds
	equal bool  // the view was the folder, for all of them
	stays bool  // output is held
	still bool  // of one that runs alone, for which nothing changes
	fresh bool  // commands see none that other sessions hold
	rules rules // what git ignored at the start

	// waiting is output that is still in the session, with when the first of its commands
	// began: what the user changed in its place since then is not replaced.
	waiting map[string]int64

	// over is there once the world is given up: the texts that were pending of what is
	// taken over late, by name.
	over map[string]string

	// doubted is output of commands that were cut off: it never goes to the folder by itself.
	doubted []string

	// unsettled are names that were harvested and of which the view says nothing yet,
	// with how often.
	unsettled map[string]int

	left       map[string]bool // output that was said to stay
	lastHeld   string          // what was said last of output that is held
	lastPassed string          // and of what was let through
	dirty      bool            // what was changed has not been harvested
}

func (w *world) upper() string { return filepath.Join(w.dir, upperDir) }

// errRealIsUsed is why a command does not begin that must not change the repository.
var errRealIsUsed = errors.New("a command of this session that began in a mode which applies edits still runs, and the copy of the workspace has the repository itself for it; wait for its end, or end it (command_kill)")

// ErrOthersRun is why a command does not begin that must run alone.
var ErrOthersRun = errors.New("another command of the session runs")

// errStill is why another one does not begin.
var errStill = errors.New("an install of this session that your rules allow runs alone; wait for its end")

// errClosed is why nothing begins in a world any more.
var errClosed = errors.New("the session has ended")

// Run is a command that sees a world, or is about to.
type Run struct {
	w      *world
	ended  bool
	root   string // the folder, as the session names it
	prefix string // of the folder's names in the view
	seen   spec.Merged
	lent   []string // directories of dependencies, which are the folder's own
}

func (w *world) begin(r Request) (_ *Run, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, errClosed
	}
	prefix, err := r.View.Resolve(r.Root)
	if err != nil {
		return nil, err
	}
	live := w.users > 0
	switch {
	case live && w.still:
		return nil, errStill
	case live && r.Still:
		return nil, ErrOthersRun
	}
	w.drops, w.fresh = w.drops || r.Drop, w.fresh || r.Fresh
	if err := w.room(r); err != nil {
		return nil, err
	}
	if !live {
		w.equal, w.stays = true, false
		if !w.dirty { // else what an earlier command met counts
			w.began = time.Now().UnixNano()
		}
		if err := lendRepository(w, r.Linked); err != nil {
			return nil, fmt.Errorf("the repository can't be copied: %w", err)
		}
	}
	w.hidden, w.sealed = namesIn(w.root, slices.Concat(r.Hidden, r.Sealed)), namesIn(w.root, r.Sealed)
	real := w.layer.forReal(r.Real)
	switch {
	case !live:
		w.real, w.lacks = namesIn(w.root, real), len(real) < len(r.Real)
		if w.real[".git"] { // which has no such stash
			bringBack(w)
		}
	case w.kind == SeparateCopy && len(r.Real) == 0 && len(w.real) > 0:
		return nil, errRealIsUsed
	}
	if !live && !r.Drop && !r.Fresh { // whose view has only what is tested, or accepted
		if err := w.settleOutput(view{r.View, prefix}); err != nil {
			return nil, err
		}
	}
	if err := w.layer.renew(view{r.View, prefix}, live); err != nil {
		return nil, err
	}
	equal, err := w.prepare(view{r.View, prefix}, live)
	if err != nil {
		return nil, fmt.Errorf("what the session sees can't be put before the command: %w", err)
	}
	w.o.Fail("prepared")
	if !live {
		w.rules, w.dirty = w.o.rulesOf(view{r.View, prefix}), true
		if err := w.noteSession(); err != nil {
			return nil, err
		}
		if err := w.layer.begin(); err != nil {
			return nil, err
		}
	}
	w.equal, w.stays = w.equal && equal, w.stays || r.Hold || r.Drop
	w.users++
	w.still = r.Still
	w.view = view{r.View, prefix}
	run := &Run{w: w, root: r.Root, prefix: prefix, seen: w.layer.seen()}
	run.lent = run.seen.Real
	run.seen.Real = slices.Concat(run.lent, real)
	return run, nil
}

// Show has the sandbox show the world as its folder. The first that is shown is that of the
// Root of s, and each further one that of a folder beside it.
func (r *Run) Show(s *spec.Spec) {
	switch {
	case r.w.kind == SeparateCopy:
		r.showSeparate(s)
		return
	case s.Merged == nil:
		s.Merged = &r.seen
	default:
		s.Beside = append(slices.Clip(s.Beside), spec.Folder{Dir: r.w.root, Merged: r.seen})
	}
	s.ReadOnly = append(s.ReadOnly, r.lent...)
}

// Kind is what the command sees.
func (r *Run) Kind() Kind { return r.w.kind }

// Written is the directory in which lies what is written in the world, and one in it
// of what is not taken over as files.
func (r *Run) Written() (dir, without string) {
	return r.w.upper(), filepath.Join(r.w.upper(), ".git", "objects")
}

// Again has the command see what the session sees now, as Manager.Again does a moment
// after each change.
func (r *Run) Again() error {
	w := r.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.ended || w.closed {
		return nil
	}
	_, err := w.prepare(w.view, true)
	return err
}

// Collect is what was changed in the world since the last harvest. Commands may
// run: what they are just writing is taken as it is.
func (r *Run) Collect() (Collected, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if r.w.closed || r.w.users == 0 && !r.w.dirty {
		return Collected{}, nil // another call has it
	}
	f := r.w.walk()
	h, err := r.w.collect(r.prefix, f)
	if err == nil && r.w.users == 0 {
		r.w.dirty = false
		said, files := r.w.exportOutput(f)
		h.Said, h.Output = append(h.Said, said...), files
		if h.Settled == nil {
			r.w.noteTaken()
		}
	}
	return h, err
}

// End is the end of the command. With take it returns what was changed since the
// last harvest; without, the next harvest of the session has that. A second time
// does nothing.
func (r *Run) End(take bool) (h Collected, err error) {
	w := r.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.ended || w.closed {
		r.leave()
		return Collected{}, nil
	}
	r.ended = true
	var f *found
	if take {
		f = w.walk()
		w.o.Fail("walked")
		h, err = w.collect(r.prefix, f)
	}
	if !w.last() {
		return h, err
	}
	if f != nil && err == nil {
		w.dirty = false
		said, files := w.exportOutput(f)
		h.Said, h.Output = append(h.Said, said...), files
		h.Said = append(h.Said, w.layer.said()...)
		if h.Settled == nil {
			w.noteTaken()
		}
	}
	return h, err
}

// last ends a command, and reports whether it was the last one that ran.
func (w *world) last() bool {
	if w.users--; w.users > 0 {
		return false
	}
	w.still = false
	w.layer.end()
	w.o.Fail("ended")
	if !w.equal {
		for rel, h := range w.held {
			if !h.same {
				w.made[rel] = h.node
			}
		}
	}
	return true
}

// GiveUp is End for a command that was cut off in the middle. Its output is held, also
// where edits are applied. What else it changed comes with the next harvest. It returns
// sentences about the output.
func (r *Run) GiveUp() (said []string) {
	w := r.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.ended || w.closed {
		r.leave()
		return nil
	}
	r.ended = true
	w.stays = true
	f := w.walk()
	for _, o := range f.output {
		w.doubted = append(w.doubted, o.rel)
	}
	if w.last() {
		said, _ = w.exportOutput(f) // which holds all of it
	}
	return said
}

// leave ends a command of a session that has ended. w.mu is held.
func (r *Run) leave() {
	if r.ended {
		return
	}
	r.ended = true
	if r.w.users--; r.w.users == 0 {
		r.w.still = false
		r.w.layer.end()
		r.w.leave()
	}
}

// taking notes that the view is about to say what becomes of these names.
func (w *world) taking(names []string) (settled func()) {
	for _, rel := range names {
		w.unsettled[rel]++
	}
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, rel := range names {
			if w.unsettled[rel]--; w.unsettled[rel] == 0 {
				delete(w.unsettled, rel)
			}
		}
		if w.users > 0 && !w.closed && !w.still {
			_, _ = w.prepare(w.view, true) // as in Manager.Again
		}
		w.noteTaken()
	})
}

// close gives the world up. The commands that still run in it keep its mount until
// they end.
func (w *world) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed = true; w.users == 0 {
		w.leave()
	}
}

// leave keeps the output and what nobody took, and takes the world away. Where that can't
// be kept, the world stays for the next server. w.mu is held, and no command runs in it.
func (w *world) leave() {
	if err := errors.Join(w.keepTexts(), w.salvage()); err != nil {
		w.lock.release()
		return
	}
	w.remove()
}

// remove takes the world away. w.mu is held, and no command runs in it.
func (w *world) remove() {
	_ = osfile.RemoveAll(w.dir) // what stays goes with the next start
	w.lock.release()
}

// startAnew gives what commands have up, with a copy that can't be cleaned.
func (w *world) startAnew() error {
	trash, err := os.MkdirTemp(filepath.Join(w.dir, trashDir), "")
	if err != nil {
		return err
	}
	info, err := os.Stat(w.root)
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(w.upper(), filepath.Join(trash, "upper")), os.Mkdir(w.upper(), 0o700), os.Chmod(w.upper(), info.Mode().Perm()))
}

// view is the part of a session's view that lies in the folder.
type view struct {
	workspace.Files
	prefix string
}

func (v view) name(rel string) string { return path.Join(v.prefix, rel) }

// over are the names, relative to the folder, that lie over the disk.
func (v view) over() (names []string) {
	for _, name := range workspace.Overlaid(v.Files) {
		if v.prefix == "." {
			names = append(names, name)
		} else if rel, ok := strings.CutPrefix(name, v.prefix+"/"); ok {
			names = append(names, rel)
		}
	}
	return names
}

// gitState tells whether the folder's repository was changed by somebody else.
type gitState struct{ head, index, packed, tables, refs stamp }

func gitStateOf(r repository) gitState {
	at := func(dir, name string) stamp { return stampOf(filepath.Join(dir, name)) }
	g := gitState{at(r.own, "HEAD"), at(r.own, "index"), at(r.common, "packed-refs"), at(r.common, tablesDir+"/tables.list"), stamp{}}
	// The newest of the directories of references: each new or removed one shows there, and each
	// change of one, because git renames a file into its place.
	_ = filepath.WalkDir(filepath.Join(r.common, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if s := stampOf(path); s.mtime > g.refs.mtime {
				g.refs = s
			}
		}
		return nil
	})
	return g
}

// dropGit forgets what commands did to their own copy of the repository when the
// user's own has changed: the two would be of different histories.
func (w *world) dropGit() {
	now := gitStateOf(repositoryOf(w))
	private := privateOf(w)
	if _, err := os.Lstat(private); err == nil && w.git != now {
		noteLost(w)
		bringBack(w)
		_ = osfile.RemoveAll(private)
		forgetCommits(w)
		clear(w.told)
	}
	w.git = now
}
