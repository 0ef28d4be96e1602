// Package session holds what belongs to one agent's run: its mode, its working
// root, its budget, what it is to be told, and what a person allowed it. It
// decides nothing and knows no tool.
package session

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
)

// Registry says how a session is shown its tools.
type Registry string

// The ways to show tools.
const (
	Auto Registry = "auto" // all to people, a few to models
	Full Registry = "full" // all of them
	Lazy Registry = "lazy" // a few, the others on demand
)

// EveryFamily stands for all categories of tools.
const EveryFamily = "all"

// Bounds of what a session keeps.
const (
	maxNotes     = 64
	maxNoteBytes = 4 << 10
	maxApprovals = 4096
	maxModels    = 64
	maxActive    = 256
	maxGiven     = 256
)

// Session is one agent's run. It is safe for concurrent use.
type Session struct {
	ID       string
	Root     string   // the working root when it was opened: the main tree's or the shadow's directory
	Shadow   string   // the shadow workspace it works in, or ""
	Allow    []string // selectors of the only tools it may use; nil means all
	Registry Registry // "" follows the setting

	atLeast string   // see OpenRequest
	under   *Session // likewise; nil: none
	purse   *purse   // its own, or that of the session that it is under

	ownTokens, ownCalls *int64 // its budget; nil follows the setting

	OpenedAt time.Time

	// Work is what the agent has set out to do.
	Work *steps.Record

	// Known is what the agent knows of the files.
	Known Known

	store *Store
	done  chan struct{} // closed when the session is

	mu        sync.Mutex
	mode      string // "" follows the setting, or the session that it is under
	notes     []string
	keep      func(text string) error // keeps a note elsewhere; nil: notes wait here
	dropped   int                     // notes lost since they were last taken
	printed   int                     // notes of TellPrinted since then
	approvals map[string]struct{}
	models    []string // used since the last commit
	active    []string // tools that were asked for, oldest first
	given     map[string]string

	listedOnly bool // see ListOnly
	families   []string
}

// ListOnly says that whoever calls for the model refuses names that are not in its list.
// Families are the categories of tools in that list, beside the core: EveryFamily
// means all, and nil follows the settings.
func (s *Session) ListOnly(families []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listedOnly, s.families = true, slices.Clone(families)
}

// ListedOnly is what ListOnly has said.
func (s *Session) ListedOnly() (families []string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.families), s.listedOnly
}

// Mode returns the session's mode: the one that was set, else that of the
// settings now, or the one that it was opened with if that is stricter. Under another
// session it is never a looser one than that one's, whichever was set last.
func (s *Session) Mode() string { return s.store.least(s.askedMode()) }

// askedMode is the mode before the floor of the settings.
func (s *Session) askedMode() string {
	s.mu.Lock()
	mode := s.mode
	s.mu.Unlock()
	switch {
	case s.under != nil && mode == "":
		return s.under.Mode()
	case s.under != nil:
		return s.store.stricter(s.under.Mode(), mode)
	case mode != "":
		return mode
	}
	mode = s.store.defaultMode()
	if s.atLeast != "" {
		return s.store.stricter(mode, s.atLeast)
	}
	return mode
}

// Top is the session that this one works for in the end: itself, if it is under none.
func (s *Session) Top() *Session {
	for s.under != nil {
		s = s.under
	}
	return s
}

// Owners are the modes of which the session's own was not chosen by a person, but made
// stricter by whoever opened it, or by a project: "" is that of the settings.
func (s *Session) Owners() []string {
	s.mu.Lock()
	chosen := s.mode != ""
	s.mu.Unlock()
	switch {
	case s.under != nil:
		return append(s.under.Owners(), s.under.Mode())
	case chosen:
		return nil
	}
	return []string{""}
}

// SetMode sets the mode. It fails with ErrMode for a name that no mode has, and with
// ErrLooser for one that is looser than that of the session above.
func (s *Session) SetMode(name string) error {
	if err := s.store.checkMode(name); err != nil {
		return err
	}
	if s.under != nil {
		if most := s.under.Mode(); s.store.stricter(most, name) != name {
			return fmt.Errorf("%w: %s works for %s, whose mode is %s; set that one's, and this one follows", ErrLooser, s.ID, s.under.ID, most)
		}
	}
	if least := s.store.least(name); least != name {
		return fmt.Errorf("%w: %s is looser than %s, and the machine's settings allow none that is", ErrLooser, cut(name, maxID), least)
	}
	s.mu.Lock()
	s.mode = name
	s.mu.Unlock()
	return nil
}

