package mask

import (
	"os"
	"path/filepath"
	"strconv"
)

// sealed is a file that stands in for another one.
type sealed struct{ path, standIn string }

// Seal makes what stands in for the files of Spec.Sealed, in a directory of its
// own that remove removes: as large and as old as they are, and readable by
// nobody. What is no regular file is left out.
func Seal(paths []string) (list []sealed, remove func(), err error) {
	if len(paths) == 0 {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "sidecar-ls-sealed-*")
	if err != nil {
		return nil, nil, err
	}
	undo := func() { _ = os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			undo()
		}
	}()
	for i, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		s := sealed{path, filepath.Join(dir, strconv.Itoa(i))}
		f, err := os.OpenFile(s.standIn, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0)
		if err != nil {
			return nil, nil, err
		}
		err = f.Truncate(info.Size())
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			err = os.Chtimes(s.standIn, info.ModTime(), info.ModTime())
		}
		if err == nil && info.Mode()&0o100 != 0 {
			err = os.Chmod(s.standIn, 0o100) // which git looks at; nobody reads it the more
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, s)
	}
	return list, undo, nil
}
