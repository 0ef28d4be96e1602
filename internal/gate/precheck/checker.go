// Package precheck finds what pending edits would break, by asking language
// servers about the files with and without them.
package precheck

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

const (
	editWait   = 1500 * time.Millisecond // of the result of an edit
	checkTime  = time.Minute             // of one look at the queue
	checkQuiet = 150 * time.Millisecond  // without a change before one begins
	maxQueued  = 100                     // files of the queue that are looked at
	maxTries   = 6                       // looks at a queue of which not all is known, after 1, 2, 4 … seconds
)

// Options are what a Checker works with.
type Options struct {
	Live     workspace.View // the files without pending edits
	Queue    Queue
	Servers  Servers
	Sessions *session.Store
	Settings Settings
	Hide     *redact.Redactor
	EditWait time.Duration // how long the result of an edit waits at most; 0: as for people

	// Changed is called when there is more to show; may be nil.
	Changed func()
}

// Queue is the review queue: *pendingedits.Store.
type Queue interface {
	For(pendingedits.Proposer) workspace.View
	List(session string) pendingedits.List
	Revision() int64
}

// Servers are the language servers: *langserver.Pool.
type Servers interface {
	Introduced(ctx context.Context, base, before, after workspace.Files, names []string) langserver.Check
	IntroducedAll(ctx context.Context, base, before, after workspace.Files, names []string) (langserver.Check, error)
}

// Settings are those that hold now: *live.Settings.
type Settings interface {
	Now() *config.Settings
	SensitiveOK(name string) bool
}

// Checker looks at what pending edits would break. The result of an edit waits
// for it, a little; whenever the queue or the files below it change, it looks
// at the whole queue again, for the review.
//
// A nil Checker checks nothing.
type Checker struct {
	owed debts

	o    Options
	wake chan struct{}
	stop context.CancelFunc // nil until it has begun
	done chan struct{}

	mu         sync.Mutex
	found      map[string]looked
	elsewhere  map[string]looked
	generation int64
}

// looked is what a look at a file found.
type looked struct {
	revision int64 // of the queue when the look began
	problems []langserver.Problem
}

// New returns a Checker that looks at nothing before Begin.
func New(o Options) *Checker {
	return &Checker{o: o, wake: make(chan struct{}, 1), done: make(chan struct{}), found: map[string]looked{}, elsewhere: map[string]looked{}, owed: debts{of: map[string]*owed{}}}
}

// Begin looks at the queue, and again when it changes.
func (k *Checker) Begin() {
	if k == nil {
		return
	}
	k.QueueChanged()
	ctx, cancel := context.WithCancel(context.Background())
	k.stop = cancel
	go k.run(ctx)
}

// Close ends the looking.
func (k *Checker) Close() {
	if k == nil || k.stop == nil {
		return
	}
	k.stop()
	<-k.done
}

