package confine

import (
	"os"
	"path/filepath"
	"sync"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitguard"
)

// Commands have a home of their own, in which a first build would begin from
// nothing. So they see there what the user's own builds have cached, below a layer
// that is the project's: the user's caches are read, never written.

// userCaches are those, by their place in the home of commands. An entry is found
// by what it was made of, and so can't stand in for another.
func userCaches() map[string]string {
	caches := map[string]string{}
	if dir := os.Getenv("GOCACHE"); filepath.IsAbs(dir) {
		caches[".cache/go-build"] = dir
	} else if dir, err := os.UserCacheDir(); err == nil {
		caches[".cache/go-build"] = filepath.Join(dir, "go-build")
	}
	if dir, err := os.UserHomeDir(); err == nil {
		caches[".npm/_cacache"] = filepath.Join(dir, ".npm", "_cacache")
	}
	return caches
}

// caches are those of the user that are shared. They are mounted once.
type caches struct {
	once  sync.Once
	list  []box.Layer
	areas []gitguard.Area // what commands write there
}

// share puts the user's caches into a Spec. Where one can't be shared, as while
// another server of the project does, commands have a cache of their own as ever.
func (c *Confiner) share(spec *Spec) {
	if c.worlds.Usable(world.Overlay) != nil {
		return
	}
	c.caches.once.Do(func() {
		for on, cache := range userCaches() {
			lower, err := filepath.EvalSymlinks(cache)
			if err != nil {
				continue // the user has none
			}
			layer, upper, err := c.worlds.Share(string(c.o.Home), lower, on)
			if err != nil {
				c.o.Log.Debug("commands have a cache of their own", "instead of", cache, "error", err)
				continue
			}
			c.caches.list = append(c.caches.list, layer)
			c.caches.areas = append(c.caches.areas, gitguard.Area{Dir: upper, Private: true})
		}
	})
	for _, l := range c.caches.list {
		_ = l.Mount.Refresh() // else what the user's builds have cached since is not found
	}
	spec.Layers, spec.areas = c.caches.list, append(spec.areas, c.caches.areas...)
}
