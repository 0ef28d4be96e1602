package index

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// stages prints an index as git ls-files --stage does, with debug's stat data.
func stages(x *Index) string {
	var b strings.Builder
	for _, e := range x.Entries {
		fmt.Fprintf(&b, "%06o %s %d\t%s\x00", e.Mode, e.Hash, e.Stage, e.Name)
	}
	return b.String()
}

func mustIndex(t *testing.T, r *gittest.Repo) *Index {
	t.Helper()
	x, err := Read(r.Path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Git("ls-files", "--stage", "-z"), stages(x)); d != "" {
		t.Errorf("not as git reads it -git +ours:\n%s", d)
	}
	return x
}

func TestReadIndex(t *testing.T) {
	long := strings.Repeat("long/", 900) + "name" // longer than the flags can say
	for _, version := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			r := gittest.New(t)
			r.Commit("one", "a.txt", "a\n", "a/b", "b\n", "a-b", "c\n", " sp ace\n\"", "d\n", "日本", "e\n", "-x", "f\n")
			blob := strings.TrimSpace(r.GitIn("x", "hash-object", "-w", "--stdin"))
			r.Git("update-index", "--add", "--cacheinfo", "100755,"+blob+","+long)
			r.Git("update-index", "--assume-unchanged", "a.txt")
			if version > 2 {
				r.Write("new", "n\n")
				r.Git("add", "-N", "new")
				r.Git("update-index", "--skip-worktree", "a/b")
			}
			if version == 4 {
				r.Git("update-index", "--index-version", "4")
			}
			x := mustIndex(t, r)
			if x.Version != uint32(version) {
				t.Errorf("version %d, want %d", x.Version, version)
			}
			for _, e := range x.Entries {
				if x.AssumeValid[e] != (e.Name == "a.txt") || e.SkipWorktree != (version > 2 && e.Name == "a/b") || e.IntentToAdd != (e.Name == "new") {
					t.Errorf("flags of %q: %+v", e.Name, e)
				}
				info, err := os.Lstat(r.Path(e.Name))
				if err == nil && !e.IntentToAdd && (!info.ModTime().Equal(e.ModifiedAt) || info.Size() != int64(e.Size)) {
					t.Errorf("stat data of %q: %v %d, want %v %d", e.Name, e.ModifiedAt, e.Size, info.ModTime(), info.Size())
				}
			}
		})
	}
}

func TestReadIndexTree(t *testing.T) {
	r := gittest.New(t)
	r.Commit("one", "a.txt", "a\n", "d/e/f", "b\n", "d/g", "c\n")
	x := mustIndex(t, r)
	if x.Cache == nil || len(x.Cache.Entries) != 3 || x.Cache.Entries[0].Hash.String() != strings.TrimSpace(r.Git("rev-parse", "HEAD^{tree}")) || x.Cache.Entries[0].Entries != 3 {
		t.Fatalf("tree %+v", x.Cache)
	}
	if root := x.Cache.Entries[0].Hash; !x.TreeIs(root) || x.TreeIs(x.Cache.Entries[1].Hash) {
		t.Errorf("the tree of the index is not %s", root)
	}
	d := x.Cache.Entries[1]
	if d.Path != "d" || d.Entries != 2 || d.Hash.String() != strings.TrimSpace(r.Git("rev-parse", "HEAD:d")) || d.Trees != 1 {
		t.Errorf("subtree %+v", d)
	}
	was := x.Cache.Entries[0].Hash
	r.Write("d/g", "other\n")
	r.Git("add", "d/g")
	if x = mustIndex(t, r); x.Cache.Entries[0].Entries != -1 || x.Cache.Entries[1].Entries != -1 || x.Cache.Entries[2].Entries != 1 || x.TreeIs(was) {
		t.Errorf("after a change: %+v", x.Cache)
	}
}

func TestReadIndexConflict(t *testing.T) {
	r := gittest.New(t)
	r.Commit("base", "a", "1\n")
	r.Git("checkout", "-q", "-b", "side")
	r.Commit("side", "a", "2\n")
	r.Git("checkout", "-q", "main")
	r.Commit("main", "a", "3\n")
	if r.Try("merge", "side") {
		t.Fatal("no conflict")
	}
	if x := mustIndex(t, r); len(x.Entries) != 3 || x.Entries[2].Stage != 3 {
		t.Errorf("entries %+v", x.Entries)
	}
}

