package gitfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// MaxPointer bounds the files that hold one path, in bytes.
const MaxPointer = 64 << 10

// IsGitDir reports whether dir has what git takes a repository for.
func IsGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	if info, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil && info.Mode().IsRegular() {
		return true
	}
	for _, name := range [...]string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// ReadPointer reads a file that holds a path after a prefix.
func ReadPointer(file, prefix, base string) (string, error) {
	data, err := ReadSmall(file, MaxPointer)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || path == "" || strings.IndexByte(path, 0) >= 0 {
		return "", fmt.Errorf("%s: %w", file, ErrCorrupt)
	}
	return Resolve(path, base), nil
}

// ReadSmall reads a regular file that is not larger than limit.
func ReadSmall(file string, limit int64) ([]byte, error) {
	f, err := OpenRegular(file)
	if err != nil && isNull(file) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(f, limit)
}

// isNull reports whether a file is the null device, by whose name settings say
// that there is none: GIT_CONFIG_GLOBAL in git(1), for one.
func isNull(file string) bool {
	null, err1 := os.Stat(os.DevNull)
	info, err2 := os.Stat(file)
	return err1 == nil && err2 == nil && os.SameFile(info, null)
}

// ReadNoFollow is readSmall for what must not be a link.
func ReadNoFollow(file string, limit int64) ([]byte, error) {
	f, err := OpenNoFollow(file)
	if err != nil {
		return nil, err
	}
	return ReadAll(f, limit)
}

// ReadAll reads a file that is not larger than limit, and closes it.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: %w: it is larger than %d bytes", f.Name(), ErrCorrupt, limit)
	}
	return data, err
}

// Resolve makes a path that may be relative to base absolute.
func Resolve(path, base string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// SameFile reports whether two paths, links followed, lead to one file.
func SameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// ReadStamped reads a whole file, and what tells whether it was changed since.
func ReadStamped(path string, limit int64) ([]byte, Stamp, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, Stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Stamp{}, err
	}
	if info.Size() > limit {
		return nil, Stamp{}, fmt.Errorf("%s: it is larger than %d bytes", path, limit)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, Stamp{}, fmt.Errorf("%s was changed while it was read: %w", path, err)
	}
	return data, stampOf(info), nil
}

// Within reports whether path is dir or below it.
func Within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// Exists reports whether there is a file, a link not followed.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Missing reports whether an error says that there is no such file.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
