package dispatch

import (
	"context"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// ListRequest asks for a list of tools.
type ListRequest struct {
	Session string // "" means the default session
	Filter  tools.Filter
	Model   bool // the list is for a model, which pays for it on every turn
	Own     bool // that is our own agent's, which has what its tools need

	// Registry is how much is listed; "" leaves it to the session.
	Registry session.Registry
}

// List returns the tools that a session may call, sorted by name, and the
// selectors that match none. How much a lazy registry leaves out says short.
func (d *Dispatcher) List(r ListRequest) (list []*tools.Tool, unmatched []string, err error) {
	d.ready(context.Background())
	s, err := d.o.Sessions.Get(r.Session)
	if err != nil {
		return nil, nil, err
	}
	set := d.o.Settings()
	list, unmatched = d.o.Registry.List(r.Filter)
	if s.Allow != nil {
		_, more := d.o.Registry.List(tools.Filter{Allow: s.Allow})
		unmatched = append(unmatched, more...)
	}
	short := d.short(s, set, r)
	_, only := s.ListedOnly()
	list = slices.DeleteFunc(list, func(t *tools.Tool) bool {
		return !d.allows(s, t) || r.Model && d.forbidden(s, set, t) || short && !listed(s, set, t) || r.Model && !r.Own && !d.offers(s.ID, t) || r.Model && only && !short && t.Name == finder
	})
	return list, unmatched, nil
}

// Unmatched returns those of some selectors that fit no tool.
func (d *Dispatcher) Unmatched(selectors []string) []string {
	d.ready(context.Background())
	_, unmatched := d.o.Registry.List(tools.Filter{Allow: selectors})
	return unmatched
}

// WithoutKits are selectors with the tools of each kit, as it is now, in its place.
func (d *Dispatcher) WithoutKits(selectors []string) []string {
	d.ready(context.Background())
	return d.o.Registry.WithoutKits(selectors)
}

// short reports whether a list has only the core and what was activated.
func (d *Dispatcher) short(s *session.Session, set *Settings, r ListRequest) bool {
	mode := r.Registry
	if mode == "" {
		mode = d.registry(s, set)
	}
	filtered := r.Filter.Source != "" || r.Filter.Server != "" || r.Filter.Category != "" || r.Filter.Allow != nil
	return mode == session.Lazy || mode == session.Auto && r.Model && !filtered
}

// finder is the tool that brings others into a list. A list that has them all
// goes without it.
const finder = "tool_search"

// registry is how a session is shown its tools. One that may not search for
// tools is shown all that it has.
func (d *Dispatcher) registry(s *session.Session, set *Settings) session.Registry {
	find, _, ok := d.o.Registry.Lookup(finder)
	switch {
	case s.Allow != nil && (!ok || !d.allows(s, find)):
		return session.Full
	case s.Registry != "":
		return s.Registry
	case slices.Contains(families(s, set), session.EveryFamily):
		return session.Full
	case families(s, set) != nil:
		return session.Auto
	case set.Registry != "":
		return set.Registry
	}
	return session.Auto
}

// families are the categories of tools that a session's list has beside the core.
func families(s *session.Session, set *Settings) []string {
	own, only := s.ListedOnly()
	switch {
	case !only || own == nil && set.Registry == session.Lazy:
		return nil
	case own != nil:
		return own
	case set.Registry == session.Full:
		return []string{session.EveryFamily}
	}
	return set.Families
}

// listed reports whether a tool is in a list that is short.
func listed(s *session.Session, set *Settings, t *tools.Tool) bool {
	return t.Core || ofFamily(s, set, t) || slices.Contains(s.Active(), t.Name)
}

// ofFamily reports whether a tool is in a session's list for its family. Whoever names families
// also gets the tools that the user added, and those without which required steps can't be declared.
func ofFamily(s *session.Session, set *Settings, t *tools.Tool) bool {
	f := families(s, set)
	return len(f) > 0 && (t.Source.Kind != tools.SourceBuiltin || slices.Contains(f, t.Category) || t.Category == "steps" && set.Steps)
}

// allows reports whether the session's allow-list has the tool.
func (d *Dispatcher) allows(s *session.Session, t *tools.Tool) bool {
	return s.Allow == nil || d.o.Registry.Matches(tools.Filter{Allow: s.Allow}, t)
}

// Trusted reports whether the user trusts the workspace.
func (d *Dispatcher) Trusted() bool { return d.o.Settings().Trusted }

// offers reports whether there is what a tool needs to work for a session.
func (d *Dispatcher) offers(session string, t *tools.Tool) bool {
	return d.o.Team == nil || t.Category != "agents" || d.o.Team.Offers(session, t.Name)
}

// forbidden reports whether no call of the tool would be allowed: to offer it
// to a model would waste its turns.
func (d *Dispatcher) forbidden(s *session.Session, set *Settings, t *tools.Tool) bool {
	mode, _ := d.mode(s.Mode(), set)
	return set.Permissions[t.Name] == policy.Deny || mode.Permissions[t.Name] == policy.Deny
}

// Search returns the tools of a session that a question in plain words asks
// for, best first, and of each whether the model's list has it.
func (d *Dispatcher) Search(sessionID, question string) ([]tools.Found, error) {
	all, _, err := d.List(ListRequest{Session: sessionID, Model: true, Registry: session.Full})
	if err != nil {
		return nil, err
	}
	seen, _, err := d.List(ListRequest{Session: sessionID, Model: true})
	if err != nil {
		return nil, err
	}
	fit := all
	if strings.TrimSpace(question) != "" {
		fit = tools.Find(all, question)
	}
	var found []tools.Found
	for _, t := range fit {
		found = append(found, tools.Found{Tool: t, Listed: slices.Contains(seen, t)})
	}
	return found, nil
}

// Activate puts a tool into the list of a session's model. It fails with
// tools.UnknownTool or tools.Denied, and widens nothing: a session can
// activate only what it may call.
func (d *Dispatcher) Activate(sessionID, name string) (*tools.Tool, error) {
	s, err := d.o.Sessions.Get(sessionID)
	if err != nil {
		return nil, err
	}
	t, _, ok := d.o.Registry.Lookup(name)
	if !ok {
		return nil, d.o.Registry.Unknown(name)
	}
	if !d.allows(s, t) {
		return nil, notAllowed(t)
	}
	set := d.o.Settings()
	if d.forbidden(s, set, t) {
		return nil, tools.Errorf(tools.Denied, "%s is denied by the settings; use another tool or finish with what you have", t.Name)
	}
	d.activate(s, set, t)
	return t, nil
}

func notAllowed(t *tools.Tool) error {
	return tools.Errorf(tools.Denied, "%s is not among the tools of this session; use another tool or finish with what you have", t.Name)
}

// activate reports whether t was not in the list of the session's model.
func (d *Dispatcher) activate(s *session.Session, set *Settings, t *tools.Tool) bool {
	if t.Core || d.registry(s, set) == session.Full || ofFamily(s, set, t) || !s.Activate(t.Name) {
		return false
	}
	d.o.Bus.Publish(events.Event{Type: events.ToolsChanged, Session: s.ID, ToolSet: &events.ToolSet{Activated: s.Active()}})
	return true
}

// activate puts the called tool into the list of the session's model, which
// has its name from elsewhere.
func (c *call) activate() {
	if !c.d.forbidden(c.session, c.set, c.tool) {
		c.unseen = c.d.activate(c.session, c.set, c.tool)
	}
}

// activateNamed puts the tools that a result names into the list of the session's model, of
// those that the called tool's results may name.
func activateNamed(c *call, out tools.Result, err error) {
	if c.tool == nil || c.session == nil {
		return
	}
	text := out.Text
	if err != nil {
		e := tools.AsError(err)
		text = e.Message + "\n" + e.Detail
	}
	for _, name := range c.tool.Names {
		if t, _, ok := c.d.o.Registry.Lookup(name); ok && strings.Contains(text, name) && c.d.allows(c.session, t) && !c.d.forbidden(c.session, c.set, t) {
			c.d.activate(c.session, c.set, t)
		}
	}
}
