package precheck

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// TestCheckerBegins: a queue that changes while its core is still built is
// looked at when the core is whole, however long that takes.
func TestCheckerBegins(t *testing.T) {
	dir := t.TempDir()
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "main", Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	review, err := pendingedits.Open(t.TempDir(), disk, pendingedits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer review.Close()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		k := New(Options{Queue: review, Changed: func() { looks++ }})
		k.found["gone.go"] = looked{} // a look at the empty queue forgets it
		k.QueueChanged()
		time.Sleep(time.Hour)
		synctest.Wait()
		if looks != 0 {
			t.Error("it looked at a queue that is not open yet")
		}
		k.Begin()
		time.Sleep(time.Hour)
		synctest.Wait()
		if looks != 1 {
			t.Errorf("the change of before was looked at %d times", looks)
		}
		k.Close()
	})
	New(Options{}).Close() // one that never began ends too
}
