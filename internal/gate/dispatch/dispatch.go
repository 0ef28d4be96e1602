package dispatch

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/retry"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Options are the parts a Dispatcher works with. Registry, Sessions and Views
// are needed; every other field may be left out.
type Options struct {
	Registry *tools.Registry
	Sessions *session.Store
	Views    func(*session.Session) Destinations
	Settings func() *Settings // nil means DefaultSettings
	Approver Approver         // nil means that nobody can be asked
	Redact   Redactor         // nil means that nothing is hidden
	Bus      *events.Bus      // nil means that nobody listens
	Audit    *auditlog.Log    // nil means that nothing is written down
	Log      *slog.Logger     // nil means silence
	Now      func() time.Time

	// After is the dispatcher in whose place the new one comes, with its
	// counters and what its cursors point to; nil for the first.
	After *Dispatcher

	// Secrets lets Redact know the secrets that there are now. It is asked at
	// the beginning of a call, and at the end of one that took its time or may
	// have changed them; nil does nothing.
	Secrets Refresher

	// Confined says how commands are confined, and reads their lines; nil says
	// nothing, and bash reads them.
	Confined Confinement

	// Team knows which tools of the category agents have what they need; nil: all have.
	Team Team

	// Hooks hear of calls; nil: nobody does.
	Hooks Hooks

	// Check looks at changes of the main tree that have been held for review,
	// for as long as it may take. nil means that nobody does.
	Check func(ctx context.Context, session string, changes []workspace.Change) *Checked
}

// Refresher is asked to look again.
type Refresher interface{ Refresh() }

type noSecrets struct{}

func (noSecrets) Refresh() {}

// Team is who does what tools of the category agents ask for.
type Team interface {
	// Offers reports whether a tool has what it needs to work for a session. One that has
	// not is not offered to a model.
	Offers(session, tool string) bool
}

// Confinement says how commands are confined: *confine.Confiner. It is asked only
// about a call that runs more than looks, but for ReadLine.
type Confinement interface {
	// Weak says what confines commands less than it should; "" when nothing
	// does, or nothing is known to be missing.
	Weak() string
	// Words say what a command would be confined by, for who is asked about it;
	// "" says nothing.
	Words() string
	// WorldStatus is what commands see: an overlay, a shadow, or "disk", and why no more.
	WorldStatus() (what, why string)
	// Complete says what of a complete world commands of a session have.
	Complete(ctx context.Context, use effects.Use) []effects.Condition
	// Looked says that a person answered a question of a session.
	Looked(session string)
	// ReadLine reads a command line as the shell does that will run it.
	ReadLine(ctx context.Context, line string) *shell.Line
}

// Settings are what the user decided, as far as calls are concerned. A value
// is never changed once it is handed out.
type Settings struct {
	Enabled         bool // false refuses every call
	Audit           bool // calls are written down in the audit log
	Trusted         bool // the user trusts the workspace
	Writable        bool // commands may write outside of the workspace
	Steps           bool // agents declare a step before they change something
	AskCommands     bool // commands are asked about also where nothing leaves their world
	Permissions     map[string]policy.Outcome
	Modes           map[string]policy.Mode   // custom modes, by name
	OwnMode         string                   // what the user and the editor say, without a project
	FloorMode       string                   // no call's mode is looser; "": none is too loose
	Floor           string                   // what the machine's settings bound, in words; "": nothing
	DeniedBy        func(tool string) string // the machine's settings, where they deny a tool; else ""; nil: they deny none
	Locked          string                   // why nothing that changes or runs is allowed; "": it is
	ResultBytes     int
	ApprovalTimeout time.Duration
	Retry           retry.Policy           // of calls that end with a transient error
	Commands        shell.Rules            // what the user decided about command lines
	Registry        session.Registry       // of sessions that say nothing of it; "" is session.Auto
	Families        []string               // categories of tools that agents over MCP are listed, beside the core; session.EveryFamily: all
	SensitiveOK     func(name string) bool // files that tools may read although their name says secret
}

// DefaultSettings are those of a user who set nothing.
func DefaultSettings() *Settings {
	return &Settings{Enabled: true, Audit: true, Trusted: true, Families: []string{session.EveryFamily}, ResultBytes: 16_000, ApprovalTimeout: 5 * time.Minute, Retry: retry.Policy{Attempts: 3, Wait: 1500 * time.Millisecond}}
}

// Redactor keeps secrets out of what leaves the dispatcher.
type Redactor interface {
	Text(string) string // secrets replaced by markers
	// Record is what is kept of such texts, the value of that member of an object, and of what they write to a secret file.
	Record(name string, texts []string, secretFile func(path string) bool) []string
	Sanitize(string) string // without escape sequences and invisible characters, for text from outside
	Defuse(string) string   // without what a viewer would fetch by itself, for text from outside
	Signs(string) []string  // what in text from outside seems to instruct the model, by name
	Visible(string) string  // invisible characters written out, for a person's eyes
}

// Dispatcher runs tool calls. It is safe for concurrent use.
type Dispatcher struct {
	o       Options
	pages   *pages
	metrics *metrics
	lists   *shownLists
	edits   sequence
	running running
}

