package child

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// PlanFD is the descriptor on which a process finds what it is to do.
const PlanFD = 3

// Pass returns a file that can be read from its start by whoever inherits it.
func Pass(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Inherited reads what stands in planFD, and inheritedAt in another descriptor.
func Inherited(v any) error { return InheritedAt(PlanFD, v) }

// InheritedAt reads what stands in another descriptor.
func InheritedAt(fd uintptr, v any) error {
	f := os.NewFile(fd, "plan")
	if f == nil {
		return os.ErrInvalid
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 64<<20))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// PassJSON is pass for what inheritedAt reads.
func PassJSON(name string, v any) (*os.File, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Pass(name, data)
}

// SocketPair is a connection that keeps messages apart; the other end is for a
// child.
func SocketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	a, theirs := os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "server")
	defer a.Close()
	conn, err := net.FileConn(a)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil //nolint:forcetypeassert // it was made of such a socket
}

// FilesOf are the descriptors that came with a message.
func FilesOf(oob []byte) []*os.File {
	var files []*os.File
	messages, _ := unix.ParseSocketControlMessage(oob)
	for i := range messages {
		fds, _ := unix.ParseUnixRights(&messages[i])
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files
}

// Find is the program that a command names, in the command's own PATH.
func Find(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			return name, unixAccess(filepath.Join(dir, name))
		}
		return name, unixAccess(name)
	}
	path := ""
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // the workspace does not choose which program runs
		}
		full := filepath.Join(dir, name)
		if info, err := os.Stat(full); err == nil && !info.IsDir() && unixAccess(full) == nil {
			return full, nil
		}
	}
	return "", fmt.Errorf("%s: command not found in the sandbox", name)
}

func unixAccess(name string) error {
	if err := unix.Access(name, unix.X_OK); err != nil {
		return &os.PathError{Op: "exec", Path: name, Err: err}
	}
	return nil
}

// OwnNamespaces are the attributes of a process that may mount, for itself
// alone. Root keeps its rights: in another namespace of users the files of others would
// not be its own.
func OwnNamespaces(attr *syscall.SysProcAttr, caps ...uintptr) {
	attr.Cloneflags = syscall.CLONE_NEWNS
	if uid := os.Geteuid(); uid != 0 {
		gid := os.Getegid()
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = caps
	}
}
