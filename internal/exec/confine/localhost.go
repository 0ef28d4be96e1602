package confine

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"net"
	"os"
	"strconv"
	"sync"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/ports"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// OwnNetwork reports whether the commands of a session have a network namespace from
// which no way leads out, as the settings are; why says why they have none.
func (c *Confiner) OwnNetwork() (own bool, why string) {
	if c.o.Program == "" {
		return false, errNoProgram.Error()
	}
	level, err := c.Level()
	switch {
	case err != nil:
		return false, err.Error()
	case level < box.Bubblewrap:
		return false, "it takes bubblewrap, and the setting sidecar.sandbox.mode other than off"
	case base(c.o.Settings.Now(), c.o.Root).Network:
		return false, "the setting sidecar.sandbox.network lets commands use the machine's network"
	}
	return true, ""
}

// Ports are those that programs of sessions listen on, each on its session's localhost.
func (c *Confiner) Ports() *ports.Ports { return c.ports }

// Listening are those of a session, each with the name of its program.
func (c Commands) Listening(session string) (list []shell.Listener) {
	for _, p := range c.Ports().List(session) {
		list = append(list, shell.Listener{Port: p.Port, Program: p.Program})
	}
	return list
}

// localhost is that of a session which its commands share, where they have no other
// network; the zero value is none.
type localhost struct {
	session string
	ended   <-chan struct{}
	names   *box.Names
}

// localhostOf begins to make it, which takes as long as the rest of what a command needs.
func localhostOf(c *Confiner, id string) localhost {
	if c.o.Sessions == nil || id == "" || base(c.o.Settings.Now(), c.o.Root).Network {
		return localhost{}
	}
	if level, err := c.Level(); err != nil || level < box.Bubblewrap {
		return localhost{}
	}
	s, err := c.o.Sessions.Get(id)
	if err != nil {
		return localhost{}
	}
	c.box.Expect(s.ID, s.Done())
	return localhost{s.ID, s.Done(), c.exits.names(s.ID)}
}

// give has a program share it.
func (l localhost) give(spec *Spec) {
	spec.Session, spec.Ended = l.session, l.ended
	if spec.Names = l.names; l.names != nil {
		spec.Env = append(spec.Env, exitEnv()...)
	}
}

// Variables by which commands know their session's ports, where sessions share a localhost:
// the first of them, and the same for programs that listen where PORT says.
const (
	portBase = "SIDECAR_PORT_BASE"
	portOne  = "PORT"
)

// Ports of sessions: so many for each, from a range from which systems give no ports to
// those that ask for any.
const (
	portsEach  = 10
	firstPort  = 20000
	portRanges = 1000
)

// portsOf gives each session ports of its own.
type portsOf struct {
	mu   sync.Mutex
	of   map[int]<-chan struct{} // by the first one; closed when the session ends
	base map[<-chan struct{}]int

	shadows map[string]int // by directory
}

// take returns the first of a session's ports, and whether they are new; 0 is that none are
// free. ended is closed when the session ends.
func (p *portsOf) take(ended <-chan struct{}) (base int, fresh bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if base := p.base[ended]; base != 0 {
		return base, false
	}
	if p.of == nil {
		p.of, p.base = map[int]<-chan struct{}{}, map[<-chan struct{}]int{}
	}
	for i := range portRanges {
		base := firstPort + i*portsEach
		if of, taken := p.of[base]; taken {
			select {
			case <-of:
				delete(p.base, of)
			default:
				continue
			}
		}
		if allFree(base) {
			p.of[base], p.base[ended] = ended, base
			return base, true
		}
	}
	return 0, false
}

// allFree reports whether nobody listens on any of a session's ports.
func allFree(base int) bool {
	for port := base; port < base+portsEach; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) //nolint:noctx // at once
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// takeFor is take for the sessions of a shadow workspace, which have its ports together. root is
// its directory, by which it is likely to get the same ones in another process.
func (p *portsOf) takeFor(root string, ended <-chan struct{}) (base int, fresh bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of, p.base = map[int]<-chan struct{}{}, map[<-chan struct{}]int{}
	}
	if p.shadows == nil {
		p.shadows = map[string]int{}
	}
	if p.shadows[root] == 0 {
		p.dropGone()
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(root))
	first := int(sum.Sum32() % portRanges)
	for i := 0; i < portRanges && p.shadows[root] == 0; i++ {
		at := firstPort + (first+i)%portRanges*portsEach
		if _, taken := p.of[at]; !taken && allFree(at) {
			p.of[at], p.shadows[root] = nil, at // it never ends
		}
	}
	base = p.shadows[root]
	_, told := p.base[ended]
	p.base[ended] = base
	return base, !told
}

// dropGone frees the ports of shadow workspaces that are discarded. p.mu is held.
func (p *portsOf) dropGone() {
	for root, base := range p.shadows {
		if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
			delete(p.shadows, root)
			delete(p.of, base)
		}
	}
	maps.DeleteFunc(p.base, func(ended <-chan struct{}, base int) bool {
		select {
		case <-ended:
			return p.of[base] != ended
		default:
			return false
		}
	})
}

// portsFor are the variables with a session's ports for a command that shares a localhost with
// those of other sessions, or works in a shadow workspace, and what its result says of them,
// once a session.
func portsFor(c *Confiner, id string) (env []string, note string) {
	if c.o.Sessions == nil || id == "" {
		return nil, ""
	}
	s, err := c.o.Sessions.Get(id)
	if err != nil {
		return nil, ""
	}
	own, _ := c.OwnNetwork()
	base, fresh := 0, false
	switch {
	case s.Shadow != "": // what its setup has written down holds for all who work there
		base, fresh = c.portsOf.takeFor(s.Root, s.Done())
	case !own:
		base, fresh = c.portsOf.take(s.Done())
	}
	if base == 0 {
		return nil, ""
	}
	if fresh && !own {
		note = fmt.Sprintf("; sessions share the machine's localhost: ports %d to %d are for this one (%s, %s)", base, base+portsEach-1, portBase, portOne)
	}
	first := strconv.Itoa(base)
	return []string{portBase + "=" + first, portOne + "=" + first}, note
}
