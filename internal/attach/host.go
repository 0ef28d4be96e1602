package attach

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options say what a host is and does.
type Options struct {
	Kind    Kind
	Version string

	// Attached gets each connection. It closes it.
	Attached func(net.Conn)

	// Leave is called when another process wants to be the host. It reports
	// whether this one gives way, with all its work done; the host is closed then.
	// nil stays.
	Leave func() bool
}

// Host is reached by other processes until it is closed.
type Host struct {
	o        Options
	listener net.Listener
	lock     *os.File
	socket   string

	once sync.Once
	done chan struct{} // closed when nothing is accepted any more
}

// Listen makes this process the host of dir. It fails with ErrTaken while
// another one is. A socket that a killed host left is taken over.
func Listen(dir string, o Options) (*Host, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	base, err := name(dir)
	if err != nil {
		return nil, err
	}
	run, err := runDir(true)
	if err != nil {
		return nil, err
	}
	h := &Host{o: o, socket: filepath.Join(run, base+".sock"), done: make(chan struct{})}
	if h.lock, err = lockFile(filepath.Join(run, base+".lock")); err != nil {
		return nil, err
	}
	// Whoever holds the lock is alone here: a socket that is there is nobody's.
	if err = os.Remove(h.socket); err == nil || errors.Is(err, os.ErrNotExist) {
		h.listener, err = new(net.ListenConfig).Listen(context.Background(), "unix", h.socket)
	}
	if err == nil {
		err = os.Chmod(h.socket, 0o600) // its directory kept others out before
	}
	if err != nil {
		close(h.done) // nothing was accepted yet
		h.Close()
		return nil, err
	}
	go h.accept()
	return h, nil
}

// Close lets nobody in any more. Connections that there are stay.
func (h *Host) Close() {
	h.once.Do(func() {
		if h.listener != nil {
			_ = h.listener.Close() // which removes the socket
			<-h.done
		}
		_ = os.Remove(h.lock.Name())
		_ = h.lock.Close()
	})
}

// acceptAgain keeps a host that can't accept from trying without a pause.
const acceptAgain = 50 * time.Millisecond

func (h *Host) accept() {
	defer close(h.done)
	for {
		c, err := h.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // who it was has gone, or there are too many files open
			time.Sleep(acceptAgain)
			continue
		}
		go h.welcome(c)
	}
}

// welcome does what a connection is for.
func (h *Host) welcome(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(handshake))
	if !sameUser(c) || greet(c, Greeting{protocol, h.o.Kind, os.Getpid(), h.o.Version}) != nil {
		_ = c.Close()
		return
	}
	want, err := readLine(c)
	if err != nil {
		_ = c.Close()
		return
	}
	switch want {
	case wantAttach:
		_ = c.SetDeadline(time.Time{})
		h.o.Attached(c)
	case wantLeave:
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Time{}) // it may have work to end first
		if h.o.Leave == nil || !h.o.Leave() {
			_, _ = c.Write([]byte("busy\n"))
			return
		}
		h.Close()
		_, _ = c.Write([]byte("left\n"))
	default:
		_ = c.Close()
	}
}
