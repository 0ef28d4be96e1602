package review_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// TestSave: a document in which an edit was applied is saved, by the editor, if it
// had no unsaved changes of the user's; what stays unsaved is named where a tool
// looks at the disk.
func TestSave(t *testing.T) {
	const before, typed = "one\ntwo\nthree\n", "one\ntwo\nthree typed\n"
	for _, c := range []struct {
		name     string
		declares bool
		setting  string
		types    bool
		fails    bool
		reviewed bool
		saved    bool
	}{
		{name: "a clean document", declares: true, saved: true},
		{name: "with changes of the user's", declares: true, types: true},
		{name: "by an editor that can't be asked"},
		{name: "against the setting", declares: true, setting: "never"},
		{name: "that can't be saved", declares: true, fails: true},
		{name: "accepted, a clean document", declares: true, reviewed: true, saved: true},
		{name: "accepted, with changes of the user's", declares: true, types: true, reviewed: true},
		{name: "accepted, with changes of the user's, if that is wanted", declares: true, setting: "onAccept", types: true, reviewed: true, saved: true},
		{name: "applied at once, with changes of the user's", declares: true, setting: "onAccept", types: true},
		{name: "accepted, by an editor that can't be asked", setting: "onAccept", types: true, reviewed: true},
		{name: "accepted, that can't be saved", declares: true, setting: "onAccept", types: true, reviewed: true, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e2e.Home(t)
			can := fakeeditor.Usual()
			can.Experimental.Sidecar.Save = c.declares
			options := fakeeditor.Options{Capabilities: can, InitializationOptions: e2e.Object{"sidecar": e2e.Object{"sandbox.mode": "off"}}}
			if c.setting != "" {
				e2e.UserSettings(t, e2e.Object{"edits.save": c.setting})
			}
			r := e2e.Connect(t, e2e.Project(t, map[string]string{"a.txt": before}), options)
			asked := 0
			r.Answer("sidecar/save", func(ctx context.Context, params json.RawMessage) (any, error) {
				asked++
				var p struct {
					URIs []lsp.URI `json:"uris"`
				}
				if err := json.Unmarshal(params, &p); err != nil {
					return nil, err
				}
				if c.fails {
					return e2e.Object{"saved": []string{}, "failed": []e2e.Object{{"uri": p.URIs[0], "error": "the disk is full"}}}, nil
				}
				for _, uri := range p.URIs {
					if err := r.Save(ctx, uri); err != nil {
						return nil, err
					}
				}
				return e2e.Object{"saved": p.URIs, "failed": []e2e.Object{}}, nil
			})
			uri, err := r.OpenFile(t.Context(), filepath.Join(r.Dir, "a.txt"))
			if err != nil {
				t.Fatal(err)
			}
			text := before
			if c.types {
				text = typed
				if err := r.Type(t.Context(), uri, typed); err != nil {
					t.Fatal(err)
				}
			}
			r.Mode(map[bool]string{true: "review", false: "autonomous"}[c.reviewed])
			if res := r.Tool("edit_file", e2e.Object{"path": "a.txt", "search": "two", "replace": "TWO"}); !res.OK {
				t.Fatal(res.Content)
			}
			if c.reviewed {
				e2e.Command[e2e.Object](r, "sidecar.review.accept", e2e.Object{})
			}
			want, disk := "one\nTWO\n"+text[len("one\ntwo\n"):], before
			if c.saved {
				disk = want // with what the user typed
			}
			if now, _ := r.Text(uri); now != want || r.File("a.txt") != disk {
				t.Errorf("the document is %q and the disk has %q", now, r.File("a.txt"))
			}
			if (asked > 0) != (c.saved || c.fails) {
				t.Errorf("the editor was asked %d times", asked)
			}
		})
	}
}
