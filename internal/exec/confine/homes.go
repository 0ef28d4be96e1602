package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitguard"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Programs obey files of the home: start-up files, settings, programs in ~/bin. So commands
// that nobody was asked about write a layer over the project's home and caches, which is
// their session's alone and ends with it. They read what is below: what commands that a
// person allowed have installed or downloaded. Those commands have the project's home
// itself, and so run nothing that others planted there.
//
// The same holds for caches. A build cache is believed without a look at what made an entry,
// so an entry of one session must not reach another. A session's second build is as fast as
// ever; a new session begins with the user's cache and what allowed commands added.
//
// The state of the shell belongs to the session and stays one directory for both: a line
// that a person allows goes on where the session was, with its variables and functions.

// homes are the homes of sessions.
type homes struct {
	mu sync.Mutex
	of map[homeOf]*ownHome
}

// homeOf is a session: another one may get its name before all of it has ended.
type homeOf struct {
	name  string
	ended <-chan struct{} // nil: nobody knows
}

func (h homeOf) over() bool {
	if h.ended == nil {
		return true
	}
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

type ownHome struct {
	once   sync.Once
	err    error
	own    *world.Own
	dir    string          // the home, where there are no overlays
	layers []box.Layer     // else what lies over the project's
	areas  []gitguard.Area // that commands write
}

// homeDir is a directory of the project's home that stays that: on in the directory in.
type homeDir struct{ in, on string }

// haveOwnHome gives a command the home of its session. Of the project's home it writes the
// directories of shared alone.
func haveOwnHome(c *Confiner, spec *Spec, session string, shared ...homeDir) error {
	of := homeOf{name: session}
	if c.o.Sessions != nil && session != "" {
		if s, err := c.o.Sessions.Get(session); err == nil {
			of.ended = s.Done()
		}
	}
	h := c.homes.get(of)
	if h.once.Do(func() { h.err = h.begin(c, spec.Home) }); h.err != nil {
		c.homes.drop(of) // the next command tries again
		return &box.RefusedError{Why: "a home for the session's commands can't be made: " + h.err.Error()}
	}
	dir, err := os.OpenRoot(spec.Home)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, s := range shared {
		for _, name := range []string{s.in, filepath.Join(s.in, s.on)} {
			if info, err := dir.Lstat(name); err == nil && !info.IsDir() {
				if err := dir.Remove(name); err != nil {
					return err
				}
			}
		}
		if err := dir.MkdirAll(filepath.Join(s.in, s.on), 0o700); err != nil {
			return err
		}
		spec.HomeDirs = append(spec.HomeDirs, box.HomeDir{Dir: filepath.Join(spec.Home, s.in, s.on), In: s.in, On: s.on})
	}
	spec.areas = slices.DeleteFunc(slices.Clone(spec.areas), func(a gitguard.Area) bool { return a.Private })
	spec.areas, spec.Layers = append(spec.areas, h.areas...), h.layers
	for _, l := range h.layers {
		_ = l.Mount.Refresh() // as in share
	}
	if h.dir == "" {
		return nil
	}
	ignored, err := dir.ReadFile(gitIgnore)
	spec.Home = h.dir
	if err := writeSettings(h.dir, spec.git); err != nil {
		return err
	}
	if err == nil {
		at, err := os.OpenRoot(h.dir)
		if err != nil {
			return err
		}
		defer at.Close()
		if err := putInHome(at, gitIgnore, string(ignored)); err != nil {
			return err
		}
	}
	return writeLogin(h.dir)
}

// begin makes it.
func (h *ownHome) begin(c *Confiner, home string) (err error) {
	root := string(c.o.Home)
	if h.own, err = c.worlds.Own(root); err != nil {
		return err
	}
	if c.worlds.Usable(world.Overlay) != nil {
		if h.dir, err = h.own.Plain(); err != nil {
			return err
		}
		// The guard compares real paths. The directory was made just now, for this server alone.
		real, err := filepath.EvalSymlinks(h.dir)
		h.areas = []gitguard.Area{{Dir: real, Private: true}}
		return err
	}
	add := func(lower, on string) error {
		layer, upper, err := h.own.Add(root, lower, on)
		if err != nil {
			return fmt.Errorf("%s: %w", lower, err)
		}
		h.layers, h.areas = append(h.layers, layer), append(h.areas, gitguard.Area{Dir: upper, Private: true})
		return nil
	}
	if err := add(home, ""); err != nil {
		return err
	}
	for on, cache := range userCaches() {
		// An overlay takes no link for its lower directory. The cache is the user's, and commands can't replace it.
		lower, err := filepath.EvalSymlinks(cache)
		if err != nil {
			continue // the user has none
		}
		if err := add(lower, on); err != nil {
			c.o.Log.Debug("commands have a cache of their own", "instead of", cache, "error", err)
		}
	}
	return nil
}

func (h *homes) get(of homeOf) *ownHome {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[homeOf]*ownHome{}
	}
	if h.of[of] == nil {
		h.of[of] = &ownHome{}
	}
	return h.of[of]
}

func (h *homes) drop(of homeOf) {
	h.mu.Lock()
	home := h.of[of]
	delete(h.of, of)
	h.mu.Unlock()
	home.close()
}

// close gives up the homes of sessions of a name that have ended.
func (h *homes) close(session string) {
	h.mu.Lock()
	var over []homeOf
	for of := range h.of {
		if of.name == session && of.over() {
			over = append(over, of)
		}
	}
	h.mu.Unlock()
	for _, of := range over {
		h.drop(of)
	}
}

// closeAll gives up all of them.
func (h *homes) closeAll() {
	h.mu.Lock()
	all := h.of
	h.of = nil
	h.mu.Unlock()
	for _, home := range all {
		home.close()
	}
}

func (h *ownHome) close() {
	if h == nil {
		return
	}
	h.once.Do(func() {}) // one that is being made is made first
	if h.own != nil {
		_ = h.own.Close() // what stays is swept by the next server
	}
}

// stateOf is the directory of the state that a session's shells keep.
func stateOf(session string) []homeDir {
	if session == "" {
		return nil
	}
	return []homeDir{{shell.StateDir, session}}
}
