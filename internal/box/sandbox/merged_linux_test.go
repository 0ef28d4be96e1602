package sandbox

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mount"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// mergedOf makes a tree over lower.
func mergedOf(t *testing.T, s *Sandbox, lower string) (tree *spec.Merged, upper string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"upper", "work", "at"} {
		if err := ownfile.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	upper = filepath.Join(dir, "upper")
	f, err := s.Overlay(spec.Overlay{Lower: lower, Upper: upper, Work: filepath.Join(dir, "work")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		_ = ownfile.Chmod(filepath.Join(dir, "work", "work"), 0o700) // of the kernel; nobody can list it
	})
	return &spec.Merged{Mount: f, At: filepath.Join(dir, "at")}, upper
}

// A directory can take the place of the workspace, too, with another that is lent
// and can't be written.
func TestMergedDirectory(t *testing.T) {
	eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, testMergedDirectory)
}

func testMergedDirectory(t *testing.T, s *Sandbox) {
	root, tree, lent := realTemp(t), realTemp(t), realTemp(t)
	for path, text := range map[string]string{
		filepath.Join(root, "a.txt"): "disk\n", filepath.Join(root, "real/r.txt"): "real\n", filepath.Join(tree, "a.txt"): "tree\n",
		filepath.Join(root, ".env"): "SECRET\n", filepath.Join(tree, ".env"): "SECRET\n", filepath.Join(lent, "l.txt"): "lent\n", filepath.Join(tree, ".vscode/settings.json"): "{}",
	} {
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	real := filepath.Join(root, "real")
	place := spec.LentDir + "/0"
	spec := spec.Spec{
		Root: root, Hidden: []string{filepath.Join(root, ".env")}, Env: spec.Environ(os.Environ()),
		Merged: &spec.Merged{At: tree, Real: []string{real}, Lent: []spec.Lent{{Dir: lent, Place: place}}},
	}
	var out bytes.Buffer
	cmd, err := s.Command(context.Background(), spec, root, "bash", "-c", "cat a.txt .env real/r.txt "+place+"/l.txt; echo new > new.txt; echo more >> real/r.txt; "+
		"echo x > "+place+"/l.txt || echo refused; echo x > .vscode/settings.json || echo refused; ls "+tree+" || echo away")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "tree\nreal\nlent\nrefused\nrefused\naway\n"; got != want {
		t.Errorf("the command said\n%s", got)
	}
	if got, want := listed(t, root), "\n/.env\nSECRET\n/a.txt\ndisk\n/real\n/real/r.txt\nreal\nmore\n"; got != want {
		t.Errorf("the disk has\n%q", got)
	}
	if data, err := os.ReadFile(filepath.Join(tree, "new.txt")); err != nil || string(data) != "new\n" {
		t.Errorf("new.txt is %q, %v", data, err)
	}
}

// What a command writes in a tree goes to its upper directory, and what is
// protected is protected there too.
func TestMerged(t *testing.T) { eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, testMerged) }

func testMerged(t *testing.T, s *Sandbox) {
	root := realTemp(t)
	for name, text := range map[string]string{"a.txt": "disk\n", "dir/b.txt": "b\n", ".env": "SECRET", ".vscode/settings.json": "{}"} {
		path := filepath.Join(root, name)
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := listed(t, root)
	tree, upper := mergedOf(t, s, root)
	merged, err := os.OpenRoot(tree.Path()) // it has no path of its own
	if err != nil {
		t.Fatal(err)
	}
	defer merged.Close()
	if err := merged.WriteFile("pending.txt", []byte("pending\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(line string) string {
		t.Helper()
		var out bytes.Buffer
		cmd, err := s.Command(context.Background(), spec.Spec{Root: root, Merged: tree, Hidden: []string{filepath.Join(root, ".env")}, Env: spec.Environ(os.Environ())}, root, "bash", "-c", line)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out.String())
		}
		return out.String()
	}
	got := run(`cat pending.txt a.txt .env; echo new > new.txt; rm -r dir; mkdir dir; echo again > a.txt; echo x > .vscode/settings.json || echo refused; echo x > .git/config || echo refused; cat a.txt`)
	if want := "pending\ndisk\n"; !strings.HasPrefix(got, want) || strings.Count(got, "refused") != 2 || !strings.HasSuffix(got, "again\n") || strings.Contains(got, "SECRET") {
		t.Errorf("the command said\n%s", got)
	}
	if after := listed(t, root); after != before {
		t.Errorf("the tree below was changed:\n%s\nwas\n%s", after, before)
	}
	if data, err := os.ReadFile(filepath.Join(upper, "new.txt")); err != nil || string(data) != "new\n" {
		t.Errorf("new.txt above: %q, %v", data, err)
	}
	if got := run("cat new.txt a.txt; ls dir"); got != "new\nagain\n" { // a second command shares the mount
		t.Errorf("the next command saw %q", got)
	}
	if err := tree.Mount.Refresh(); err != nil {
		t.Error(err)
	}
}

