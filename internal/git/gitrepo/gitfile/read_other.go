//go:build !unix

package gitfile

import "os"

func OpenRegular(file string) (*os.File, error) { return os.Open(file) }

func OpenNoFollow(file string) (*os.File, error) {
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: file, Err: os.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return os.Open(file)
}
