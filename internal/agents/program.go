package agents

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/acpdriver"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/program"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// agent is a program that runs and is talked to.
type agent struct {
	conn    *acp.Conn
	bridge  *acpdriver.Bridge
	session *acp.Session
	program *program.Running
	said    *lastLines // on its standard error
	door    *door      // nil: it has no way to our tools

	ended  chan struct{} // closed when the program has ended and all is taken over
	result program.Result
	err    error
}

// stop ends the program and waits for it.
func (a *agent) stop() {
	if a.conn != nil {
		a.conn.Close()
	}
	a.program.Kill()
	<-a.ended
	if a.door != nil {
		a.door.close()
	}
}

// launch starts an agent's program in the world of a session, with what of the user's
// its profile gives. said hears what of its writing was not taken over.
func (b *base) launch(p profile.Profile, s *session.Session, readable []string, said func(string)) (*agent, *streams, error) {
	if err := b.o.Finder.Ready(b.ctx, p); err != nil {
		return nil, nil, err
	}
	grant, err := b.o.Kept.Grant(p, append(workspace.Dirs(b.o.Folders(s)), s.Root)...)
	if err != nil {
		return nil, nil, err
	}
	more, _ := profile.Further(p.Further, b.others(s))
	a := &agent{said: &lastLines{}, ended: make(chan struct{})}
	streams, err := openStreams()
	if err != nil {
		return nil, nil, err
	}
	a.program, err = program.Begin(b.ctx, b.o.Parts(), s, program.Request{
		Argv: slices.Concat([]string{p.Path}, more, p.ACP), Title: p.Title, Dir: s.Root,
		Host: confine.Hosted{
			Stdin: streams.in, Env: p.Environ(os.Environ(), b.find), Pass: p.Env, Network: p.Network, Hosts: p.Reaches(os.Environ()), Idle: p.Idle,
			Writable: grant.Writable, Home: grant.Home, Readable: append(readable, grant.Readable...), Runs: p.Runs, InPlace: true,
		},
		Out: streams.out, Err: a.said, Started: streams.closeTheirs,
	})
	if err != nil {
		streams.closeOurs()
		return nil, nil, fmt.Errorf("%s was not started: %w", p.Title, err)
	}
	go func() {
		defer close(a.ended)
		a.result, a.err = a.program.Wait()
		if err := grant.Return(); err != nil {
			said("What it refreshed of its keys is not kept: " + err.Error())
		}
		for _, one := range a.result.Said {
			said(one)
		}
	}()
	return a, streams, nil
}

// client is who agents are told to talk to.
func (b *base) client() acp.Implementation {
	return acp.Implementation{Name: "sidecar-ls", Version: b.o.Version}
}

// streams are the pipes between us and a program.
type streams struct {
	in, out       *os.File // the program's
	toIn, fromOut *os.File // ours
}

func openStreams() (*streams, error) {
	var s streams
	var err error
	if s.in, s.toIn, err = os.Pipe(); err != nil {
		return nil, err
	}
	if s.fromOut, s.out, err = os.Pipe(); err != nil {
		_, _ = s.in.Close(), s.toIn.Close()
		return nil, err
	}
	return &s, nil
}

// closeTheirs leaves the program's ends to the program alone.
func (s *streams) closeTheirs() { _, _ = s.in.Close(), s.out.Close() }

func (s *streams) closeOurs() { _, _ = s.toIn.Close(), s.fromOut.Close() }

// lastLines keeps the end of what a program says.
type lastLines struct {
	mu   sync.Mutex
	text []byte
}

// maxSaid bounds what is kept of it, in bytes, and maxLines what is shown.
const (
	maxSaid  = 8 << 10
	maxLines = 20
)

// Write implements io.Writer.
func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if over := len(l.text) - maxSaid; over > 0 {
		l.text = append([]byte(nil), l.text[over:]...)
	}
	return len(p), nil
}

// String is the last lines of it.
func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(l.text)), "\n")
	return strings.ToValidUTF8(strings.Join(lines[max(0, len(lines)-maxLines):], "\n"), "\uFFFD")
}
