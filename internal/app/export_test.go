package app

import (
	"context"
	"io"
	"log/slog"

	"github.com/sidecar-ls/sidecar-ls/internal/redact"
)

// NewLogger is for tests outside the package.
func NewLogger(w io.Writer, level slog.Leveler) *slog.Logger { return redact.NewLogger(w, level) }

// ServeAs is Serve by a program that starts itself for what it confines.
func ServeAs(ctx context.Context, self string, r io.Reader, w io.Writer, log *slog.Logger) error {
	return serveOver(ctx, Streams{In: r, Out: w, Self: self}, log, nil)
}

// Leave is what a server does when its editor has left.
var Leave = leave
