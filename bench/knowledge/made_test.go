package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
)

// TestMade makes questions of a small repository: of a mended fault and of a
// comment, and of nothing else.
func TestMade(t *testing.T) {
	r := gittest.New(t)
	store := func(body string) string {
		return "package store\n\n// Open prepares the directory where all records of the store are kept.\nfunc Open() {\n" +
			body + "}\n\nfunc Close() {\n\tflush()\n}\n"
	}
	r.Commit("Begin", "store/store.go", store("\tmake()\n"), "lib.go", "package lib\n\nfunc Lib() {}\n", "store/store_test.go", "package store\n")
	base := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	// The number, the trailer and the line that only refers to something are left out.
	r.Commit("store: don't crash when Open meets a damaged directory (#12)\n\nThe directory was taken for granted by Open,\nsee https://example.com/12.\n\nSigned-off-by: A B <a@example.com>\n",
		"store/store.go", store("\tcheck()\n"), "store/store_test.go", "package store\n\nfunc TestOpen() {}\n")
	r.Commit("refactor: handle errors of the library in one place only", "lib.go", "package lib\n\nfunc Lib() { one() }\n")
	r.Commit("Add support for several new libraries at once", "new.go", "package lib\n")
	for i := range 5 {
		r.Commit(fmt.Sprint("docs ", i), "README.md", fmt.Sprint(i))
	}
	mirrors, set := t.TempDir(), t.TempDir()
	if err := os.Symlink(r.Dir, filepath.Join(mirrors, "acme+store")); err != nil {
		t.Fatal(err)
	}
	if err := made(t.Context(), filepath.Join(set, "made.jsonl"), mirrors, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	records, err := retrieval.ReadSets(set)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 2 {
		t.Fatalf("%d questions instead of 2: %+v", len(records), records)
	}
	change := records[slices.IndexFunc(records, func(r retrieval.Record) bool { return r.DocStart == 0 })]
	if change.Repo != "acme/store" || change.Commit != base || !slices.Equal(change.Files, []string{"store/store.go"}) {
		t.Errorf("asked of %s at %s with %q", change.Repo, change.Commit, change.Files)
	}
	if want := (retrieval.Gold{File: "store/store.go", Qual: "Open", Kind: "function", Start: 4, End: 6}); !slices.Equal(change.Symbols, []retrieval.Gold{want}) {
		t.Errorf("answered by %+v instead of %+v", change.Symbols, want)
	}
	const title = "store: don't crash when Open meets a damaged directory"
	if got := change.Queries["subject"]; got != title {
		t.Errorf("subject %q", got)
	}
	if got, want := change.Queries["full"], title+"\n\nThe directory was taken for granted by Open,"; got != want {
		t.Errorf("full %q instead of %q", got, want)
	}
	if hard := change.Queries["hard"]; hard == "" || strings.Contains(hard, "Open") || strings.Contains(hard, "store") {
		t.Errorf("hard %q names the answer", hard)
	}
	comment := records[slices.IndexFunc(records, func(r retrieval.Record) bool { return r.DocStart > 0 })]
	if got, want := comment.Queries["full"], "prepares the directory where all records of the store are kept."; got != want {
		t.Errorf("comment %q instead of %q", got, want)
	}
	if comment.DocStart != 3 || comment.DocEnd != 3 || comment.Symbols[0].Qual != "Open" {
		t.Errorf("comment: %+v", comment)
	}

	// The set can be run, and the comment is not what answers.
	states, err := collect(set, mirrors)
	if err != nil {
		t.Fatal(err)
	}
	if len(states) != 2 {
		t.Fatalf("%d states to index instead of 2", len(states))
	}
	for _, s := range states {
		repo, err := openRepository(t.Context(), s.dir)
		if err != nil {
			t.Fatal(err)
		}
		texts, err := load(t.Context(), repo, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
		i := slices.IndexFunc(texts, func(f text) bool { return f.path == "store/store.go" })
		if has := strings.Contains(string(texts[i].data), "prepares"); has == (s.records[0].DocStart > 0) {
			t.Errorf("%s: has the comment: %v", s.key, has)
		}
	}
}

func TestMadeOfNothing(t *testing.T) {
	if err := made(t.Context(), filepath.Join(t.TempDir(), "made.jsonl"), "", t.TempDir()); err == nil || !strings.Contains(err.Error(), "-repos") {
		t.Errorf("without repositories: %v", err)
	}
}
