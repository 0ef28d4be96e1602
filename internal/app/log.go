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
	return slog.New(hidingHandler{hide: hide, Handler: slog.NewTextHandler(w, &slog.HandlerOptions{
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
	})})
}

// hidingHandler is a handler that hides secrets, and who hides them.
type hidingHandler struct {
	slog.Handler
	hide *redact.Redactor
}

func (h hidingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return hidingHandler{h.Handler.WithAttrs(attrs), h.hide}
}

func (h hidingHandler) WithGroup(name string) slog.Handler {
	return hidingHandler{h.Handler.WithGroup(name), h.hide}
}

// redactorOf is the redactor of a logger of ours: what the server learns is
// hidden in its log, too.
func redactorOf(log *slog.Logger) *redact.Redactor {
	if h, ok := log.Handler().(hidingHandler); ok {
		return h.hide
	}
	return newRedactor()
}

// openLog opens the file that is logged to, for its owner alone.
func openLog(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}
