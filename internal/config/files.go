package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// ReadProjectFile reads a file of settings in a project: a regular file of at
// most MaxSourceBytes. No link leads it out of the project. A missing file is
// fs.ErrNotExist.
func ReadProjectFile(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if standsIn(info) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if !info.Mode().IsRegular() || info.Size() > MaxSourceBytes {
		return nil, fmt.Errorf("%s is not a settings file; it is ignored", name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // what came in its place makes nobody wait
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, fmt.Errorf("%s is not a settings file; it is ignored", name)
	}
	return io.ReadAll(io.LimitReader(f, MaxSourceBytes))
}

// standsIn reports whether something only keeps a name from a command that runs: the sandbox
// puts an empty directory or file there, marked by the sticky bit.
func standsIn(info fs.FileInfo) bool {
	return info.Mode()&fs.ModeSticky != 0 && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0)
}

// PutUser writes a setting, a JSON value, into the user's file.
func PutUser(key string, value []byte) error {
	src, err := UserSource()
	if err != nil {
		return err
	}
	return putUser(src, func() ([]byte, error) { return Put(src, key, value) })
}

// putUser writes the user's file as it becomes.
func putUser(src Source, become func() ([]byte, error)) error {
	if src.Name == "" {
		return errors.New("the system names no directory for the user's settings")
	}
	data, err := become()
	if err != nil {
		return err
	}
	name := src.Name
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real // a link that the user made stays one
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return replaceIn(filepath.Dir(name), filepath.Base(name), data)
}

// PutProject writes a setting into the file of the project in dir, which must
// be no link: it would lead out of the project.
func PutProject(dir, key string, value []byte) error {
	old, err := ReadProjectFile(dir, ProjectFile)
	if err != nil {
		return err
	}
	data, err := Put(Source{Origin: Project, Name: ProjectFile, Data: old}, key, value)
	if err != nil {
		return err
	}
	return replaceIn(dir, ProjectFile, data)
}

// replaceIn writes a file below dir whole: whoever reads it sees the old or the
// new.
func replaceIn(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	mode := fs.FileMode(0o600)
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	temp := name + ".new"
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = osfile.Retry(context.Background(), name, func() error { return root.Rename(temp, name) })
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), root.Remove(temp))
	}
	return nil
}

// Beside is the path of a file beside the user's settings; "" without a
// directory for these. No project and no confined command can write there.
func Beside(name string) string {
	if f := UserFile(); f != "" {
		return filepath.Join(filepath.Dir(f), name)
	}
	return ""
}

// ReadBeside reads JSON from such a file into v; a file that isn't there is
// nothing.
func ReadBeside(file string, v any) error {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// WriteBeside writes v as JSON, readable by the user alone, whole or not at all.
func WriteBeside(file string, v any) error {
	if file == "" {
		return errors.New("there is no directory for the user's settings")
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = osfile.Rename(context.Background(), f.Name(), file)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
