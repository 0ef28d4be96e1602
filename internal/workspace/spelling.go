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

	mu   sync.Mutex
	dirs map[string]*spelledDir
}

// spelledDir is a directory as it was read.
type spelledDir struct {
	modified time.Time
	read     time.Time
	folding  Folding
	decided  bool // by a file in it, not by what its parent does
	names    map[string]bool
	byKey    map[string]string
}

// maxSpelled bounds the directories that are remembered.
const maxSpelled = 512

// settled is more than what lies between two times of a directory that some file
// system tells apart. What was read sooner after a change may lack a later one.
const settled = 2 * time.Second

// staleAfter bounds how long a directory is believed to be as it was read: FAT and
// exFAT don't change its time when a name in it changes.
const staleAfter = 5 * time.Second

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
	d := s.dir(".")
	if d == nil {
		return false
	}
	if d.decided && d.folding.Exact() {
		s.exact.Store(true)
		s.dirs = nil
	}
	return !d.folding.Exact()
}

// forget makes directories be read again, after names in them were changed.
func (s *spellings) forget() {
	if s.exact.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs = nil
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
		if d := s.dir(dir); d != nil {
			return d.folding
		}
	}
	if d := s.dir("."); d != nil {
		return d.folding
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
	s.mu.Lock()
	defer s.mu.Unlock()
	done, rest := ".", strings.Split(rel, "/")
	for len(rest) > 0 {
		d := s.dir(done)
		if d == nil {
			break
		}
		base, ok := s.find(done, d, rest[0])
		if !ok {
			break
		}
		done, rest = child(done, base), rest[1:]
	}
	return path.Join(append([]string{done}, rest...)...)
}

// find returns how a name is written in a directory.
func (s *spellings) find(dir string, d *spelledDir, base string) (string, bool) {
	if d.names[base] {
		return base, true
	}
	if found, ok := d.byKey[d.folding.Key(base)]; ok && !d.folding.Exact() {
		return found, true
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
	for name := range d.names {
		if other, err := s.root.Lstat(child(dir, name)); err == nil && os.SameFile(info, other) {
			return name, true
		}
	}
	return "", false
}

// dir reads a directory, or what is remembered of it; nil: it can't be read.
func (s *spellings) dir(name string) *spelledDir {
	info, err := s.root.Stat(name)
	if err != nil || !info.IsDir() {
		delete(s.dirs, name)
		return nil
	}
	if d := s.dirs[name]; d != nil && d.modified.Equal(info.ModTime()) && d.read.Sub(d.modified) > settled && time.Since(d.read) < staleAfter {
		return d
	}
	d := &spelledDir{modified: info.ModTime(), read: time.Now(), names: map[string]bool{}, byKey: map[string]string{}}
	names, err := s.list(name)
	if err != nil {
		return nil
	}
	for _, n := range names {
		d.names[n] = true
	}
	if s.probe != nil {
		d.folding, d.decided = s.probe(name), true
	} else {
		d.folding, d.decided = s.tryOut(name, names, d)
	}
	for _, n := range names {
		if key := d.folding.Key(n); d.byKey[key] == "" {
			d.byKey[key] = n
		}
	}
	if len(s.dirs) >= maxSpelled || s.dirs == nil {
		s.dirs = map[string]*spelledDir{}
	}
	s.dirs[name] = d
	return d
}

func closeAfter(file *os.File, err error) error {
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// tryOut asks for files of a directory under other spellings. Where no file tells,
// the directory does as its parent.
func (s *spellings) tryOut(dir string, names []string, d *spelledDir) (f Folding, decided bool) {
	f = s.usual()
	if dir != "." {
		f = s.folding(path.Dir(dir))
	}
	forms := false
	for _, name := range names {
		if other := swapCase(name); !decided && other != name {
			if leads, certain := s.tells(dir, other, name, d); certain {
				f.Case, decided = leads, true
			}
		}
		if other := otherForm(name); !forms && other != name {
			if leads, certain := s.tells(dir, other, name, d); certain {
				f.Forms, forms = leads, true
			}
		}
		if decided && forms {
			break
		}
	}
	return f, decided
}

// tells reports whether another name leads to the file of a name, if that is certain:
// where both are listed, it does not, unless a file was renamed meanwhile.
func (s *spellings) tells(dir, other, name string, d *spelledDir) (leads, certain bool) {
	if !d.names[other] {
		return s.leads(dir, other, name)
	}
	one, err := s.root.Lstat(child(dir, name))
	two, err2 := s.root.Lstat(child(dir, other))
	return false, err == nil && err2 == nil && !sameOrAlike(one, two)
}

// leads reports whether a name that is not listed leads to the file of another one, if
// that is certain: meanwhile files may come and go.
func (s *spellings) leads(dir, other, name string) (leads, certain bool) {
	_, err := s.root.Lstat(child(dir, other))
	_, gone := s.root.Lstat(child(dir, name))
	switch {
	case gone != nil || err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, false
	case err != nil:
		return false, true
	}
	names, err := s.list(dir)
	return true, err == nil && !slices.Contains(names, other)
}

// list returns the names in a directory, sorted.
func (s *spellings) list(dir string) ([]string, error) {
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
	return os.SameFile(a, b) || a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
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
