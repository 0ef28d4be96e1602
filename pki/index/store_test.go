package index_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// counting counts the files that a walk reads.
type counting struct {
	workspace.Files
	read atomic.Int64
}

func (c *counting) Walk(ctx context.Context, opts workspace.WalkOptions, visit func(*workspace.Entry) error) error {
	return c.Files.Walk(ctx, opts, func(e *workspace.Entry) error {
		own := *e
		own.Read = func(buf []byte) ([]byte, error) {
			c.read.Add(1)
			return e.Read(buf)
		}
		return visit(&own)
	})
}

// kept runs an index with a store until it has answered, and returns how many
// files it read and what it complained of.
func (p *project) kept(dir string, q string) (answer string, read int64, problems []string) {
	p.t.Helper()
	files := &counting{Files: workspace.Guard(p.disk, nil)}
	o := p.options()
	o.Files = files
	o.Store = &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(dir) }}
	o.Problem = func(err error) { problems = append(problems, err.Error()) }
	x := index.New(o)
	p.Index = x
	answer = names(p.ask(index.Query{Text: q}).Hits)
	if err := x.Close(); err != nil {
		p.t.Error(err)
	}
	return answer, files.read.Load(), problems
}

// old gives all files of the project a time that can be relied on.
func (p *project) old() {
	p.t.Helper()
	err := filepath.WalkDir(p.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(name, info.ModTime().Add(-time.Hour), info.ModTime().Add(-time.Hour))
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestKept(t *testing.T) {
	p := newProject(t, sample)
	p.old()
	dir := t.TempDir()
	file := filepath.Join(dir, "knowledge.index")
	first, read, problems := p.kept(dir, "backoff next")
	if read == 0 || len(problems) > 0 || !strings.HasPrefix(first, "Backoff.Next") {
		t.Fatalf("first run: %q, %d files read, %q", first, read, problems)
	}
	if got, read, problems := p.kept(dir, "backoff next"); got != first || read != 0 || len(problems) > 0 {
		t.Errorf("second run: %q, want %q; %d files read; %q", got, first, read, problems)
	}
	write(t, p.dir, "retry/backoff.go", "package retry\n\nfunc Fresh() {}\n")
	if got, read, _ := p.kept(dir, "fresh"); got != "Fresh" || read != 1 {
		t.Errorf("a file changed in between: %q, %d files read", got, read)
	}

	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func() error{
		"a byte is another": func() error { return rewrite(file, good, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) },
		"another version":   func() error { return rewrite(file, good, func(b []byte) []byte { b[16]++; return b }) },
		"it is cut":         func() error { return rewrite(file, good, func(b []byte) []byte { return b[:len(b)-8] }) },
		"it is empty":       func() error { return rewrite(file, good, func([]byte) []byte { return nil }) },
		"it is of other bytes": func() error {
			return rewrite(file, good, func([]byte) []byte { return []byte(strings.Repeat("x", 999)) })
		},
		"it is a copy": func() error {
			return errors.Join(os.WriteFile(file+".copy", good, 0o600), os.Rename(file+".copy", file))
		},
		"it is a link": func() error {
			return errors.Join(os.WriteFile(file+".other", good, 0o600), os.RemoveAll(file), os.Symlink(file+".other", file))
		},
		"it is a directory": func() error { return errors.Join(os.RemoveAll(file), os.Mkdir(file, 0o700)) },
	} {
		t.Run(what, func(t *testing.T) {
			defer os.RemoveAll(file)
			p.t = t
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			got, read, problems := p.kept(dir, "fresh")
			if got != "Fresh" || read == 0 || len(problems) == 0 {
				t.Errorf("%q, %d files read, %q", got, read, problems)
			}
			if _, err := os.Lstat(file + ".other"); err == nil {
				if text, _ := os.ReadFile(file + ".other"); string(text) != string(good) {
					t.Error("written through a link")
				}
				os.Remove(file + ".other")
			}
		})
	}
}

// rewrite changes a file in its place.
func rewrite(file string, good []byte, change func([]byte) []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(change(append([]byte(nil), good...)))
	return errors.Join(err, f.Close())
}
