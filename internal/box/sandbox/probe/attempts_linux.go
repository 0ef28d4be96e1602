package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// attempt is one way out. It returns nil when it got out.
type attempt struct {
	name  string
	from  spec.Level // the lowest level that must hold it
	canny bool       // is tried before commands run at all on a machine
	do    func(w *scene) error
}

// attempts are all of them. Each must also work, on some machine and for some
// user, where there is no sandbox: else it shows nothing.
func attempts() []attempt {
	return slices.Concat(fileAttempts, rootAttempts, kernelAttempts, networkAttempts)
}

// fileAttempts reach for files that were not given.
var fileAttempts = []attempt{
	{"write a new file outside", spec.Landlock, true, func(w *scene) error { return write(w.Outside + "/new") }},
	{"append to a file outside", spec.Landlock, false, func(w *scene) error { return write(w.Outside + "/file") }},
	{"read a secret outside", spec.Landlock, true, func(w *scene) error { return w.read(w.Outside + "/secret") }},
	{"write a new file in a read-only directory", spec.Landlock, true, func(w *scene) error { return write(w.ReadOnly + "/new") }},
	{"append to a read-only file", spec.Landlock, false, func(w *scene) error { return write(w.ReadOnly + "/file") }},
	{"truncate a read-only file", spec.Landlock, false, func(w *scene) error { return os.Truncate(w.ReadOnly+"/file", 1) }},
	{"delete a read-only file", spec.Landlock, false, func(w *scene) error {
		return errors.Join(os.Rename(w.ReadOnly+"/file", w.ReadOnly+"/gone"), os.Rename(w.ReadOnly+"/gone", w.ReadOnly+"/file"))
	}},
	{"change the mode of a read-only file", spec.Bubblewrap, false, func(w *scene) error { return os.Chmod(w.ReadOnly+"/file", 0o600) }},
	{"change the times of a read-only file", spec.Bubblewrap, false, func(w *scene) error {
		return os.Chtimes(w.ReadOnly+"/file", time.Unix(1, 0), time.Unix(1, 0))
	}},
	{"change the owner of a read-only file", spec.Bubblewrap, false, func(w *scene) error { return os.Chown(w.ReadOnly+"/file", os.Getuid(), os.Getgid()) }},
	{"set an attribute of a read-only file", spec.Bubblewrap, false, func(w *scene) error {
		return unix.Setxattr(w.ReadOnly+"/file", "user.sidecar", []byte("x"), 0)
	}},
	{"move a file out of the workspace", spec.Landlock, false, func(w *scene) error {
		return errors.Join(write(w.Root+"/leaves"), os.Rename(w.Root+"/leaves", w.Outside+"/arrived"))
	}},
	{"link a file outside into the workspace", spec.Landlock, false, func(w *scene) error {
		return errors.Join(os.Link(w.Outside+"/secret", w.Root+"/hard"), w.read(w.Root+"/hard"))
	}},
	{"write through a symbolic link", spec.Landlock, false, func(w *scene) error {
		return errors.Join(os.Symlink(w.Outside, w.Root+"/soft"), write(w.Root+"/soft/through"))
	}},
	{"read through a symbolic link", spec.Landlock, false, func(w *scene) error {
		return errors.Join(os.Symlink(w.Outside+"/secret", w.Root+"/look"), w.read(w.Root+"/look"))
	}},
	{"read through /proc/self/root", spec.Landlock, false, func(w *scene) error { return w.read("/proc/self/root" + w.Outside + "/secret") }},
	{"read through the root of another process", spec.Landlock, false, func(w *scene) error { return w.read(w.proc("root") + w.Outside + "/secret") }},
	{"read through the root of process 1", spec.Landlock, false, func(w *scene) error { return w.read("/proc/1/root" + w.Outside + "/secret") }},
	{"read through the directory of another process", spec.Landlock, false, func(w *scene) error { return w.read(w.proc("cwd") + "/secret") }},
	{"read the environment of another process", spec.Landlock, true, func(w *scene) error { return w.read(w.proc("environ")) }},
	{"find a secret in any environment", spec.Landlock, false, func(w *scene) error {
		names, err := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range names {
			if w.read(name) == nil {
				return nil
			}
		}
		return errors.Join(err, errors.New("none has it"))
	}},
	{"write the memory of another process", spec.Landlock, false, func(w *scene) error { return openFile(w.proc("mem"), os.O_RDWR) }},
	{"read shared memory of others", spec.Landlock, false, func(w *scene) error { return w.read(w.Shm) }},
	{"attach shared memory of others", spec.Bubblewrap, false, func(w *scene) error {
		_, err := unix.SysvShmGet(w.SysV, 4096, 0)
		return err
	}},
	{"read the passwords of the machine", spec.Landlock, false, func(*scene) error {
		data, err := os.ReadFile("/etc/shadow")
		if err == nil && len(data) == 0 {
			return errors.New("it is empty")
		}
		return err
	}},
	{"write into /etc", spec.Landlock, false, func(*scene) error { return scratch("/etc/.sidecar-ls-attempt") }},
	{"write into /usr", spec.Landlock, false, func(*scene) error { return scratch("/usr/.sidecar-ls-attempt") }},
	{"write into /var", spec.Landlock, false, func(*scene) error { return scratch("/var/lib/.sidecar-ls-attempt") }},
	{"change the name of the core file", spec.Landlock, true, func(*scene) error { return openFile("/proc/sys/kernel/core_pattern", os.O_WRONLY) }},
	{"change a setting of the kernel", spec.Landlock, false, func(*scene) error { return openFile("/proc/sys/vm/overcommit_memory", os.O_WRONLY) }},
	{"change a setting in /sys", spec.Landlock, false, func(*scene) error { return openFile("/sys/kernel/mm/transparent_hugepage/enabled", os.O_WRONLY) }},
	{"write the log of the kernel", spec.Landlock, false, func(*scene) error { return openFile("/dev/kmsg", os.O_WRONLY) }},
}

