package session

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
)

// Default is the session of whoever names none. It is always open.
const Default = "default"

// MaxSessions bounds how many sessions are open at a time.
const MaxSessions = 1024

// maxID bounds an identifier, in bytes.
const maxID = 64

// Errors that callers branch on. They come wrapped, with the next step.
var (
	ErrUnknown = errors.New("unknown session")
	ErrExists  = errors.New("the session is open already")
	ErrInvalid = errors.New("invalid session")
	ErrMode    = errors.New("unknown mode")
	ErrLooser  = errors.New("the mode is looser than it may be")
	ErrBudget  = errors.New("the budget is used up")
)

// Options are what a store needs to know. The zero value is useful.
type Options struct {
	Settings Settings                            // asked each time; nil: cautious, every name is a mode, no bound
	Stricter func(have, want string) string      // want if it is stricter than have, else have; nil: have
	Root     func(shadow string) (string, error) // the directory of a shadow, or of the main tree for ""; nil: ""
	Now      func() time.Time                    // nil: time.Now
}

// Settings are what the user's settings say about sessions.
type Settings interface {
	DefaultMode() string // "": cautious
	ValidMode(name string) bool
	Budget() Budget
	Floor() Floor
}

// Floor is what no session may be looser than, whoever opens it or sets its mode. The zero
// value bounds nothing.
type Floor struct {
	Mode   string
	Budget Budget
}

// Store holds the open sessions. It is safe for concurrent use.
type Store struct {
	opts Options

	mu       sync.Mutex
	sessions map[string]*Session
	followed []*follower
	absent   func(id, text string)
}

// follower hears of what agents set out to do.
type follower struct {
	f func(session string, before, now steps.State)
}

// NewStore returns a store that holds the default session.
func NewStore(opts Options) *Store {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	st := &Store{opts: opts, sessions: map[string]*Session{}}
	st.sessions[Default] = st.fresh(OpenRequest{ID: Default}, st.root())
	return st
}

// OpenRequest says what a session is to be.
type OpenRequest struct {
	ID       string   // "": one is made
	Mode     string   // "": follows the setting
	Shadow   string   // "": the main tree
	Allow    []string // nil: all tools
	Registry Registry // "": follows the setting

	AtLeast string // a mode; where that of the settings is looser, this one holds

	// Under is the id of a session that this one works for: it shares that one's budget,
	// and its mode is that one's, unless a stricter one is set. "": none.
	Under string

	Tokens, Calls *int64 // the session's budget; nil: follows the setting; 0: no bound
}

// Open opens a session. It fails with ErrInvalid, ErrMode or ErrExists; for a
// shadow that is not there also with the error of Options.Root.
func (st *Store) Open(r OpenRequest) (*Session, error) {
	if r.ID != "" && !validID(r.ID) {
		return nil, fmt.Errorf("%w: id %q: use at most %d letters, digits, '.', '_' and '-', beginning with a letter or digit", ErrInvalid, cut(r.ID, maxID), maxID)
	}
	for _, mode := range []string{r.Mode, r.AtLeast} {
		if mode == "" {
			continue
		}
		if err := st.checkMode(mode); err != nil {
			return nil, err
		}
	}
	switch r.Registry {
	case "", Full, Lazy:
	default:
		return nil, fmt.Errorf("%w: registry: must be full or lazy, not %q", ErrInvalid, cut(string(r.Registry), maxID))
	}
	for name, n := range map[string]*int64{"tokens": r.Tokens, "calls": r.Calls} {
		if n != nil && *n < 0 {
			return nil, fmt.Errorf("%w: budget.%s: must not be negative; 0 means no bound", ErrInvalid, name)
		}
	}
	root := st.root()
	if r.Shadow != "" && st.opts.Root != nil {
		var err error
		if root, err = st.opts.Root(r.Shadow); err != nil {
			return nil, fmt.Errorf("%w: shadow %s: %w", ErrInvalid, cut(r.Shadow, maxID), err)
		}
	}

	st.mu.Lock()
	defer st.mu.Unlock()
	if r.ID == "" {
		r.ID = st.newID()
	}
	if st.sessions[r.ID] != nil {
		return nil, fmt.Errorf("%w: %s; use it, choose another id, or close it with sidecar.session.close", ErrExists, r.ID)
	}
	if r.Under != "" && st.sessions[r.Under] == nil {
		return nil, unknown(r.Under)
	}
	if len(st.sessions) >= MaxSessions {
		return nil, fmt.Errorf("%w: %d sessions are open; close one with sidecar.session.close", ErrInvalid, len(st.sessions))
	}
	s := st.fresh(r, root)
	st.sessions[s.ID] = s
	return s, nil
}

// Get returns the session with that id; "" is the default session. It fails
// with ErrUnknown.
func (st *Store) Get(id string) (*Session, error) {
	if id == "" {
		id = Default
	}
	st.mu.Lock()
	s := st.sessions[id]
	st.mu.Unlock()
	if s == nil {
		return nil, unknown(id)
	}
	return s, nil
}

