package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// TestMade makes questions of a small repository: of a mended fault and of
// comments, and of nothing else.
func TestMade(t *testing.T) {
	r := gittest.New(t)
	store := func(body string) string {
		return "package store\n\n// Open prepares the directory where all records of the store are kept.\nfunc Open() {\n" +
			body + "}\n\n// Closes whatever records are open and tells all of their readers.\nfunc Close() {\n\tflush()\n}\n"
	}
	r.Commit("Begin", "store/store.go", store("\tmake()\n"), "lib.go", "package lib\n\nfunc Lib() {}\n", "store/store_test.go", "package store\n")
	base := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	// The number, the trailer and the line that only refers to something are left out.
	r.Commit("store: don't crash when Open meets a damaged directory (#12)\n\nThe directory was taken for granted by Open.\nSee how closing does it.\nSee https://example.com/12.\n\nSigned-off-by: A B <a@example.com>\n",
		"store/store.go", store("\tcheck()\n"), "store/store_test.go", "package store\n\nfunc TestOpen() {}\n")
	r.Commit("refactor: handle errors of the library in one place only", "lib.go", "package lib\n\nfunc Lib() { one() }\n")
	r.Commit("Add support for several new libraries at once", "new.go", "package lib\n")
	for i := range 5 {
		r.Commit(fmt.Sprint("docs ", i), "README.md", fmt.Sprint(i))
	}
	mirrors, set, records := madeOf(t, r.Dir)
	if len(records) != 3 {
		t.Fatalf("%d questions instead of 3: %+v", len(records), records)
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
	if got, want := change.Queries["full"], title+"\n\nThe directory was taken for granted by Open.\nSee how closing does it."; got != want {
		t.Errorf("full %q instead of %q", got, want)
	}
	if hard := change.Queries["hard"]; hard == "" || strings.Contains(hard, "Open") || strings.Contains(hard, "store") {
		t.Errorf("hard %q names the answer", hard)
	}
	comments := map[string]string{}
	for _, r := range records {
		if r.DocStart > 0 {
			comments[fmt.Sprint(r.Symbols[0].Qual, " ", r.DocStart, "-", r.DocEnd)] = r.Queries["full"]
		}
	}
	want := map[string]string{
		"Open 3-3":  "prepares the directory where all records of the store are kept.",
		"Close 8-8": "Closes whatever records are open and tells all of their readers.",
	}
	if !maps.Equal(comments, want) {
		t.Errorf("comments: %v", comments)
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
	file := filepath.Join(t.TempDir(), "made.jsonl")
	if err := ownfile.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mirrors, want := range map[string]string{"": "-repos", t.TempDir(): "no repository", filepath.Join(t.TempDir(), "none"): "none"} {
		if err := made(t.Context(), file, mirrors, t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %q: %v, want something about %q", mirrors, err, want)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "kept" {
		t.Errorf("the file is lost: %q, %v", data, err)
	}
}

func TestMadeQueries(t *testing.T) {
	m := &maker{stops: terms.Stops()}
	for message, want := range map[string]string{
		"Fixes a crash when the queue is empty":                           "Fixes a crash when the queue is empty",
		"Link errors to the file that they are about\n\nFixes: #12\n":     "Link errors to the file that they are about",
		"Handle empty queue of watched files (#7)\n\nCloses acme/x#12.\n": "Handle empty queue of watched files",
		"Fix it": "",
	} {
		if got := m.queries(message, nil, nil)["full"]; got != want {
			t.Errorf("%q asks %q, want %q", message, got, want)
		}
	}
}

// TestMadeIsBounded: of many comments some are taken, and of these a third stay
// in the text.
func TestMadeIsBounded(t *testing.T) {
	r := gittest.New(t)
	var files []string
	for i := range 60 {
		text := "package p\n"
		for k := range 1 + min(1, i%3) { // one or two of a file, so that the bound may be stepped over
			text += fmt.Sprintf("\n// Opens number %d of all the directories, %d times, for everybody who reads records.\nfunc Open%d() {\n\tmake()\n}\n", i, k, k)
		}
		files = append(files, fmt.Sprintf("d%d/open.go", i), text)
	}
	r.Commit("Begin", files...)
	r.Commit("docs", "README.md", "1\n")
	_, _, records := madeOf(t, r.Dir)
	in := 0
	for _, r := range records {
		if r.DocStart == 0 {
			in++
		}
	}
	if n := len(records); n < ofComments || n > ofComments+1 || in != n/leftIn {
		t.Errorf("%d comments, %d of them left in; want %d or one more, and a third", n, in, ofComments)
	}
}

// madeOf makes the questions of a repository named acme/store.
func madeOf(t *testing.T, dir string) (mirrors, set string, records []retrieval.Record) {
	t.Helper()
	mirrors, set = t.TempDir(), t.TempDir()
	if err := ownfile.Symlink(dir, filepath.Join(mirrors, "acme+store")); err != nil {
		t.Fatal(err)
	}
	if err := made(t.Context(), filepath.Join(set, "made.jsonl"), mirrors, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	records, err := retrieval.ReadSets(set)
	if err != nil {
		t.Fatal(err)
	}
	return mirrors, set, records
}
