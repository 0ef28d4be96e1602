package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Options are what a Manager works with. Log may be nil.
type Options struct {
	Places  func() []Place
	Trusted func() bool                                      // the workspace
	Clean   func(text string) (clean string, signs []string) // text from outside, and what in it seems to instruct a model
	Host    Host
	Memory  Memory
	Store   string            // a directory of ours, for copies of what is loaded
	Watch   bool              // look again when something changes
	Warn    func(text string) // puts a text before the user
	Log     *slog.Logger
}

// Manager has the plugins of a workspace.
type Manager struct {
	o    Options
	base context.Context
	stop context.CancelFunc

	loading sync.Mutex // one look at a time
	turned  bool       // what is loaded has changed; loading holds it

	mu       sync.Mutex
	closed   bool
	order    []string // paths
	plugins  map[string]*entry
	watching map[string]bool
}

// entry is one plugin.
type entry struct {
	found
	Status
	seen   *seen
	loaded *Content // nil: nothing of it is
	hash   string   // of loaded
}

// seen is what a look at a plugin has found, which holds as long as its stamp does. What
// is loaded is a copy, so a stamp that is forged changes nothing that runs.
type seen struct {
	stamp string
	tree
	content  *Content // nil: err says why
	warnings []string
	err      error
}

// New returns a manager; Reload looks for its plugins.
func New(o Options) *Manager {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &Manager{o: o, plugins: map[string]*entry{}, watching: map[string]bool{}}
	m.base, m.stop = context.WithCancel(context.Background())
	return m
}

// Close forgets the plugins; what they brought is its host's to end.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.stop()
	m.loading.Lock() // until a look has ended
	defer m.loading.Unlock()
}

// Reload looks at all places again: what is new and may run is loaded, what has changed
// takes the place of what was there, and what is gone is unloaded.
func (m *Manager) Reload() {
	m.loading.Lock()
	defer m.loading.Unlock()
	m.mu.Lock()
	closed, old := m.closed, m.plugins
	m.mu.Unlock()
	if closed {
		return
	}
	places := m.o.Places()
	m.watch(places)
	said, err := m.o.Memory.Load()
	if err != nil {
		m.o.Warn(err.Error())
	}
	next, first := map[string]*entry{}, map[string]string{} // by path, and by id
	var order []string
	for _, f := range find(places) {
		e := m.look(f, said[f.path()], old[f.path()])
		next[f.path()], order = e, append(order, f.path())
		if at, twice := first[e.ID]; twice {
			m.unload(e)
			e.State, e.Error = Faulted, fmt.Sprintf("another plugin has the name %s, at %s; remove or rename one of them", e.ID, at)
			e.ID += "@" + f.dir
			continue
		}
		first[e.ID] = f.path()
	}
	for path, e := range old {
		if next[path] == nil && e.loaded != nil { // others may be reading e
			m.o.Host.Unload(path)
			m.turned = true
		}
	}
	for _, path := range order {
		if e := next[path]; first[e.ID] == path {
			m.settle(e, said[path])
		}
	}
	needed := map[string]bool{}
	for _, e := range next {
		if e.loaded != nil {
			needed[filepath.Base(e.loaded.Root)] = true
		}
	}
	m.mu.Lock()
	m.order, m.plugins = order, next
	m.mu.Unlock()
	if m.turned {
		m.turned = false
		m.o.Host.Changed()
	}
	sweep(m.o.Store, needed, time.Now())
}

// look looks at a plugin as it is now. What of it was loaded stays so.
func (m *Manager) look(f found, s Said, old *entry) *entry {
	e := &entry{found: f}
	e.ID, e.Name, e.Origin, e.Path, e.State, e.Trust = f.id, f.id, f.place.Origin, f.path(), Discovered, Unknown
	if old != nil {
		e.loaded, e.hash = old.loaded, old.hash
		e.Tools, e.Hooks, e.Skills, e.Servers = old.Tools, old.Hooks, old.Skills, old.Servers
	}
	if s.Mine {
		e.Trust = Mine
	}
	e.seen = m.see(f, old)
	if e.seen.content == nil {
		e.State, e.Error = Faulted, e.seen.err.Error()
	}
	e.Hash, e.Warnings = e.seen.hash, e.seen.warnings
	switch {
	case s.Mine || e.Hash == "":
	case s.Trusted == e.Hash:
		e.Trust = Trusted
	case s.Trusted != "":
		e.Changed = e.seen.changed(s.Files)
	}
	if e.seen.content != nil {
		e.tell(e.seen.content)
	}
	return e
}

// see looks at a plugin, unless it is as it was.
func (m *Manager) see(f found, old *entry) *seen {
	now := stamp(f.dir, f.file)
	if old != nil && old.seen.stamp == now {
		return old.seen
	}
	n := &seen{stamp: now}
	if n.tree, n.err = look(f.dir, f.file, nil); n.err != nil {
		n.stamp, n.tree = "", tree{} // it may be readable next time
		return n
	}
	var more []string
	n.content, more, n.err = m.read(f, f.dir, false)
	n.warnings = slices.Concat(n.left, more)
	return n
}

