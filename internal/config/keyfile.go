package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxKey bounds a key, in bytes.
const maxKey = 16 << 10

// ReadKeyFile returns the key in the file of b, or "" when it names none. The line break
// at its end is not part of it. It fails for a file that somebody else may read or has
// written; no error has anything of what is in the file.
func (b *Backend) ReadKeyFile() (string, error) {
	if b.KeyFile == "" {
		return "", nil
	}
	path := b.KeyFile
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("the keyFile %s: %w", path, err)
		}
		path = filepath.Join(home, below)
	}
	// Opening what is no file, such as a pipe, would wait for whoever writes to it.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("the keyFile %s is no file: name a file that has the key", path)
	}
	f, err := os.Open(path)
	if err != nil {
		var at *os.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return "", fmt.Errorf("the keyFile %s can't be read (%w): write the key into it, and run chmod 600 %[1]s", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("the keyFile: %w", err)
	}
	if err := private(path, info); err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	key := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	switch {
	case err != nil:
		return "", fmt.Errorf("the keyFile: %w", err)
	case len(data) > maxKey:
		return "", fmt.Errorf("the keyFile %s has more than %d bytes, which is no key", path, maxKey)
	case strings.TrimSpace(key) == "":
		return "", fmt.Errorf("the keyFile %s is empty: write the key into it", path)
	}
	return key, nil
}
