package cli

import (
	"strings"
	"testing"
)

// A question rings once; only a terminal that is known for it gets a notification, and nothing
// in the question steers it.
func TestRing(t *testing.T) {
	for name, want := range map[string]string{
		"TERM=xterm-256color":    "",
		"TERM_PROGRAM=iTerm.app": "\x1b]9;a; b\x1b\\",
		"TERM_PROGRAM=WezTerm":   "\x1b]9;a; b\x1b\\",
		"TERM=foot":              "\x1b]777;notify;sidecar-ls;a, b\x1b\\",
		"TERM=foot TMUX=1":       "",
		"TERM=linux":             "",
	} {
		env := func(key string) string {
			for _, pair := range strings.Fields(name) {
				if k, v, _ := strings.Cut(pair, "="); k == key {
					return v
				}
			}
			return ""
		}
		if got := notification(env, "a; b"); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	t.Setenv("TERM_PROGRAM", "ghostty")
	var tty strings.Builder
	ring(&tty, "Run `x\x1b]0;evil\a\x9c`?\nwhy")
	if got := tty.String(); strings.Count(got, "\x1b") != 2 || strings.Count(got, "\a") != 1 || !strings.HasPrefix(got, "\a\x1b]9;sidecar-ls asks: Run `x<U+001B>]0;evil") || strings.Contains(got, "why") {
		t.Errorf("%q", got)
	}
}
