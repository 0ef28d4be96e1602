package shadow_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// files lists a working tree with its contents.
func files(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.Name() == ".git" || e.Name() == ".sidecar" {
			if err == nil && e.IsDir() {
				err = filepath.SkipDir
			}
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if e.Type()&os.ModeSymlink != 0 {
			to, err := os.Readlink(name)
			list = append(list, rel+" -> "+to+"\n")
			return err
		}
		if e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(name)
		first, _, _ := strings.Cut(string(data), "\n")
		list = append(list, fmt.Sprintf("%s: %d bytes, %s\n", rel, len(data), first))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(list)
	return strings.Join(list, "")
}

// TestMergeRenamedDirectories compares with git merge: what the shadow puts
// into a directory that the main tree has renamed goes where git puts it.
func TestMergeRenamedDirectories(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name         string
		ours, theirs string // lines of shell, in the main tree and in the shadow
		want         string // summary
		conflict     bool   // of git too
		apart        bool   // git's result is another one
	}{
		{name: "a new file", ours: "git mv old new", theirs: "echo n > old/n", want: "create new/n"},
		{name: "a new file further below", ours: "git mv old new", theirs: "mkdir old/deep; echo n > old/deep/n; echo m > old/m; echo m > old/sub/m", want: "create new/deep/n, create new/m, create new/sub/m"},
		{name: "a new file in what is new", ours: "git mv old new", theirs: "mkdir -p old/x/y; echo n > old/x/y/n", want: "create new/x/y/n",
			apart: true}, // git looks at a renamed directory only when something was put into it directly
		{name: "into another directory", ours: "mkdir -p far/away; git mv old far/away/", theirs: "echo n > old/n", want: "create far/away/old/n"},
		{name: "a directory within", ours: "git mv old/sub old/other", theirs: "echo n > old/n; echo m > old/sub/m", want: "create old/n, create old/other/m"},
		{name: "a directory above", ours: "mkdir x; git mv a/b x/b", theirs: "echo n > a/b/n; echo m > a/b/c/m", want: "create x/b/c/m, create x/b/n"},
		{name: "to the top", ours: "git mv old/1 old/2 old/3 old/sub .; true", theirs: "echo n > old/n", want: "create n"},
		{name: "most of it", ours: "mkdir new rest; git mv old/1 old/2 old/sub new/; git mv old/3 rest/", theirs: "echo n > old/n", want: "create new/n"},
		{name: "split in halves", ours: "mkdir x y; git mv old/1 x/; git mv old/2 y/; git rm -qr old", theirs: "echo n > old/n", want: "create old/n", conflict: true},
		{name: "a part", ours: "mkdir new; git mv old/1 old/2 new/", theirs: "echo n > old/n", want: "create old/n"},
		{name: "removed", ours: "git rm -qr old", theirs: "echo n > old/n", want: "create old/n"},
		{name: "a new file that is there", ours: "git mv old new; echo other > new/n; git add new", theirs: "echo n > old/n", want: "conflict new/n", conflict: true},
		{name: "the same new file", ours: "git mv old new; echo n > new/n; git add new", theirs: "echo n > old/n", want: ""},
		{name: "a new file in both", ours: "git mv old new", theirs: "mkdir new; echo n > old/n; echo o > new/n", want: "create new/n, create old/n", conflict: true},
		{name: "a file that is moved in", ours: "git mv old new", theirs: "mv f old/f", want: "rename new/f"},
		{name: "a file that is moved in, and changed", ours: "git mv old new; echo more >> f; git add f", theirs: "mv f old/f", want: "rename new/f"},
		{name: "a file that is moved within", ours: "git mv old new", theirs: "mv old/1 old/9", want: "conflict old/9", conflict: true},
		{name: "a file that is changed", ours: "git mv old new", theirs: "echo more >> old/1; echo n > old/n", want: "modify new/1, create new/n"},
		{name: "a link", ours: "git mv old new", theirs: "ln -s 1 old/l", want: "create new/l"},
		{name: "what is left there is ignored", ours: "git mv old new; mkdir old; echo o > old/x.o", theirs: "echo n > old/n", want: "create new/n"},
		{name: "by the shadow", ours: "echo n > old/n; git add old", theirs: "mv old new", want: "rename new/1, rename new/2, rename new/3, rename new/sub/4",
			apart: true}, // what the main tree puts into a directory that the shadow renamed stays: only the shadow's changes are brought
		{name: "by both", ours: "git mv old new", theirs: "mv old new; echo n > new/n", want: "create new/n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gittest.New(t)
			text := func(of string) string { return strings.Repeat("a line of "+of+"\n", 9) }
			r.Commit("first", ".gitignore", "*.o\n", "f", text("f"), "old/1", text("1"), "old/2", text("2"), "old/3", text("3"), "old/sub/4", text("4"), "a/k", text("k"), "a/b/5", text("5"), "a/b/c/6", text("6"))
			sh := func(dir, line string) string {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), "sh", "-ec", line)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil && !strings.HasPrefix(line, "git -c merge") {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
				return string(out)
			}
			// By git, in a repository of its own.
			like := filepath.Join(t.TempDir(), "like")
			sh(r.Dir, "git clone -q . "+like)
			sh(like, "git config user.name n; git config user.email e; git switch -q -c theirs; "+c.theirs+"; git add -A; git commit -qm theirs; git switch -q main; "+c.ours+"; git commit -qm ours")
			said := sh(like, "git -c merge.directoryRenames=true merge -q --no-edit theirs")
			if strings.Contains(said, "CONFLICT") != c.conflict {
				t.Errorf("git says\n%s", said)
			}
			// By us.
			h := openHouse(t, r, shadow.Options{})
			s, _ := h.create(shadow.CreateRequest{ID: "x"})
			sh(s.Path, c.theirs)
			sh(r.Dir, c.ours+"; git commit -qm ours")
			m := h.apply("x", h.main)
			if got := summary(m); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.conflict {
				return
			}
			if got, want := files(t, r.Dir), files(t, like); (got != want) != c.apart {
				t.Errorf("the files are\n%s\nand by git\n%s", got, want)
			}
			if again := h.merge("x", h.main); summary(again) != "" {
				t.Errorf("again: %s", summary(again))
			}
		})
	}
}
