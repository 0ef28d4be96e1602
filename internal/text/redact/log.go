package redact

import (
	"fmt"
	"io"
	"log/slog"
	"os"
)

// OfEnvironment knows the secrets that the environment of this process holds.
func OfEnvironment() *Redactor { return New(Held(os.Environ())...) }

// NewLogger logs to w, without secrets: those of the environment, and those
// that its redactor (see OfLogger) learns.
func NewLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	hide := OfEnvironment()
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

// OfLogger is the redactor of a logger that NewLogger made; any other gets a
// new one.
func OfLogger(log *slog.Logger) *Redactor {
	if h, ok := log.Handler().(hidingHandler); ok {
		return h.hide
	}
	return OfEnvironment()
}

// hidingHandler is a handler that hides secrets, and who hides them.
type hidingHandler struct {
	slog.Handler
	hide *Redactor
}

func (h hidingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return hidingHandler{h.Handler.WithAttrs(attrs), h.hide}
}

func (h hidingHandler) WithGroup(name string) slog.Handler {
	return hidingHandler{h.Handler.WithGroup(name), h.hide}
}
