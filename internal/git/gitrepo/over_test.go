package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func fileOver(mode filemode.FileMode, text string) OverFile {
	return OverFile{true, mode == filemode.Symlink, mode == filemode.Executable, func() ([]byte, error) { return []byte(text), nil }}
}

// lay makes on the disk what is laid over it.
func lay(t *testing.T, r *gittest.Repo, over Over) {
	t.Helper()
	for _, gone := range []bool{true, false} {
		for name, f := range over {
			if !f.Exists != gone {
				continue
			}
			err := ownfile.Remove(r.Path(name))
			if gone {
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				for dir := filepath.Dir(r.Path(name)); dir != r.Dir && ownfile.Remove(dir) == nil; dir = filepath.Dir(dir) {
				}
				continue
			}
			text, err := f.Read()
			if err == nil {
				err = ownfile.MkdirAll(filepath.Dir(r.Path(name)), 0o755)
			}
			if err == nil && f.Link {
				err = ownfile.Symlink(string(text), r.Path(name))
			} else if err == nil {
				err = ownfile.WriteFile(r.Path(name), text, fs.FileMode(f.mode()&0o777))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// notIntended are files that git can't mean to add beside what they replace, or
// whose lines only git compares.
var notIntended = map[string]bool{"a.txt/in": true, "d": true, "large": true}

// checkOver compares the status and the diff over a working tree with git's, once
// the tree is so. What git does not track is to be in the diff, too.
func checkOver(t *testing.T, r *gittest.Repo, over Over) {
	t.Helper()
	before := tree(t, r.Dir)
	repo := open(t, r)
	st, err := repo.status(t.Context(), StatusOptions{Over: over})
	if err != nil {
		t.Fatal(err)
	}
	byGit, err := repo.statusByGit(t.Context(), StatusOptions{Over: over}, gitfile.ErrUnsupported)
	switch {
	case over.rules() && err == nil:
		t.Error("the git command knows nothing of rules that are laid over, and that was not said")
	case over.rules():
		byGit = nil
	case err != nil:
		t.Fatal(err)
	}
	diffs := map[string]*Diff{}
	for _, from := range []string{"", "HEAD"} {
		if diffs[from], err = repo.diff(t.Context(), DiffOptions{From: from, Over: over}); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(before, tree(t, r.Dir)); d != "" {
		t.Errorf("the working tree was changed:\n%s", d)
	}
	lay(t, r, over)
	want := r.Git("status", "--porcelain=v1", "--branch", "-z")
	if d := cmp.Diff(strings.Split(want, "\x00"), strings.Split(st.Porcelain(), "\x00")); d != "" {
		t.Errorf("the status -git +ours:\n%s", d)
	}
	if byGit != nil {
		if d := cmp.Diff(strings.Split(want, "\x00"), strings.Split(byGit.Porcelain(), "\x00")); d != "" {
			t.Errorf("the status by git -git +ours:\n%s", d)
		}
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(over)), func(name string) bool { return notIntended[name] }) {
		return
	}
	// What is only laid there is to git as if it were meant to be added.
	for name, f := range over {
		if f.Exists && !r.Try("ls-files", "--error-unmatch", name) && !r.Try("check-ignore", "-q", name) {

			r.Git("add", "-N", name)
		}
	}
	for from, d := range diffs {
		args := []string{"-c", "core.quotePath=false", "diff", "--no-ext-diff", "--abbrev=10"}
		if from != "" {
			args = append(args, from)
		}
		patch := ""
		for _, f := range d.Files {
			patch += f.Patch
		}
		if d := cmp.Diff(headers(r.Git(args...)), headers(patch)); d != "" {
			t.Errorf("the diff from %q -git +ours:\n%s", from, d)
		}
	}
}

// tree is what is in a working tree.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == ".git" {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			files[path] = string(data)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestOver(t *testing.T) {
	gone := OverFile{}
	for name, c := range map[string]struct {
		make func(t *testing.T, r *gittest.Repo)
		over Over
	}{
		"nothing":          {over: Over{}},
		"the same":         {over: Over{"a.txt": fileOver(filemode.Regular, "1\n2\n3\n")}},
		"modified":         {over: Over{"a.txt": fileOver(filemode.Regular, "1\nTWO\n3\n")}},
		"executable":       {over: Over{"a.txt": fileOver(filemode.Executable, "1\n2\n3\n")}},
		"a link":           {over: Over{"a.txt": fileOver(filemode.Symlink, "d/b.txt")}},
		"binary":           {over: Over{"a.txt": fileOver(filemode.Regular, "a\x00b")}},
		"large":            {over: Over{"large": fileOver(filemode.Regular, strings.Repeat("x", 20<<20))}},
		"deleted":          {over: Over{"a.txt": gone, "d/b.txt": gone}},
		"created":          {over: Over{"new.txt": fileOver(filemode.Regular, "new\n"), "n/e/w.txt": fileOver(filemode.Executable, "new\n"), "d/new.txt": fileOver(filemode.Regular, "")}},
		"renamed":          {over: Over{"a.txt": gone, "d/moved.txt": fileOver(filemode.Regular, "1\n2\n3\n")}},
		"a file for a dir": {over: Over{"d/b.txt": gone, "d/c.txt": gone, "d": fileOver(filemode.Regular, "file\n")}},
		"a dir for a file": {over: Over{"a.txt": gone, "a.txt/in": fileOver(filemode.Regular, "file\n")}},
		"undone": {over: Over{"a.txt": fileOver(filemode.Regular, "1\n2\n3\n"), "d/b.txt": fileOver(filemode.Regular, "b\n"), "u/one": gone},
			make: func(t *testing.T, r *gittest.Repo) {
				r.Write("a.txt", "changed\n", "u/one", "1")
				r.Git("rm", "-q", "--cached", "d/b.txt")
			}},
		"untracked gone, one stays": {over: Over{"u/one": gone}, make: func(t *testing.T, r *gittest.Repo) { r.Write("u/one", "1", "u/two", "2") }},
		"staged, then more":         {over: Over{"a.txt": fileOver(filemode.Regular, "1\n2\n3\n4\n5\n")}, make: func(t *testing.T, r *gittest.Repo) { r.Write("a.txt", "1\n2\n3\n4\n"); r.Git("add", "a.txt") }},
		"staged, and taken back":    {over: Over{"a.txt": fileOver(filemode.Regular, "1\n2\n3\n")}, make: func(t *testing.T, r *gittest.Repo) { r.Write("a.txt", "1\n2\n3\n4\n"); r.Git("add", "a.txt") }},
		"ignored":                   {over: Over{"x.log": fileOver(filemode.Regular, "x"), "d/x.log": fileOver(filemode.Regular, "x")}, make: func(t *testing.T, r *gittest.Repo) { r.Commit("ignore", ".gitignore", "*.log\n") }},
		"rules are laid over":       {over: Over{".gitignore": fileOver(filemode.Regular, "*.log\n"), "d/.gitignore": fileOver(filemode.Regular, "n*\n"), "d/new": fileOver(filemode.Regular, "x")}, make: func(t *testing.T, r *gittest.Repo) { r.Write("x.log", "x", "d/nn", "x", "u/x.log", "x", "other", "x") }},
		"rules are taken away": {over: Over{".gitignore": gone}, make: func(t *testing.T, r *gittest.Repo) {
			r.Commit("ignore", ".gitignore", "*.log\n")
			r.Write("x.log", "x")
		}},
		"not looked at": {over: Over{"a.txt": fileOver(filemode.Regular, "changed\n")}, make: func(t *testing.T, r *gittest.Repo) { r.Git("update-index", "--assume-unchanged", "a.txt") }},
		"ends of lines": {over: Over{"d/b.txt": fileOver(filemode.Regular, "b\r\nc\r\n")}, make: func(t *testing.T, r *gittest.Repo) { r.Commit("ends", ".gitattributes", "* text=auto\n") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Commit("first", "a.txt", "1\n2\n3\n", "d/b.txt", "b\n", "d/c.txt", "c\n")
			if c.make != nil {
				c.make(t, r)
			}
			checkOver(t, r, c.over)
		})
	}
}

func TestOverRandom(t *testing.T) {
	seed := seedOf(t)
	rnd := rand.New(rand.NewPCG(seed, 7))
	names := []string{"a", "b/c", "b/d", "e/f/g", "e/h", "x y", "u/1", "u/v/2"}
	for i := range 30 {
		r := gittest.New(t)
		r.Commit("start", "a", lines("a", 20), "b/c", lines("b", 30), "e/f/g", lines("d", 25))
		over := Over{}
		for _, name := range names {
			if rnd.IntN(3) == 0 {
				r.Write(name, fmt.Sprint(rnd.IntN(3)))
				if rnd.IntN(2) == 0 {
					r.Git("add", name)
				}
			}
			switch rnd.IntN(4) {
			case 0:
				over[name] = OverFile{}
			case 1:
				over[name] = fileOver([]filemode.FileMode{filemode.Regular, filemode.Executable}[rnd.IntN(2)], fmt.Sprint(rnd.IntN(3)))
			case 2:
				over[name] = fileOver(filemode.Regular, lines(string(rune('a'+rnd.IntN(3))), 20))
			}
		}
		if checkOver(t, r, over); t.Failed() {
			t.Fatalf("in round %d: %v", i, over)
		}
	}
}

// Of what is in conflict, or in a submodule, no more is said than that.
func TestOverElsewhere(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a.txt", "1\n")
	r.Git("checkout", "-qb", "side")
	r.Commit("side", "a.txt", "side\n")
	r.Git("checkout", "-q", "main")
	r.Commit("main", "a.txt", "main\n")
	r.Try("merge", "-q", "side")
	sub := gittest.New(t)
	sub.Commit("sub", "s.txt", "s\n")
	r.Git("submodule", "--quiet", "add", sub.Dir, "sub")
	st, err := open(t, r).Status(t.Context(), StatusOptions{Over: Over{"a.txt": fileOver(filemode.Regular, "solved\n"), "sub/s.txt": fileOver(filemode.Regular, "t\n")}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) FileStatus {
		i := slices.IndexFunc(st.Files, func(f FileStatus) bool { return f.Path == path })
		if i < 0 {
			return FileStatus{}
		}
		return st.Files[i]
	}
	if f := at("a.txt"); !f.Conflict {
		t.Errorf("a.txt: %+v", f)
	}
	if f := at("sub"); f.Changed != 'M' || len(st.Untracked) != 0 {
		t.Errorf("sub: %+v, untracked %v", f, st.Untracked)
	}
}
