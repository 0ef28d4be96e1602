package source

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a call says while it runs.
const (
	maxProgress      = 1 << 10 // bytes of one message
	maxProgressLines = 1000
	progressPause    = 50 * time.Millisecond // what comes sooner after the last is left out
)

// hearing knows which calls want to hear of their progress.
type hearing struct {
	mu    sync.Mutex
	last  int
	calls map[string]*heard // by the token of the call
}

type heard struct {
	emit  func(string)
	lines int
	at    time.Time
}

// begin returns a token for a call, and what ends it: nothing is emitted afterwards.
func (h *hearing) begin(emit func(string)) (token string, end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	token = "call-" + strconv.Itoa(h.last)
	if h.calls == nil {
		h.calls = map[string]*heard{}
	}
	h.calls[token] = &heard{emit: emit}
	return token, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.calls, token)
	}
}

// progress makes what a server says of a call's progress a line of its output.
func progress(m *Manager, h *hearing) func(context.Context, *sdk.ProgressNotificationClientRequest) {
	return func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
		p := req.Params
		token, _ := p.ProgressToken.(string)
		h.mu.Lock()
		defer h.mu.Unlock()
		call := h.calls[token]
		whole := p.Total > 0 && p.Progress >= p.Total
		if call == nil || call.lines == maxProgressLines || !whole && time.Since(call.at) < progressPause {
			return
		}
		line := number(p.Progress)
		if p.Total > 0 {
			line += "/" + number(p.Total)
		}
		text, signs := m.o.Clean(p.Message)
		if text = oneLine(text, maxProgress); text != "" && len(signs) == 0 {
			line += " " + text
		}
		call.lines++
		call.at = time.Now()
		call.emit(line + "\n")
	}
}

func number(f float64) string {
	if f != f || f > 1e15 || f < -1e15 {
		return "?"
	}
	return fmt.Sprintf("%.6g", f)
}
