package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// A server that stays misses no change in git_status: with one root and with
// several, and whatever the answer was before.
func TestStatusStaysTrue(t *testing.T) {
	for _, several := range []bool{false, true} {
		r := gittest.New(t)
		r.Commit("base", "a.txt", "a\n", "d/b.txt", "b\n", ".gitignore", ".sidecar/\n")
		folders, prefix := []workspace.Folder{{Name: "one", Dir: r.Dir}}, ""
		if several {
			folders, prefix = append(folders, workspace.Folder{Name: "two", Dir: t.TempDir()}), "one/"
		}
		c, err := Open(context.Background(), folders, Options{Log: slog.New(slog.DiscardHandler), Queue: QueueNever, Resident: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		for i, step := range []struct {
			do   func()
			want string
		}{
			{func() {}, "clean"},
			{func() {}, "clean"},
			{func() {}, "clean"},
			{func() { r.Write("a.txt", "b\n") }, "M " + prefix + "a.txt"},
			{func() { r.Write("a.txt", "a\n") }, "clean"},
			{func() { r.Write("d/e/new", "1\n") }, "  " + prefix + "d/e/\n"},
			{func() { r.Write("d/.gitignore", "e\n.gitignore\n") }, "clean"},
			{func() { r.Git("rm", "-q", "--cached", "a.txt") }, "D " + prefix + "a.txt"},
			{func() { r.Git("reset", "-q") }, "clean"},
			{func() {
				if err := ownfile.RemoveAll(filepath.Join(r.Dir, "d")); err != nil {
					t.Fatal(err)
				}
			}, "D " + prefix + "d/b.txt"},
			{func() { r.Git("checkout", "-q", ".") }, "clean"},
		} {
			step.do()
			res, err := c.Dispatch.Call(t.Context(), dispatch.Request{Name: "git_status", Arguments: json.RawMessage(`{}`)})
			if err != nil || !res.OK || !strings.Contains(res.Content, step.want) {
				t.Fatalf("several %v, step %d: want %q, got %+v, %v", several, i, step.want, res, err)
			}
		}
	}
}
