package shadow_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// TestMovedFolder: a folder that was renamed or copied keeps its shadows, with the work in
// them, and git finds them again; the original of a copy keeps its own.
func TestMovedFolder(t *testing.T) {
	for _, how := range []string{"moved", "copied"} {
		t.Run(how, func(t *testing.T) {
			h := newHouse(t, "a")
			created, err := h.Create(t.Context(), shadow.CreateRequest{ID: "work"})
			if err != nil {
				t.Fatal(err)
			}
			if err := ownfile.WriteFile(filepath.Join(created.Path, "made"), []byte("work\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			h.Close()
			to := filepath.Join(t.TempDir(), "elsewhere")
			if how == "copied" {
				err = os.CopyFS(to, os.DirFS(h.Dir))
			} else {
				err = ownfile.Rename(h.Dir, to)
			}
			if err != nil {
				t.Fatal(err)
			}
			m, err := shadow.New(shadow.Options{Dir: to})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			list, err := m.List(t.Context())
			if err != nil || len(list) != 1 || list[0].ID != "work" || list[0].Damage != nil || list[0].Changed != 1 {
				t.Fatalf("the shadows there are %+v, %v", list, err)
			}
			trees, err := exec.Command("git", "-C", to, "worktree", "list").CombinedOutput()
			if err != nil || strings.Contains(string(trees), "prunable") || !strings.Contains(string(trees), filepath.Join(to, ".sidecar", "shadows", "work")) {
				t.Errorf("git has %s, %v", trees, err)
			}
			if how == "copied" {
				if list, err := h.List(t.Context()); err != nil || len(list) != 1 || list[0].Damage != nil {
					t.Errorf("the original has %+v, %v", list, err)
				}
			}
			if _, err := m.Discard(t.Context(), "work"); err != nil {
				t.Errorf("it can't be discarded: %v", err)
			}
		})
	}
}

// TestShadowsRemovedByHand: names are free again once somebody removed the directory of all
// shadows, and a folder that never had any gets none of it.
func TestShadowsRemovedByHand(t *testing.T) {
	h := newHouse(t, "a")
	if _, err := h.Create(t.Context(), shadow.CreateRequest{ID: "work"}); err != nil {
		t.Fatal(err)
	}
	h.Close()
	if err := ownfile.RemoveAll(h.Path(".sidecar/shadows")); err != nil {
		t.Fatal(err)
	}
	again := openHouse(t, h.Repo, shadow.Options{})
	if _, err := again.Create(t.Context(), shadow.CreateRequest{ID: "work"}); err != nil {
		t.Errorf("the name is not free: %v", err)
	}

	r := gittest.New(t)
	r.Commit("first", "a")
	m, err := shadow.New(shadow.Options{Dir: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if list, err := m.List(t.Context()); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
	if _, err := os.Lstat(r.Path(".sidecar")); err == nil {
		t.Error("a folder without shadows has a .sidecar")
	}
}