// read reads what the plugin f brings, which lies in dir. With run a file that is a tool
// may be run to say what it is. What it says to models is cleaned, and what in that seems
// to instruct them is said.
func (m *Manager) read(f found, dir string, run bool) (c *Content, warnings []string, err error) {
	if c, warnings, err = m.parse(f, dir, run); err != nil {
		return nil, warnings, err
	}
	clean := func(what string, text *string) {
		said, signs := m.o.Clean(*text)
		if *text = said; len(signs) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s seems to instruct the model (%s)", what, strings.Join(signs, ", ")))
		}
	}
	clean("its description", &c.Description)
	for i := range c.Tools {
		clean("the description of "+c.Tools[i].Name, &c.Tools[i].Description)
	}
	return c, warnings, nil
}

func (m *Manager) parse(f found, dir string, run bool) (c *Content, warnings []string, err error) {
	if f.file == "" {
		return readContent(dir)
	}
	c = &Content{ID: f.id, Name: f.id, Root: dir}
	text, err := headerOf(filepath.Join(dir, f.file))
	if err == nil && text == nil && run {
		text, err = m.o.Host.Describe(filepath.Join(dir, f.file))
	}
	if err != nil {
		return nil, nil, err
	}
	if text == nil {
		return c, []string{"it has no header, and says what tool it is once it is trusted (--describe)"}, nil
	}
	t, err := describe(text, f.file)
	if err != nil {
		return nil, nil, err
	}
	c.Tools, c.Description = []Tool{t}, t.Description
	return c, nil, nil
}

// settle makes of an entry what its user has said: it is loaded, or is not.
func (m *Manager) settle(e *entry, s Said) {
	hold := func(state State, why string) {
		m.unload(e)
		if e.State != Faulted {
			e.State, e.Error = state, why
		}
	}
	switch {
	case s.Off:
		m.unload(e)
		e.State = Disabled
	case e.place.Project && !m.o.Trusted():
		hold(Discovered, "it comes with the project, and the workspace is not trusted (sidecar.workspace.trust)")
	case e.Trust == Unknown:
		if e.loaded != nil || len(e.Changed) > 0 {
			m.o.Warn(fmt.Sprintf("The plugin %s has changed since you trusted it, and is not loaded (%s). Look at it, then trust it again: `sidecar-ls plugin trust %s`, or the list of plugins in your editor.", e.ID, some(e.Changed), e.ID))
		}
		hold(Discovered, "")
	case e.State == Faulted: // an earlier version stays
	case e.loaded != nil && e.hash == e.Hash && slices.Equal(e.loaded.Override, s.Override):
		e.State = Enabled
	default:
		m.load(e, s)
	}
}

// load takes the plugin as it is now in the place of an earlier version.
func (m *Manager) load(e *entry, s Said) {
	root, err := copyTo(m.o.Store, e.dir, e.file, e.Hash)
	var c *Content
	if err == nil {
		c, _, err = m.read(e.found, root, true)
	}
	if err == nil {
		c.Path, c.Mine, c.Project, c.Override = e.path(), s.Mine, e.place.Project, s.Override
		err = m.o.Host.Load(c)
	}
	if errors.Is(err, errMoved) {
		e.seen.stamp = ""
	}
	if err != nil {
		e.State, e.Error = Faulted, err.Error()
		if e.loaded != nil {
			e.Error += "; the version before stays"
		}
		m.o.Warn(fmt.Sprintf("The plugin %s can't be loaded: %s", e.ID, e.Error))
		return
	}
	e.tell(c)
	e.loaded, e.hash, e.State, m.turned = c, e.Hash, Enabled, true
}

func (m *Manager) unload(e *entry) {
	if e.loaded != nil {
		m.o.Host.Unload(e.path())
		e.loaded, e.hash, m.turned = nil, "", true
	}
}

// List describes the plugins, in the order of their places.
func (m *Manager) List() []Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Status, 0, len(m.order))
	for _, path := range m.order {
		out = append(out, m.plugins[path].Status)
	}
	return out
}

// Loaded are the versions that are loaded, in the order of their places.
func (m *Manager) Loaded() (list []*Content) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, path := range m.order {
		if c := m.plugins[path].loaded; c != nil {
			list = append(list, c)
		}
	}
	return list
}

// find returns a plugin by its id.
func (m *Manager) find(id string) (*entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for _, path := range m.order {
		if e := m.plugins[path]; e.ID == id {
			return e, nil
		}
		ids = append(ids, m.plugins[path].ID)
	}
	if len(ids) == 0 {
		return nil, tools.Errorf(tools.NotFound, "there is no plugin %q, and no other; docs/extending.md says where they are looked for", clip(id))
	}
	return nil, tools.Errorf(tools.NotFound, "there is no plugin %q; there are %s", clip(id), strings.Join(ids, ", "))
}

