package app

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/redact"
)

// newRedactor knows the secrets that the server's own environment holds.
func newRedactor() *redact.Redactor { return redact.New(redact.Held(os.Environ())...) }

// newLogger logs to w, without secrets.
func newLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	hide := newRedactor()
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch v := a.Value.Any().(type) {
			case string:
				a.Value = slog.StringValue(hide.Text(v))
			case error:
				a.Value = slog.StringValue(hide.Text(v.Error()))
			case fmt.Stringer:
				if a.Value.Kind() == slog.KindAny {
					a.Value = slog.StringValue(hide.Text(v.String()))
				}
			}
			return a
		},
	}))
}

// openLog opens the file that is logged to, for its owner alone.
func openLog(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}
