package inventory

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

func put(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// seen is what a tree shows of a kind, relative to its directory.
func seen(t *testing.T, tree *Tree, kind Kind) (names []string) {
	t.Helper()
	items, err := tree.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if rel, err := filepath.Rel(tree.dir, item.Path); err == nil && item.Kind == kind {
			names = append(names, rel)
		}
	}
	return names
}

// TestLook: all is found, however deep and many, and seen again when it has
// changed.
func TestLook(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	deep := strings.Repeat("d/", 60) + ".env"
	put(t, filepath.Join(dir, deep), filepath.Join(dir, "node_modules/x/y/id_rsa"), filepath.Join(dir, ".git/HEAD"), filepath.Join(dir, ".git/x/.env"),
		filepath.Join(dir, "a/.GIT"), filepath.Join(dir, "bare/HEAD"), filepath.Join(dir, "linked/HEAD"), filepath.Join(dir, "linked/commondir"), filepath.Join(dir, "half/HEAD"),
		filepath.Join(dir, "skipped/.env"), filepath.Join(dir, "many/plain.txt"))
	for _, name := range []string{"objects", "refs"} {
		if err := ownfile.MkdirAll(filepath.Join(dir, "bare", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3000 {
		put(t, filepath.Join(dir, "many", fmt.Sprint(i, ".pem")))
	}
	ref := filepath.Join(dir, ".git/refs/heads/x.env")
	put(t, ref, filepath.Join(dir, ".git/refs/heads/y.env"))
	if err := ownfile.WriteFile(ref, []byte(strings.Repeat("a1", 20)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink("../elsewhere", filepath.Join(dir, "a/.git")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "a/sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tree := New(dir, "skipped")
	for range 2 { // the second time as it is remembered
		secrets := seen(t, tree, Secret)
		if n := len(slices.DeleteFunc(slices.Clone(secrets), func(name string) bool { return !strings.HasPrefix(name, "many/") })); n != 3000 {
			t.Errorf("%d of 3000 are found", n)
		}
		others := slices.DeleteFunc(secrets, func(name string) bool { return strings.HasPrefix(name, "many/") })
		if want := []string{".git/refs/heads/y.env", ".git/x/.env", deep, "node_modules/x/y/id_rsa"}; !slices.Equal(others, want) {
			t.Errorf("found %q, want %q", others, want)
		}
		if got, want := seen(t, tree, Repository), []string{".git", "a/.GIT", "a/.git", "bare", "linked"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		if got := seen(t, tree, Socket); !slices.Equal(got, []string{"a/sock"}) {
			t.Errorf("found %q", got)
		}
		for at := range tree.nodes() {
			at.sure = true // as if all were old
		}
	}
	put(t, filepath.Join(dir, "d/d/d/new.pem"))
	if err := ownfile.RemoveAll(filepath.Join(dir, "many")); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Rename(filepath.Join(dir, "node_modules"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if got, want := seen(t, tree, Secret), []string{".git/refs/heads/y.env", ".git/x/.env", deep, "d/d/d/new.pem", "moved/x/y/id_rsa"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// nodes are all that are remembered.
func (t *Tree) nodes() func(func(*node) bool) {
	return func(yield func(*node) bool) {
		list := []*node{&t.root}
		for i := 0; i < len(list); i++ {
			for _, c := range list[i].dirs {
				list = append(list, c.node)
			}
			if !yield(list[i]) {
				return
			}
		}
	}
}

// TestForgedTime: a directory whose time was set back is listed again, and so is
// one that has just changed.
func TestForgedTime(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	put(t, filepath.Join(dir, "a/plain"))
	forge := func() {
		if err := ownfile.Chtimes(filepath.Join(dir, "a"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	forge()
	tree := New(dir)
	if got := seen(t, tree, Secret); len(got) > 0 {
		t.Fatal(got)
	}
	for at := range tree.nodes() {
		if at.sure {
			t.Error("what has just changed is taken for old")
		}
		at.sure = true
	}
	put(t, filepath.Join(dir, "a/.env"))
	forge()
	if got := seen(t, tree, Secret); !slices.Equal(got, []string{"a/.env"}) {
		t.Errorf("found %q", got)
	}
}

// TestNotAll: what can't be looked through is said to be closed, or nothing is
// said at all.
func TestNotAll(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a/.env"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if items, err := New(dir).Look(ctx); err == nil {
		t.Errorf("a cancelled look: %v", items)
	}
	if os.Geteuid() != 0 {
		for _, mode := range []os.FileMode{0, 0o400, 0o100} {
			if err := ownfile.Chmod(filepath.Join(dir, "a"), mode); err != nil {
				t.Fatal(err)
			}
			if got := seen(t, New(dir), Closed); !slices.Equal(got, []string{"a"}) {
				t.Errorf("%o: closed %q", mode, got)
			}
		}
		if err := ownfile.Chmod(filepath.Join(dir, "a"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A path that no program can be given is made step by step.
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		name := strings.Repeat("x", 200)
		if err := root.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		below, err := root.OpenRoot(name)
		root.Close()
		if err != nil {
			t.Fatal(err)
		}
		root = below
	}
	root.Close()
	if items, err := New(dir).Look(t.Context()); err == nil || !strings.Contains(err.Error(), "shorten or remove it") {
		t.Errorf("%v, %v", items, err)
	}
}