// Tell is Session.Tell for the session with that id. What is for one that is not open is
// for whoever has asked with Absent.
func (st *Store) Tell(id, text string) {
	if s, err := st.Get(id); err == nil {
		s.Tell(text)
		return
	}
	st.mu.Lock()
	absent := st.absent
	st.mu.Unlock()
	if absent != nil {
		absent(id, text)
	}
}

// Absent has f hear what sessions are told that are not open; nil ends that.
func (st *Store) Absent(f func(id, text string)) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.absent = f
}

// Close closes a session; "" is the default session, which begins again. It
// fails with ErrUnknown.
func (st *Store) Close(id string) error {
	if id == "" {
		id = Default
	}
	root := st.root()
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[id]
	if s == nil {
		return unknown(id)
	}
	delete(st.sessions, id)
	close(s.done)
	if id == Default {
		st.sessions[Default] = st.fresh(OpenRequest{ID: Default}, root)
	}
	return nil
}

// Work is what the agent of a session has set out to do. It fails with ErrUnknown.
func (st *Store) Work(id string) (*steps.Record, error) {
	s, err := st.Get(id)
	if err != nil {
		return nil, err
	}
	return s.Work, nil
}

// Give is Session.Give for a session by its id. It fails with ErrUnknown.
func (st *Store) Give(id, key, version string) (before string, err error) {
	s, err := st.Get(id)
	if err != nil {
		return "", err
	}
	return s.Give(key, version), nil
}

// Follow calls f after each change of what the agent of a session has set out to do,
// until stop is called. f must not change that.
func (st *Store) Follow(f func(session string, before, now steps.State)) (stop func()) {
	one := &follower{f}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.followed = append(slices.Clone(st.followed), one)
	return func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.followed = slices.DeleteFunc(slices.Clone(st.followed), func(have *follower) bool { return have == one })
	}
}

// worked tells the followers.
func (st *Store) worked(session string, before, now steps.State) {
	st.mu.Lock()
	all := st.followed
	st.mu.Unlock()
	for _, one := range all {
		one.f(session, before, now)
	}
}

// List describes the open sessions, sorted by id.
func (st *Store) List() []Info {
	st.mu.Lock()
	sessions := make([]*Session, 0, len(st.sessions))
	for _, s := range st.sessions {
		sessions = append(sessions, s)
	}
	st.mu.Unlock()
	infos := make([]Info, len(sessions))
	for i, s := range sessions {
		infos[i] = s.Info()
	}
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(a.ID, b.ID) })
	return infos
}

// fresh is a session that nobody has yet. It needs mu, for one under another.
func (st *Store) fresh(r OpenRequest, root string) *Session {
	s := &Session{
		Work: steps.NewRecord(func(before, now steps.State) { st.worked(r.ID, before, now) }),
		ID:   r.ID, Root: root, Shadow: r.Shadow, Allow: slices.Clone(r.Allow), Registry: r.Registry,
		OpenedAt: st.opts.Now(), store: st, done: make(chan struct{}),
		mode: r.Mode, atLeast: r.AtLeast, under: st.sessions[r.Under], purse: &purse{}, ownTokens: r.Tokens, ownCalls: r.Calls, approvals: map[string]struct{}{},
	}
	if s.under != nil {
		s.purse = s.under.purse
	}
	return s
}

// stricter is want, if it is stricter than have or the same; else have.
func (st *Store) stricter(have, want string) string {
	if st.opts.Stricter == nil || have == want {
		return have
	}
	return st.opts.Stricter(have, want)
}

// root is the directory of the main tree, or "" when it is not known.
func (st *Store) root() string {
	if st.opts.Root == nil {
		return ""
	}
	dir, err := st.opts.Root("")
	if err != nil {
		return ""
	}
	return dir
}

func (st *Store) defaultMode() string {
	if st.opts.Settings != nil {
		if mode := st.opts.Settings.DefaultMode(); mode != "" {
			return mode
		}
	}
	return "cautious"
}

func (st *Store) floor() Floor {
	if st.opts.Settings == nil {
		return Floor{}
	}
	return st.opts.Settings.Floor()
}

// least is a mode, or that of the floor where it is looser.
func (st *Store) least(mode string) string {
	if least := st.floor().Mode; least != "" {
		return st.stricter(least, mode)
	}
	return mode
}

func (st *Store) checkMode(name string) error {
	if name == "" || st.opts.Settings != nil && !st.opts.Settings.ValidMode(name) {
		return fmt.Errorf("%w %q; name a built-in mode or one of the setting customModes", ErrMode, cut(name, maxID))
	}
	return nil
}

// newID makes an id that no session had before, in this run or an earlier one:
// pending edits outlive a session and carry its id.
func (st *Store) newID() string {
	for {
		if id := NewID("s"); st.sessions[id] == nil {
			return id
		}
	}
}

// NewID makes an id that begins with a word and that no session has.
func NewID(word string) string { return word + "-" + strings.ToLower(rand.Text()[:10]) }

func unknown(id string) error {
	return fmt.Errorf("%w %q; open it with sidecar.session.open, or leave the session out for the default one", ErrUnknown, cut(id, maxID))
}

func validID(id string) bool {
	for i, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.' || c == '_' || c == '-':
			if i == 0 {
				return false
			}
		default:
			return false
		}
	}
	return id != "" && len(id) <= maxID
}
