package pendingedits_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// bigFile has ten thousand lines.
func bigFile() string {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "line %d of a file that is long enough\n", i)
	}
	return b.String()
}

// BenchmarkOneLine proposes a change of one line of ten thousand and lists it;
// base and log are as fast as memory, the log's fsync is not left out.
func BenchmarkOneLine(b *testing.B) {
	base := newMemory()
	store, err := pendingedits.Open(filepath.Join(b.TempDir(), "p"), base, pendingedits.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	texts := []string{bigFile(), strings.Replace(bigFile(), "line 5000 ", "line five thousand ", 1)}
	base.set("a", texts[0])
	view := store.For(agent)
	for i := 0; b.Loop(); i++ {
		c := workspace.Change{Path: "a", Before: []byte(texts[i%2]), After: []byte(texts[1-i%2])}
		if err := view.Apply(context.Background(), c); err != nil {
			b.Fatal(err)
		}
		store.List("")
	}
}

// BenchmarkTyping has the user type in that file, above a hunk.
func BenchmarkTyping(b *testing.B) {
	base := newMemory()
	store, err := pendingedits.Open(filepath.Join(b.TempDir(), "p"), base, pendingedits.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	text := bigFile()
	base.set("a", text)
	if err := store.For(agent).Apply(context.Background(), workspace.Change{Path: "a", Before: []byte(text), After: []byte(strings.Replace(text, "line 5000 ", "", 1))}); err != nil {
		b.Fatal(err)
	}
	texts := []string{"1\n" + text, "12\n" + text}
	for i := 0; b.Loop(); i++ {
		base.set("a", texts[i%2])
		store.BaseChanged("a")
		store.List("")
	}
}

// BenchmarkList lists a thousand files.
func BenchmarkList(b *testing.B) {
	bench := newBench(b)
	var changes []workspace.Change
	for i := range 1000 {
		name := fmt.Sprintf("d%d/f%d", i%10, i)
		bench.write(name, ten)
		changes = append(changes, workspace.Change{Path: name, Before: []byte(ten), After: []byte(replace(ten, "5", "five"))})
	}
	bench.apply(changes...)
	for b.Loop() {
		if n := len(bench.store.List("").Edits); n != 1000 {
			b.Fatal(n)
		}
	}
}