// listed is what is in a directory, with the texts.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(strings.TrimPrefix(path, dir) + "\n")
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			b.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A layer stands in for a directory of the home: what the command adds there is
// above, what was there before is seen, and neither is in the home itself.
func TestLayers(t *testing.T) { eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, testLayers) }

func testLayers(t *testing.T, s *Sandbox) {
	root, home, lower := realTemp(t), realTemp(t), realTemp(t)
	if err := ownfile.WriteFile(filepath.Join(lower, "known"), []byte("known\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, upper := mergedOf(t, s, lower)
	want := spec.Spec{Root: root, Home: home, Env: spec.Environ(os.Environ()), Layers: []spec.Layer{{Mount: tree.Mount, At: tree.At, On: ".cache/some"}}}
	run := func(want spec.Spec, line string) string {
		t.Helper()
		var out bytes.Buffer
		cmd, err := s.Command(context.Background(), want, root, "bash", "-c", line)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out.String())
		}
		return out.String()
	}
	if got := run(want, "cat ~/.cache/some/known; echo made > ~/.cache/some/new"); got != "known\n" {
		t.Errorf("the command saw %q", got)
	}
	if _, err := os.Stat(filepath.Join(upper, "new")); err != nil || listed(t, lower) != "\n/known\nknown\n" {
		t.Errorf("new is not above alone (%v): %s", err, listed(t, lower))
	}
	merged, _ := mergedOf(t, s, root)
	both := want
	both.Merged = merged
	if got := run(both, "cat ~/.cache/some/*; touch here"); got != "known\nmade\n" {
		t.Errorf("beside a merged root it saw %q", got)
	}
	if listed(t, root) != "\n" {
		t.Error("the root was written past its overlay")
	}
	want.Layers = nil
	if got := run(want, "ls ~/.cache/some"); got != "" {
		t.Errorf("without the layer it saw %q", got)
	}
	if err := ownfile.RemoveAll(filepath.Join(home, ".cache")); err != nil {
		t.Fatal(err)
	}
	// A command left a link in the way: the mount's place is not made where it leads.
	away := realTemp(t)
	if err := ownfile.Symlink(away, filepath.Join(home, ".cache")); err != nil {
		t.Fatal(err)
	}
	want.Layers = both.Layers
	if got := run(want, "cat ~/.cache/some/known"); got != "known\n" || listed(t, away) != "\n" {
		t.Errorf("with a link in the way it saw %q, and made %q", got, listed(t, away))
	}
	tree.Mount.(*mount.Mount).Close()
	if _, err := s.Command(context.Background(), both, root, "true"); err == nil {
		t.Error("a command was prepared without its layer")
	}
}

// A layer between hides names of the one below, by the marks of an overlay that was
// mounted before, and is not written.
func TestBetween(t *testing.T) { eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, testBetween) }

func testBetween(t *testing.T, s *Sandbox) {
	lower := realTemp(t)
	for name, text := range map[string]string{"gone.txt": "1", "dir/old.txt": "2", "kept.txt": "3", "over.txt": "4"} {
		if err := ownfile.MkdirAll(filepath.Dir(filepath.Join(lower, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(filepath.Join(lower, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(tree *spec.Merged, line string) string {
		t.Helper()
		var out bytes.Buffer
		cmd, err := s.Command(context.Background(), spec.Spec{Root: lower, Env: spec.Environ(os.Environ()), Merged: tree}, lower, "bash", "-c", line)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatal(err, out.String())
		}
		return out.String()
	}
	tree, between := mergedOf(t, s, lower)
	run(tree, "rm gone.txt; rm -r dir; mkdir dir; echo 5 > dir/new.txt; printf 6 > over.txt")
	tree.Mount.(*mount.Mount).Close()

	second := t.TempDir()
	for _, name := range []string{"upper", "work", "at"} {
		if err := ownfile.Mkdir(filepath.Join(second, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mount, err := s.Overlay(spec.Overlay{Lower: lower, Between: []string{between}, Upper: filepath.Join(second, "upper"), Work: filepath.Join(second, "work")})
	if err != nil {
		t.Fatal(err)
	}
	defer mount.Close()
	defer func() { _ = ownfile.Chmod(filepath.Join(second, "work", "work"), 0o700) }()
	before := listed(t, between)
	if got, want := run(&spec.Merged{Mount: mount, At: filepath.Join(second, "at")}, "ls . dir; cat over.txt kept.txt; echo x > dir/new.txt; rm over.txt; touch gone.txt; ls"), ".:\ndir\nkept.txt\nover.txt\n\ndir:\nnew.txt\n63dir\ngone.txt\nkept.txt\n"; got != want {
		t.Errorf("the command said %q", got)
	}
	if after := listed(t, between); after != before {
		t.Errorf("the layer between was %q and is %q", before, after)
	}
}
