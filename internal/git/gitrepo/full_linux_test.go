package gitrepo

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestFullDisk fills the disk of a repository: what is asked for fails with
// the reason, and the repository is as it was.
func TestFullDisk(t *testing.T) {
	w := newWorld(t, Options{})
	small := filepath.Join(w.dir, "small")
	if err := ownfile.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=1m"); err != nil {
		needs.Skip(t, needs.Mounts, fmt.Sprintf("no small disk can be mounted: %v", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, 2); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(small, "work")
	in := func(line string) string { return w.sh("cd " + dir + " && " + line) }
	w.sh("rm -rf " + dir + "; cp -a ../work ../small/")
	r, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	in("echo x >> a.txt; git add a.txt; echo y >> b.txt; head -c 300000 /dev/urandom > big")
	before := in("git rev-parse HEAD; git status --porcelain")
	in("dd if=/dev/zero of=fill bs=4k 2>/dev/null; true")
	_, staged := r.Stage(t.Context(), StageRequest{Paths: []string{"big", "b.txt"}})
	_, made := r.Commit(t.Context(), "m", nil, "", nil)
	errs := map[string]error{"stage": staged, "commit": made}
	_, errs["some paths"] = r.CommitPaths(t.Context(), CommitRequest{Message: "m", Paths: []PathState{{Path: "b.txt", Current: true}, {Path: "n", Data: make([]byte, 1<<16), Exists: true}}})
	_, errs["stash"] = r.StashPush(t.Context(), "", "")
	in("rm fill")
	for what, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "disk is full") && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if after := in("git rev-parse HEAD; git status --porcelain"); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if out := in("git fsck --strict --no-dangling; ls .git/*.lock 2>/dev/null; true"); out != "" {
		t.Error(out)
	}
	// The control: with room it works.
	if _, err := r.Stage(t.Context(), StageRequest{Paths: []string{"big", "b.txt"}}); err != nil {
		t.Error(err)
	}
	if _, err := r.Commit(t.Context(), "m", nil, "", nil); err != nil {
		t.Error(err)
	}
}