// Decision is what the user decides of a plugin: whether it is trusted, as it is now, and
// whether a trusted one is loaded. A nil member leaves that as it is.
type Decision struct {
	ID       string   `json:"id"`
	Hash     string   `json:"hash,omitempty"`     // as it was shown; nothing is loaded if it is another now
	Trusted  *bool    `json:"trusted,omitempty"`  // true enables it too, false forgets every decision
	Enabled  *bool    `json:"enabled,omitempty"`  // a disabled plugin stays trusted
	Mine     bool     `json:"mine,omitempty"`     // with Trusted: it is the user's own work
	Override []string `json:"override,omitempty"` // with Trusted: built-in tools that it may stand in for
}

func (d Decision) check() error {
	trusts := d.Trusted != nil && *d.Trusted
	switch {
	case d.Trusted == nil && d.Enabled == nil:
		return tools.Errorf(tools.InvalidArguments, "trusted, enabled: one of them is expected")
	case d.Trusted != nil && !trusts && d.Enabled != nil && *d.Enabled:
		return tools.Errorf(tools.InvalidArguments, "enabled: a plugin that nobody trusts can't be enabled")
	case !trusts && (d.Mine || len(d.Override) > 0):
		return tools.Errorf(tools.InvalidArguments, "mine, override: they need trusted: true")
	}
	return nil
}

// Decide keeps a decision, and loads or unloads the plugin by it.
func (m *Manager) Decide(d Decision) (Status, error) {
	if err := d.check(); err != nil {
		return Status{}, err
	}
	if d.Trusted != nil && !*d.Trusted {
		d.Hash = "" // whatever it is now, it is trusted no longer
	}
	return m.keep(d.ID, d.Hash, func(e *entry, s *Said) error {
		switch {
		case d.Trusted == nil:
		case !*d.Trusted:
			*s = Said{}
			return nil
		case e.Hash == "":
			return tools.Errorf(tools.InvalidArguments, "the plugin %s can't be used: %s", e.ID, e.Error)
		default:
			s.Trusted, s.Files, s.Mine, s.Override, s.Off = e.Hash, e.seen.files, d.Mine, d.Override, false
		}
		if d.Enabled == nil {
			return nil
		}
		if *d.Enabled && d.Trusted == nil && e.Trust == Unknown {
			return tools.Errorf(tools.NotApproved, "nobody has trusted the plugin %s as it is: look at it with `sidecar-ls plugin list`, then `sidecar-ls plugin trust %s`; editors have both", e.ID, e.ID)
		}
		s.Off = !*d.Enabled
		return nil
	})
}

// Again looks at all places again, and returns how one plugin is then.
func (m *Manager) Again(id string) (Status, error) {
	m.Reload()
	e, err := m.find(id)
	if err != nil {
		return Status{}, err
	}
	return e.Status, nil
}

// keep writes down what changes in the decisions about a plugin, and looks at the plugins again.
func (m *Manager) keep(id, hash string, change func(e *entry, s *Said) error) (Status, error) {
	m.Reload()
	e, err := m.find(id)
	if err != nil {
		return Status{}, err
	}
	if hash != "" && hash != e.Hash {
		return Status{}, tools.Errorf(tools.Conflict, "the plugin %s changed since it was shown; look at sidecar.plugins.list again", id)
	}
	all, err := m.o.Memory.Load()
	if err != nil {
		return Status{}, err
	}
	s := all[e.path()]
	if err := change(e, &s); err != nil {
		return Status{}, err
	}
	all = maps.Clone(all)
	if all[e.path()] = s; s.Trusted == "" && !s.Mine && !s.Off {
		delete(all, e.path())
	}
	if err := m.o.Memory.Save(all); err != nil {
		return Status{}, fmt.Errorf("what you say of plugins can't be kept: %w", err)
	}
	m.Reload()
	if e, err = m.find(id); err != nil {
		return Status{}, err
	}
	return e.Status, nil
}

// most is how long something may go on changing before it is looked at all the same.
const most = 2 * time.Second

// watch looks again when something changes in one of the places.
func (m *Manager) watch(places []Place) {
	if !m.o.Watch {
		return
	}
	for _, p := range places {
		if info, err := os.Stat(p.Dir); m.watching[p.Dir] || err != nil || !info.IsDir() {
			continue // one that is made later is found at the next look
		}
		if err := watch.Settled(m.base, p.Dir, "", Quiet, most, m.Reload); err != nil {
			m.o.Log.Warn("plugins are not watched", "dir", p.Dir, "error", err)
			continue
		}
		m.watching[p.Dir] = true
	}
}

// some are the first of a list, for a sentence.
func some(list []string) string {
	const few = 5
	if len(list) > few {
		return strings.Join(list[:few], ", ") + fmt.Sprintf(" and %d more", len(list)-few)
	}
	return strings.Join(list, ", ")
}
