package attach

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options say what a host is and does.
type Options struct {
	Kind    Kind
	Version string

	// Attached gets each connection, and what is wished there. It closes it.
	Attached func(net.Conn, Wish)

	// Person gets each connection of a command line, and closes it. nil refuses
	// them. own says that a process at the other end descends from this one: it is
	// no person's, but was started for somebody else.
	Person func(c net.Conn, own bool)

	// Editor gets each connection of an editor's process that would have this server
	// go on with that editor, while the kind is Left. It closes it. nil refuses them.
	Editor func(net.Conn)

	// Leave is called when another process wants to be the host, unless that one
	// descends from this one. It reports whether this one gives way, with all its
	// work done; the host is closed then. nil stays.
	Leave func() bool
}

// Host is reached by other processes until it is closed.
type Host struct {
	o         Options
	kind      atomic.Value // Kind
	locks     []*os.File   // one in each directory
	listeners []net.Listener

	once   sync.Once
	accept sync.WaitGroup
}

// Listen makes this process the host of dir. It fails with ErrTaken while
// another one is, whatever the environment of that is. What a killed host left
// is taken over.
func Listen(dir string, o Options) (*Host, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	base, err := name(dir)
	if err != nil {
		return nil, err
	}
	h := &Host{o: o}
	h.kind.Store(o.Kind)
	var errs []error
	for _, p := range socketDirs() {
		lock, err := p.claim(base)
		switch {
		case err == nil:
			h.locks = append(h.locks, lock)
		case errors.Is(err, ErrTaken):
			h.Close()
			return nil, err
		default:
			errs = append(errs, err)
		}
	}
	for _, lock := range h.locks {
		l, err := bind(strings.TrimSuffix(lock.Name(), lockEnd) + socketEnd)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		h.listeners = append(h.listeners, l)
	}
	if len(h.listeners) == 0 {
		h.Close()
		return nil, errors.Join(errs...)
	}
	for _, l := range h.listeners {
		h.accept.Go(func() { h.serve(l) })
	}
	return h, nil
}

// bind makes a socket. Whoever calls it holds the lock of that name, so one
// that is there is nobody's.
func bind(name string) (net.Listener, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "unix", name)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, 0o600); err != nil { // its directory kept others out before
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// SetKind says what the host is from now on.
func (h *Host) SetKind(k Kind) { h.kind.Store(k) }

func (h *Host) is() Kind { return h.kind.Load().(Kind) }

// Close lets nobody in any more. Connections that there are stay.
func (h *Host) Close() {
	h.once.Do(func() {
		for _, l := range h.listeners {
			_ = l.Close() // which removes the socket
		}
		h.accept.Wait()
		for _, lock := range h.locks {
			_ = os.Remove(lock.Name())
			_ = lock.Close()
		}
	})
}

// acceptAgain keeps a host that can't accept from trying without a pause.
const acceptAgain = 50 * time.Millisecond

func (h *Host) serve(l net.Listener) {
	for {
		c, err := l.Accept()
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
	if !sameUser(c) || greet(c, Greeting{protocol, h.is(), os.Getpid(), h.o.Version, h.o.Person != nil}) != nil {
		_ = c.Close()
		return
	}
	want, err := readLine(c)
	if err != nil {
		_ = c.Close()
		return
	}
	w, attach := wish(want)
	switch {
	case attach:
		_ = c.SetDeadline(time.Time{})
		h.o.Attached(c, w)
	case want == wantPerson && h.o.Person != nil:
		_ = c.SetDeadline(time.Time{})
		h.o.Person(c, own(c))
	case want == wantServer && h.o.Editor != nil && h.is() == Left && !own(c):
		_ = c.SetDeadline(time.Time{})
		h.o.Editor(c)
	case want == wantLeave:
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Time{}) // it may have work to end first
		if h.o.Leave == nil || own(c) || !h.o.Leave() {
			_, _ = c.Write([]byte("busy\n"))
			return
		}
		h.Close()
		_, _ = c.Write([]byte("left\n"))
	default:
		_ = c.Close()
	}
}
