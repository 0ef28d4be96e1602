package confine

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/egress"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// exits are the ways of sessions to other hosts.
type exits struct {
	o    Options
	gate *egress.Gate

	mu      sync.Mutex
	agents  map[string][]agentHosts // by session
	running map[string][]running    // likewise
	last    int
}

// agentHosts are the hosts of an agent that runs in a session.
type agentHosts struct {
	of    *process
	hosts []hosts.Host
	idle  []string
}

// running is a command that runs in a session's network.
type running struct {
	id      int
	line    string
	cmd     *sandbox.Cmd
	started chan struct{} // closed when its process is known
}

func newExits(o Options) *exits {
	w := &exits{o: o, agents: map[string][]agentHosts{}, running: map[string][]running{}}
	options := egress.Options{Sessions: w, People: w}
	if o.Recorder != nil {
		options.Log = o.Recorder
	}
	w.gate = egress.New(options)
	return w
}

// Network implements egress.Sessions.
func (w *exits) Network(session string) hosts.Network {
	n := w.o.Settings.Now().Network(w.o.Folders)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.agents[session] {
		n.Hosts = append(n.Hosts, a.hosts...)
	}
	return n
}

// Idle implements egress.Sessions.
func (w *exits) Idle(session, host string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.agents[session], func(a agentHosts) bool { return slices.Contains(a.idle, host) })
}

// MayReach implements egress.People.
func (w *exits) MayReach(ctx context.Context, r dispatch.Reach) dispatch.Reached {
	if w.o.Review == nil {
		return dispatch.Reached{Why: "nobody can be asked"}
	}
	return w.o.Review.MayReach(ctx, r)
}

// take takes a connection that a client in a session's network made.
func (w *exits) take(j *boxnet.Joint, a boxnet.Arrival, c *net.TCPConn) {
	w.gate.Take(egress.Connection{
		Session: j.Session(), Ended: j.Left(), Host: a.Name, Port: a.Port, Proxy: a.Proxy, Conn: c,
		Client: func() egress.Client { return w.client(j, a) },
	})
}

// startTime bounds the wait for a command that starts: its first connection may come before
// its process is known.
const startTime = 5 * time.Second

// client finds the program and the command that made a connection.
func (w *exits) client(j *boxnet.Joint, a boxnet.Arrival) egress.Client {
	who := j.Client(a)
	late := time.After(startTime)
	for {
		c, starts := w.commandOf(j.Session(), who)
		if c.Command != 0 || starts == nil {
			return c
		}
		select {
		case <-starts:
		case <-late:
			return c
		}
	}
}

// commandOf is the command of a session that a client is of; starts is closed when one is
// known that starts just now, nil: none does.
func (w *exits) commandOf(session string, who boxnet.Client) (c egress.Client, starts <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c = egress.Client{Program: who.Program, Shell: true}
	all := w.running[session]
	for _, r := range all {
		select {
		case <-r.started:
		default:
			starts = r.started
			continue
		}
		at := slices.IndexFunc(who.Parents, func(p boxnet.Process) bool { return p.Pid == r.cmd.Process() })
		if at < 0 && (len(all) > 1 || len(who.Parents) > 0) {
			continue
		}
		c.Line, c.Command = r.line, r.id
		if at >= 0 {
			c.Shell = slices.ContainsFunc(who.Parents[:at], func(p boxnet.Process) bool { return slices.Contains(shellNames, p.Name) })
		}
	}
	return c, starts
}

// shellNames are programs by which others are started on somebody's word.
var shellNames = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox"}

// names says where names lead for a session; nil: nowhere.
func (w *exits) names(session string) *box.Names {
	n := w.Network(session)
	if !n.Ask && len(n.Hosts) == 0 {
		return nil
	}
	return &box.Names{Ports: hosts.Ports(n.Hosts), Here: hosts.Here(n.Hosts)}
}

// runs notes a command that starts.
func (w *exits) runs(session, line string, cmd *sandbox.Cmd) (id int, started chan struct{}) {
	started = make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	w.running[session] = append(w.running[session], running{w.last, line, cmd, started})
	return w.last, started
}

// ended forgets it, and returns the sentences about hosts that it did not reach.
func (w *exits) ended(session string, id int) (said []string) {
	said = w.gate.Said(session, id)
	w.gate.Over(session, id)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[session] = slices.DeleteFunc(w.running[session], func(r running) bool { return r.id == id })
	if len(w.running[session]) == 0 {
		delete(w.running, session)
	}
	return said
}

// hosted notes the hosts of an agent until it ends.
func (w *exits) hosted(session string, p *process, h Hosted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.agents[session] = append(w.agents[session], agentHosts{p, h.Hosts, h.Idle})
}

func (w *exits) left(session string, p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.agents[session] = slices.DeleteFunc(w.agents[session], func(a agentHosts) bool { return a.of == p })
	if len(w.agents[session]) == 0 {
		delete(w.agents, session)
	}
}

// reaching starts a program, and notes it where its network leads to hosts one by one: before it
// can reach any.
func (p *process) reaching(w *exits, l localhost, line string) error {
	if l.names == nil {
		return p.Start()
	}
	id, started := w.runs(l.session, line, p.Cmd)
	err := p.Start()
	close(started)
	if err != nil {
		w.ended(l.session, id)
		return err
	}
	var mu sync.Mutex
	var said []string
	over := false
	p.hosts = func() []string {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return said
		}
		return w.gate.Said(l.session, id)
	}
	go func() {
		<-p.Done()
		mu.Lock()
		defer mu.Unlock()
		said, over = w.ended(l.session, id), true
	}()
	return nil
}

// ProxyVariable is where programs find the proxy of their session's network.
const ProxyVariable = "SIDECAR_PROXY"

// exitEnv are the variables of a command whose network leads to hosts one by one: the
// proxy, and time for a person to answer.
func exitEnv() []string {
	return []string{
		ProxyVariable + "=" + "http://127.0.0.1:" + strconv.Itoa(boxnet.ProxyPort),
		"PIP_DEFAULT_TIMEOUT=300", "UV_HTTP_TIMEOUT=300", "CARGO_HTTP_TIMEOUT=300", "npm_config_fetch_timeout=300000",
	}
}

// reaches says which hosts commands reach with the settings of now.
func reaches(c *Confiner, level box.Level) box.Outside {
	switch n := c.o.Settings.Now().Network(c.o.Folders); {
	case n.All:
		return box.AnyHost
	case (n.Ask || len(n.Hosts) > 0) && level >= box.Bubblewrap:
		return box.ByHost
	}
	return box.NoHost
}

// reachedWords has the words for hosts that a command did not reach.
func reachedWords(said []string) string {
	if len(said) == 0 {
		return ""
	}
	return "; " + strings.Join(said, "; ")
}
