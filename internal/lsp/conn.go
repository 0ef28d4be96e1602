package lsp

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// Handler is what a connection calls for the messages of the peer.
type Handler interface {
	// Notification is called inline, in wire order, and should be quick. ctx ends
	// with the connection. params is nil when absent and may be kept.
	Notification(ctx context.Context, method string, params json.RawMessage)
	// Request is called in a goroutine of its own, initialize and shutdown inline.
	// ctx ends when the peer cancels the request or is gone; context.Cause says
	// which. An *Error is the reply as it is; any other error is RequestFailed,
	// or RequestCancelled when the request was cancelled.
	Request(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Options of a connection. The zero value is good.
type Options struct {
	Log          *slog.Logger                    // nil is silence
	MaxFrame     int                             // bytes of a message, default 64 MiB
	Concurrency  int                             // requests running at once, default 256
	MaxQueued    int                             // bytes of waiting requests, default 256 MiB
	MaxUnsent    int                             // bytes not yet written before senders wait, default 16 MiB
	WriteTimeout time.Duration                   // without any progress in writing, then the peer counts as gone; default 30 s
	DrainTimeout time.Duration                   // how long Run waits for requests at the end, default 5 s
	Trace        func(sent bool, message []byte) // sees every message body; must not keep it
}
