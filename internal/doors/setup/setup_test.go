package setup

import (
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// world is a home directory and a project of a test.
type world struct {
	t   *testing.T
	dir string
	env Env
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, dir: dir}
	for _, name := range []string{"home", "project"} {
		if err := ownfile.Mkdir(w.name(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env = Env{
		Home: w.name("home"), Dir: w.name("project"), Command: "sidecar-ls",
		Getenv: func(string) string { return "" },
		Look: func(name string) (string, error) {
			if name == "sidecar-ls" {
				return "/bin/sidecar-ls", nil
			}
			return "", errors.New("not found")
		},
		Has: func(string) bool { return true },
	}
	return w
}

func (w *world) name(path string) string { return filepath.Join(w.dir, filepath.FromSlash(path)) }

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := ownfile.MkdirAll(filepath.Dir(w.name(path)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := ownfile.WriteFile(w.name(path), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// files are all files but those of our own state, and the directories that
// are empty.
func (w *world) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.dir, name)
		switch {
		case err != nil:
			return err
		case rel == "home/.local":
			return fs.SkipDir
		case d.IsDir():
			if list, err := os.ReadDir(name); err == nil && len(list) == 0 && rel != "home" && rel != "project" {
				out[rel+"/"] = ""
			}
			return nil
		}
		data, err := os.ReadFile(name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) plan(client string, o Options) *Plan {
	w.t.Helper()
	p, err := w.env.Plan(client, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) apply(client string, o Options) *Plan {
	w.t.Helper()
	p := w.plan(client, o)
	if err := p.Apply(); err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) undo(client string, o Options) *Plan {
	w.t.Helper()
	p, err := w.env.PlanUndo(client, o)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// want fails where the files are others.
func (w *world) want(files map[string]string, what string) {
	w.t.Helper()
	if d := cmp.Diff(files, w.files()); d != "" {
		w.t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (w *world) state(client, integration string) Integration {
	w.t.Helper()
	for _, c := range w.env.List(w.t.Context(), false) {
		for _, r := range c.Roads {
			if c.Name == client && r.Road == integration {
				return r
			}
		}
	}
	w.t.Fatalf("%s has no integration %s", client, integration)
	return Integration{}
}

// TestGolden: each file of testdata is the words of a run, the files before it
// and those after. A second run changes nothing, and undo restores every byte.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 15 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			golden, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, line, _ := strings.Cut(strings.TrimSpace(string(golden.Comment)), "$ ")
			words := strings.Fields(line)
			o := Options{Project: slices.Contains(words, "--project"), OnlyOurs: slices.Contains(words, "--only-ours")}
			w := newWorld(t)
			after := map[string]string{}
			out := &txtar.Archive{Comment: golden.Comment}
			for _, f := range golden.Files {
				text := string(f.Data)
				if strings.Contains(name, "crlf") {
					text = strings.ReplaceAll(text, "\n", "\r\n")
				}
				if path, ok := strings.CutPrefix(f.Name, "before/"); ok {
					w.write(path, text)
					out.Files = append(out.Files, f)
				} else {
					after[strings.TrimPrefix(f.Name, "after/")] = text
				}
			}
			before := w.files()
			p := w.apply(words[0], o)
			got := w.files()
			if *update {
				for _, path := range slices.Sorted(maps.Keys(got)) {
					out.Files = append(out.Files, txtar.File{Name: "after/" + path, Data: []byte(strings.ReplaceAll(got[path], "\r\n", "\n"))})
				}
				if err := ownfile.Update(name, txtar.Format(out)); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(after, got); d != "" {
				t.Errorf("after %s (-want +got):\n%s", line, d)
			}
			if len(p.Changes) == 0 {
				t.Error("nothing was changed")
			}
			for _, c := range p.Changes {
				if c.Diff == "" || c.Path == "" {
					t.Errorf("a change without its diff: %+v", c)
				}
			}
			if r := w.state(words[0], "mcp"); r.State != On {
				t.Errorf("the integration is %s: %s", r.State, r.Why)
			}
			if again := w.plan(words[0], o); len(again.Changes) != 0 {
				t.Errorf("a second run would change\n%s", again.Changes[0].Diff)
			}
			if u := w.undo(words[0], o); len(u.Left) > 0 {
				t.Errorf("undo leaves %q", u.Left)
			}
			w.want(before, "after undo")
			if list, err := os.ReadDir(w.env.State()); err != nil || len(list) > 0 {
				t.Errorf("records are left: %v, %v", list, err)
			}
			if r := w.state(words[0], "mcp"); r.State == On {
				t.Error("the integration is on after undo")
			}
		})
	}
}
