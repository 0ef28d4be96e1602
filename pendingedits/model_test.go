package pendingedits_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestModel does thousands of random steps, or with -everything ten times as many. Every line that somebody writes is
// unique, so it can be followed: what the agent was told is kept is in the
// queue until a person or the agent takes it out, and what the user wrote is in
// the file until the user does, or accepts a change of it.
func TestModel(t *testing.T) {
	slow.Test(t)
	steps := 1500
	if *everything {
		steps = 15_000
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 1)), base: newMemory(), dir: filepath.Join(memDir(t), "p"), agents: map[string]bool{}, fresh: map[string]bool{}, accepted: map[string]bool{}}
			m.open()
			count := map[string]int{}
			for range steps {
				m.was = m.everything()
				m.step()
				count[strings.Fields(m.what)[0]]++
				m.check()
				if t.Failed() {
					return
				}
			}
			m.store.Close()
			t.Log(count)
		})
	}
}

type model struct {
	t      *testing.T
	rng    *rand.Rand
	base   *memory
	dir    string
	store  *pendingedits.Store
	n      int             // of the last line
	agents map[string]bool // the agent's lines that must be in the queue
	what   string          // the step
	was    string          // everything before it

	quiet     bool            // the user wrote nothing since the last accept
	afterUndo map[string]bool // the user's lines after the last undo
	accepted  map[string]bool // lines that came into a file by an accept

	fresh map[string]bool // the agents' lines that were in no file since they were written
	told  map[string]bool // sessions that were told something in this step
}

// modelAgents are the sessions that edit. The lines that one writes begin with
// "agent" and its name.
var modelAgents = []string{"A", "B"}

var modelNames = []string{"a", "b", "c"}

