package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func (r *rig) folders(added, removed []string) {
	r.t.Helper()
	list := func(dirs []string) []object {
		out := []object{}
		for _, dir := range dirs {
			out = append(out, object{"uri": fakeeditor.FileURI(dir), "name": filepath.Base(dir)})
		}
		return out
	}
	if err := r.Notify(r.t.Context(), "workspace/didChangeWorkspaceFolders", object{"event": object{"added": list(added), "removed": list(removed)}}); err != nil {
		r.t.Fatal(err)
	}
}

// shows fails unless the tool succeeds with a result that has all of want.
func (r *rig) shows(tool string, args object, want ...string) {
	r.t.Helper()
	res := r.call(tool, args)
	for _, w := range want {
		if !res.OK || !strings.Contains(res.Content, w) {
			r.t.Errorf("%s %v: %v, want %q in %q", tool, args, res.OK, w, res.Content)
		}
	}
}

// fails fails unless the tool does.
func (r *rig) fails(tool string, args object) {
	r.t.Helper()
	if res := r.call(tool, args); res.OK {
		r.t.Errorf("%s %v: %q", tool, args, res.Content)
	}
}

func (r *rig) queued() []string {
	r.t.Helper()
	names := []string{}
	for _, e := range r.pending().Edits {
		names = append(names, e.Path)
	}
	return names
}

func (r *rig) isQueued(want ...string) {
	r.t.Helper()
	if got := r.queued(); !slices.Equal(got, want) {
		r.t.Errorf("pending: %q, want %q", got, want)
	}
}

// twoFolders are A, which a server is started for, and B, a repository.
func twoFolders(t *testing.T) (r *rig, a, b string) {
	home(t)
	top := t.TempDir()
	a, b = filepath.Join(top, "A"), filepath.Join(top, "B")
	for name, text := range map[string]string{
		"A/a.txt": "alpha\n", "A/open.txt": "saved\n", "A/sub/in.txt": "inner\n", "A/a.go": "package a\n\nfunc OnlyInA() {}\n",
		"B/b.txt": "beta\n", "B/b.go": "package b\n\nfunc OnlyInB() {}\n",
	} {
		write(t, filepath.Join(top, name), text)
	}
	gittest.New(t).At(b).Git("init", "-q")
	r = connect(t, a, fakeeditor.Options{})
	return r, a, b
}

