package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// spellings knows how the names below a root are written on disk, where one file
// can be found under several spellings. What the file system does is tried out, not
// guessed from the system: a volume of a Mac may tell letter case apart, and a
// directory of Linux may not.
type spellings struct {
	root   *os.Root
	system string
	probe  func(dir string) Folding // in the place of the file system; tests set it

	exact atomic.Bool // each spelling is a file of its own, below the whole root

	mu     sync.Mutex
	listed map[string]listing
	tried  map[string]trial
	lists  int // how often a directory was listed, which tests count
}

// listing is a directory as it was read.
type listing struct {
	modified time.Time
	read     time.Time
	names    []string // sorted
}

// trial is what a directory was found to do, whichever names are in it.
type trial struct {
	dir          fs.FileInfo
	at           time.Time
	folding      Folding
	cased, forms bool // a file in it told of letter case, and of forms: not only what its parent does
}

// maxSpelled bounds the directories that are remembered.
const maxSpelled = 512

// staleAfter bounds how long a directory is believed to be as it was read: FAT and
// exFAT don't change its time when a name in it changes.
const staleAfter = 5 * time.Second

// settled reports whether a directory would have another time if a name in it had
// changed after it was read: between the two lies more than a tick of the clock, and
// more than the step in which the file system counts. A step of ten milliseconds or
// more, as that of exFAT, FAT and HFS+, shows in the time.
func (l listing) settled() bool {
	step := 2 * time.Second
	if l.modified.Nanosecond()%int(10*time.Millisecond) != 0 {
		step = 100 * time.Millisecond
	}
	return l.read.Sub(l.modified) > step
}