// Done is closed when the session is closed.
func (s *Session) Done() <-chan struct{} { return s.done }

// Tell queues text for the agent's next result. When the queue is full the
// oldest text is dropped, and the agent is told how many were. See TellTo.
func (s *Session) Tell(text string) {
	text = cut(text, maxNoteBytes)
	s.mu.Lock()
	keep := s.keep
	s.mu.Unlock()
	if keep != nil && keep(text) == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notes) == maxNotes {
		s.notes = slices.Delete(s.notes, 0, 1)
		s.dropped++
	}
	s.notes = append(s.notes, text)
}

// TellPrinted is Tell for what a command prints. It returns how many such notes there were
// since the agent last took its notes: whoever prints on and on pushes the others out.
func (s *Session) TellPrinted(text string) int {
	s.Tell(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printed++
	return s.printed
}

// TellTo has f keep what the agent is to be told. What it can't keep waits here.
func (s *Session) TellTo(f func(text string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = f
}

// TakeNotes returns what the agent is to be told, oldest first, and forgets it.
func (s *Session) TakeNotes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	notes := s.notes
	if s.dropped > 0 {
		notes = slices.Insert(notes, 0, "("+strconv.Itoa(s.dropped)+" earlier notes were dropped)")
	}
	s.notes, s.dropped, s.printed = nil, 0, 0
	return notes
}

// UseModel notes that a model works for the session, for the trailers of its
// next commit.
func (s *Session) UseModel(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != "" && !slices.Contains(s.models, name) && len(s.models) < maxModels {
		s.models = append(s.models, cut(name, maxID))
	}
}

// Models returns the models that were used since the last commit, in order of
// their first use.
func (s *Session) Models() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.models)
}

// Committed forgets the models: the session made a commit that names them.
func (s *Session) Committed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = nil
}

// Remember keeps that a person allowed, for this session, what key stands for:
// a hash of everything that was shown. A full memory keeps nothing more; the
// person is then asked again.
func (s *Session) Remember(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.approvals) < maxApprovals {
		s.approvals[key] = struct{}{}
	}
}

// Remembered reports whether a person allowed what key stands for.
func (s *Session) Remembered(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.approvals[key]
	return ok
}

// Give notes that the agent is given what a key stands for in some version, and returns
// the version that it was given before; "" is none. A full memory notes nothing more.
func (s *Session) Give(key, version string) (before string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.given[key]
	if s.given == nil {
		s.given = map[string]string{}
	}
	if before != "" || len(s.given) < maxGiven {
		s.given[key] = version
	}
	return before
}

// Activate notes that the agent wants a tool in its list, and reports whether
// that is news. When too many are noted, the one that was asked for first goes.
func (s *Session) Activate(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.active, tool) {
		return false
	}
	if len(s.active) == maxActive {
		s.active = slices.Delete(s.active, 0, 1)
	}
	s.active = append(s.active, tool)
	return true
}

// Active returns the tools that were activated, oldest first.
func (s *Session) Active() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.active)
}

// Info describes a session.
type Info struct {
	ID       string
	Mode     string
	Root     string
	Shadow   string
	Calls    int64 // that were used, also by those with whom it shares its budget
	Tokens   int64 // likewise
	Budget   Budget
	OpenedAt time.Time
}

// Info describes s now.
func (s *Session) Info() Info {
	mode, root, budget := s.Mode(), s.Root, s.budget()
	calls, tokens := s.purse.used()
	if s.Shadow == "" {
		root = s.store.root() // the main tree may be another one by now
	}
	return Info{
		ID: s.ID, Mode: mode, Root: root, Shadow: s.Shadow,
		Calls: calls, Tokens: tokens, Budget: budget, OpenedAt: s.OpenedAt,
	}
}