// QueueChanged says that the queue, or a file below it, has changed. It never
// waits.
func (k *Checker) QueueChanged() {
	if k == nil {
		return
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// refused reports whether no language server may run.
func (k *Checker) refused() bool { return langserver.SettingsOf(k.o.Settings.Now()).Refused != "" }

// views are the files with the pending edits and without, as servers may see
// them.
func (k *Checker) views() (base, files workspace.Files) {
	return k.guard(k.o.Live), k.guard(k.o.Queue.For(pendingedits.Proposer{}))
}

func (k *Checker) guard(files workspace.Files) workspace.Files {
	return workspace.Guard(files, k.o.Settings.SensitiveOK)
}

// Edit looks at an edit that is held now, for a short time. What
// it does not find out in that time, the session is told later.
func (k *Checker) Edit(ctx context.Context, id string, changes []workspace.Change) *dispatch.Checked {
	if s, err := k.o.Sessions.Get(id); err != nil || s.Shadow != "" || k.refused() {
		return nil
	}
	names := namesIn(changes)
	if !slices.ContainsFunc(names, func(name string) bool { _, ok := langserver.Language(name); return ok }) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(k.o.EditWait, editWait))
	defer cancel()
	revision := k.o.Queue.Revision()
	base, files := k.views()
	check := k.o.Servers.Introduced(ctx, base, workspace.Undone(files, changes), files, names)
	k.store(revision, check, false)
	out := checkedOf(check)
	if out == nil {
		return nil
	}
	out.Open = k.open(check)
	if out.State != "unknown" || slices.ContainsFunc(check.Unknown, func(r langserver.Report) bool { return langserver.Soon(r.Err) }) {
		if out.Later = k.owed.owe(id, changes, check); out.Later {
			k.QueueChanged()
		}
	}
	return out
}

// namesIn lists the files of changes.
func namesIn(changes []workspace.Change) (names []string) {
	for _, ch := range changes {
		names = append(names, ch.Path)
		if ch.From != "" {
			names = append(names, ch.From)
		}
	}
	return names
}

// open counts what the pending edits bring besides what check has as new: in the
// files that it looked at, and in others when those were looked at last.
func (k *Checker) open(check langserver.Check) int {
	n := 0
	for _, p := range check.Pending {
		if !slices.Contains(check.New, p) {
			n++
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, files := range []map[string]looked{k.found, k.elsewhere} {
		for name, l := range files {
			if !slices.Contains(check.Looked, name) {
				n += len(l.problems)
			}
		}
	}
	return n
}

// checkedOf is a check as the result of an edit has it; nil when there is no
// server that could look.
func checkedOf(check langserver.Check) *dispatch.Checked {
	out := &dispatch.Checked{State: "clean", Total: len(check.New), By: check.By, New: problemsOf(check.New)}
	switch {
	case len(check.New) > 0:
		out.State, out.AtLeast = "problems", check.Partial || len(check.Unknown) > 0
	case len(check.Unknown) > 0:
		out.State, out.Why = "unknown", check.Unknown[0].Err.Error()
	case len(check.Known) == 0:
		return nil
	case check.Partial:
		out.Why = "files that depend on it were not looked at in time"
	}
	return out
}

// store remembers a check; whole says that it was one of the whole queue.
func (k *Checker) store(revision int64, check langserver.Check, whole bool) {
	k.mu.Lock()
	before := k.generation
	old, oldElse := k.found, k.elsewhere
	k.found, k.elsewhere = maps.Clone(old), maps.Clone(oldElse)
	if whole {
		k.found, k.elsewhere = map[string]looked{}, map[string]looked{}
	}
	for _, name := range check.Known {
		k.found[name] = looked{revision: revision}
	}
	for _, p := range check.Pending {
		to := k.elsewhere
		if slices.Contains(check.Known, p.Path) {
			to = k.found
		} else if l, ok := to[p.Path]; ok && l.revision != revision {
			delete(to, p.Path)
		}
		l := to[p.Path]
		l.revision = revision
		l.problems = append(l.problems, p)
		to[p.Path] = l
	}
	same := func(a, b map[string]looked) bool {
		return maps.EqualFunc(a, b, func(x, y looked) bool { return slices.Equal(x.problems, y.problems) })
	}
	if !same(old, k.found) || !same(oldElse, k.elsewhere) {
		k.generation++
	}
	changed := k.generation != before
	k.mu.Unlock()
	if changed && k.o.Changed != nil {
		k.o.Changed()
	}
}

// run looks at the queue whenever it has changed, and again for a while when a
// server could not say what becomes of a file: it may have ended, or not be
// ready.
func (k *Checker) run(ctx context.Context) {
	defer close(k.done)
	var again <-chan time.Time
	tries := 0
	for {
		select {
		case <-k.wake:
			tries = 0
		case <-again:
		case <-ctx.Done():
			return
		}
		quiet := time.NewTimer(checkQuiet)
		for waiting := true; waiting; {
			select {
			case <-k.wake:
				quiet.Reset(checkQuiet)
			case <-quiet.C:
				waiting = false
			case <-ctx.Done():
				quiet.Stop()
				return
			}
		}
		again = nil
		if !k.checkQueue(ctx) && tries < maxTries {
			again = time.After(time.Second << tries)
			tries++
		}
	}
}

// checkQueue looks at the whole queue, and then at what sessions are to be told. It
// reports whether all is known that can be, as long as nothing changes.
func (k *Checker) checkQueue(ctx context.Context) bool {
	if ctx.Err() != nil {
		return true
	}
	list := k.o.Queue.List("")
	var names []string
	for _, e := range list.Edits {
		if len(names) < maxQueued {
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 || k.refused() {
		k.store(list.Revision, langserver.Check{}, true)
		return k.pay(ctx)
	}
	base, files := k.views()
	check, ok := k.checkNames(ctx, base, base, files, names)
	if !ok {
		return false
	}
	k.store(list.Revision, check, true)
	return k.pay(ctx) && len(check.Unknown) == 0
}

// checkNames has everything looked at that the names can break. When somebody asks
// something else meanwhile, it fails, and the checker looks again after that.
func (k *Checker) checkNames(ctx context.Context, base, before, files workspace.Files, names []string) (langserver.Check, bool) {
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	check, err := k.o.Servers.IntroducedAll(limited, base, before, files, names)
	if err != nil && limited.Err() == nil {
		k.QueueChanged()
	}
	return check, err == nil
}

// pay tells sessions what their edits brought. It reports whether nothing is
// owed any more that could be found out by trying again.
func (k *Checker) pay(ctx context.Context) bool {
	sessions := k.owed.sessions()
	if len(sessions) > 0 && k.refused() {
		k.owed.forgive() // no server may look
		return true
	}
	all := true
	for _, id := range sessions {
		o, now := k.owed.get(id)
		base, files := k.views()
		before := workspace.Undone(files, now.edits)
		if undone(files, now.edits) {
			k.owed.settle(id, o, now.last)
			continue
		}
		check, ok := k.checkNames(ctx, base, before, files, namesIn(now.edits))
		if !ok || len(check.Unknown) > 0 && k.owed.again(o) || !k.owed.settle(id, o, now.last) {
			all = false
			continue
		}
		if text := late(now.edits, check, now.told, now.dark); text != "" {
			if s, err := k.o.Sessions.Get(id); err == nil {
				s.Tell(k.o.Hide.Text(text))
			}
		}
	}
	return all
}

// Of implements server.Introduced.
func (k *Checker) Of(e pendingedits.Edit) ([]langserver.Problem, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.found[e.Name]
	if !ok || l.revision < e.Revision {
		return nil, false
	}
	return l.problems, true
}

// Elsewhere implements server.Introduced.
func (k *Checker) Elsewhere() []langserver.Problem {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []langserver.Problem
	for _, name := range slices.Sorted(maps.Keys(k.elsewhere)) {
		out = append(out, k.elsewhere[name].problems...)
	}
	return out
}

// Generation implements server.Introduced.
func (k *Checker) Generation() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.generation
}