// rootAttempts are about what is protected in the workspace.
var rootAttempts = []attempt{
	{"read a hidden file", spec.Bubblewrap, true, func(w *scene) error { return w.read(w.Root + "/.env") }},
	{"link to a hidden file", spec.Bubblewrap, false, func(w *scene) error {
		return errors.Join(os.Link(w.Root+"/.env", w.Root+"/env"), w.read(w.Root+"/env"))
	}},
	{"move a hidden file", spec.Bubblewrap, false, func(w *scene) error {
		defer func() { _ = os.Rename(w.Root+"/moved", w.Root+"/.env") }()
		return errors.Join(os.Rename(w.Root+"/.env", w.Root+"/moved"), w.read(w.Root+"/moved"))
	}},
	{"read a sealed file", spec.Bubblewrap, true, func(w *scene) error { return w.read(w.Root + "/key.pem") }},
	{"open up a sealed file", spec.Bubblewrap, false, func(w *scene) error {
		return errors.Join(os.Chmod(w.Root+"/key.pem", 0o644), w.read(w.Root+"/key.pem"))
	}},
	{"replace a sealed file", spec.Bubblewrap, false, func(w *scene) error {
		return errors.Join(write(w.Root+"/new.pem"), os.Rename(w.Root+"/new.pem", w.Root+"/key.pem"))
	}},
	{"add a git hook", spec.Bubblewrap, true, func(w *scene) error { return write(w.Root + "/.git/hooks/pre-commit") }},
	{"change a git hook", spec.Bubblewrap, false, func(w *scene) error { return write(w.Root + "/.git/hooks/ok") }},
	{"change the settings of git", spec.Bubblewrap, false, func(w *scene) error { return write(w.Root + "/.git/config") }},
	{"replace the settings of git", spec.Bubblewrap, false, func(w *scene) error {
		return errors.Join(write(w.Root+"/.git/config.lock"), os.Rename(w.Root+"/.git/config.lock", w.Root+"/.git/config"))
	}},
	{"move the hooks of git", spec.Bubblewrap, false, func(w *scene) error { return thereAndBack(w.Root+"/.git/hooks", w.Root+"/.git/old") }},
	{"move the git directory", spec.Bubblewrap, false, func(w *scene) error { return thereAndBack(w.Root+"/.git", w.Root+"/git2") }},
	{"make attributes for git", spec.Bubblewrap, false, func(w *scene) error {
		return errors.Join(os.MkdirAll(w.Root+"/.git/info", 0o755), write(w.Root+"/.git/info/attributes"))
	}},
	{"make settings that are not there", spec.Bubblewrap, false, func(w *scene) error {
		return errors.Join(os.MkdirAll(w.Root+"/.sidecar", 0o755), write(w.Root+"/.sidecar/settings.json"))
	}},
	{"make tasks of an editor that are not there", spec.Bubblewrap, false, func(w *scene) error {
		return errors.Join(os.MkdirAll(w.Root+"/.vscode", 0o755), write(w.Root+"/.vscode/tasks.json"))
	}},
	{"name servers in a file that is not there", spec.Bubblewrap, false, func(w *scene) error { return write(w.Root + "/.mcp.json") }},
	{"put a directory in the place of settings", spec.Bubblewrap, false, func(w *scene) error {
		return errors.Join(os.Mkdir(w.Root+"/evil", 0o755), write(w.Root+"/evil/tasks.json"), os.Rename(w.Root+"/evil", w.Root+"/.idea"))
	}},
	{"put a link in the place of settings", spec.Bubblewrap, false, func(w *scene) error {
		_ = os.Remove(w.Root + "/.envrc") // an empty directory may stand there
		return os.Symlink(w.Root+"/file", w.Root+"/.envrc")
	}},
	{"move the workspace", spec.Landlock, false, func(w *scene) error { return thereAndBack(w.Root, w.Root+".moved") }},
	{"make a program that runs as its owner", spec.Landlock, true, func(w *scene) error {
		return errors.Join(write(w.Root+"/suid"), unix.Chmod(w.Root+"/suid", 0o4755))
	}},
	{"open a file with the set-group bit", spec.Landlock, false, func(w *scene) error {
		fd, err := unix.Open(w.Root+"/sgid", unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL, 0o2755)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
	{"make a device", spec.Landlock, false, func(w *scene) error { return unix.Mknod(w.Root+"/null", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))) }},
}

func write(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	return errors.Join(err, f.Close())
}

// scratch makes a file in the directory of name. Outside of a sandbox it has no name where the system makes such
// files: nothing of another's directory changes, and a kill leaves nothing there.
func scratch(name string) error {
	if fd, err := unix.Open(filepath.Dir(name), unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err == nil {
		return unix.Close(fd)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(name))
}

func openFile(name string, flag int) error {
	f, err := os.OpenFile(name, flag, 0)
	if err == nil {
		f.Close()
	}
	return err
}

func thereAndBack(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return os.Rename(to, from)
}

// read succeeds when the secret is in a file.
func (w *scene) read(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !bytes.Contains(data, []byte(w.Secret)) {
		return fmt.Errorf("the secret is not in %s", strings.TrimPrefix(name, w.Outside))
	}
	return nil
}

func (w *scene) proc(name string) string { return "/proc/" + strconv.Itoa(w.Victim) + "/" + name }
