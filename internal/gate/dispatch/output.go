package dispatch

import (
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// output shows what a call prints while it runs. A secret may come in two chunks:
// a line is shown when its end is there.
type output struct {
	redact func(string) string
	show   func(chunk string)

	mu     sync.Mutex
	stream *redact.Stream
}

// emit shows what of the output can be judged.
func (o *output) emit(chunk string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stream == nil {
		o.stream = redact.NewStream(o.redact)
	}
	o.showSome(o.stream.Write(chunk))
}

// flush shows what of the output was held back.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stream != nil {
		o.showSome(o.stream.Close())
	}
}

func (o *output) showSome(chunk string) {
	if chunk != "" {
		o.show(chunk)
	}
}
