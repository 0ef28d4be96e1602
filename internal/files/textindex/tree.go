package textindex

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// tree is what is known of every file that a walk of the disk meets. A file is
// known by its number.
type tree struct {
	names  []string // those before sorted are in order
	sorted int
	added  map[string]int32 // the numbers of the others
	files  []file
	more   map[int32][]column // the further signatures of long files
	dirs   map[string]struct{}
	clock  uint32 // counts the changes of all files
	gone   int
	loose  set // the files in state isLoose
	texts  int // files in state isText
	binary int // files in state isBinary
}

// file is one file. Everything but state belongs to the states isText and isBinary.
type file struct {
	stamp uint64 // of the stamp before it was read; 0: not to be trusted
	first column
	turn  uint32 // the clock at the last change
	state state

	whole  bool // it has to be read as a whole: only some of its text is searched
	secret bool // who may see it is for the view to say: nothing is known of it, ever
}

// state says what is known of a file.
type state uint8

const (
	isLoose  state = iota // nothing: it has to be read
	isText                // its signature says what may be in it
	isBinary              // nothing is found in it
	isGone                // it is not there any more
)

// number returns the number of a name, or -1.
func (t *tree) number(name string) int32 {
	if i, ok := slices.BinarySearch(t.names[:t.sorted], name); ok {
		return int32(i)
	}
	if i, ok := t.added[name]; ok {
		return i
	}
	return -1
}

// set changes a file's state, which drops its signatures.
func (t *tree) set(s *store, i int32, to state) {
	f := &t.files[i]
	t.count(i, f.state, -1)
	t.count(i, to, 1)
	if f.first != noColumn {
		s.drop(f.first)
		for _, c := range t.more[i] {
			s.drop(c)
		}
		delete(t.more, i)
	}
	t.clock++
	f.state, f.first, f.stamp, f.turn, f.whole = to, noColumn, 0, t.clock, false
}

// count counts a file in or out of a state.
func (t *tree) count(i int32, of state, n int) {
	switch of {
	case isLoose:
		for int(i)/64 >= len(t.loose) {
			t.loose = append(t.loose, 0)
		}
		t.loose[i/64] &^= 1 << (i % 64)
		if n > 0 {
			t.loose.add(i)
		}
	case isText:
		t.texts += n
	case isBinary:
		t.binary += n
	case isGone:
		t.gone += n
	}
}

// add takes a name that is new, or there again.
func (t *tree) add(s *store, name string) {
	if i := t.number(name); i >= 0 {
		t.set(s, i, isLoose)
		return
	}
	t.added[name] = int32(len(t.names))
	t.names = append(t.names, name)
	t.clock++
	t.files = append(t.files, t.newFile(workspace.Sensitive(name)))
	t.count(int32(len(t.files)-1), isLoose, 1)
}

func (t *tree) newFile(secret bool) file {
	return file{first: noColumn, turn: t.clock, secret: secret}
}

// removeBelow forgets a directory.
func (t *tree) removeBelow(s *store, dir string) {
	lo, hi := t.below(dir)
	for i := lo; i < hi; i++ {
		t.set(s, int32(i), isGone)
	}
	for name, i := range t.added {
		if strings.HasPrefix(name, dir+"/") {
			t.set(s, i, isGone)
		}
	}
	for name := range t.dirs {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			delete(t.dirs, name)
		}
	}
}

// below returns the range of the sorted names that lie below dir.
func (t *tree) below(dir string) (lo, hi int) {
	if dir == "." {
		return 0, t.sorted
	}
	sorted := t.names[:t.sorted]
	lo, _ = slices.BinarySearch(sorted, dir+"/")
	hi, _ = slices.BinarySearch(sorted, dir+"0") // the character after the slash
	return lo, hi
}

// listing is what a walk finds.
type listing struct {
	names  []string // in order
	dirs   map[string]struct{}
	secret map[string]bool
	stamps map[string]uint64 // if asked for
}

