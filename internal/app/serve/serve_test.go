package serve

import (
	"log/slog"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestLeaveExits: a process whose work does not end is ended, and with the code
// that says how its editor left.
func TestLeaveExits(t *testing.T) {
	slow.Test(t)
	for orderly, want := range map[bool]int{true: 0, false: 1} {
		code := make(chan int, 1)
		leave(func(c int) { code <- c }, orderly, slog.New(slog.DiscardHandler))
		if got := <-code; got != want {
			t.Errorf("orderly %v: exit code %d", orderly, got)
		}
	}
	leave(nil, true, slog.New(slog.DiscardHandler)) // whoever runs it in a process of theirs has no Exit
}
