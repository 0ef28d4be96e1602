package gitrepo

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// TestRepository: go-git over our reader of objects finds what git finds, also
// with the settings and extensions that its own opening refuses.
func TestRepository(t *testing.T) {
	for _, c := range []struct {
		name string
		args [][]string
	}{
		{"loose", nil},
		{"packed", [][]string{{"gc", "-q"}}},
		{"both", [][]string{{"gc", "-q"}, {"commit", "-q", "--allow-empty", "-m", "more"}}},
		{"settings that go-git refuses", [][]string{{"config", "extensions.worktreeConfig", "true"}, {"config", "core.repositoryFormatVersion", "1"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := history(t)
			for _, args := range c.args {
				r.Git(args...)
			}
			repo, err := open(t, r).Repository()
			if err != nil {
				t.Fatal(err)
			}
			var log []string
			head, err := repo.Head()
			if err != nil {
				t.Fatal(err)
			}
			commits, err := repo.Log(&git.LogOptions{From: head.Hash()})
			if err != nil {
				t.Fatal(err)
			}
			if err := commits.ForEach(func(c *gitobject.Commit) error {
				log = append(log, c.Hash.String()+" "+strings.TrimSpace(c.Message))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if want := strings.Split(strings.TrimSpace(r.Git("log", "--format=%H %s")), "\n"); !slices.Equal(log, want) {
				t.Errorf("log %q, want %q", log, want)
			}
			tag, err := repo.Tag("v1")
			if err != nil {
				t.Fatal(err)
			}
			if o, err := repo.TagObject(tag.Hash()); err != nil || o.Target.String() != strings.TrimSpace(r.Git("rev-parse", "v1^{commit}")) {
				t.Errorf("tag %v, %v", o, err)
			}
			commit, err := repo.CommitObject(head.Hash())
			if err != nil {
				t.Fatal(err)
			}
			f, err := commit.File("d/3")
			if err != nil {
				t.Fatal(err)
			}
			if text, err := f.Contents(); err != nil || text != "3" {
				t.Errorf("d/3: %q, %v", text, err)
			}
			for kind, name := range map[plumbing.ObjectType]string{plumbing.CommitObject: "commit", plumbing.TreeObject: "tree", plumbing.BlobObject: "blob", plumbing.TagObject: "tag", plumbing.AnyObject: ""} {
				all, err := repo.Storer.IterEncodedObjects(kind)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				if err := all.ForEach(func(o plumbing.EncodedObject) error {
					in, err := o.Reader()
					if err != nil {
						return err
					}
					n, err := io.Copy(io.Discard, in)
					if size, serr := repo.Storer.EncodedObjectSize(o.Hash()); n != o.Size() || size != n || serr != nil {
						t.Errorf("%s: %d bytes, its size %d, %d, %v", o.Hash(), n, o.Size(), size, serr)
					}
					got = append(got, o.Hash().String())
					return err
				}); err != nil {
					t.Fatal(err)
				}
				var want []string
				for line := range strings.Lines(r.Git("cat-file", "--batch-check", "--batch-all-objects")) {
					if f := strings.Fields(line); name == "" || f[1] == name {
						want = append(want, f[0])
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) || len(want) == 0 {
					t.Errorf("%q: %d objects, want %d", name, len(got), len(want))
				}
			}
		})
	}
}

// TestRepositoryRefuses: what is not there is go-git's error, nothing is
// written, and a repository that is not read in this process isn't here either.
func TestRepositoryRefuses(t *testing.T) {
	r := history(t)
	opened := open(t, r)
	repo, err := opened.Repository()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.CommitObject(plumbing.NewHash("0123456789012345678901234567890123456789")); err != plumbing.ErrObjectNotFound { //nolint:errorlint // go-git compares
		t.Errorf("no such commit: %v", err)
	}
	head, err := repo.Head()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.BlobObject(head.Hash()); err != plumbing.ErrObjectNotFound { //nolint:errorlint // go-git compares
		t.Errorf("a commit as a blob: %v", err)
	}
	before := r.Git("count-objects", "-v")
	o := repo.Storer.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	if _, err := repo.Storer.SetEncodedObject(o); !errors.Is(err, object.ErrReadOnly) {
		t.Errorf("writing: %v", err)
	}
	if after := r.Git("count-objects", "-v"); after != before {
		t.Errorf("objects before %s, after %s", before, after)
	}
	r.Git("config", "core.repositoryFormatVersion", "1")
	r.Git("config", "extensions.refStorage", "reftable")
	if _, err := opened.Repository(); !errors.Is(err, gitfile.ErrUnsupported) {
		t.Errorf("reftable: %v", err)
	}
}
