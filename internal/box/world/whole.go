package world

import (
	"errors"
	"os"
)

// writeWhole writes a file of ours whole or not at all: where the writing fails, as on a full
// disk, the file that was there stays. No link is followed.
func writeWhole(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	temp := name + ".tmp"
	_ = root.Remove(temp) // a server that was killed left it
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// writeOver writes over a file of ours of the same length, for which no room is needed. No link
// is followed.
func writeOver(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return errors.Join(errors.New("it has another length"), err)
	}
	f, err := root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}
