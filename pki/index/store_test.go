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

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
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
	o.Report.Problem = func(err error) { problems = append(problems, err.Error()) }
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
		return ownfile.Chtimes(name, info.ModTime().Add(-time.Hour), info.ModTime().Add(-time.Hour))
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

	// Each way to spoil the file begins with a good one; what is not changed in
	// place keeps the good one aside, so that no other file gets its number.
	aside := file + ".aside"
	for what, spoil := range map[string]func(good []byte) error{
		"a byte is another":    func(good []byte) error { good[len(good)/2] ^= 1; return rewrite(file, good) },
		"another version":      func(good []byte) error { good[16]++; return rewrite(file, good) },
		"it is cut":            func(good []byte) error { return rewrite(file, good[:len(good)-8]) },
		"it is empty":          func([]byte) error { return rewrite(file, nil) },
		"it is of other bytes": func([]byte) error { return rewrite(file, []byte(strings.Repeat("x", 999))) },
		"it is a copy": func(good []byte) error {
			return errors.Join(ownfile.Rename(file, aside), ownfile.WriteFile(file, good, 0o600))
		},
		"it is a link":      func([]byte) error { return errors.Join(ownfile.Rename(file, aside), ownfile.Symlink(aside, file)) },
		"it is a directory": func([]byte) error { return errors.Join(ownfile.Rename(file, aside), ownfile.Mkdir(file, 0o700)) },
	} {
		t.Run(what, func(t *testing.T) {
			p.t = t
			good, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(append([]byte(nil), good...)); err != nil {
				t.Fatal(err)
			}
			got, read, problems := p.kept(dir, "fresh")
			if got != "Fresh" || read == 0 || len(problems) == 0 {
				t.Errorf("%q, %d files read, %q", got, read, problems)
			}
			if text, err := os.ReadFile(aside); err == nil && string(text) != string(good) {
				t.Error("written through a link")
			}
			if err := errors.Join(ownfile.RemoveAll(aside), ownfile.RemoveAll(file)); err != nil {
				t.Fatal(err)
			}
			if _, _, problems := p.kept(dir, "fresh"); len(problems) > 0 {
				t.Fatalf("without a file: %q", problems)
			}
		})
	}
}

// rewrite changes a file in its place.
func rewrite(file string, text []byte) error {
	f, err := ownfile.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
