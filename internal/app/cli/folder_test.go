package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestProjectAround: what others put into a directory that all may write is no project
// around those below it; where it is where somebody stands, it is.
func TestProjectAround(t *testing.T) {
	top := t.TempDir()
	everybody := filepath.Join(top, "everybody")
	below := filepath.Join(everybody, "a", "b")
	for _, dir := range []string{below, filepath.Join(top, ".git"), filepath.Join(everybody, ".sidecar")} {
		if err := ownfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	check := func(here, want string) {
		t.Helper()
		if got := projectAround(here); got != want {
			t.Errorf("around %s is %s, want %s", here, got, want)
		}
	}
	check(below, everybody)
	if err := ownfile.Chmod(everybody, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	check(below, below)
	check(everybody, everybody)
	check(top, top)
	if err := ownfile.Mkdir(filepath.Join(everybody, "a", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	check(below, filepath.Join(everybody, "a"))
}

// TestNoProject: where everything of a user's is below, nothing is taken for a project, but
// what the user names; nor is a directory's .sidecar there for what is below.
func TestNoProject(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	below := filepath.Join(home, "below", "deep")
	for _, dir := range []string{below, filepath.Join(home, ".sidecar"), filepath.Join(home, "project", ".git"), filepath.Join(home, "project", "sub")} {
		if err := ownfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := ownfile.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	for here, want := range map[string]string{
		home: "", link: "", "/": "", os.TempDir(): "",
		below: below, filepath.Join(home, "project"): filepath.Join(home, "project"), filepath.Join(home, "project", "sub"): filepath.Join(home, "project"),
	} {
		t.Chdir(here)
		f, err := (&cli{}).folder()
		if (err == nil) != (want != "") || want == "" && !errors.Is(err, errNoProject) || f.Dir != want {
			t.Errorf("in %s it is %q, %v; want %q", here, f.Dir, err, want)
		}
		if want == "" {
			if f, err := (&cli{roots: rootFlag{here}}).folder(); err != nil || f.Dir != here {
				t.Errorf("named, %s is %q, %v", here, f.Dir, err)
			}
		}
	}
}

// TestFolders: what --root names, and what it may not name.
func TestFolders(t *testing.T) {
	top := t.TempDir()
	home := filepath.Join(top, "users", "me")
	t.Setenv("HOME", home)
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"users/me", "w/api/inner", "w/web", "w/other/api", "w/a, b"} {
		if err := ownfile.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.Symlink(at("w/api"), at("w/link")); err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) string {
		t.Helper()
		if err := ownfile.WriteFile(at("w/"+name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "w/" + name
	}
	for _, test := range []struct {
		roots []string
		want  string // names with their directories below w, or what the error says
	}{
		{[]string{"w/api"}, "api=api"},
		{[]string{"w/web", "w/api"}, "web=web api=api"},
		{[]string{"w/api", "w/other/api"}, "api=api api-2=other/api"},
		{[]string{"w/api", "w/api/inner"}, "api=api inner=api/inner"}, // as an editor may have them
		{[]string{"w/a, b", "w/web"}, "a, b=a, b web=web"},
		{[]string{file("x.code-workspace", "\xef\xbb\xbf{ // of the team\n\"folders\": [{\"path\": \"api\"}, {\"path\": \"./other/api\"}, {\"path\": \"web\", \"name\": \"front\"},], \"settings\": {\"x\": 1}}")}, "api=api api-2=other/api front=web"},
		{[]string{"w/web", file("One.CODE-WORKSPACE", `{"folders": [{"path": "api", "name": "a/b"}]}`)}, "web=web api=api"},
		{[]string{"/"}, ""}, // whoever names it means it

		{[]string{"w/api", "w/api"}, "is named twice; name it once"},
		{[]string{"w/api", "w/web/../api"}, "is named twice; name it once"},
		{[]string{"w/api", "w/link"}, "w/api, which is named already; name it once"},
		{[]string{"w/x.code-workspace", "w/web"}, "is named twice"},
		{[]string{"w/api", "w/none"}, "none"},
		{[]string{file("plain.txt", "")}, "plain.txt is not a directory"},
		{[]string{file("uri.code-workspace", `{"folders": [{"uri": "vscode-remote://host/x"}]}`)}, `the folder "vscode-remote://host/x" is a URI, which is not opened here; give a path`},
		{[]string{file("empty.code-workspace", `{"folders": []}`)}, "it names no folders"},
		{[]string{file("pathless.code-workspace", `{"folders": [{"name": "x"}]}`)}, "a folder has no path"},
		{[]string{file("missing.code-workspace", `{"folders": [{"path": "nowhere"}]}`)}, "nowhere"},
		{[]string{file("leaf.code-workspace", `{"folders": [{"path": "plain.txt"}]}`)}, "plain.txt is not a directory"},
		{[]string{file("broken.code-workspace", `{"folders": [`)}, "can't be read as JSON"},
		{[]string{file("all.code-workspace", `{"folders": [{"path": "`+filepath.ToSlash(filepath.VolumeName(top))+`/"}]}`)}, "has too much below it"},
		{[]string{file("home.code-workspace", `{"folders": [{"path": "../users/me"}]}`)}, "has too much below it"},
		{[]string{file("users.code-workspace", `{"folders": [{"path": "../users"}]}`)}, "has too much below it"},
	} {
		c := &cli{}
		for _, root := range test.roots {
			if !filepath.IsAbs(root) {
				root = at(root)
			}
			if err := c.roots.Set(root); err != nil {
				t.Fatal(err)
			}
		}
		all, err := c.folders()
		got := ""
		for i, f := range all {
			if i > 0 {
				got += " "
			}
			below, _ := filepath.Rel(at("w"), f.Dir)
			got += f.Name + "=" + below
		}
		if err != nil {
			got = err.Error()
		}
		if err == nil && test.want != "" && got != test.want || err != nil && (test.want == "" || !strings.Contains(got, test.want)) {
			t.Errorf("%q is %q, want %q", test.roots, got, test.want)
		}
	}
	t.Chdir(at("w/web"))
	if err := ownfile.Mkdir(at("w/web/.git"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &cli{}
	if err := c.roots.Set(""); err != nil {
		t.Fatal(err)
	}
	if all, err := c.folders(); err != nil || len(all) != 1 || all[0].Name != "web" {
		t.Errorf("without --root it is %v, %v", all, err)
	}
}

// TestBeginning: a program begins where the person is, if that is in one of the folders.
func TestBeginning(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"api/in/deep", "web", "out"} {
		if err := ownfile.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.Symlink(filepath.Join(top, "web"), filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	var c cli
	for _, dir := range []string{"api", "link", "api/in"} {
		if err := c.roots.Set(filepath.Join(top, dir)); err != nil {
			t.Fatal(err)
		}
	}
	folders, err := c.folders()
	if err != nil {
		t.Fatal(err)
	}
	for here, want := range map[string]string{"api": "api", "web": "link", "link": "link", "api/in/deep": "api/in/deep", "out": "api", ".": "api"} {
		t.Chdir(filepath.Join(top, here))
		if got, err := beginning(folders); err != nil || got != filepath.Join(top, want) {
			t.Errorf("in %s it begins in %s, %v; want %s", here, got, err, want)
		}
	}
	if got := workspace.Others(folders, filepath.Join(top, "web")); !slices.Equal(got, []string{folders[0].Dir, folders[2].Dir}) {
		t.Errorf("beside web there are %q", got)
	}
	if got := workspace.Others(folders, top); !slices.Equal(got, []string{folders[1].Dir, folders[2].Dir}) {
		t.Errorf("in no folder, the others are %q", got)
	}
}

// TestRootCompletion: directories, and the files that name some.
func TestRootCompletion(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"api/src", "web"} {
		if err := ownfile.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"all.code-workspace", "notes.txt", "web/app.js"} {
		if err := ownfile.WriteFile(filepath.Join(top, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(top)
	check := func(want string, words ...string) {
		t.Helper()
		var out bytes.Buffer
		if err := complete(t.Context(), append([]string{"zsh"}, words...), Streams{Out: &out}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != want {
			t.Errorf("%q offers %q, want %q", words, got, want)
		}
	}
	check("all.code-workspace api/ web/", "run", "--root", "")
	check("api/src/", "run", "--root", "api/")
	check("--root=web/", "run", "--root=w")
	check(filepath.Join(top, "api")+"/", "run", "--root", filepath.Join(top, "ap"))
	c := &cli{roots: rootFlag{"api", "web"}}
	if got := c.filesFrom(""); !slices.Equal(got, []string{"api/", "web/"}) {
		t.Errorf("of two folders it offers %q", got)
	}
	if got := c.filesFrom("web/"); !slices.Equal(got, []string{"api/", "web/app.js"}) {
		t.Errorf("in web it offers %q", got)
	}
}
