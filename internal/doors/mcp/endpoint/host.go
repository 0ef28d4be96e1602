package endpoint

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// HostOptions are what a Host works with.
type HostOptions struct {
	Kind    attach.Kind
	Version string
	Log     *slog.Logger

	// Tools are what agents get.
	Tools func() Tools
	// Person serves a command line; nil serves none.
	Person func(context.Context, peers.Peer)
	// Editor takes an editor that would go on with this process, by the socket of dir;
	// see attach.Options.
	Editor func(conn net.Conn, dir string)
	// Leave gives way to another process; see attach.Options.
	Leave func() bool
}

// Host lets those in who work with the tools of this process: agents by MCP,
// each with a session of its own, and command lines. Settings, review queue and
// whoever is asked are those of the process. They come by the sockets of the
// workspace's folders.
//
// A nil Host lets nobody in.
type Host struct {
	o HostOptions

	base   context.Context // ends with the process's work for them
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	wanted []string                // folders
	hosts  map[string]*attach.Host // by folder
	trying bool                    // see try
}

// NewHost returns a Host that lets nobody in before Admit.
func NewHost(o HostOptions) *Host {
	h := &Host{o: o, hosts: map[string]*attach.Host{}}
	h.base, h.cancel = context.WithCancel(context.Background())
	return h
}

// Admit lets agents of these folders in, and those of no others. A folder that
// another process serves is left to it; the error says so. An editor's server
// has it as soon as that one leaves.
func (h *Host) Admit(dirs ...string) error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.wanted = dirs
	err := h.listen()
	if errors.Is(err, attach.ErrTaken) && h.o.Kind == attach.Editor && !h.trying {
		h.trying = true
		h.work.Go(h.try)
	}
	return err
}

// admitAgain is how often an editor's server tries to serve the folders that
// another process serves.
const admitAgain = time.Second

// try asks who serves a folder to leave until nobody else does.
func (h *Host) try() {
	tick := time.NewTicker(admitAgain)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-h.base.Done():
			return
		}
		h.mu.Lock()
		missing := slices.DeleteFunc(slices.Clone(h.wanted), func(dir string) bool { return h.hosts[dir] != nil })
		h.mu.Unlock()
		for _, dir := range missing {
			attach.MakeRoom(h.base, dir)
		}
		h.mu.Lock()
		if h.closed || !errors.Is(h.listen(), attach.ErrTaken) {
			h.trying = false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
	}
}

// listen makes this process the host of the folders that are wanted, and of no
// others. h.mu is held.
func (h *Host) listen() error {
	admitted := map[string]*attach.Host{}
	var errs []error
	for _, dir := range h.wanted {
		host := h.hosts[dir]
		if host == nil {
			var err error
			host, err = attach.Listen(dir, h.options(dir))
			if err != nil {
				errs = append(errs, err)
				continue
			}
		}
		admitted[dir] = host
		delete(h.hosts, dir)
	}
	for _, host := range h.hosts {
		host.Close()
	}
	h.hosts = admitted
	return errors.Join(errs...)
}

func (h *Host) options(dir string) attach.Options {
	o := attach.Options{Kind: h.o.Kind, Version: h.o.Version, Attached: h.attached, Leave: h.o.Leave}
	if h.o.Person != nil {
		o.Person = h.person
	}
	if h.o.Editor != nil {
		o.Editor = func(c net.Conn) { h.o.Editor(c, dir) }
	}
	return o
}

// Reached reports whether others find this process by the socket of dir.
func (h *Host) Reached(dir string) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hosts[dir] != nil
}

// SetKind says what this process is from now on.
func (h *Host) SetKind(k attach.Kind) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.o.Kind = k
	for _, host := range h.hosts {
		host.SetKind(k)
	}
}

// attached serves one agent until it leaves.
func (h *Host) attached(conn peers.Peer, w attach.Wish) {
	if !h.begin() {
		_ = conn.Close()
		return
	}
	defer h.work.Done()
	err := Serve(h.base, conn.Conn, conn.Conn, Options{
		Version: h.o.Version, Instructions: Instructions, Hide: redact.OfLogger(h.o.Log).Text,
		Connect: func(_ context.Context, agent Agent) (Backend, error) {
			h.o.Log.Info("an agent is attached", "agent", agent.Name)
			t := h.o.Tools()
			t.Mode, t.Keep = w.Mode, keptSession(w.Session)
			if !conn.Person() {
				// It chooses no looser mode, goes on with no session of a person's, and answers
				// no question: what asks in its name would ask it.
				t.Mode, t.Keep, t.Unasked = "", "", true
				agent.Mode = cmp.Or(w.Mode, agent.Mode)
			}
			return Local(t, agent)
		},
	})
	if err != nil && h.base.Err() == nil {
		h.o.Log.Warn("an agent was lost", "error", err)
	}
}

// begin reports whether somebody who comes is let in; h.work is theirs then.
func (h *Host) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Add(1)
	}
	return !h.closed
}

// keptSession is the session of the command lines that ask for it by this name;
// "" is none that is kept. Only they have sessions that begin so.
func keptSession(name string) string {
	if name == "" {
		return ""
	}
	return "cli-" + name
}

// Close lets nobody in any more and ends the work of those who are there.
func (h *Host) Close() {
	if h == nil {
		return
	}
	_ = h.Admit()
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.work.Wait()
}

// person serves one command line.
func (h *Host) person(conn peers.Peer) {
	defer func() { _ = conn.Close() }()
	if !h.begin() {
		return
	}
	defer h.work.Done()
	ctx, cancel := context.WithCancel(h.base)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	h.o.Person(ctx, conn)
}
