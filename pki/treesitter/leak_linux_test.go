//go:build cgo

package treesitter

import (
	"bytes"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// resident returns the memory of the process that is in RAM, the C side's too.
func resident(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(string(bytes.Fields(data)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// Trees that nobody closes are invisible to the collector: 300 of this size
// would take hundreds of MiB.
func TestMemoryIsGivenBack(t *testing.T) {
	slow.Test(t)
	src := bytes.Repeat([]byte("def f(a, b):\n    return [x * a for x in b if x]\n\n"), 130<<10/50)
	parse := func(n int) {
		for range n {
			if symbols, err := Extract("python", src); err != nil || len(symbols) < 1000 {
				t.Fatalf("%d symbols, %v", len(symbols), err)
			}
		}
	}
	parse(10)
	before := resident(t)
	parse(60)
	if grown := resident(t) - before; grown > 64<<20 {
		t.Errorf("60 parses of %d KiB leave %d MiB behind", len(src)>>10, grown>>20)
	}
}

// The same for parses that are given up.
func TestMemoryIsGivenBackAfterTimeouts(t *testing.T) {
	src := bytes.Repeat([]byte("def f(a):\n    return (a + 1) * 2\n\n"), 20000)
	g := grammarOf("python")
	give := func(n int) {
		for range n {
			if _, err := g.symbols(src, 200*time.Microsecond); err == nil {
				t.Fatal("no timeout")
			}
		}
	}
	give(5)
	before := resident(t)
	give(100)
	if grown := resident(t) - before; grown > 64<<20 {
		t.Errorf("100 parses given up leave %d MiB behind", grown>>20)
	}
}
