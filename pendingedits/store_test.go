package pendingedits_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// bench is a store over a directory, and what a test does with both.
type bench struct {
	observer observer
	t        testing.TB
	dir      string // the workspace
	state    string // the store's directory
	disk     *workspace.Disk
	store    *pendingedits.Store
	opts     pendingedits.Options
	told     []string
}

// newBench makes a workspace of the files given as name, text, name, text, …
func newBench(t testing.TB, files ...string) *bench {
	t.Helper()
	return newBenchIn(t, t.TempDir(), nil, files...)
}

// newBenchIn is newBench in a directory where names fold so; nil: as they do there.
func newBenchIn(t testing.TB, dir string, folding func(dir string) workspace.Folding, files ...string) *bench {
	t.Helper()
	b := &bench{t: t, dir: dir, state: filepath.Join(t.TempDir(), "pending")}
	b.observer.notify = func(session, text string) { b.told = append(b.told, session+": "+text) }
	b.observer.report = func(text string) { t.Helper(); t.Errorf("reported: %s", text) }
	b.opts.Observer = &b.observer
	for i := 0; i < len(files); i += 2 {
		b.write(files[i], files[i+1])
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "root", Dir: b.dir}}, workspace.DiskOptions{StateDir: t.TempDir(), Folding: folding})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	b.disk = disk
	b.open()
	t.Cleanup(func() { b.store.Close() })
	return b
}

func (b *bench) open() {
	b.t.Helper()
	store, err := pendingedits.Open(b.state, b.disk, b.opts)
	if err != nil {
		b.t.Fatal(err)
	}
	b.store = store
}

func (b *bench) reopen() {
	b.t.Helper()
	if err := b.store.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.open()
}

