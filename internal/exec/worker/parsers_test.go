package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// What a process answers is what parsing here answers, for many at once; a
// process is used again, one that is killed is replaced, and none stays.
func TestParserPool(t *testing.T) {
	slow.Test(t)
	p := NewParsers(program.ServerAnywhere(t))
	sources := map[string]string{
		"python":     "from a import b\n\nclass C(b.D):\n    def e(self):\n        return self.f()\n",
		"typescript": "import { a } from './a';\nexport class B extends a.C { d() { return new a.E(); } }\n",
		"c":          "#include <a.h>\nint b(void) { return c(); }\n",
	}
	check := func() {
		t.Helper()
		var wg sync.WaitGroup
		for range 4 {
			for lang, src := range sources {
				wg.Go(func() {
					want, err := treesitter.Analyze(lang, []byte(src))
					if err != nil {
						t.Error(err)
					}
					got, err := p.Parse(t.Context(), lang, []byte(src), true)
					if err != nil {
						t.Error(err)
					}
					if d := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); d != "" {
						t.Errorf("%s: -here +there:\n%s", lang, d)
					}
				})
			}
		}
		wg.Wait()
	}
	check()
	p.mu.Lock()
	var pids []int
	for _, w := range p.idle {
		pids = append(pids, w.tree.PID())
	}
	p.mu.Unlock()
	if len(pids) == 0 || len(pids) > cap(p.slots) {
		t.Errorf("%d processes for %d at a time", len(pids), cap(p.slots))
	}

	if _, err := p.Parse(t.Context(), "cobol", nil, true); err == nil || err.Error() != treesitter.ErrUnsupported.Error() {
		t.Errorf("an error of the parser: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Parse(cancelled, "c", []byte(sources["c"]), true); err == nil {
		t.Error("cancelled, and answered")
	}
	p.mu.Lock()
	for _, w := range p.idle {
		w.kill()
		_ = w.tree.Wait()
	}
	p.mu.Unlock()
	failed := 0
	for range cap(p.slots) + 1 {
		if _, err := p.Parse(t.Context(), "c", []byte(sources["c"]), true); err != nil {
			failed++
		}
	}
	if failed > cap(p.slots) {
		t.Errorf("killed processes are used again: %d failures", failed)
	}
	check()

	p.Close()
	if _, err := p.Parse(t.Context(), "c", []byte(sources["c"]), true); err == nil {
		t.Error("closed, and answered")
	}
	for _, pid := range pids {
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && strings.HasPrefix(exe, filepath.Dir(p.program)) {
			t.Errorf("process %d stays", pid)
		}
	}
}

// A file that its parser can't end with is given up, and others are not.
func TestParserPoolGivesUp(t *testing.T) {
	slow.Test(t)
	p := NewParsers(program.ServerAnywhere(t))
	defer p.Close()
	src := []byte(strings.Repeat("int f(int a) { return (a + 1) * 2; }\n", 25_000))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := p.Parse(ctx, "c", src, true); !errors.Is(err, treesitter.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if f, err := p.Parse(t.Context(), "c", []byte("int g(void) { return 1; }\n"), false); err != nil || len(f.Symbols) != 1 {
		t.Errorf("after it: %v, %v", f.Symbols, err)
	}
}