// vary reports whether a file may be found under several spellings. Where it may
// not, which one look at the root tells, nothing else is ever looked at.
func (s *spellings) vary() bool {
	switch {
	case s.exact.Load():
		return false
	case s.probe != nil || foldsCase(s.system):
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tryOut(".")
	if ok && t.cased && t.folding.Exact() {
		s.exact.Store(true)
		s.listed, s.tried = nil, nil
	}
	return ok && !t.folding.Exact()
}

// forget makes directories be read again, after names in them were changed.
func (s *spellings) forget() {
	if s.exact.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = nil
}

// foldsCase reports whether a system's file systems do by default.
func foldsCase(system string) bool { return system == "windows" || system == "darwin" }

// at returns what the file system does in a directory, or would do in one that is
// not there.
func (s *spellings) at(dir string) Folding {
	if !s.vary() {
		return Folding{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folding(dir)
}

func (s *spellings) folding(dir string) Folding {
	for ; dir != "."; dir = path.Dir(dir) {
		if t, ok := s.tryOut(dir); ok {
			return t.folding
		}
	}
	if t, ok := s.tryOut("."); ok {
		return t.folding
	}
	return s.usual()
}

// usual is what the system does when nothing tells.
func (s *spellings) usual() Folding {
	return Folding{Case: foldsCase(s.system), Forms: s.system == "darwin"}
}

// of returns rel as far as it exists as it is written on disk, the rest as given.
func (s *spellings) of(rel string) string {
	if rel == "." || !s.vary() {
		return rel
	}
	done, rest := ".", strings.Split(rel, "/")
	for len(rest) > 0 {
		base, ok := s.in(done, rest[0])
		if !ok {
			break
		}
		done, rest = child(done, base), rest[1:]
	}
	return path.Join(append([]string{done}, rest...)...)
}

// in returns how a name is written in a directory.
func (s *spellings) in(dir, base string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.probe == nil {
		if found, ok := s.among(dir, base, matching(s.root, dir, base)); ok {
			return found, true
		}
	}
	if s.absent(dir, base) {
		return "", false // new files need no listing
	}
	names, ok := s.remembered(dir)
	if !ok {
		names, _ = s.read(dir)
	}
	return s.among(dir, base, names)
}

// absent reports whether no spelling of a name leads to a file.
func (s *spellings) absent(dir, base string) bool {
	if s.probe != nil {
		return false
	}
	_, err := s.root.Lstat(child(dir, base))
	return isAbsent(err)
}

// among finds the file of a name among sorted names of its directory.
func (s *spellings) among(dir, base string, names []string) (string, bool) {
	if len(names) == 0 {
		return "", false
	}
	if has(names, base) {
		return base, true
	}
	if f := s.folding(dir); !f.Exact() {
		key := f.Key(base)
		if i := slices.IndexFunc(names, func(name string) bool { return f.Key(name) == key }); i >= 0 {
			return names[i], true
		}
	}
	if s.probe != nil {
		return "", false
	}
	// What is there and is not listed has a second name: a short one of Windows, or
	// one that the file system folds in another way than we do.
	info, err := s.root.Lstat(child(dir, base))
	if err != nil {
		return "", false
	}
	for _, name := range names {
		if other, err := s.root.Lstat(child(dir, name)); err == nil && os.SameFile(info, other) {
			return name, true
		}
	}
	return "", false
}

func has(sorted []string, name string) bool {
	_, ok := slices.BinarySearch(sorted, name)
	return ok
}

// remembered returns the names that a directory had when it was read, if they are
// those that it has.
func (s *spellings) remembered(dir string) ([]string, bool) {
	l, ok := s.listed[dir]
	if !ok || !l.settled() || time.Since(l.read) >= staleAfter {
		return nil, false
	}
	info, err := s.root.Stat(dir)
	return l.names, err == nil && info.IsDir() && info.ModTime().Equal(l.modified)
}

// read reads a directory; false: it can't be read, or is none.
func (s *spellings) read(dir string) ([]string, bool) {
	info, err := s.root.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, false
	}
	l := listing{modified: info.ModTime(), read: time.Now()}
	if l.names, err = s.list(dir); err != nil {
		return nil, false
	}
	if len(s.listed) >= maxSpelled || s.listed == nil {
		s.listed = map[string]listing{}
	}
	s.listed[dir] = l
	return l.names, true
}

func closeAfter(file *os.File, err error) error {
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// tryOut asks for files of a directory under other spellings, unless it was asked a
// moment ago. Where no file tells, the directory does as its parent. It is false where
// there is no directory that can be read.
func (s *spellings) tryOut(dir string) (trial, bool) {
	info, err := s.root.Stat(dir)
	if err != nil || !info.IsDir() {
		return trial{}, false
	}
	if s.probe != nil {
		return trial{folding: s.probe(dir), cased: true}, true
	}
	t, ok := s.tried[dir]
	if !ok || !os.SameFile(t.dir, info) || time.Since(t.at) >= staleAfter {
		t = trial{dir: info, at: time.Now()}
	}
	// No volume is mounted below a root on Windows, so that forms do as at the root.
	if t.cased && (t.forms || s.system == "windows") {
		return t, true
	}
	names, ok := s.remembered(dir)
	if !ok {
		names, ok = s.read(dir)
	}
	if !ok {
		return trial{}, false
	}
	s.ask(dir, names, &t)
	if len(s.tried) >= maxSpelled || s.tried == nil {
		s.tried = map[string]trial{}
	}
	s.tried[dir] = t
	return t, true
}

// ask asks for what is not known yet.
func (s *spellings) ask(dir string, names []string, t *trial) {
	f := s.usual()
	if dir != "." {
		f = s.folding(path.Dir(dir))
	}
	if !t.cased {
		t.folding.Case, t.cased = s.told(dir, names, swapCase, f.Case)
	}
	if !t.forms {
		t.folding.Forms, t.forms = s.told(dir, names, otherForm, f.Forms)
	}
}

// told returns what the first of the files tells of other spellings.
func (s *spellings) told(dir string, names []string, otherwise func(string) string, usual bool) (leads, certain bool) {
	for _, name := range names {
		if other := otherwise(name); other != name {
			if leads, certain := s.tells(dir, other, name, names); certain {
				return leads, true
			}
		}
	}
	return usual, false
}

// tells reports whether another name leads to the file of a name, if that is certain:
// where both are listed, it does not, unless a file was renamed meanwhile.
func (s *spellings) tells(dir, other, name string, names []string) (leads, certain bool) {
	if !has(names, other) {
		return s.leads(dir, other, name)
	}
	one, err := s.root.Lstat(child(dir, name))
	two, err2 := s.root.Lstat(child(dir, other))
	return false, err == nil && err2 == nil && !sameOrAlike(one, two)
}

// leads reports whether a name that is not listed leads to the file of another one, if
// that is certain: meanwhile files may come and go.
func (s *spellings) leads(dir, other, name string) (leads, certain bool) {
	before, gone := s.root.Lstat(child(dir, name))
	_, err := s.root.Lstat(child(dir, other))
	after, gone2 := s.root.Lstat(child(dir, name))
	switch {
	case gone != nil || gone2 != nil || !alike(before, after) || err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, false
	case err != nil:
		return false, true
	}
	names, err := s.list(dir)
	return true, err == nil && !has(names, other)
}

// list returns the names in a directory, sorted.
func (s *spellings) list(dir string) ([]string, error) {
	s.lists++
	file, err := s.root.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := file.Readdirnames(-1)
	slices.Sort(names)
	return names, closeAfter(file, err)
}

// sameOrAlike reports whether two spellings lead to one file. Some file systems of
// user space number a file by its path.
func sameOrAlike(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) || alike(a, b)
}

func alike(a, b fs.FileInfo) bool {
	return a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// swapCase writes the ASCII letters of a name in the other case.
func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return unicode.ToUpper(r)
		case 'A' <= r && r <= 'Z':
			return unicode.ToLower(r)
		}
		return r
	}, name)
}

