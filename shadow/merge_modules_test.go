package shadow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// TestMergeNamesRepositories: what was done in a submodule, or in a repository
// that a task has made, is not merged, and not passed over in silence: it goes
// when the shadow is discarded.
func TestMergeNamesRepositories(t *testing.T) {
	slow.Test(t)
	repoIn := func(w *gittest.Repo, name string) *gittest.Repo {
		w.Git("init", "-q", name)
		inner := w.At(name)
		inner.Commit("inner", "i", "1\n")
		return inner
	}
	populate := func(w *gittest.Repo) *gittest.Repo {
		w.Git("submodule", "update", "-q", "--init")
		return w.At("mod")
	}
	for _, c := range []struct {
		name string
		do   func(w *gittest.Repo)
		skip string // the file and what is said about it; "": nothing is
	}{
		{"nothing was done", func(*gittest.Repo) {}, ""},
		{"the submodule is there as it was", func(w *gittest.Repo) { populate(w) }, ""},
		{"an ignored repository", func(w *gittest.Repo) { repoIn(w, "ignored/inner") }, ""},
		{"a repository of its own", func(w *gittest.Repo) { repoIn(w, "dir/inner") }, "dir/inner: it is a repository of its own"},
		{"a commit in the submodule", func(w *gittest.Repo) { populate(w).Commit("more", "t", "2\n") }, "mod: the submodule has changes or commits of its own"},
		{"a change in the submodule", func(w *gittest.Repo) { populate(w).Write("s", "2\n") }, "mod: the submodule has changes or commits of its own"},
		{"a new file in the submodule", func(w *gittest.Repo) { populate(w).Write("new", "2\n") }, "mod: the submodule has changes or commits of its own"},
		{"the submodule was set to another commit", func(w *gittest.Repo) {
			populate(w).Commit("more", "t", "2\n")
			w.Git("commit", "-qam", "set")
		}, "mod: the submodule was set to the commit "},
		{"the submodule was removed", func(w *gittest.Repo) { w.Git("rm", "-q", "--cached", "mod") }, "mod: the submodule was removed"},
		{"a new submodule", func(w *gittest.Repo) { repoIn(w, "new"); w.Git("add", "new") }, "new: it is a new submodule"},
		{"the index is damaged", func(w *gittest.Repo) {
			w.Write(strings.TrimSpace(w.Git("rev-parse", "--path-format=relative", "--git-path", "index")), "damaged")
		}, "mod: the submodule can't be looked at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sub := gittest.New(t)
			sub.Commit("sub", "s", "1\n")
			h := newHouse(t, "a", "1\n", ".gitignore", "/ignored\n")
			h.Git("submodule", "add", "-q", sub.Dir, "mod")
			h.Git("commit", "-qm", "module")
			s, w := h.create(shadow.CreateRequest{})
			c.do(w)
			w.Write("a", "2\n")
			m, err := h.Merge(t.Context(), s.ID, h.main)
			if err != nil || fmt.Sprint(m.Merged) != "[a]" || len(m.Conflicts) > 0 {
				t.Fatalf("%+v, %v", m, err)
			}
			said := ""
			for _, k := range m.Skipped {
				said += k.Path + ": " + k.Reason + "\n"
			}
			if strings.Count(said, "\n") != min(len(c.skip), 1) || !strings.HasPrefix(said, c.skip) {
				t.Errorf("got %q, want %q", said, c.skip)
			}
		})
	}
}