// write is the user writing a file; an empty text without a line is still a file.
func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := ownfile.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	if b.store != nil {
		b.store.BaseChanged(name)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := ownfile.Remove(filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
	b.store.BaseChanged(name)
}

const absent = "(absent)"

// onDisk and seen are a file's text for the user and for the agent.
func (b *bench) onDisk(name string) string { return text(b.disk, name) }

// agent proposes in most tests.
var agent = pendingedits.Proposer{Session: "s", Tool: "t"}

func (b *bench) seen(name string) string { return text(b.store.For(agent), name) }

func text(files fs.ReadFileFS, name string) string {
	data, err := files.ReadFile(name)
	if workspace.NoFile(err) {
		return absent
	}
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func bytesOf(text string) []byte {
	if text == absent {
		return nil
	}
	return []byte(text)
}

// edit is the agent making a file's text another.
func (b *bench) edit(name, after string) {
	b.t.Helper()
	b.apply(workspace.Change{Path: name, Before: bytesOf(b.seen(name)), After: bytesOf(after)})
}

func (b *bench) move(from, to string) {
	b.t.Helper()
	data := bytesOf(b.seen(from))
	b.apply(workspace.Change{Path: to, From: from, Before: data, After: data})
}

func (b *bench) apply(changes ...workspace.Change) {
	b.t.Helper()
	if err := b.store.For(pendingedits.Proposer{Session: "s", Tool: "edit_file"}).Apply(context.Background(), changes...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) accept(sel pendingedits.Selection) pendingedits.AcceptResult {
	b.t.Helper()
	res, err := b.store.Accept(context.Background(), sel)
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

func (b *bench) acceptAll() {
	b.t.Helper()
	if res := b.accept(pendingedits.Selection{}); len(res.Failed) > 0 {
		b.t.Fatalf("failed: %v", res.Failed)
	}
}

func (b *bench) undo() pendingedits.UndoResult {
	b.t.Helper()
	res, err := b.store.Undo(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

// pending is the queue in short: "modify a.go clean +1-1 [1,1→1,1 clean]".
func (b *bench) pending() []string {
	var out []string
	for _, e := range b.store.List("").Edits {
		name := e.Name
		if e.From != "" {
			name = e.From + "→" + name
		}
		line := fmt.Sprintf("%s %s %s +%d-%d", e.Kind, name, e.State, e.Added, e.Removed)
		for _, h := range e.Hunks {
			line += fmt.Sprintf(" [%d,%d→%d,%d %s]", h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.State)
		}
		out = append(out, line)
	}
	return out
}

func (b *bench) wantPending(want ...string) {
	b.t.Helper()
	if d := cmp.Diff(want, b.pending()); d != "" {
		b.t.Errorf("pending (-want +got):\n%s", d)
	}
}

// want checks what the user and the agent see: name, on disk, seen, …
func (b *bench) want(rows ...string) {
	b.t.Helper()
	for i := 0; i < len(rows); i += 3 {
		if got := b.onDisk(rows[i]); got != rows[i+1] {
			b.t.Errorf("%s on disk: %q, want %q", rows[i], got, rows[i+1])
		}
		if got := b.seen(rows[i]); got != rows[i+2] {
			b.t.Errorf("%s as the agent sees it: %q, want %q", rows[i], got, rows[i+2])
		}
	}
}

func (b *bench) ids(name string) []string {
	b.t.Helper()
	var ids []string
	for _, e := range b.store.List("").Edits {
		if e.Name == name {
			for _, h := range e.Hunks {
				ids = append(ids, h.ID)
			}
		}
	}
	return ids
}

const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

func replace(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// TestLife is one edit of each kind, from proposal to disk, with a restart on
// the way.
func TestLife(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   []string
		propose func(*bench)
		pending []string
		want    []string // name, before, after
	}{
		{
			"modify", []string{"a", ten},
			func(b *bench) { b.edit("a", replace(ten, "2\n", "two\n", "9\n", "9\n9½\n")) },
			[]string{"modify a clean +2-1 [2,1→2,1 clean] [9,0→10,1 clean]"},
			[]string{"a", ten, replace(ten, "2\n", "two\n", "9\n", "9\n9½\n")},
		},
		{
			"create with directories", nil,
			func(b *bench) { b.edit("x/y/z", "new\n") },
			[]string{"create x/y/z clean +1-0 [0,0→1,1 clean]"},
			[]string{"x/y/z", absent, "new\n"},
		},
		{
			"create an empty file", nil,
			func(b *bench) { b.edit("empty", "") },
			[]string{"create empty clean +0-0 [0,0→0,0 clean]"},
			[]string{"empty", absent, ""},
		},
		{
			"delete", []string{"a", ten},
			func(b *bench) { b.edit("a", absent) },
			[]string{"delete a clean +0-10 [1,10→0,0 clean]"},
			[]string{"a", ten, absent},
		},
		{
			"empty", []string{"a", "1\n"},
			func(b *bench) { b.edit("a", "") },
			[]string{"modify a clean +0-1 [1,1→0,0 clean]"},
			[]string{"a", "1\n", ""},
		},
		{
			"rename", []string{"a", ten},
			func(b *bench) { b.move("a", "d/b") },
			[]string{"rename a→d/b clean +0-0 [1,10→1,10 clean]"},
			[]string{"a", ten, absent, "d/b", absent, ten},
		},
		{
			"rename, then edit", []string{"a", ten},
			func(b *bench) { b.move("a", "b"); b.edit("b", replace(ten, "5", "five")) },
			[]string{"rename a→b clean +1-1 [1,10→1,10 clean]"},
			[]string{"a", ten, absent, "b", absent, replace(ten, "5", "five")},
		},
		{
			"edit, then rename twice", []string{"a", ten},
			func(b *bench) { b.edit("a", replace(ten, "5", "five")); b.move("a", "b"); b.move("b", "c") },
			[]string{"rename a→c clean +1-1 [1,10→1,10 clean]"},
			[]string{"a", ten, absent, "b", absent, absent, "c", absent, replace(ten, "5", "five")},
		},
		{
			"rename, then a new file under the old name", []string{"a", ten},
			func(b *bench) { b.move("a", "b"); b.edit("a", replace(ten, "1\n", "")) },
			[]string{"modify a clean +0-1 [1,1→0,0 clean]", "create b clean +10-0 [0,0→1,10 clean]"},
			[]string{"a", ten, replace(ten, "1\n", ""), "b", absent, ten},
		},
		{
			"rename over a deleted file", []string{"a", "a\n", "b", "b\n"},
			func(b *bench) { b.edit("b", absent); b.move("a", "b") },
			[]string{"delete a clean +0-1 [1,1→0,0 clean]", "modify b clean +1-1 [1,1→1,1 clean]"},
			[]string{"a", "a\n", absent, "b", "b\n", "a\n"},
		},
		{
			"rename, then delete", []string{"a", "a\n"},
			func(b *bench) { b.move("a", "b"); b.edit("b", absent) },
			[]string{"delete a clean +0-1 [1,1→0,0 clean]"},
			[]string{"a", "a\n", absent, "b", absent, absent},
		},
		{
			"delete, then create", []string{"a", "a\n"},
			func(b *bench) { b.edit("a", absent); b.edit("a", "b\n") },
			[]string{"modify a clean +1-1 [1,1→1,1 clean]"},
			[]string{"a", "a\n", "b\n"},
		},
		{
			"binary", []string{"a", "\x00a"},
			func(b *bench) { b.edit("a", "\x00b") },
			[]string{"modify a clean +0-0 [0,0→0,0 clean]"},
			[]string{"a", "\x00a", "\x00b"},
		},
		{
			"no line end, CR and bytes that are not UTF-8", []string{"a", "1\r2\r\xff", "b", "x"},
			func(b *bench) { b.edit("a", "1\rtwo\r\xfe\xff"); b.edit("b", "x\ny") },
			[]string{"modify a clean +2-2 [2,2→2,2 clean]", "modify b clean +2-1 [1,1→1,2 clean]"},
			[]string{"a", "1\r2\r\xff", "1\rtwo\r\xfe\xff", "b", "x", "x\ny"},
		},
		{
			"create, then delete", nil,
			func(b *bench) { b.edit("a", "a\n"); b.edit("a", absent) },
			nil, []string{"a", absent, absent},
		},
		{
			"there and back", []string{"a", "a\n"},
			func(b *bench) { b.move("a", "b"); b.move("b", "a"); b.edit("a", "b\n"); b.edit("a", "a\n") },
			nil, []string{"a", "a\n", "a\n", "b", absent, absent},
		},
		{
			"nothing changed", []string{"a", "a\n"},
			func(b *bench) { b.edit("a", "a\n") },
			nil, []string{"a", "a\n", "a\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.files...)
			c.propose(b)
			for range 2 {
				b.wantPending(c.pending...)
				b.want(c.want...)
				b.reopen()
			}
			b.acceptAll()
			b.wantPending()
			for i := 0; i < len(c.want); i += 3 {
				b.want(c.want[i], c.want[i+2], c.want[i+2])
			}
			if c.pending == nil {
				return
			}
			b.reopen()
			b.undo()
			b.wantPending(c.pending...)
			b.want(c.want...)
			b.undo()
			b.wantPending()
			for i := 0; i < len(c.want); i += 3 {
				b.want(c.want[i], c.want[i+2], c.want[i+2])
			}
			b.undo()
			if _, err := b.store.Reject(context.Background(), pendingedits.Selection{}, "no"); err != nil {
				t.Fatal(err)
			}
			b.wantPending()
			for i := 0; i < len(c.want); i += 3 {
				b.want(c.want[i], c.want[i+1], c.want[i+1])
			}
		})
	}
}
