package dispatch

import (
	"bytes"
	"fmt"
)

// maxUnseen bounds the files of a call that are compared with the queue.
const maxUnseen = 10

// notePending tells of files that the call names and whose pending edits it did not
// see, so that nobody takes them for all there is.
func (c *call) notePending() {
	paths := c.bound.Effects.Paths
	if c.mode.SeesPending || c.line != nil || len(paths) == 0 || c.dest.PendingCount() == 0 {
		return
	}
	pending, live := c.dest.Pending(c.session.ID, c.tool.Name, false), c.dest.Live()
	for _, path := range paths[:min(len(paths), maxUnseen)] {
		name, err := c.see.Resolve(path)
		if err != nil {
			continue
		}
		held, err1 := pending.ReadFile(name)
		seen, err2 := live.ReadFile(name)
		if err1 != nil && err2 != nil || (err1 == nil) == (err2 == nil) && bytes.Equal(held, seen) {
			continue
		}
		c.notes = append(c.notes, fmt.Sprintf("%s has an edit that waits for review. This looked at the file without it; in the mode review it is seen.", name))
	}
}
