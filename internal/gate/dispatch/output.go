package dispatch

import (
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// output is what a call prints while it runs. A secret may come in two chunks:
// a line is shown when its end is there.
type output struct {
	mu     sync.Mutex
	stream *redact.Stream
}

// emit shows what of the call's output can be judged.
func (c *call) emit(chunk string) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.out.stream == nil {
		c.out.stream = redact.NewStream(c.d.o.Redact.Text)
	}
	c.show(c.out.stream.Write(chunk))
}

// flush shows what of the call's output was held back.
func (c *call) flush() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.out.stream != nil {
		c.show(c.out.stream.Close())
	}
}

func (c *call) show(chunk string) {
	if chunk == "" {
		return
	}
	c.publish(events.Event{Type: events.ToolOutput, Output: &events.Output{Chunk: chunk}})
	if c.req.Emit != nil {
		c.req.Emit(chunk)
	}
}
