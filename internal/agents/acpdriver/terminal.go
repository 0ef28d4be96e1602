package acpdriver

import (
	"slices"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// screen is what a terminal of the agent's own shows. It is the output of the calls
// that name it, which may come later.
type screen struct {
	id    string
	text  []byte
	full  bool
	calls []string // by id
}

// Bounds of the terminals that are remembered, and of the calls that show one. Of a
// terminal that has more output the beginning is shown.
const (
	maxScreens = 100
	maxScreen  = 256 << 10
	maxShowing = 10
)

const notShown = "\n[There is more output, which is not shown.]"

// screen finds a terminal, or remembers it. b.mu is held.
func (b *Bridge) screen(id string) *screen {
	if i := slices.IndexFunc(b.screens, func(s *screen) bool { return s.id == id }); i >= 0 {
		return b.screens[i]
	}
	s := &screen{id: id}
	b.screens = append(b.screens, s)
	if len(b.screens) > maxScreens {
		b.screens = slices.Delete(b.screens, 0, 1)
	}
	return s
}

// join has a call show a terminal, and leave ends that.
func (b *Bridge) join(id, call string) {
	if s := b.screen(id); len(s.calls) < maxShowing && !slices.Contains(s.calls, call) {
		s.calls = append(s.calls, call)
	}
}

func (b *Bridge) leave(id, call string) {
	if i := slices.IndexFunc(b.screens, func(s *screen) bool { return s.id == id }); i >= 0 {
		b.screens[i].calls = slices.DeleteFunc(b.screens[i].calls, func(c string) bool { return c == call })
	}
}

// terminal tells what is new of a terminal, where a call shows it.
func (b *Bridge) terminal(o acp.TerminalOutput) (events []conversation.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.screen(o.ID)
	if o.Whole {
		s.text, s.full = nil, false
	}
	if s.full {
		return nil
	}
	more := o.Text
	if over := len(s.text) + len(more) - maxScreen; over > 0 {
		end := len(more) - over
		for end > 0 && !utf8.RuneStart(more[end]) {
			end--
		}
		more, s.full = more[:end]+notShown, true
	}
	s.text = append(s.text, more...)
	for _, id := range s.calls {
		c := b.calls[id]
		if c == nil || c.finished {
			continue
		}
		tell := func() *conversation.Event { return b.adds(c, "", more) }
		if o.Whole {
			tell = func() *conversation.Event { return b.says(c, b.words(c.shows)) }
		}
		if e := tell(); e != nil {
			events = append(events, *e)
		}
	}
	return events
}
