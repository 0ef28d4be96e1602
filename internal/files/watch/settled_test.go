package watch_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestSettled: it is told once after many writes, also in directories that are made
// later, not of what lies in the one that is left out, and not after its end.
func TestSettled(t *testing.T) {
	dir := t.TempDir()
	without := filepath.Join(dir, "without")
	if err := ownfile.Mkdir(without, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	told := make(chan struct{}, 1000)
	if err := ownfile.WriteFile(filepath.Join(dir, "before"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := watch.Settled(ctx, dir, without, 50*time.Millisecond, time.Minute, func() { told <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	write := func(name string) {
		t.Helper()
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	<-told // of what was there
	for range 100 {
		write("a")
	}
	<-told
	if err := ownfile.MkdirAll(filepath.Join(dir, "deep", "er"), 0o755); err != nil {
		t.Fatal(err)
	}
	<-told
	write("deep/er/b")
	<-told
	write("without/c")
	write("a") // the control: what is told next is of this
	<-told
	if n := len(told); n > 1 {
		t.Errorf("it was told %d times more", n)
	}
	stop()
	if err := watch.Settled(t.Context(), filepath.Join(dir, "gone"), "", time.Hour, time.Hour, func() { t.Error("told of nothing") }); err != nil {
		t.Error(err)
	}
}
