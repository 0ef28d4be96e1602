package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// plan is what the process between us and a command is told, as JSON on
// descriptor planFD: no argument list shows it, and no environment of the
// command's reaches the programs that set up its sandbox.
type plan struct {
	Argv     []string
	Env      []string
	Dir      string
	Limits   Limits
	Files    *fileRules // nil: no Landlock
	Seccomp  bool
	Families []int // sockets, with Seccomp
	Mounts   int   // descriptor of a socket on which the process hands out its table of mounts; 0 is none
	Terminal bool  // standard input is a terminal that is to be the command's own
	Userns   bool  // in a user namespace of its own, where processes are counted by themselves
}

const planFD = 3

// pass returns a file that can be read from its start by whoever inherits it.
func pass(name string, data []byte) (*os.File, error) {
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

// inherited reads what stands in planFD, and inheritedAt in another descriptor.
func inherited(v any) error { return inheritedAt(planFD, v) }

func inheritedAt(fd uintptr, v any) error {
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
