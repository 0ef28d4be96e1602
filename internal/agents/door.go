package agents

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/localsock"
)

// door is the way of an agent, in its world, to our tools: a socket that it alone sees.
type door struct {
	dir  string
	held *os.File // locked while the door is there, so that no other process sweeps it
	l    net.Listener
	stop context.CancelFunc
}

func (b *base) openDoor(session string, catchUp, again func()) (*door, error) {
	dir, held, err := makeHeld()
	if err != nil {
		return nil, err
	}
	d := &door{dir: dir, held: held}
	if d.l, err = localsock.Listen(d.path()); err != nil {
		_, _ = os.RemoveAll(dir), held.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(b.ctx)
	d.stop = stop
	go func() {
		for {
			conn, err := d.l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				b.o.Tools(ctx, caught{conn, catchUp, again}, session)
			}()
		}
	}()
	return d, nil
}

// doorPrefix is short: the path of a socket is at most 107 bytes.
const doorPrefix = "sidecar-door-"

// makeHeld makes the directory of a door and locks it. One that is being swept is left
// to that, and another is made. Where there are no locks, held is nil and nothing is swept.
func makeHeld() (dir string, held *os.File, err error) {
	for range 4 {
		if dir, err = os.MkdirTemp("", doorPrefix); err != nil {
			return "", nil, err
		}
		held = lockDir(dir)
		if _, err := os.Lstat(dir); err == nil && held != nil {
			return dir, held, nil
		}
		_, _ = os.RemoveAll(dir), held.Close()
	}
	dir, err = os.MkdirTemp("", doorPrefix)
	return dir, nil, err
}

// sweepDoors removes the doors of processes that were killed.
func sweepDoors() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), doorPrefix+"*"))
	for _, dir := range left {
		if held := lockDir(dir); held != nil {
			_, _ = os.RemoveAll(dir), held.Close()
		}
	}
}

// caught takes over what the agent wrote by itself before it asks our tools, which
// would not know of it else, and has it see what they did before it hears of that.
type caught struct {
	net.Conn
	catchUp, again func()
}

// Read implements io.Reader.
func (c caught) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.catchUp()
	}
	return n, err
}

// Write implements io.Writer.
func (c caught) Write(p []byte) (int, error) {
	c.again()
	return c.Conn.Write(p)
}

func (d *door) path() string { return localsock.Path(d.dir, "tools.sock") }

func (d *door) close() {
	d.stop()
	_ = d.l.Close()
	_, _ = os.RemoveAll(d.dir), d.held.Close()
}

// DoorInside is the path of the door of the run in whose sandbox this process is; "" is none.
// A sandbox shows its own door only. Programs that an agent starts may lack its variables,
// so it is looked for where doors are.
func DoorInside() string {
	for _, dir := range []string{os.TempDir(), "/tmp"} {
		found, _ := filepath.Glob(filepath.Join(dir, doorPrefix+"*"))
		if len(found) == 1 {
			return (&door{dir: found[0]}).path()
		}
	}
	return ""
}
