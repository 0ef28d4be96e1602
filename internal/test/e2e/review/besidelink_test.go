package review_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

// TestLinkBesideTheRoot: a document that is opened by a link beside the root is the root's
// file: its unsaved text is seen, and what is accepted goes to it. One that a link leads
// elsewhere is none.
func TestLinkBesideTheRoot(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "1\n2\n3\n"})
	beside := filepath.Join(t.TempDir(), "link")
	symlink.Make(t, dir, beside)
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	r.Mode("review")
	uri, err := r.OpenFile(t.Context(), filepath.Join(beside, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Type(t.Context(), uri, "1\n2\n3\nunsaved\n"); err != nil {
		t.Fatal(err)
	}
	r.Shows("read_file", e2e.Object{"path": "a.txt"}, "unsaved")
	if res := r.Tool("edit_file", e2e.Object{"path": "a.txt", "search": "2\n", "replace": "two\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	r.Accept(e2e.Object{"uris": []string{uri}})
	if got, _ := r.Text(uri); got != "1\ntwo\n3\nunsaved\n" {
		t.Errorf("the buffer has %q", got)
	}
	if got := r.File("a.txt"); strings.Contains(got, "two") {
		t.Errorf("the disk has %q under an unsaved buffer", got)
	}
	elsewhere := t.TempDir()
	e2e.Write(t, filepath.Join(elsewhere, "b.txt"), "b\n")
	other, err := r.OpenFile(t.Context(), filepath.Join(elsewhere, "b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.text", e2e.Object{"uri": other, "side": "base"}, nil); err == nil {
		t.Error("a file outside has a side")
	}
}
