package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Bounds of a plugin.
const (
	maxFiles = 10_000
	maxBytes = 256 << 20
)

// tree is all that is in a plugin, at one moment.
type tree struct {
	hash  string
	files map[string]string // a hash of each, with its mode
	left  []string          // what is left out, in words
}

// errTooLarge says that a plugin has more than is looked at.
var errTooLarge = fmt.Errorf("it has more than %d files or %d MB; keep what it builds elsewhere", maxFiles, maxBytes>>20)

// maxLinks bounds how many links to directories lead on from one another.
const maxLinks = 4

// looking is a look at a plugin.
type looking struct {
	tree
	root  *os.Root
	keep  func(name string, mode fs.FileMode, data []byte) error // nil: nothing is kept
	total int64
}

// look reads all of a plugin, a directory or a file, and gives each file to keep. A link
// that leads out of it is left out, and so is what is no file.
func look(dir, file string, keep func(name string, mode fs.FileMode, data []byte) error) (tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return tree{}, err
	}
	defer root.Close()
	l := looking{tree: tree{files: map[string]string{}}, root: root, keep: keep}
	if file != "" {
		err = l.add(file, 0)
	} else {
		err = l.walk(".", 0)
	}
	if err != nil {
		return l.tree, err
	}
	l.hash = hashOf(l.files)
	return l.tree, nil
}

// hashOf is a hash of all files.
func hashOf(files map[string]string) string {
	sum := sha256.New()
	for _, name := range sorted(files) {
		fmt.Fprintf(sum, "%q %s\n", name, files[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// stamp tells whether something in a plugin is another than before, without reading it.
func stamp(dir, file string) string {
	sum := sha256.New()
	left := maxFiles
	_ = filepath.WalkDir(filepath.Join(dir, file), func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintf(sum, "%q %v\n", name, err)
			return nil
		}
		if left--; left < 0 { // it is too large, whatever else there is
			return fs.SkipAll
		}
		if e.IsDir() && e.Name() == ".git" {
			return fs.SkipDir
		}
		at := e.Info
		if e.Type()&fs.ModeSymlink != 0 { // what it leads to counts
			at = func() (fs.FileInfo, error) { return os.Stat(name) }
		}
		if info, err := at(); err == nil {
			fmt.Fprintf(sum, "%q %v %d %d\n", name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		} else {
			fmt.Fprintf(sum, "%q %v\n", name, err)
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil))
}

// walk looks at a directory, which so many links have led to.
func (l *looking) walk(dir string, links int) error {
	return fs.WalkDir(l.root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path.Base(name) == ".git":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		return l.add(name, links)
	})
}

// without leaves an entry out; that it is there still counts.
func (l *looking) without(name, why string) error {
	target, _ := l.root.Readlink(name)
	l.files[name] = "left out: " + target
	l.left = append(l.left, fmt.Sprintf("%s %s, and is left out", name, why))
	return nil
}

// add looks at what is no directory.
func (l *looking) add(name string, links int) error {
	info, err := l.root.Stat(name) // by a link that stays inside
	switch {
	case err != nil:
		if at, lerr := l.root.Lstat(name); lerr == nil && at.Mode()&fs.ModeSymlink != 0 {
			return l.without(name, "is a link that leads out of the plugin, or nowhere")
		}
		return fmt.Errorf("%s: %w", name, err)
	case info.IsDir() && links == maxLinks:
		return l.without(name, "is one link too many")
	case info.IsDir():
		return l.walk(name, links+1)
	case !info.Mode().IsRegular():
		return l.without(name, "is no file")
	}
	if l.total += info.Size(); l.total > maxBytes || len(l.files) == maxFiles {
		return errTooLarge
	}
	data, err := l.root.ReadFile(name)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o400)
	if info.Mode()&0o111 != 0 {
		mode = 0o500
	}
	sum := sha256.Sum256(data)
	l.files[name] = fmt.Sprintf("%o %s", mode, hex.EncodeToString(sum[:]))
	if l.keep != nil {
		return l.keep(name, mode, data)
	}
	return nil
}

// changed lists what is another in t than in before.
func (t tree) changed(before map[string]string) (list []string) {
	for _, name := range sorted(t.files) {
		switch old, ok := before[name]; {
		case !ok:
			list = append(list, "added "+name)
		case old != t.files[name]:
			list = append(list, "changed "+name)
		}
	}
	for _, name := range sorted(before) {
		if _, ok := t.files[name]; !ok {
			list = append(list, "removed "+name)
		}
	}
	return list
}

// errMoved says that a plugin changed while it was copied.
var errMoved = errors.New("it changed while it was read; it is read again once it is quiet")

// copyTo makes a copy of a plugin in the store, and returns where it is. The copy is of
// exactly what has that hash, or there is none.
func copyTo(store, dir, file, hash string) (string, error) {
	to := filepath.Join(store, hash[:32])
	if isCopy(to, hash) {
		return to, nil
	}
	if err := os.MkdirAll(store, 0o700); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(store, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it was renamed, or is swept later
	t, err := look(dir, file, func(name string, mode fs.FileMode, data []byte) error {
		at := filepath.Join(temp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		return os.WriteFile(at, data, mode)
	})
	if err == nil && t.hash != hash {
		err = errMoved
	}
	if err == nil {
		err = seal(temp, hash)
	}
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(to); err != nil { // one that is not whole
		return "", err
	}
	return to, os.Rename(temp, to)
}

// sealName is beside the files of a copy, and says of which version it is.
const sealName = ".sidecar-copy"

// seal notes what a copy is of, and what is in it.
func seal(copied, hash string) error {
	t, err := look(copied, "", nil)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(copied, sealName), []byte(hash+" "+t.hash), 0o400)
}

// isCopy reports whether what lies there is the copy of a version, as it was made.
func isCopy(dir, hash string) bool {
	said, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil {
		return false
	}
	t, err := look(dir, "", nil)
	if err != nil {
		return false
	}
	delete(t.files, sealName)
	return string(said) == hash+" "+hashOf(t.files)
}

// Copies are kept so long after they were needed last: another server may run them.
const keptCopies = 30 * 24 * time.Hour

// sweep removes copies that nobody has needed for long, and what was left of making one.
func sweep(store string, needed map[string]bool, now time.Time) {
	list, err := os.ReadDir(store)
	if err != nil {
		return
	}
	for _, e := range list {
		at := filepath.Join(store, e.Name())
		if needed[e.Name()] {
			_ = os.Chtimes(filepath.Join(at, sealName), now, now) // it counts as used all the same
			continue
		}
		info, err := os.Stat(filepath.Join(at, sealName))
		if err != nil {
			info, err = e.Info()
		}
		if err == nil && now.Sub(info.ModTime()) > keptCopies {
			_ = os.RemoveAll(at) // it is tried again next time
		}
	}
}
