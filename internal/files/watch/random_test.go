//go:build linux

package watch

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var everything = flag.Bool("everything", false, "random steps from a fresh seed")

// seen is what a fresh look at a tree finds: by name, what tells one state of a
// file from another.
type seen map[string]string

func (d tree) look() seen {
	s := seen{}
	d.must(filepath.WalkDir(d.dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(d.dir, at)
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case e.IsDir() && name == ".git":
			return fs.SkipDir
		case e.IsDir(): // it is what it holds
		case e.Type() == fs.ModeSymlink:
			text, err = os.Readlink(at)
		default:
			data, readErr := os.ReadFile(at)
			text, err = string(data), readErr
		}
		s[filepath.ToSlash(name)] = fmt.Sprint(info.Mode(), " ", text)
		return err
	}))
	return s
}

// TestRandom does random things to a tree, several at a time, and compares
// what was told of them with what a fresh look finds: nothing that is different
// is left out, but in directories that are said not to be watched.
func TestRandom(t *testing.T) {
	seed := uint64(1)
	if *everything {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 4))
	d := newTree(t, "a/b/c/f", "a/f", "b/f", "x/y/z/f", "out/f")
	d.write(".gitignore", "out/\n")
	w, f := d.watch()
	name := func() string {
		var elems []string
		for range 1 + r.IntN(3) {
			elems = append(elems, []string{"a", "b", "c", "f", "x", "out", ".h"}[r.IntN(7)])
		}
		return d.path(path.Join(elems...))
	}
	write := func(at string) {
		_ = ownfile.MkdirAll(filepath.Dir(at), 0o755) // it may be a file
		_ = ownfile.WriteFile(at, fmt.Append(nil, r.IntN(1000)), 0o644)
	}
	ops := map[string]func(){
		"write":  func() { write(name()) },
		"mkdir":  func() { _ = ownfile.MkdirAll(name(), 0o755) },
		"remove": func() { _ = ownfile.RemoveAll(name()) },
		"move":   func() { _ = ownfile.Rename(name(), name()) },
		"link":   func() { _ = ownfile.Symlink(filepath.Base(name()), name()) },
		"chmod":  func() { _ = ownfile.Chmod(name(), 0o755) },
		"replaced by a link": func() {
			at := name()
			_ = ownfile.RemoveAll(at)
			_ = ownfile.Symlink(filepath.Base(name()), at)
		},
		"replaced by a directory": func() {
			at := name()
			_ = ownfile.RemoveAll(at)
			write(filepath.Join(at, "f"))
		},
		"replaced by a file": func() {
			at := name()
			_ = ownfile.RemoveAll(at)
			write(at)
		},
		"gone and back": func() {
			at, aside := name(), filepath.Join(d.dir, "aside")
			if ownfile.Rename(at, aside) == nil {
				write(filepath.Join(at, "f"))
				_ = ownfile.RemoveAll(at)
				_ = ownfile.Rename(aside, at)
				write(filepath.Join(at, "b", "f"))
			}
		},
		"exchanged": func() {
			a, b, aside := name(), name(), filepath.Join(d.dir, "aside")
			if ownfile.Rename(a, aside) == nil {
				_ = ownfile.Rename(b, a)
				_ = ownfile.Rename(aside, b)
				_ = ownfile.RemoveAll(aside)
			}
		},
		"rules": func() {
			rules := []string{"out/\n", "b/\n", "", "c\n"}[r.IntN(4)]
			_ = ownfile.WriteFile(d.path(".gitignore"), []byte(rules), 0o644)
		},
	}
	names := slices.Sorted(maps.Keys(ops))
	before, told := d.look(), 0
	for step := range 400 {
		var did []string
		for range 1 + r.IntN(4) {
			op := names[r.IntN(len(names))]
			did = append(did, op)
			ops[op]()
		}
		b := take(t, f)
		now := d.look()
		if b.Lost {
			before = now
			continue
		}
		for name := range now {
			if before[name] == "" {
				before[name] = "nothing"
			}
		}
		for name, was := range before {
			if now[name] == was || was == "nothing" && now[name] == "" {
				continue
			}
			told++
			if !tells(b, name, now[name] == "") && watches(w, d.path(path.Dir(name))) {
				t.Fatalf("step %d, %s: of %s, %q and then %q, nothing was told: %+v", step, strings.Join(did, ", "), name, was, now[name], b)
			}
		}
		before = now
	}
	if told < 200 {
		t.Errorf("only %d changes", told)
	}
}

// tells reports whether a batch speaks of a name: of itself, of all that is
// below a directory, or, if it is gone, of a directory that went with it.
func tells(b Batch, name string, gone bool) bool {
	if slices.Contains(b.Names, name) {
		return true
	}
	for at := name; at != "."; at = path.Dir(at) {
		if slices.Contains(b.Dirs, at) || gone && slices.Contains(b.Names, at) {
			return true
		}
	}
	return slices.Contains(b.Dirs, ".")
}

// watches reports whether changes directly in a directory are told.
func watches(w *Watcher, dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now != nil && w.now.dirs[dir] != ""
}
