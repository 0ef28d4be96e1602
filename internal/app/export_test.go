package app

import (
	"io"
	"log/slog"
)

// NewLogger is for tests outside the package.
func NewLogger(w io.Writer, level slog.Leveler) *slog.Logger { return newLogger(w, level) }
