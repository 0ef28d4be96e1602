package attach

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
)

// Options say what a host is and does.
type Options struct {
	Kind    Kind
	Version string

	// Attached gets each connection, and what is wished there. It closes it.
	Attached func(peers.Peer, Wish)

	// Person gets each connection of a command line, and closes it. nil refuses them.
	Person func(peers.Peer)

	// Editor gets each connection of an editor's process that would have this server
	// go on with that editor, while the kind is Left. It closes it. nil refuses them, and
	// none is an editor's that acts for no person.
	Editor func(net.Conn)

	// Leave is called when a process that acts for a person wants to be the host. It
	// reports whether this one gives way, with all its work done; the host is closed
	// then. nil stays.
	Leave func() bool
}

// Host is reached by other processes until it is closed.
type Host struct {
	o         Options
	kind      atomic.Value // Kind
	listeners []net.Listener
	free      func() // gives the name back

	once   sync.Once
	accept sync.WaitGroup
}

// Listen makes this process the host of dir. It fails with ErrTaken while
// another one is, whatever the environment of that is. What a killed host left
// is taken over.
func Listen(dir string, o Options) (*Host, error) {
	base, err := name(dir)
	if err != nil {
		return nil, err
	}
	h := &Host{o: o}
	h.kind.Store(o.Kind)
	if h.listeners, h.free, err = listen(base); err != nil {
		return nil, err
	}
	for _, l := range h.listeners {
		h.accept.Go(func() { h.serve(l) })
	}
	return h, nil
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
		h.free()
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
	if !peers.SameUser(c) || greet(c, Greeting{protocol, h.is(), os.Getpid(), h.o.Version, h.o.Person != nil}) != nil {
		_ = c.Close()
		return
	}
	want, err := readLine(c)
	if err != nil {
		_ = c.Close()
		return
	}
	who := peers.Of(c)
	w, attach := wish(want)
	switch {
	case attach:
		_ = c.SetDeadline(time.Time{})
		h.o.Attached(peers.Peer{Conn: c, Who: who}, w)
	case want == wantPerson && h.o.Person != nil:
		_ = c.SetDeadline(time.Time{})
		h.o.Person(peers.Peer{Conn: c, Who: who})
	case want == wantServer && h.o.Editor != nil && h.is() == Left && who.Person():
		_ = c.SetDeadline(time.Time{})
		h.o.Editor(c)
	case want == wantLeave:
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Time{}) // it may have work to end first
		if h.o.Leave == nil || !who.Person() || !h.o.Leave() {
			_, _ = c.Write([]byte("busy\n"))
			return
		}
		h.Close()
		_, _ = c.Write([]byte("left\n"))
	default:
		_ = c.Close()
	}
}
