package shadow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// twoFolders are A, which a server is started for, and B, a repository.
func twoFolders(t *testing.T) (r *e2e.Rig, a, b string) {
	e2e.Home(t)
	top := t.TempDir()
	a, b = filepath.Join(top, "A"), filepath.Join(top, "B")
	for name, text := range map[string]string{
		"A/a.txt": "alpha\n", "A/open.txt": "saved\n", "A/sub/in.txt": "inner\n", "A/a.go": "package a\n\nfunc OnlyInA() {}\n",
		"B/b.txt": "beta\n", "B/b.go": "package b\n\nfunc OnlyInB() {}\n",
	} {
		e2e.Write(t, filepath.Join(top, name), text)
	}
	gittest.New(t).At(b).Git("init", "-q")
	r = e2e.Connect(t, a, fakeeditor.Options{})
	return r, a, b
}

// What a client adds is there with the next call, what it removes is not, and
// pending edits go and come with their folder.
func TestFoldersChange(t *testing.T) {
	r, a, b := twoFolders(t)
	r.Mode("review")
	r.Shows("edit_file", e2e.Object{"path": "a.txt", "search": "alpha", "replace": "ALPHA"})
	r.Shows("grep", e2e.Object{"pattern": "beta"}, "no matches") // the index is there
	if err := r.Open(t.Context(), fakeeditor.FileURI(filepath.Join(a, "open.txt")), "text", "unsaved\n"); err != nil {
		t.Fatal(err)
	}
	r.Fails("read_file", e2e.Object{"path": filepath.Join(b, "b.txt")})

	r.Folders([]string{b}, nil)
	r.Shows("read_file", e2e.Object{"path": "A/a.txt"}, "ALPHA")
	r.Shows("read_file", e2e.Object{"path": "A/open.txt"}, "unsaved")
	r.Shows("read_file", e2e.Object{"path": filepath.Join(b, "b.txt")}, "beta")
	r.Shows("list_directory", e2e.Object{"path": "."}, "A/", "B/")
	r.Shows("grep", e2e.Object{"pattern": "beta|ALPHA"}, "B/b.txt", "A/a.txt")
	r.Shows("search_files", e2e.Object{"pattern": "*.txt"}, "B/b.txt", "A/a.txt")
	r.Shows("project_knowledge_search", e2e.Object{"query": "OnlyInB"}, "B/b.go")
	r.Fails("read_file", e2e.Object{"path": "a.txt"})
	r.IsQueued("A/a.txt")
	r.Shows("edit_file", e2e.Object{"path": "B/b.txt", "search": "beta", "replace": "BETA"}) // the mode is as it was
	r.IsQueued("A/a.txt", "B/b.txt")

	r.Folders(nil, []string{b})
	r.IsQueued("a.txt")
	r.Shows("read_file", e2e.Object{"path": "a.txt"}, "ALPHA")
	r.Shows("read_file", e2e.Object{"path": "open.txt"}, "unsaved")
	r.Shows("grep", e2e.Object{"pattern": "(?i)beta"}, "no matches")
	r.Fails("read_file", e2e.Object{"path": filepath.Join(b, "b.txt")})
	r.Fails("edit_file", e2e.Object{"path": filepath.Join(b, "b.txt"), "search": "beta", "replace": "x"})

	r.Folders([]string{b}, nil)
	r.IsQueued("A/a.txt", "B/b.txt")
	r.Shows("read_file", e2e.Object{"path": "B/b.txt"}, "BETA")

	// The first folder goes: what is pending in the other one stays.
	r.Folders(nil, []string{a})
	r.IsQueued("b.txt")
	r.Shows("read_file", e2e.Object{"path": "b.txt"}, "BETA")
	r.Shows("git_status", e2e.Object{}, "b.txt")
	r.Fails("read_file", e2e.Object{"path": filepath.Join(a, "a.txt")})
	r.Folders([]string{a}, nil)
	r.IsQueued("A/a.txt", "B/b.txt")
	r.Accept(e2e.Object{})
	r.IsQueued()
	for file, want := range map[string]string{filepath.Join(a, "a.txt"): "ALPHA\n", filepath.Join(b, "b.txt"): "BETA\n"} {
		if data, err := os.ReadFile(file); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}

// All folders go, and one comes back.
func TestNoFolderLeft(t *testing.T) {
	r, a, b := twoFolders(t)
	r.Mode("review")
	r.Shows("edit_file", e2e.Object{"path": "a.txt", "search": "alpha", "replace": "ALPHA"})
	r.Folders(nil, []string{a})
	if got := r.Tool("read_file", e2e.Object{"path": "a.txt"}); got.OK || got.Error.Code != "unavailable" || !strings.Contains(got.Content, "no folder") {
		t.Errorf("without a folder: %+v", got)
	}
	r.Folders([]string{b}, nil)
	r.Shows("read_file", e2e.Object{"path": "b.txt"}, "beta")
	var list struct {
		Sessions []struct {
			Session string `json:"session"`
			Mode    string `json:"mode"`
			Root    string `json:"root"`
		} `json:"sessions"`
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.session.list", nil, &list); err != nil || len(list.Sessions) != 1 || list.Sessions[0].Mode != "review" || list.Sessions[0].Root != b {
		t.Errorf("what the client chose is gone: %+v %v", list, err)
	}
	r.Folders([]string{a}, []string{b})
	r.IsQueued("a.txt")
	r.Shows("read_file", e2e.Object{"path": "a.txt"}, "ALPHA")
}

// A folder that can't be one is told and left out; the others serve.
func TestFoldersThatAreNone(t *testing.T) {
	r, a, b := twoFolders(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(b, link); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(a, "none")
	r.Folders([]string{none, filepath.Join(b, "b.txt"), b, b, link, a}, nil)
	r.Shows("list_directory", e2e.Object{"path": "."}, "A/", "B/")
	r.Fails("read_file", e2e.Object{"path": "none/x"})
	for _, dir := range []string{none, filepath.Join(b, "b.txt"), link} {
		told := fmt.Sprintf("%s is left out", dir)
		if err := r.Await(t.Context(), told, func(rec *fakeeditor.Record) bool {
			return slices.ContainsFunc(rec.Notifications, func(m fakeeditor.Message) bool {
				return m.Method == "window/showMessage" && strings.Contains(string(m.Params), told)
			})
		}); err != nil {
			t.Error(err)
		}
	}
	if text := r.Tool("list_directory", e2e.Object{"path": "."}).Content; strings.Count(text, "/") != 2 {
		t.Errorf("the roots: %q", text)
	}

	// A folder in another one is a root too; a path in there is the inner one's.
	r.Folders([]string{filepath.Join(a, "sub")}, []string{b, link})
	r.Shows("read_file", e2e.Object{"path": "sub/in.txt"}, "inner")
	r.Shows("read_file", e2e.Object{"path": filepath.Join(a, "sub", "in.txt")}, "inner")
	r.Folders(nil, []string{filepath.Join(a, "sub")})
	r.Shows("read_file", e2e.Object{"path": "sub/in.txt"}, "inner")
	r.Folders(nil, []string{"/no/such/folder/was/ever/added"})
	r.Shows("read_file", e2e.Object{"path": "a.txt"}, "alpha")
}

// A call that waits for a person while the folders change ends as it began.
func TestFoldersChangeUnderACall(t *testing.T) {
	r, a, b := twoFolders(t)
	if err := r.Open(t.Context(), fakeeditor.FileURI(filepath.Join(a, "open.txt")), "text", "unsaved\n"); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a.txt", "open.txt"} {
		asked, answer := make(chan struct{}), make(chan struct{})
		r.Answer("window/showMessageRequest", func(context.Context, json.RawMessage) (any, error) {
			close(asked)
			<-answer
			return e2e.Object{"title": "Allow"}, nil
		})
		params, err := fakeeditor.Command("sidecar.tools.call", e2e.Object{"name": "write_file", "arguments": e2e.Object{"path": name, "content": "written\n"}})
		if err != nil {
			t.Fatal(err)
		}
		pending, err := r.Start(t.Context(), "workspace/executeCommand", params)
		if err != nil {
			t.Fatal(err)
		}
		<-asked
		if i == 0 {
			r.Folders([]string{b}, nil)
			r.Shows("read_file", e2e.Object{"path": "B/b.txt"}, "beta")
			close(answer)
		} else {
			r.Folders([]string{b}, []string{a})
			r.Shows("read_file", e2e.Object{"path": "b.txt"}, "beta")
			close(answer)
		}
		var res e2e.Result
		if err := pending.Wait(t.Context(), &res); err != nil || !res.OK {
			t.Errorf("%s: %v, %+v", name, err, res)
		}
		r.Answer("window/showMessageRequest", nil)
		if i == 0 {
			r.Folders(nil, []string{b})
		}
	}
	if data, err := os.ReadFile(filepath.Join(a, "a.txt")); err != nil || string(data) != "written\n" {
		t.Errorf("a.txt: %q, %v", data, err)
	}
	if text, _ := r.Text(fakeeditor.FileURI(filepath.Join(a, "open.txt"))); text != "written\n" {
		t.Errorf("the open document: %q", text)
	}
	if data, err := os.ReadFile(filepath.Join(a, "open.txt")); err != nil || string(data) != "saved\n" {
		t.Errorf("its file: %q, %v", data, err)
	}
}

// Edits of a folder that is not there outlive restarts without it.
func TestPendingEditsWaitForTheirFolder(t *testing.T) {
	_, a, b := twoFolders(t)
	a = filepath.Join(filepath.Dir(a), "C") // of which no server runs
	e2e.Write(t, filepath.Join(a, "a.txt"), "alpha\n")
	for i, use := range []func(r *e2e.Rig){
		func(r *e2e.Rig) {
			r.Folders([]string{b}, nil)
			r.Shows("edit_file", e2e.Object{"path": "B/b.txt", "search": "beta", "replace": "BETA"})
			r.Shows("edit_file", e2e.Object{"path": "C/a.txt", "search": "alpha", "replace": "ALPHA"})
		},
		func(r *e2e.Rig) {
			r.IsQueued("a.txt")
			r.Shows("edit_file", e2e.Object{"path": "a.txt", "search": "ALPHA", "replace": "OMEGA"})
			r.Accept(e2e.Object{})
		},
		func(r *e2e.Rig) {
			r.IsQueued()
			r.Folders([]string{b}, nil)
			r.IsQueued("B/b.txt")
			r.Shows("read_file", e2e.Object{"path": "B/b.txt"}, "BETA")
			r.Shows("read_file", e2e.Object{"path": "C/a.txt"}, "OMEGA")
		},
	} {
		t.Run(fmt.Sprint("server ", i+1), func(t *testing.T) {
			r := e2e.Connect(t, a, fakeeditor.Options{})
			r.Mode("review")
			use(r)
		})
	}
}