func (m *model) open() {
	var err error
	m.store, err = pendingedits.Open(m.dir, m.base, pendingedits.Options{
		Observer: &observer{
			report: func(text string) { m.t.Error(text) },
			notify: func(session, _ string) { m.told[session] = true },
		},
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// decides notes whom a decision about these hunks has to tell.
func decides(who map[string]bool, hunks ...pendingedits.Hunk) {
	for _, h := range hunks {
		for _, s := range h.Sessions {
			who[s] = true
		}
	}
}

func (m *model) line(who string) string {
	m.n++
	return fmt.Sprintf("%s%d.\n", who, m.n)
}

// changed returns text with a few lines in, out or replaced.
func (m *model) changed(text, who string) string {
	var lines []string
	if text != absent {
		lines = slices.Collect(strings.Lines(text))
	}
	for range 1 + m.rng.IntN(3) {
		at := m.rng.IntN(len(lines) + 1)
		switch kind := m.rng.IntN(3); {
		case len(lines) < 6 || kind == 0:
			lines = slices.Insert(lines, at, m.line(who))
		case at < len(lines) && kind == 1:
			lines[at] = m.line(who)
		case at < len(lines):
			lines = slices.Delete(lines, at, at+1)
		}
	}
	return strings.Join(lines, "")
}

func (m *model) live(name string) string { return text(m.base, name) }
func (m *model) seen(name string) string { return text(m.store.For(agent), name) }

func (m *model) edits() map[string]pendingedits.Edit {
	edits := map[string]pendingedits.Edit{}
	for _, e := range m.store.List("").Edits {
		edits[e.Name] = e
	}
	return edits
}

func (m *model) step() {
	ctx := context.Background()
	name := modelNames[m.rng.IntN(len(modelNames))]
	before := map[string]string{}
	for _, n := range modelNames {
		before[n] = m.seen(n)
	}
	m.told = map[string]bool{}
	who := modelAgents[m.rng.IntN(len(modelAgents))]
	switch k := m.rng.IntN(100); {
	case k < 35:
		now := m.seen(name)
		after := m.changed(now, "agent"+who)
		if now != absent && m.rng.IntN(12) == 0 {
			after = absent
		}
		m.what = "agent " + name
		m.agent(who, workspace.Change{Path: name, Before: bytesOf(now), After: bytesOf(after)})
		if got := m.seen(name); got != after {
			m.t.Errorf("%s: the agent sees %q, wrote %q", m.what, got, after)
		}
	case k < 40:
		to := modelNames[m.rng.IntN(len(modelNames))]
		data := bytesOf(m.seen(name))
		m.what = "move " + name + " " + to
		if data != nil && m.seen(to) == absent {
			m.agent(who, workspace.Change{Path: to, From: name, Before: data, After: data})
			if m.seen(name) != absent || m.seen(to) != string(data) {
				m.t.Errorf("%s: the agent sees %q and %q", m.what, m.seen(name), m.seen(to))
			}
		}
	case k < 62:
		after := m.changed(m.live(name), "user")
		if m.rng.IntN(20) == 0 {
			after = absent
		}
		m.what = fmt.Sprintf("user %s %q", name, after)
		m.base.set(name, after)
		m.quiet = false
		if m.rng.IntN(2) == 0 { // else it has to be noticed
			m.store.BaseChanged(name)
		}
	case k < 70:
		m.what = "accept " + name
		m.accept(pendingedits.Selection{Names: []string{name}})
		m.sameView(before)
	case k < 74:
		m.what = "acceptall"
		m.accept(pendingedits.Selection{})
		m.sameView(before)
	case k < 82:
		m.what = "hunk"
		if e, ok := m.edits()[name]; ok {
			h := e.Hunks[m.rng.IntN(len(e.Hunks))]
			m.accept(pendingedits.Selection{Hunks: []string{h.ID}, Revision: e.Revision})
			m.sameView(before)
		}
	case k < 87:
		m.what = "reject " + name
		if e, ok := m.edits()[name]; ok {
			sel, tell := pendingedits.Selection{Names: []string{e.Name}}, map[string]bool{}
			switch m.rng.IntN(3) {
			case 0:
				decides(tell, e.Hunks...)
			case 1:
				h := e.Hunks[m.rng.IntN(len(e.Hunks))]
				sel = pendingedits.Selection{Hunks: []string{h.ID}}
				decides(tell, h)
			default:
				sel.Session = who
				for _, h := range e.Hunks {
					if slices.Contains(h.Sessions, who) {
						decides(tell, h)
					}
				}
			}
			if _, err := m.store.Reject(ctx, sel, ""); err != nil && (len(tell) > 0 || !errors.Is(err, fs.ErrNotExist)) {
				m.t.Error(err)
			}
			if d := cmp.Diff(tell, m.told); d != "" {
				m.t.Errorf("%s %+v: told (-want +got)\n%s", m.what, sel, d)
			}
			for _, left := range m.edits()[name].Hunks {
				if sel.Session != "" && slices.Contains(left.Sessions, who) {
					m.t.Errorf("%s: of %s there is still %+v", m.what, who, left)
				}
			}
			m.forget()
		}
	case k < 90:
		m.what = "propose " + name
		if e, ok := m.edits()[name]; ok {
			after := m.changed(m.seen(name), "proposed")
			if err := m.store.Propose(ctx, e.Name, []byte(after)); err != nil {
				m.t.Error(err)
			}
			if got := m.seen(name); got != after {
				m.t.Errorf("%s: the agent sees %q, proposed %q", m.what, got, after)
			}
			m.forget()
		}
	case k < 96:
		m.what = "undo"
		users := m.users()
		if _, err := m.store.Undo(ctx); err != nil {
			m.t.Error(err)
		}
		m.sameUsers(users)
		if m.quiet {
			m.sameView(before)
		}
	default:
		m.what = "reopen"
		was := m.store.List("").Edits
		if err := m.store.Close(); err != nil {
			m.t.Error(err)
		}
		m.open()
		now := m.store.List("").Edits
		for i := range now {
			now[i].Revision = 0
		}
		for i := range was {
			was[i].Revision = 0
		}
		if d := cmp.Diff(was, now); d != "" {
			m.t.Errorf("reopened (-was +now):\n%s", d)
		}
		m.sameView(before)
	}
}

func (m *model) agent(who string, c workspace.Change) {
	// What the agent takes out itself, and conflicts in the file that it has
	// seen, may go.
	may := string(c.Before)
	for _, e := range m.edits() {
		if name := e.Name; name == c.Path || name == c.From || e.From != "" && (e.From == c.Path || e.From == c.From) {
			for _, h := range e.Hunks {
				if h.State == pendingedits.Conflict {
					may += h.Text
				}
			}
		}
	}
	if err := m.store.For(pendingedits.Proposer{Session: who, Tool: "t"}).Apply(context.Background(), c); err != nil {
		m.t.Errorf("%s: %v", m.what, err)
	}
	all := m.everything()
	for line := range m.agents {
		gone := strings.Contains(string(c.Before), line) && !strings.Contains(string(c.After), line)
		if gone || !strings.Contains(all, line) && strings.Contains(may, line) {
			delete(m.agents, line)
		}
	}
	for line := range strings.Lines(string(c.After)) {
		if strings.HasPrefix(line, "agent") && !strings.Contains(m.live(c.Path), line) {
			m.agents[line] = true
			m.fresh[line] = m.fresh[line] || !strings.Contains(m.was, line)
		}
	}
}

// accept checks that what is accepted is what the queue showed, and no more.
func (m *model) accept(sel pendingedits.Selection) {
	want, before := map[string]string{}, map[string]string{}
	for _, n := range modelNames {
		want[n], before[n] = m.live(n), m.live(n)
	}
	edits := m.edits()
	for _, e := range edits {
		chosen := len(sel.Names)+len(sel.Hunks) == 0 || slices.Contains(sel.Names, e.Name) || slices.Contains(sel.Names, e.From)
		var hunks []pendingedits.Hunk
		for _, h := range e.Hunks {
			if chosen || slices.Contains(sel.Hunks, h.ID) {
				hunks = append(hunks, h)
			}
		}
		bad := slices.ContainsFunc(hunks, func(h pendingedits.Hunk) bool { return h.State == pendingedits.Conflict })
		switch {
		case hunks == nil || bad:
		case e.Kind == "modify":
			want[e.Name] = applied(m.live(e.Name), hunks)
		default:
			want[e.Name] = m.seen(e.Name)
			if e.From != "" {
				want[e.From] = m.seen(e.From)
			}
		}
	}
	res, err := m.store.Accept(context.Background(), sel)
	m.quiet = m.quiet || len(res.Accepted) > 0
	if err != nil {
		m.t.Errorf("%s: %v", m.what, err)
	}
	tell := map[string]bool{}
	for _, name := range res.Accepted {
		e := edits[name]
		for _, h := range e.Hunks {
			if len(sel.Hunks) == 0 || slices.Contains(sel.Hunks, h.ID) {
				decides(tell, h)
			}
		}
	}
	if d := cmp.Diff(tell, m.told); d != "" {
		m.t.Errorf("%s: told (-want +got)\n%s", m.what, d)
	}
	for _, f := range res.Failed {
		e, ok := edits[f.Name]
		if ok && e.State != pendingedits.Conflict || !errors.Is(f.Err, workspace.ErrConflict) && !errors.Is(f.Err, fs.ErrNotExist) {
			m.t.Errorf("%s: %s: %v", m.what, f.Name, f.Err)
		}
	}
	for _, n := range modelNames {
		got := m.live(n)
		if got != want[n] {
			m.t.Errorf("%s: %s is %q, want %q", m.what, n, got, want[n])
		}
		for line := range strings.Lines(got) {
			m.accepted[line] = m.accepted[line] || !strings.Contains(before[n], line)
		}
	}
}

// applied makes hunks as the list shows them, by their text alone.
func applied(text string, hunks []pendingedits.Hunk) string {
	lines := slices.Collect(strings.Lines(text))
	for _, h := range slices.Backward(hunks) {
		var added []string
		for line := range strings.Lines(h.Text) {
			if line[0] == '+' {
				added = append(added, line[1:])
			}
		}
		at := h.OldStart - 1
		if h.OldLines == 0 {
			at = h.OldStart
		}
		lines = slices.Replace(lines, at, at+h.OldLines, added...)
	}
	return strings.Join(lines, "")
}

func (m *model) sameView(before map[string]string) {
	for _, n := range modelNames {
		if got := m.seen(n); got != before[n] {
			m.t.Errorf("%s: the agent sees %s as %q, saw %q", m.what, n, got, before[n])
		}
	}
}

func (m *model) users() map[string]bool {
	lines := map[string]bool{}
	for _, n := range modelNames {
		for line := range strings.Lines(m.live(n)) {
			if strings.HasPrefix(line, "user") {
				lines[line] = true
			}
		}
	}
	return lines
}

func (m *model) sameUsers(before map[string]bool) {
	now := m.users()
	for line := range before {
		// What was in the files after the last undo may have come back by it,
		// and goes when the accept is made again; so does what the agent moved
		// from another file.
		if !now[line] && !m.afterUndo[line] && !m.accepted[line] {
			m.t.Errorf("%s: the user's line %q is gone", m.what, line)
		}
	}
	m.afterUndo = now
}

// everything is all that the queue and the files show.
func (m *model) everything() string {
	var b strings.Builder
	for _, n := range modelNames {
		b.WriteString(m.live(n) + "\n" + m.seen(n) + "\n")
	}
	for _, e := range m.edits() {
		for _, h := range e.Hunks {
			b.WriteString(h.Text)
		}
	}
	return b.String()
}

// forget stops following what is nowhere any more: after a step in which the
// agent or a person may take proposals out.
func (m *model) forget() {
	all := m.everything()
	for line := range m.agents {
		if !strings.Contains(all, line) {
			delete(m.agents, line)
		}
	}
}

// check is what always holds.
func (m *model) check() {
	all := m.everything()
	for line := range m.agents {
		if slices.ContainsFunc(modelNames, func(n string) bool { return strings.Contains(m.live(n), line) }) {
			delete(m.agents, line) // it has arrived
			continue
		}
		if strings.Contains(all, line) {
			continue
		}
		m.t.Errorf("%s: the agent's line %q is lost; before:\n%s\nafter:\n%s", m.what, line, m.was, all)
	}
	for line := range m.fresh {
		if !m.agents[line] {
			delete(m.fresh, line)
		}
	}
	for name, e := range m.edits() {
		if !slices.ContainsFunc(e.Hunks, func(h pendingedits.Hunk) bool { return slices.Contains(h.Sessions, e.Session) }) {
			m.t.Errorf("%s: %s is said to be of %s, which has no hunk in it", m.what, name, e.Session)
		}
		for _, h := range e.Hunks {
			for line := range strings.Lines(h.Text) {
				if line, ok := strings.CutPrefix(line, "+agent"); ok && m.fresh["agent"+line] && !slices.Contains(h.Sessions, line[:1]) {
					m.t.Errorf("%s: %s: the hunk is of %v, and not of who wrote %q:\n%s\nbefore:\n%s", m.what, name, h.Sessions, line, h.Text, m.was)
				}
			}
		}
		if e.Kind != "modify" || e.State == pendingedits.Conflict && m.live(name) == absent {
			continue
		}
		clean := slices.DeleteFunc(slices.Clone(e.Hunks), func(h pendingedits.Hunk) bool { return h.State == pendingedits.Conflict })
		if got, want := m.seen(name), applied(m.live(name), clean); got != want {
			m.t.Errorf("%s: %s is seen as %q, its hunks make %q", m.what, name, got, want)
		}
	}
}
