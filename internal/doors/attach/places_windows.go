package attach

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/localsock"
)

// The pipe of a host has a name of its own each time: connections keep the last one in
// use. Which it is stands in a file, which the host has open as long as it is one.

// hostFile is the file of a name, in a directory that is the same whatever the
// environment is, and that other users don't reach.
func hostFile(base string) (string, error) {
	local, err := windows.KnownFolderPath(windows.FOLDERID_LocalAppData, 0)
	if err != nil {
		return "", fmt.Errorf("where the user's files are is not known: %w", err)
	}
	return filepath.Join(local, "sidecar-ls", "run", base+".host"), nil
}

// AnyHost reports whether a process of this user is a host, of whatever workspace.
func AnyHost() (bool, error) {
	one, err := hostFile("*")
	if err != nil {
		return false, err
	}
	files, err := filepath.Glob(one)
	for _, file := range files {
		f, err := claim(file)
		if errors.Is(err, ErrTaken) {
			return true, nil
		}
		if err == nil {
			_ = f.Close()
		}
	}
	return false, err
}

// listen takes a host's name. free gives it back after the listeners are closed.
func listen(base string) (all []net.Listener, free func(), err error) {
	file, err := hostFile(base)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, nil, err
	}
	f, err := claim(file)
	if err != nil {
		return nil, nil, err
	}
	free = func() {
		_ = f.Truncate(0)
		_ = f.Close()
		_ = os.Remove(file) // unless it is the next host's already
	}
	pipe := localsock.Path("", base+"-"+rand.Text())
	l, err := localsock.Listen(pipe)
	if err == nil {
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteString(pipe + "\n")
		}
		if err != nil {
			_ = l.Close()
		}
	}
	if err != nil {
		free()
		return nil, nil, err
	}
	return []net.Listener{l}, free, nil
}

// claim opens a file for this process alone to write. Others may read it.
func claim(file string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(file)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		err = ErrTaken
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return os.NewFile(uintptr(h), file), nil
}

// places are the pipes at which a host of this name may be.
func places(base string) []string {
	file, err := hostFile(base)
	if err != nil {
		return nil
	}
	data, _ := os.ReadFile(file)
	pipe, whole := strings.CutSuffix(string(data), "\n")
	if !whole || !strings.HasPrefix(pipe, localsock.Path("", base+"-")) {
		return nil
	}
	return []string{pipe}
}

// names are those that hosts of this user may have.
func names() (all []string) {
	one, err := hostFile("*")
	if err != nil {
		return nil
	}
	files, err := filepath.Glob(one)
	if err != nil {
		return nil
	}
	for _, file := range files {
		all = append(all, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}
	return all
}

func dial(ctx context.Context, pipe string) (net.Conn, error) {
	c, err := localsock.Dial(ctx, pipe)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: what had the pipe %s has ended", ErrNone, pipe)
	}
	return c, err
}
