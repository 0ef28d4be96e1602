package osfile

import (
	"os"
	"path/filepath"
)

// move goes by the paths of both directories: os.Root renames within one root alone. No
// command is confined on Windows that could lead it elsewhere.
func (d *Dir) move(name string, to *Dir, as string) error {
	return os.Rename(filepath.Join(d.Name(), name), filepath.Join(to.Name(), as))
}