// list walks what lies below dir, and takes the files' stamps.
func list(ctx context.Context, disk *workspace.Disk, dir string, stamp func(workspace.Stamp) uint64) (*listing, error) {
	l := &listing{dirs: map[string]struct{}{}, secret: map[string]bool{}, stamps: map[string]uint64{}}
	var mu sync.Mutex
	var found [2][]string
	opts := workspace.WalkOptions{Dir: dir, Workers: len(found), Enter: func(name string, _ bool) {
		mu.Lock()
		l.dirs[name] = struct{}{}
		mu.Unlock()
	}}
	err := disk.Walk(ctx, opts, func(e *workspace.Entry) error {
		found[e.Worker] = append(found[e.Worker], e.Path)
		if workspace.Sensitive(e.Path) {
			mu.Lock()
			l.secret[e.Path] = true
			mu.Unlock()
		}
		if stamp != nil {
			if st, err := e.Stat(); err == nil {
				mu.Lock()
				l.stamps[e.Path] = stamp(st)
				mu.Unlock()
			}
		}
		return nil
	})
	var sorting sync.WaitGroup
	for _, names := range found {
		sorting.Go(func() { slices.Sort(names) })
	}
	sorting.Wait()
	l.names = merge(found[0], found[1])
	return l, err
}

// merge returns what is in two sorted lists.
func merge(a, b []string) []string {
	all := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] > b[0] {
			a, b = b, a
		}
		all, a = append(all, a[0]), a[1:]
	}
	return append(append(all, a...), b...)
}

// inside reports whether a name is dir or lies below it.
func inside(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// replace makes the tree what the listing of dir says. Files that are still
// there keep what is known of them.
func (t *tree) replace(s *store, dir string, l *listing) {
	names := l.names
	if dir != "." {
		for i, name := range t.names {
			if t.files[i].state != isGone && !inside(name, dir) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	dirs := l.dirs
	for name := range t.dirs {
		if !inside(name, dir) {
			dirs[name] = struct{}{}
		}
	}
	t.clock++
	next := tree{names: names, sorted: len(names), clock: t.clock, added: map[string]int32{}, files: make([]file, len(names)), more: map[int32][]column{}, dirs: dirs}
	numbers := make([]int32, len(t.names)) // new ones
	for i := range numbers {
		numbers[i] = noFile
	}
	for i, name := range names {
		var f file
		if old := t.number(name); old < 0 || t.files[old].state == isGone {
			f = t.newFile(l.secret[name])
		} else {
			f, numbers[old] = t.files[old], int32(i)
			if more := t.more[old]; more != nil {
				next.more[int32(i)] = more
			}
		}
		next.files[i] = f
		next.count(int32(i), f.state, 1)
	}
	s.renumber(numbers)
	*t = next
}

// compact wins back the room of what is gone and dropped, when there is much.
func (t *tree) compact(s *store) {
	if many := 256 + len(t.names)/8; len(t.added) > many || t.gone > many {
		l := &listing{dirs: t.dirs}
		for i, name := range t.names {
			if t.files[i].state != isGone {
				l.names = append(l.names, name)
			}
		}
		slices.Sort(l.names)
		t.replace(s, ".", l)
	}
	if s.dropped > 2*slabColumns+s.columns/4 {
		t.moveTo(s)
	}
}

// moveTo makes a new store of the signatures that are in use.
func (t *tree) moveTo(s *store) {
	var next store
	var buf []uint64
	move := func(i int32, c column) column {
		part, log2, signature := s.signature(c, buf[:0])
		buf = signature
		return next.add(i, part, log2, signature)
	}
	for i := range t.files {
		f := &t.files[i]
		if f.first == noColumn {
			continue
		}
		f.first = move(int32(i), f.first)
		for j, c := range t.more[int32(i)] {
			t.more[int32(i)][j] = move(int32(i), c)
		}
	}
	*s = next
}