// New returns a Dispatcher.
func New(o Options) *Dispatcher {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Settings == nil {
		s := DefaultSettings()
		o.Settings = func() *Settings { return s }
	}
	if o.Redact == nil {
		o.Redact = verbatim{}
	}
	if o.Bus == nil {
		o.Bus = events.NewBus()
	}
	if o.Secrets == nil {
		o.Secrets = noSecrets{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Dispatcher{o: o}
	if o.After != nil {
		d.pages, d.metrics, d.lists = o.After.pages, o.After.metrics, o.After.lists
	} else {
		d.pages, d.metrics, d.lists = newPages(o.Now), new(metrics), new(shownLists)
	}
	d.o.After = nil
	return d
}

type verbatim struct{}

func (verbatim) Text(s string) string                                          { return s }
func (verbatim) Record(_ string, texts []string, _ func(string) bool) []string { return texts }
func (verbatim) Sanitize(s string) string                                      { return s }
func (verbatim) Defuse(s string) string                                        { return s }
func (verbatim) Signs(string) []string                                         { return nil }
func (verbatim) Visible(s string) string                                       { return s }

// Keep keeps a text for a session's model to read on in, and returns the cursor of its
// beginning.
func (d *Dispatcher) Keep(sessionID, text string) (cursor string, err error) {
	s, err := d.o.Sessions.Get(sessionID)
	if err != nil {
		return "", err
	}
	return d.pages.store(s, text, 0), nil
}

// Page returns the part of a cut result that follows a cursor. The budget of
// the session whose result it is pays for it.
func (d *Dispatcher) Page(cursor string) (Page, error) {
	s, _, err := d.pages.at(cursor)
	if err != nil {
		return Page{}, err
	}
	most, settle, err := charge(s.of, d.o.Settings().ResultBytes)
	if err != nil {
		return Page{}, err
	}
	p, err := d.pages.page(cursor, most)
	settle(len(p.Content))
	return p, err
}

// PageInResult is Page for a tool, whose result of at most limit bytes is cut
// too: it leaves room for notes and for a line that names the next cursor. The
// tool's call pays for it.
func (d *Dispatcher) PageInResult(cursor string, limit int) (tools.Page, error) {
	p, err := d.pages.page(cursor, limit-limit/notesShare-markerSpace(limit))
	return tools.Page{Content: p.Content, Next: p.NextCursor, LeftBytes: p.LeftBytes, TotalBytes: p.TotalBytes}, err
}

// Metrics returns the counters of every tool that was called.
func (d *Dispatcher) Metrics() map[string]Metric { return d.metrics.snapshot() }

// mode returns the row of a session's mode.
func (d *Dispatcher) mode(name string, set *Settings) (policy.Mode, bool) {
	if m, ok := set.Modes[name]; ok {
		return m, true
	}
	return policy.Lookup(name)
}

// modeOf is a session's mode, or another one that a call is to have, which asks about new
// hosts where a mode does of which it was made stricter.
func (d *Dispatcher) modeOf(s *session.Session, other string, set *Settings) (policy.Mode, bool) {
	m, ok := d.mode(cmp.Or(other, s.Mode()), set)
	owners := s.Owners()
	if other != "" {
		owners = append(owners, s.Mode())
	}
	for _, name := range owners {
		if owner, known := d.mode(cmp.Or(name, set.OwnMode), set); known {
			m = m.Hosts(owner)
		}
	}
	if least, known := d.mode(set.FloorMode, set); set.FloorMode != "" && known && !m.AtLeast(least) {
		m = least
	}
	return m, ok
}

// views are what a call reads through and what its changes go to.
func (d *Dispatcher) views(s *session.Session, m policy.Mode, by workspace.Author, set *Settings) (see workspace.Files, to workspace.View, dest Destinations) {
	dest = d.o.Views(s)
	see = dest.Live()
	if m.SeesPending || m.ToStore {
		pending := dest.Pending(by, m.Batch)
		if m.SeesPending {
			see = pending
		}
		if m.ToStore {
			to = pending
		}
	}
	if to == nil {
		to = dest.Applied(by)
	}
	allow := set.SensitiveOK
	if allow == nil {
		allow = func(string) bool { return false }
	}
	return reading{workspace.Guard(see, allow)}, to, dest
}

// Edits is the view that edits of a session go to for which a person asks by name of a
// tool: nobody is asked again, and they wait for review, except in a mode that edits
// without asking.
func (d *Dispatcher) Edits(sessionID, tool string) (workspace.View, error) {
	s, err := d.o.Sessions.Get(sessionID)
	if err != nil {
		return nil, err
	}
	m, ok := d.modeOf(s, "", d.o.Settings())
	if !ok {
		return nil, tools.Errorf(tools.Unavailable, "the mode %s is not there any more; choose another one", s.Mode())
	}
	by, dest := workspace.Author{Session: s.ID, Tool: tool}, d.o.Views(s)
	if !m.ToStore && m.Behaviour.Edits == policy.Allow {
		return dest.Applied(by), nil
	}
	return dest.Pending(by, m.Batch), nil
}

// reading keeps a tool from reaching Apply by a type assertion.
type reading struct{ workspace.Files }

// Node implements what workspace.NodeOf asks for.
func (r reading) Node(name string) (workspace.Node, error) { return workspace.NodeOf(r.Files, name) }

func newID(prefix string) string {
	var b [8]byte
	rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}