// otherForm writes the accented letters of a name as several characters, or as one.
func otherForm(name string) string {
	if isASCII(name) {
		return name
	}
	if other := norm.NFD.String(name); other != name {
		return other
	}
	return norm.NFC.String(name)
}

// Folding implements Paths.
func (d *Disk) Folding(dir string) Folding {
	if d.exact() {
		return Folding{}
	}
	f, rel, err := d.locate(dir)
	if err != nil || f == nil {
		return Folding{}
	}
	return f.spelled.at(rel)
}

// exact reports whether each spelling is known to be a file of its own.
func (d *Disk) exact() bool {
	for i := range d.folders {
		if !d.folders[i].spelled.exact.Load() {
			return false
		}
	}
	return true
}

// spelled returns a name as it is written on disk, as far as it exists.
func (d *Disk) spelled(name string) string {
	if d.exact() {
		return name
	}
	f, rel, err := d.locate(name)
	if err != nil || f == nil || !f.spelled.vary() {
		return name
	}
	return d.viewName(f, f.spelled.of(rel))
}

// respelled forgets how names are written, because some were changed.
func (d *Disk) respelled() {
	for i := range d.folders {
		d.folders[i].spelled.forget()
	}
}

// underRoot finds an absolute path that another spelling of a root's path begins:
// one of its directories is the root; of nested roots, the innermost.
func (d *Disk) underRoot(clean string) (best *folder, rest string) {
	for i := range d.folders {
		f := &d.folders[i]
		if !f.spelled.vary() {
			continue
		}
		root, err := f.dir.Stat()
		if err != nil {
			continue
		}
		if rel, ok := below(root, f.real, clean); ok && (best == nil || len(rel) < len(rest)) {
			best, rest = f, rel
		}
	}
	return best, rest
}

// below finds root, the directory of that path, among the directories of an absolute
// path, and returns the rest. Other volumes are not looked at: on Windows that could
// be another machine.
func below(root fs.FileInfo, of, clean string) (rel string, ok bool) {
	if !strings.EqualFold(filepath.VolumeName(of), filepath.VolumeName(clean)) {
		return "", false
	}
	for dir := clean; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && (os.SameFile(info, root) || strings.EqualFold(dir, of) && sameOrAlike(info, root)) {
			rel, err := filepath.Rel(dir, clean)
			return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
		}
		if filepath.Dir(dir) == dir {
			return "", false
		}
	}
}
