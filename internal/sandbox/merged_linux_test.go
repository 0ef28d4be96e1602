package sandbox

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mergedOf makes a tree over lower.
func mergedOf(t *testing.T, s *Sandbox, lower string) (tree *Merged, upper string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"upper", "work", "at"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	upper = filepath.Join(dir, "upper")
	f, err := s.Overlay(Overlay{Lower: lower, Upper: upper, Work: filepath.Join(dir, "work")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		_ = os.Chmod(filepath.Join(dir, "work", "work"), 0o700) // of the kernel; nobody can list it
	})
	return &Merged{Mount: f, At: filepath.Join(dir, "at")}, upper
}

// What a command writes in a tree goes to its upper directory, and what is
// protected is protected there too.
func TestMerged(t *testing.T) { eachLevel(t, []Level{Bubblewrap, Full}, testMerged) }

func testMerged(t *testing.T, s *Sandbox) {
	root := realTemp(t)
	for name, text := range map[string]string{"a.txt": "disk\n", "dir/b.txt": "b\n", ".env": "SECRET", ".vscode/settings.json": "{}"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := listed(t, root)
	tree, upper := mergedOf(t, s, root)
	if err := os.WriteFile(filepath.Join(tree.path(), "pending.txt"), []byte("pending\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(line string) string {
		t.Helper()
		var out bytes.Buffer
		cmd, err := s.Command(context.Background(), Spec{Root: root, Merged: tree, Hidden: []string{filepath.Join(root, ".env")}, Env: Environ(os.Environ())}, root, "bash", "-c", line)
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
	if err := s.Refresh(tree.Mount); err != nil {
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
