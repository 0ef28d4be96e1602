package confine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// allowance is what commands may spend about which nobody was asked. More takes a question.
type allowance struct {
	command, session time.Duration // of processor time; a session's since a person answered one of its questions
	background       int
	memory           int64         // bytes, of a command
	every            time.Duration // how often a command is looked at
}

func defaultAllowance() allowance {
	return allowance{command: 10 * time.Minute, session: time.Hour, background: 8, memory: box.DefaultMemory(), every: time.Second}
}

// spending is what the sessions have spent unasked.
type spending struct {
	may allowance
	mu  sync.Mutex
	of  map[string]*account
}

type account struct {
	cpu  time.Duration
	back int // in the background
}

func (s *spending) with(session string, do func(*account)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*account{}
	}
	if s.of[session] == nil {
		s.of[session] = &account{}
	}
	do(s.of[session])
}

// reserve takes one of the places in the background that commands of a session have; false is
// that none is free. release gives it back.
func (s *spending) reserve(session string) (ok bool) {
	s.with(session, func(a *account) {
		if ok = a.back < s.may.background; ok {
			a.back++
		}
	})
	return ok
}

func (s *spending) release(session string) { s.with(session, func(a *account) { a.back-- }) }

// close forgets a session.
func (s *spending) close(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, session)
}

// looked says that a person answered a question of a session.
func (s *spending) looked(session string) { s.with(session, func(a *account) { a.cpu = 0 }) }

// Looked says that a person answered a question of a session.
func (c *Confiner) Looked(session string) { c.spending.looked(payer(c, session)) }

// payer is the session that spends what another's commands use. Those of sub-agents spend
// their caller's, or who starts more of them could spend more.
func payer(c *Confiner, session string) string {
	if c.o.Sessions == nil || session == "" {
		return session
	}
	s, err := c.o.Sessions.Get(session)
	if err != nil {
		return session
	}
	return s.Top().ID
}

func (s *spending) bounds(session string, background bool) effects.Condition {
	const name = "bounds"
	may, have := s.may, account{}
	s.with(session, func(a *account) { have = *a })
	switch {
	case have.cpu >= may.session:
		return fails(name, "commands of the session have used %v of processor time since you answered a question", may.session)
	case background && have.back >= may.background:
		return fails(name, "%d commands run in the background", have.back)
	}
	return holds(name, fmt.Sprintf("1,024 processes, ¾ of the memory, processor time %v a command and %v a session", may.command, may.session))
}

// metered is a command that is followed: *sandbox.Cmd.
type metered interface {
	Usage() (cpu time.Duration, memory int64, ok bool)
	Pause()
	Resume()
	Kill()
	Done() <-chan struct{}
}

// meter follows what a command spends about which nobody was asked, until its end. One that
// takes more than that is paused until a person has decided.
type meter struct {
	spending *spending
	cmd      metered
	session  string // that spends it
	back     bool   // it has a place in the background, which is given back at its end
	memory   int64  // bytes; 0: something else bounds it

	// goOn asks a person whether it may go on, and is nil where nobody can be asked.
	goOn  func(ctx context.Context, why string) error
	ended atomic.Pointer[string] // why it was ended

	// opened is what it could reach by now outside of its session; nil: nothing.
	opened func() []string

	settled chan struct{} // closed when all is booked
}

// follow begins to follow a command.
func follow(c *Confiner, r shell.Run, payer string, cmd metered, opened func() []string) *meter {
	m := &meter{spending: &c.spending, cmd: cmd, session: payer, back: r.Stays, opened: opened}
	if !c.box.LimitsMemory() {
		m.memory = c.spending.may.memory
	}
	if c.o.Review != nil {
		m.goOn = func(ctx context.Context, why string) error { return c.o.Review.GoOn(ctx, r.Session, r.Line, why) }
	}
	m.begin()
	return m
}

func (m *meter) begin() {
	m.settled = make(chan struct{})
	go m.follow()
}

func (m *meter) follow() {
	defer close(m.settled)
	tick := time.NewTicker(m.spending.may.every)
	defer tick.Stop()
	may := m.spending.may
	var spent, booked, allowed time.Duration
	seen := map[string]bool{} // what has opened, of which a person knows
	book := func() (cpu time.Duration, memory int64, over bool) {
		cpu, memory, _ = m.cmd.Usage()
		more := max(cpu-booked, 0) // it falls where nobody waited for a process that has ended
		booked, spent = cpu, spent+more
		m.spending.with(m.session, func(a *account) {
			a.cpu += more
			over = a.cpu >= may.session
		})
		return spent, memory, over
	}
	for {
		select {
		case <-m.cmd.Done():
			book()
			if m.back {
				m.spending.release(m.session)
			}
			return
		case <-tick.C:
		}
		cpu, memory, session := book()
		if m.ended.Load() != nil {
			continue
		}
		switch {
		case m.memory > 0 && memory > m.memory:
			m.end("it used more than ¾ of the machine's memory")
		case session:
			m.ask(fmt.Sprintf("commands of its session have used %v of processor time since you answered a question", may.session))
			allowed = cpu
		case cpu-allowed >= may.command:
			m.ask(fmt.Sprintf("it has used %v of processor time, and nobody was asked about it", cpu.Round(time.Second)))
			allowed = cpu
		case m.opened != nil:
			fresh := slices.DeleteFunc(m.opened(), func(what string) bool { return seen[what] })
			if len(fresh) == 0 {
				continue
			}
			m.ask("something could leave its session since it started (" + strings.Join(fresh, "; ") + ")")
			for _, what := range fresh {
				seen[what] = true
			}
		}
	}
}

// ask pauses the command until a person has decided, and ends it without a yes.
func (m *meter) ask(why string) {
	m.cmd.Pause()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-m.cmd.Done():
			stop()
		case <-ctx.Done():
		}
	}()
	if m.goOn == nil || m.goOn(ctx, why) != nil {
		m.end(why + "; nobody let it go on")
		return
	}
	m.spending.looked(m.session)
	m.cmd.Resume()
}

func (m *meter) end(why string) {
	m.ended.Store(&why)
	m.cmd.Kill()
}

// words say why the command was ended, if it was.
func (m *meter) words() string {
	if m == nil {
		return ""
	}
	if why := m.ended.Load(); why != nil {
		return "; the command was ended, because " + *why
	}
	return ""
}
