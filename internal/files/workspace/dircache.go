package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// dirCache keeps the directory open that was used last. It isn't safe for
// concurrent use.
type dirCache struct {
	at   rootedName
	root *os.Root
}

// open opens a directory without following a link, so that what was judged by
// its real name is what is changed, whatever became of the names meanwhile.
func (c *dirCache) open(at rootedName) (*os.Root, error) {
	if c.root != nil && c.at == at {
		return c.root, nil
	}
	c.close()
	root, err := at.folder.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	if at.name != "." {
		for part := range strings.SplitSeq(at.name, "/") {
			next, err := enterDir(root, part)
			root.Close()
			if err != nil {
				return nil, err
			}
			root = next
		}
	}
	c.at, c.root = at, root
	return root, nil
}

func enterDir(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%w: a directory became a link", ErrConflict)
	}
	if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := dir.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%w: a directory was replaced", ErrConflict)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

func (c *dirCache) close() {
	if c.root != nil {
		c.root.Close()
		c.root = nil
	}
}
