package pendingedits_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// batchModel is what ought to be: of every session with a batch, its files, and
// the commits that wait, each with the agent's lines that its files had.
type batchModel struct {
	t     *testing.T
	rng   *rand.Rand
	base  *memory
	dir   string
	store *pendingedits.Store
	repo  *repo
	n     int
	what  string

	waiting  map[string][]waitingCommit // by session
	rejected map[string]bool            // lines that no commit may have
}

type waitingCommit struct {
	message string
	lines   map[string][]string // the agent's, by file
}

var (
	batchNames = []string{"a", "b", "c", "d", "e"}
	proposers  = []pendingedits.Proposer{
		{Session: "one", Tool: "t", Batch: true}, {Session: "two", Tool: "t", Batch: true}, {Session: "single", Tool: "t"},
	}
)

// TestBatchModel does thousands of random steps, or with -everything ten times as many,
// with two sessions that have batches and one that has none.
func TestBatchModel(t *testing.T) {
	slow.Test(t)
	steps := 700
	if *everything {
		steps = 7000
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			dir := memDir(t)
			m := &batchModel{
				t: t, rng: rand.New(rand.NewPCG(seed, 7)), base: newMemory(), dir: filepath.Join(dir, "p"), repo: &repo{path: filepath.Join(dir, "repo")},
				waiting: map[string][]waitingCommit{}, rejected: map[string]bool{},
			}
			for _, name := range batchNames {
				m.base.set(name, "first\nsecond\nthird\n")
			}
			m.open()
			count := map[string]int{}
			for range steps {
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

func (m *batchModel) open() {
	var err error
	m.store, err = pendingedits.Open(m.dir, m.base, pendingedits.Options{Commits: m.repo, Observer: &observer{report: func(text string) { m.t.Error(text) }}})
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *batchModel) seen(name string) string { return text(m.store.For(agent), name) }

// linesOf are the lines of a text that a session wrote.
func linesOf(session, text string) (lines []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, session) {
			lines = append(lines, line)
		}
	}
	return lines
}

func (m *batchModel) owners() map[string]pendingedits.Edit {
	owners := map[string]pendingedits.Edit{}
	for _, e := range m.store.List("").Edits {
		owners[e.Name] = e
	}
	return owners
}

func (m *batchModel) step() {
	ctx := context.Background()
	name, by := batchNames[m.rng.IntN(len(batchNames))], proposers[m.rng.IntN(len(proposers))]
	switch k := m.rng.IntN(100); {
	case k < 40:
		m.what = "propose " + name + " by " + by.Session
		m.propose(name, by)
	case k < 55:
		m.what = "commit of " + by.Session
		if by.Batch {
			m.queue(by)
		}
	case k < 65:
		m.n++
		m.what = "user " + name
		if now := text(m.base, name); now != absent { // a line of their own, in nobody's way
			m.base.set(name, now+fmt.Sprintf("user%d\n", m.n))
		}
		m.store.BaseChanged(name)
	case k < 67:
		m.what = "rewrite " + name
		m.n++
		m.base.set(name, fmt.Sprintf("rewritten%d\n", m.n))
		for _, list := range m.waiting {
			for _, q := range list {
				if _, ok := q.lines[name]; ok {
					q.lines[name] = nil // what the user threw out need not be in it
				}
			}
		}
		m.store.BaseChanged(name)
	case k < 80:
		m.what = "accept"
		sel := pendingedits.Selection{}
		if m.rng.IntN(2) == 0 {
			sel.Session = by.Session
		}
		m.repo.refuse = nil
		if m.rng.IntN(4) == 0 {
			m.repo.refuse = errors.New("refused")
		}
		m.accept(sel)
	case k < 86:
		m.what = "reject " + name
		if e, ok := m.owners()[name]; ok {
			m.reject(pendingedits.Selection{Names: []string{name}}, e.Session)
		}
	case k < 88:
		m.what = "rejectall " + by.Session
		m.reject(pendingedits.Selection{Session: by.Session}, by.Session)
	case k < 94:
		m.what = "undo"
		before := m.files()
		res, err := m.store.Undo(ctx)
		if err != nil {
			m.t.Error(err)
		}
		if len(res.Restored) == 0 && !maps.Equal(before, m.files()) {
			m.t.Errorf("%s: nothing is said to be restored, but the files changed", m.what)
		}
		m.forget() // what a commit of it has is no longer known
	default:
		m.what = "reopen"
		was := m.store.List("")
		m.store.Close()
		m.open()
		now := m.store.List("")
		if len(was.Edits) != len(now.Edits) || fmt.Sprint(was.Commits) != fmt.Sprint(now.Commits) {
			m.t.Errorf("reopened: %v and %v, were %v and %v", now.Edits, now.Commits, was.Edits, was.Commits)
		}
	}
}

func (m *batchModel) files() map[string]string {
	files := map[string]string{}
	for _, name := range batchNames {
		files[name] = text(m.base, name)
	}
	return files
}

// propose puts a line into a file, and knows when that is refused.
func (m *batchModel) propose(name string, by pendingedits.Proposer) {
	now := m.seen(name)
	m.n++
	line := fmt.Sprintf("%s%d.\n", by.Session, m.n)
	lines := slices.Collect(strings.Lines(strings.TrimPrefix(now, absent)))
	after := strings.Join(slices.Insert(lines, m.rng.IntN(min(3, len(lines)+1)), line), "")
	refused := false
	if e, ok := m.owners()[name]; ok {
		refused = e.Session != by.Session && (e.Batch || by.Batch)
	}
	err := m.store.For(by).Apply(context.Background(), workspace.Change{Path: name, Before: bytesOf(now), After: []byte(after)})
	if err != nil && !errors.Is(err, workspace.ErrConflict) {
		m.t.Errorf("%s: %v", m.what, err)
	}
	if refused && err == nil {
		m.t.Errorf("%s: it is another session's", m.what)
	}
	if err == nil && m.seen(name) != after {
		m.t.Errorf("%s: the agent sees %q, wrote %q", m.what, m.seen(name), after)
	}
}

func (m *batchModel) queue(by pendingedits.Proposer) {
	m.n++
	message := fmt.Sprintf("commit%d", m.n)
	n, err := m.store.QueueCommit(context.Background(), by, message, nil, false, nil)
	if errors.Is(err, pendingedits.ErrNothingToCommit) {
		return
	}
	if err != nil {
		m.t.Errorf("%s: %v", m.what, err)
		return
	}
	list := m.store.List(by.Session).Commits
	if n != len(list) || list[n-1].Message != message {
		m.t.Errorf("%s: it is number %d of %v", m.what, n, list)
		return
	}
	q := waitingCommit{message: message, lines: map[string][]string{}}
	for _, name := range list[n-1].Files {
		q.lines[name] = linesOf(by.Session, m.seen(name))
	}
	m.waiting[by.Session] = append(m.waiting[by.Session], q)
}

// accept checks that of each batch all is accepted or nothing, and that the
// commits are made of what they had.
func (m *batchModel) accept(sel pendingedits.Selection) {
	view, files, owners := map[string]string{}, m.files(), m.owners()
	for _, name := range batchNames {
		view[name] = m.seen(name)
	}
	was := len(m.repo.commits())
	res, err := m.store.Accept(context.Background(), sel)
	if err != nil {
		m.t.Errorf("%s: %v", m.what, err)
		return
	}
	done := map[string]int{}
	for name, e := range owners {
		if sel.Session != "" && e.Session != sel.Session {
			continue
		}
		accepted := slices.Contains(res.Accepted, name)
		live := text(m.base, name)
		if accepted && live != view[name] || !accepted && live != files[name] {
			m.t.Errorf("%s: %s is accepted: %v, and is %q; was %q, proposed %q", m.what, name, accepted, live, files[name], view[name])
		}
		if e.Batch {
			if accepted {
				done[e.Session] |= 1
			} else {
				done[e.Session] |= 2
			}
		}
	}
	for session, how := range done {
		if how == 3 {
			m.t.Errorf("%s: a part of the batch of %s was accepted: %v, %v", m.what, session, res.Accepted, failures(res.Failed))
		}
	}
	commits := m.repo.commits()[was:]
	for _, c := range commits {
		if m.repo.refuse != nil {
			m.t.Errorf("%s: %q was made", m.what, c.Message)
		}
		for line := range m.rejected {
			if text := strings.Join(c.Files, "\n"); strings.Contains(text, line) && !strings.Contains(strings.Join(slices.Collect(maps.Values(m.files())), ""), line) {
				m.t.Errorf("%s: %q has the line %q, which was rejected", m.what, c.Message, line)
			}
		}
		for session, list := range m.waiting {
			if len(list) == 0 || list[0].message != c.Message {
				continue
			}
			m.waiting[session] = list[1:]
			for name, want := range list[0].lines {
				i := slices.IndexFunc(c.Files, func(f string) bool { return strings.HasPrefix(f, name+"=") || f == name+" gone" })
				if i < 0 {
					m.t.Errorf("%s: %s is not in %q", m.what, name, c.Message)
				} else if got := linesOf(session, strings.TrimPrefix(c.Files[i], name+"=")); want != nil && !slices.Equal(got, want) {
					m.t.Errorf("%s: %q has of %s the lines %q, want %q", m.what, c.Message, name, got, want)
				}
			}
		}
	}
	made := 0
	for _, c := range res.Commits {
		if c.Err == nil {
			made++
		}
	}
	if made != len(commits) {
		m.t.Errorf("%s: %d commits are reported, %d were made", m.what, made, len(commits))
	}
}

func (m *batchModel) reject(sel pendingedits.Selection, session string) {
	before, view := m.files(), map[string]string{}
	for _, name := range batchNames {
		view[name] = m.seen(name)
	}
	if _, err := m.store.Reject(context.Background(), sel, ""); err != nil {
		m.t.Errorf("%s: %v", m.what, err)
	}
	if !maps.Equal(before, m.files()) {
		m.t.Errorf("%s: a file changed", m.what)
	}
	for name, was := range view {
		now := m.seen(name) + before[name]
		for line := range strings.Lines(was) {
			if strings.HasPrefix(line, session) && !strings.Contains(now, line) {
				m.rejected[line] = true
			}
		}
	}
	m.forget()
}

// forget takes up what the commits have now, without their lines.
func (m *batchModel) forget() {
	for session := range m.waiting {
		m.waiting[session] = nil
		for _, q := range m.store.List(session).Commits {
			w := waitingCommit{message: q.Message, lines: map[string][]string{}}
			for _, name := range q.Files {
				w.lines[name] = nil
			}
			m.waiting[session] = append(m.waiting[session], w)
		}
	}
}

// check is what always holds.
func (m *batchModel) check() {
	for _, by := range proposers[:2] {
		var got, want []string
		for _, q := range m.store.List(by.Session).Commits {
			got = append(got, q.Message)
		}
		for _, q := range m.waiting[by.Session] {
			want = append(want, q.message)
		}
		if !slices.Equal(got, want) {
			m.t.Errorf("%s: the commits of %s are %q, want %q", m.what, by.Session, got, want)
		}
	}
	for _, e := range m.owners() {
		if e.Batch != (e.Session != "single") {
			m.t.Errorf("%s: %s is of %s, in a batch: %v", m.what, e.Name, e.Session, e.Batch)
		}
	}
}
