package review_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// heap is what is in use once all that nobody has any more is gone.
func heap() int {
	for range 3 { // pools and finalizers take more than one
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestGiantEdits: what a giant edit took is given back once it is decided.
func TestGiantEdits(t *testing.T) {
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review"})
	const size = 20 << 20 // more than what may be undone takes
	for decide, kind := range map[string]string{"accept": "modify", "reject": "create"} {
		t.Run(decide+" "+kind, func(t *testing.T) {
			line := "a line that is long enough to make something of it, and more\n"
			files := map[string]string{"small.txt": "one\n"}
			if kind == "modify" {
				files["a.txt"] = strings.Repeat("as it was\n", 1000)
			}
			r := e2e.Connect(t, e2e.Project(t, files), fakeeditor.Options{})
			if res := r.Tool("write_file", e2e.Object{"path": "small.txt", "content": "two\n"}); !res.OK {
				t.Fatal(res.Content)
			}
			r.Accept(e2e.Object{})
			before := heap()
			if res := r.Tool("write_file", e2e.Object{"path": "a.txt", "content": strings.Repeat(line, size/len(line))}); !res.OK {
				t.Fatal(res.Content)
			}
			held := heap()
			if held-before < size {
				t.Errorf("the control: while it is pending it takes %d MiB", (held-before)>>20)
			}
			if decide == "accept" {
				if res := r.Accept(e2e.Object{}); len(res.Accepted) != 1 {
					t.Fatal(res)
				}
			} else {
				e2e.Command[e2e.Object](r, "sidecar.review.reject", e2e.Object{})
			}
			after := heap()
			for range 200 { // an index may still be reading the file
				if after-before <= 8<<20 {
					break
				}
				after = heap()
			}
			t.Logf("%d MiB before, %d while it is pending, %d after", before>>20, held>>20, after>>20)
			if after-before > 8<<20 {
				t.Errorf("%d MiB more than before", (after-before)>>20)
			}
		})
	}
}
