package shadow_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// TestReadingIsNotNoted: making a shadow leaves no trace in the files that it
// is made of, not even that they were read.
func TestReadingIsNotNoted(t *testing.T) {
	h := newHouse(t, "a", "1\n", "control", "2\n")
	long := time.Now().Add(-100 * time.Hour)
	for _, name := range []string{"a", "control"} {
		if err := ownfile.Chtimes(h.Path(name), long, long.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	read(t, h.Repo, "control")
	_, w := h.create(shadow.CreateRequest{})
	if got := read(t, w, "a"); got != "1\n" {
		t.Errorf("got %q", got)
	}
	noted := func(name string) bool {
		var st syscall.Stat_t
		if err := syscall.Lstat(h.Path(name), &st); err != nil {
			t.Fatal(err)
		}
		return st.Atim.Nano() != long.UnixNano()
	}
	if !noted("control") {
		needs.Skip(t, needs.Mounts, "the file system does not note what is read")
	}
	if noted("a") {
		t.Error("it is noted")
	}
}