// What a client adds is there with the next call, what it removes is not, and
// pending edits go and come with their folder.
func TestFoldersChange(t *testing.T) {
	r, a, b := twoFolders(t)
	r.mode("review")
	r.shows("edit_file", object{"path": "a.txt", "search": "alpha", "replace": "ALPHA"})
	r.shows("grep", object{"pattern": "beta"}, "no matches") // the index is there
	if err := r.Open(t.Context(), fakeeditor.FileURI(filepath.Join(a, "open.txt")), "text", "unsaved\n"); err != nil {
		t.Fatal(err)
	}
	r.fails("read_file", object{"path": filepath.Join(b, "b.txt")})

	r.folders([]string{b}, nil)
	r.shows("read_file", object{"path": "A/a.txt"}, "ALPHA")
	r.shows("read_file", object{"path": "A/open.txt"}, "unsaved")
	r.shows("read_file", object{"path": filepath.Join(b, "b.txt")}, "beta")
	r.shows("list_directory", object{"path": "."}, "A/", "B/")
	r.shows("grep", object{"pattern": "beta|ALPHA"}, "B/b.txt", "A/a.txt")
	r.shows("search_files", object{"pattern": "*.txt"}, "B/b.txt", "A/a.txt")
	r.shows("project_knowledge_search", object{"query": "OnlyInB"}, "B/b.go")
	r.fails("read_file", object{"path": "a.txt"})
	r.isQueued("A/a.txt")
	r.shows("edit_file", object{"path": "B/b.txt", "search": "beta", "replace": "BETA"}) // the mode is as it was
	r.isQueued("A/a.txt", "B/b.txt")

	r.folders(nil, []string{b})
	r.isQueued("a.txt")
	r.shows("read_file", object{"path": "a.txt"}, "ALPHA")
	r.shows("read_file", object{"path": "open.txt"}, "unsaved")
	r.shows("grep", object{"pattern": "(?i)beta"}, "no matches")
	r.fails("read_file", object{"path": filepath.Join(b, "b.txt")})
	r.fails("edit_file", object{"path": filepath.Join(b, "b.txt"), "search": "beta", "replace": "x"})

	r.folders([]string{b}, nil)
	r.isQueued("A/a.txt", "B/b.txt")
	r.shows("read_file", object{"path": "B/b.txt"}, "BETA")

	// The first folder goes: what is pending in the other one stays.
	r.folders(nil, []string{a})
	r.isQueued("b.txt")
	r.shows("read_file", object{"path": "b.txt"}, "BETA")
	r.shows("git_status", object{}, "b.txt")
	r.fails("read_file", object{"path": filepath.Join(a, "a.txt")})
	r.folders([]string{a}, nil)
	r.isQueued("A/a.txt", "B/b.txt")
	r.accept(object{})
	r.isQueued()
	for file, want := range map[string]string{filepath.Join(a, "a.txt"): "ALPHA\n", filepath.Join(b, "b.txt"): "BETA\n"} {
		if data, err := os.ReadFile(file); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}

// All folders go, and one comes back.
func TestNoFolderLeft(t *testing.T) {
	r, a, b := twoFolders(t)
	r.mode("review")
	r.shows("edit_file", object{"path": "a.txt", "search": "alpha", "replace": "ALPHA"})
	r.folders(nil, []string{a})
	if got := r.call("read_file", object{"path": "a.txt"}); got.OK || got.Error.Code != "unavailable" || !strings.Contains(got.Content, "no folder") {
		t.Errorf("without a folder: %+v", got)
	}
	r.folders([]string{b}, nil)
	r.shows("read_file", object{"path": "b.txt"}, "beta")
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
	r.folders([]string{a}, []string{b})
	r.isQueued("a.txt")
	r.shows("read_file", object{"path": "a.txt"}, "ALPHA")
}

// A folder that can't be one is told and left out; the others serve.
func TestFoldersThatAreNone(t *testing.T) {
	r, a, b := twoFolders(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(b, link); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(a, "none")
	r.folders([]string{none, filepath.Join(b, "b.txt"), b, b, link, a}, nil)
	r.shows("list_directory", object{"path": "."}, "A/", "B/")
	r.fails("read_file", object{"path": "none/x"})
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
	if text := r.call("list_directory", object{"path": "."}).Content; strings.Count(text, "/") != 2 {
		t.Errorf("the roots: %q", text)
	}

	// A folder in another one is a root too; a path in there is the inner one's.
	r.folders([]string{filepath.Join(a, "sub")}, []string{b, link})
	r.shows("read_file", object{"path": "sub/in.txt"}, "inner")
	r.shows("read_file", object{"path": filepath.Join(a, "sub", "in.txt")}, "inner")
	r.folders(nil, []string{filepath.Join(a, "sub")})
	r.shows("read_file", object{"path": "sub/in.txt"}, "inner")
	r.folders(nil, []string{"/no/such/folder/was/ever/added"})
	r.shows("read_file", object{"path": "a.txt"}, "alpha")
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
			return object{"title": "Allow"}, nil
		})
		params, err := fakeeditor.Command("sidecar.tools.call", object{"name": "write_file", "arguments": object{"path": name, "content": "written\n"}})
		if err != nil {
			t.Fatal(err)
		}
		pending, err := r.Start(t.Context(), "workspace/executeCommand", params)
		if err != nil {
			t.Fatal(err)
		}
		<-asked
		if i == 0 {
			r.folders([]string{b}, nil)
			r.shows("read_file", object{"path": "B/b.txt"}, "beta")
			close(answer)
		} else {
			r.folders([]string{b}, []string{a})
			r.shows("read_file", object{"path": "b.txt"}, "beta")
			close(answer)
		}
		var res result
		if err := pending.Wait(t.Context(), &res); err != nil || !res.OK {
			t.Errorf("%s: %v, %+v", name, err, res)
		}
		r.Answer("window/showMessageRequest", nil)
		if i == 0 {
			r.folders(nil, []string{b})
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
	write(t, filepath.Join(a, "a.txt"), "alpha\n")
	for i, use := range []func(r *rig){
		func(r *rig) {
			r.folders([]string{b}, nil)
			r.shows("edit_file", object{"path": "B/b.txt", "search": "beta", "replace": "BETA"})
			r.shows("edit_file", object{"path": "C/a.txt", "search": "alpha", "replace": "ALPHA"})
		},
		func(r *rig) {
			r.isQueued("a.txt")
			r.shows("edit_file", object{"path": "a.txt", "search": "ALPHA", "replace": "OMEGA"})
			r.accept(object{})
		},
		func(r *rig) {
			r.isQueued()
			r.folders([]string{b}, nil)
			r.isQueued("B/b.txt")
			r.shows("read_file", object{"path": "B/b.txt"}, "BETA")
			r.shows("read_file", object{"path": "C/a.txt"}, "OMEGA")
		},
	} {
		t.Run(fmt.Sprint("server ", i+1), func(t *testing.T) {
			r := connect(t, a, fakeeditor.Options{})
			r.mode("review")
			use(r)
		})
	}
}