// Extensions that git may have written are no obstacle; those that change what
// the entries mean are.
func TestReadIndexExtensions(t *testing.T) {
	for _, c := range []struct {
		name        string
		settings    []string
		command     []string
		unsupported bool
	}{
		{"untracked cache", []string{"core.untrackedCache", "true"}, []string{"status"}, false},
		{"end of entries", []string{"index.threads", "4"}, []string{"add", "."}, false},
		{"resolved conflicts", nil, []string{"update-index", "--force-remove", "a"}, false},
		{"many files", []string{"feature.manyFiles", "true"}, []string{"update-index", "--refresh"}, false},
		{"split", []string{"core.splitIndex", "true"}, []string{"update-index", "--split-index"}, true},
		{"sparse", nil, []string{"sparse-checkout", "set", "--cone", "--sparse-index", "d"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gittest.New(t)
			r.Commit("one", "a", "a\n", "d/b", "b\n", "e/f/g", "c\n")
			if c.settings != nil {
				r.Git(append([]string{"config"}, c.settings...)...)
			}
			r.Write("z", "z\n")
			r.Git(c.command...)
			if !c.unsupported {
				mustIndex(t, r)
				return
			}
			if _, err := Read(r.Path(".git/index")); !errors.Is(err, gitfile.ErrUnsupported) || errors.Is(err, gitfile.ErrCorrupt) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReadIndexMissing(t *testing.T) {
	x, err := Read(filepath.Join(t.TempDir(), "index"))
	if err != nil || len(x.Entries) != 0 {
		t.Errorf("got %+v, %v", x, err)
	}
}

// sealed gives an index the checksum that it should have.
func sealed(data []byte) []byte {
	body := data[:len(data)-sha1.Size]
	sum := sha1.Sum(body)
	return append(bytes.Clone(body), sum[:]...)
}

func sampleIndex(t testing.TB) []byte {
	r := gittest.New(t)
	r.Commit("one", "a.txt", "a\n", "d/e", "b\n")
	data, err := os.ReadFile(r.Path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadIndexDamaged(t *testing.T) {
	good := sampleIndex(t)
	change := func(f func(b []byte) []byte) []byte { return sealed(f(bytes.Clone(good))) }
	replace := func(old, with string) []byte {
		return change(func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) })
	}
	cases := map[string][]byte{
		"empty":              {},
		"not an index":       change(func(b []byte) []byte { return append([]byte("CRID"), b[4:]...) }),
		"a wrong checksum":   append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1),
		"a million entries":  change(func(b []byte) []byte { b[9] = 16; return b }),
		"one entry more":     change(func(b []byte) []byte { b[11]++; return b }),
		"one entry less":     change(func(b []byte) []byte { b[11]--; return b }),
		"names out of order": replace("a.txt", "z.txt"),
		"a name upwards":     replace("a.txt", "../xx"),
		"a name in .git":     replace("a.txt", ".git/"),
		"an absolute name":   replace("a.txt", "/root"),
		"a tree of nonsense": replace("TREE\x00\x00\x00", "TREE\x7f\x00\x00"),
		"an extension cut":   change(func(b []byte) []byte { return append(b[:len(b)-sha1.Size-3], b[len(b)-sha1.Size:]...) }),
		"flags of version 3": change(func(b []byte) []byte { b[12+entryFlags] |= 0x40; return b }),
	}
	for name, data := range cases {
		file := filepath.Join(t.TempDir(), "index")
		if err := ownfile.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if x, err := Read(file); !errors.Is(err, gitfile.ErrCorrupt) {
			t.Errorf("%s: got %+v, %v", name, x, err)
		} else if !strings.Contains(err.Error(), "git reset") {
			t.Errorf("%s: the error does not say what to do: %v", name, err)
		}
	}
	for n := range good {
		if _, err := parse(sealed(append(bytes.Clone(good[:n]), make([]byte, sha1.Size)...))); err == nil && n != len(good)-sha1.Size && n != 12+2*72 {
			t.Errorf("cut at %d of %d it is taken", n, len(good))
		}
	}
	if _, err := parse(good); err != nil {
		t.Errorf("the undamaged index: %v", err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(sampleIndex(f))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < sha1.Size {
			return
		}
		for _, b := range [][]byte{data, sealed(data)} {
			x, err := parse(b)
			if err != nil {
				if !errors.Is(err, gitfile.ErrCorrupt) && !errors.Is(err, gitfile.ErrUnsupported) {
					t.Errorf("an error of no kind: %v", err)
				}
				continue
			}
			last := ""
			for e := range x.all {
				if e.Name < last || !gitfile.ValidName(e.Name) {
					t.Errorf("took %q after %q", e.Name, last)
				}
				last = e.Name
				_ = e.entry()
			}
		}
	})
}
