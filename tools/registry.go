package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Layer is where a tool is registered. A higher layer stands before a lower
// one, and what it covers comes back when it goes.
type Layer int

// The layers, lowest first.
const (
	Builtin Layer = iota
	User
	Project
	layers
)

// String names the layer for messages.
func (l Layer) String() string {
	if l < 0 || l >= layers {
		return fmt.Sprintf("layer %d", int(l))
	}
	return [...]string{"built-in", "user", "project"}[l]
}

// RegistryOptions are the options of a registry. All may be left out.
type RegistryOptions struct {
	Aliases map[string]string    // old names of tools → their names
	Warn    func(text string)    // told when a tool covers another
	Changed func(names []string) // told, after the change, which names differ now

	// Away returns why a tool is missing for now, by the name that a model wrote;
	// nil means that there never was one.
	Away func(name string) *Error

	// Kits are the tools of a kit by its name; nil is that there is no such kit.
	Kits func(name string) []string
}

// Registry is the set of known tools. Reading never waits: every change makes
// a new snapshot and swaps it in whole.
type Registry struct {
	opts RegistryOptions
	now  atomic.Pointer[snapshot]

	mu     sync.Mutex // of changes
	layers [layers]map[string]*Tool
}

type snapshot struct {
	byName map[string]*Tool
	byMCP  map[string]*Tool // mcp:server/tool
	sorted []*Tool
}

// NewRegistry returns an empty registry.
func NewRegistry(opts RegistryOptions) *Registry {
	r := &Registry{opts: opts}
	r.now.Store(&snapshot{})
	return r
}

// Register adds tools to a layer: all, or none and an error. A name may be
// used once in a layer. A tool of a higher layer may cover a built-in one only
// if it says so (Def.Override) and is not let do with fewer questions.
func (r *Registry) Register(layer Layer, list ...*Tool) error {
	return r.Replace(layer, nil, list...)
}

// Remove takes the named tools out of a layer and reports how many there
// were. What they covered is there again.
func (r *Registry) Remove(layer Layer, names ...string) int {
	n := 0
	// Without additions Replace can't fail.
	_ = r.Replace(layer, func(t *Tool) bool {
		drop := slices.Contains(names, t.Name)
		if drop {
			n++
		}
		return drop
	})
	return n
}

// Replace takes the tools for which drop is true out of a layer and adds list
// to it, in one step: a reader sees the old set or the new one. When list
// can't be added nothing changes, so that a broken new version of a plugin
// leaves the old one in place.
func (r *Registry) Replace(layer Layer, drop func(*Tool) bool, list ...*Tool) error {
	if layer < 0 || layer >= layers {
		return fmt.Errorf("no such layer: %d", int(layer))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := make(map[string]*Tool, len(r.layers[layer])+len(list))
	for name, t := range r.layers[layer] {
		if drop == nil || !drop(t) {
			next[name] = t
		}
	}
	var errs []error
	var covers []string
	for _, t := range list {
		if next[t.Name] != nil {
			errs = append(errs, fmt.Errorf("tool %s is there twice in the %s layer", t.Name, layer))
			continue
		}
		next[t.Name] = t
		if covered, err := r.covered(layer, t); err != nil {
			errs = append(errs, err)
		} else if covered != "" {
			covers = append(covers, covered)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	old := r.now.Load()
	r.layers[layer] = next
	r.swap()
	r.notify(old, covers)
	return nil
}

// covered says which tool of a lower layer t would cover, and fails when it
// must not.
func (r *Registry) covered(layer Layer, t *Tool) (string, error) {
	for l := layer - 1; l >= Builtin; l-- {
		below := r.layers[l][t.Name]
		switch {
		case below == nil:
			continue
		case l == Builtin && !t.Override:
			return "", fmt.Errorf("tool %s has the name of a built-in tool; choose another or say override: true", t.Name)
		case below.AlwaysAsk && !t.AlwaysAsk:
			return "", fmt.Errorf("tool %s must always ask, as the one that it overrides", t.Name)
		case t.Access == Read && below.Access != Read:
			return "", fmt.Errorf("tool %s can't be a reading tool: the one that it overrides is not", t.Name)
		}
		return fmt.Sprintf("tool %s of the %s layer (%s) takes the place of the %s one", t.Name, layer, t.Source, l), nil
	}
	return "", nil
}

func (r *Registry) swap() {
	s := &snapshot{byName: map[string]*Tool{}, byMCP: map[string]*Tool{}}
	for _, layer := range r.layers {
		for name, t := range layer {
			s.byName[name] = t
		}
	}
	for _, name := range sortedKeys(s.byName) {
		t := s.byName[name]
		s.sorted = append(s.sorted, t)
		if t.Source.Kind == SourceMCP {
			s.byMCP[mcpSelector(t.Source)] = t
			if plain := "mcp:" + snake(t.Source.Server) + "/" + snake(t.Source.Tool); s.byMCP[plain] == nil {
				s.byMCP[plain] = t
			}
		}
	}
	r.now.Store(s)
}

func (r *Registry) notify(old *snapshot, covers []string) {
	if r.opts.Warn != nil {
		for _, text := range covers {
			r.opts.Warn(text)
		}
	}
	if r.opts.Changed == nil {
		return
	}
	cur := r.now.Load()
	var names []string
	for name, t := range cur.byName {
		if old.byName[name] != t {
			names = append(names, name)
		}
	}
	for name := range old.byName {
		if cur.byName[name] == nil {
			names = append(names, name)
		}
	}
	if slices.Sort(names); names != nil {
		r.opts.Changed(names)
	}
}

// Len is the number of tools.
func (r *Registry) Len() int { return len(r.now.Load().sorted) }

// String is builtin, mcp <server> or plugin <path>.
func (s Source) String() string {
	return strings.TrimSpace(string(s.Kind) + " " + s.Server + s.Path)
}

// mcpSelector is the name of an MCP tool as mcp:server/tool.
func mcpSelector(s Source) string { return "mcp:" + s.Server + "/" + s.Tool }
