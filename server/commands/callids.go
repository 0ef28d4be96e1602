package commands

import (
	"sync"

	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// maxCallIDs is how many ids of calls are remembered.
const maxCallIDs = 10_000

// CallIDs are the ids that a client gave to its calls. The events, the log and the questions of
// two calls of one id could not be told apart. The zero value is ready for use.
type CallIDs struct {
	mu    sync.Mutex
	known map[[2]string]bool
	order [][2]string // oldest first
}

// take fails for an id that a call of the session had before.
func (c *CallIDs) take(session, id string) error {
	if c == nil || id == "" { // the call gets one
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{session, id}
	if c.known[key] {
		return client.InvalidParams("callId: another call of this session had %q; give each call an id of its own, or none", id)
	}
	if c.known == nil {
		c.known = map[[2]string]bool{}
	}
	if c.known[key] = true; len(c.order) == maxCallIDs {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	c.order = append(c.order, key)
	return nil
}
