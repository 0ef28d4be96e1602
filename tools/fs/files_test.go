package fs

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

func TestReadFile(t *testing.T) {
	files := map[string]string{
		"a.txt": "one\ntwo\nthree\n", "crlf.txt": "one\r\ntwo\r\n", "empty.txt": "", "bom.txt": "\xef\xbb\xbfx\n",
		"wide.txt": "\xff\xfea\x00\n\x00", "open.txt": "one\ntwo", "sub/deep.txt": "x\n",
		"large.txt": strings.Repeat("one\n", 50_000),
	}
	for _, c := range []struct {
		name, args, want string
		info             FileInfo // without hash
	}{
		{"whole", `{"path":"a.txt"}`, "one\ntwo\nthree\n", FileInfo{Path: "a.txt", Lines: 3, TotalLines: 3, Offset: 1, Encoding: "utf-8", EOL: "lf"}},
		{"from a line on", `{"path":"a.txt","offset":2}`, "two\nthree\n", FileInfo{Path: "a.txt", Lines: 2, TotalLines: 3, Offset: 2, Encoding: "utf-8", EOL: "lf"}},
		{"some lines", `{"path":"a.txt","offset":2,"limit":1}`, "two\n", FileInfo{Path: "a.txt", Lines: 1, TotalLines: 3, Offset: 2, Encoding: "utf-8", EOL: "lf"}},
		{"a limit past the end", `{"path":"a.txt","limit":99}`, "one\ntwo\nthree\n", FileInfo{Path: "a.txt", Lines: 3, TotalLines: 3, Offset: 1, Encoding: "utf-8", EOL: "lf"}},
		{"the last line without an end", `{"path":"open.txt","offset":2}`, "two", FileInfo{Path: "open.txt", Lines: 1, TotalLines: 2, Offset: 2, Encoding: "utf-8", EOL: "lf"}},
		{"CRLF", `{"path":"crlf.txt"}`, "one\r\ntwo\r\n", FileInfo{Path: "crlf.txt", Lines: 2, TotalLines: 2, Offset: 1, Encoding: "utf-8", EOL: "crlf"}},
		{"empty", `{"path":"empty.txt"}`, "(empty file)", FileInfo{Path: "empty.txt", Offset: 1, Encoding: "utf-8", EOL: "none"}},
		{"byte order mark", `{"path":"bom.txt"}`, "x\n", FileInfo{Path: "bom.txt", Lines: 1, TotalLines: 1, Offset: 1, Encoding: "utf-8-bom", EOL: "lf"}},
		{"UTF-16", `{"path":"wide.txt"}`, "a\n", FileInfo{Path: "wide.txt", Lines: 1, TotalLines: 1, Offset: 1, Encoding: "utf-16le", EOL: "lf"}},
		{"large", `{"path":"large.txt","limit":1}`, "one\n", FileInfo{Path: "large.txt", Lines: 1, TotalLines: 50_000, Offset: 1, Encoding: "utf-8", EOL: "lf"}},
		{"a path that is not clean", `{"path":"./sub/../sub/deep.txt"}`, "x\n", FileInfo{Path: "sub/deep.txt", Lines: 1, TotalLines: 1, Offset: 1, Encoding: "utf-8", EOL: "lf"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _, err := run(t, project(t, files), "read_file", c.args)
			if err != nil {
				t.Fatal(err)
			}
			if res.Text != c.want {
				t.Errorf("got %q, want %q", res.Text, c.want)
			}
			info := res.Structured.(FileInfo)
			if want := hash([]byte(files[c.info.Path])); info.Hash() != want {
				t.Errorf("hash %s, want %s", info.Hash(), want)
			}
			info.Hash = nil
			if diff := cmp.Diff(c.info, info); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestReadFileRefusals(t *testing.T) {
	files := map[string]string{"src/Main.go": "x\n", "src/other.go": "x\n", "b.png": "\x89PNG\x00", "lib/util.py": "x\n"}
	for _, c := range []struct {
		name, args string
		code       tools.Code
		parts      []string
	}{
		{"past the end", `{"path":"src/Main.go","offset":5}`, tools.InvalidArguments, []string{"offset 5", "1 line"}},
		{"offset below zero", `{"path":"src/Main.go","offset":-1}`, tools.InvalidArguments, []string{"offset"}},
		{"a directory", `{"path":"src"}`, tools.InvalidArguments, []string{"list_directory"}},
		{"binary", `{"path":"b.png"}`, tools.BinaryFile, []string{"PNG", "5 bytes"}},
		{"another case", `{"path":"src/main.GO"}`, tools.NotFound, []string{"did you mean", "src/Main.go"}},
		{"another case of a directory", `{"path":"SRC/Main.go"}`, tools.NotFound, []string{"did you mean src/Main.go?"}},
		{"another ending", `{"path":"lib/util.pyi"}`, tools.NotFound, []string{"lib/util.py"}},
		{"another directory", `{"path":"pkg/util.py"}`, tools.NotFound, []string{"lib/util.py"}},
		{"nothing like it", `{"path":"zzzzzzzz/qqqqqqqq"}`, tools.NotFound, []string{"list_directory"}},
		{"outside", `{"path":"../x"}`, tools.OutsideWorkspace, nil},
		{"no outline", `{"path":"src/Main.go","mode":"outline"}`, tools.Unavailable, []string{"mode full"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := run(t, project(t, files), "read_file", c.args)
			wantError(t, err, c.code, c.parts...)
		})
	}
}

// TestReadImage: a picture comes as one.
func TestReadImage(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		t.Fatal(err)
	}
	c := project(t, map[string]string{"a.png": b.String(), "named.txt": b.String(), "large.png": b.String() + strings.Repeat("x", tools.MaxImageBytes), "sound.wav": "RIFF\x00\x00\x00\x00WAVE\x00"})
	for _, name := range []string{"a.png", "named.txt"} {
		res, _, err := run(t, c, "read_file", `{"path":"`+name+`"}`)
		if err != nil || len(res.Images) != 1 || !bytes.Equal(res.Images[0].Data, b.Bytes()) || res.Images[0].MIME != "image/png" || !strings.Contains(res.Text, name+" is a PNG image, 8×6 pixels") {
			t.Errorf("%s: %q, %d images, %v", name, res.Text, len(res.Images), err)
		}
	}
	for args, part := range map[string]string{
		`{"path":"a.png","limit":3}`: "has no lines", `{"path":"a.png","mode":"outline"}`: "has no lines", `{"path":"large.png"}`: "at most", `{"path":"sound.wav"}`: "unknown type",
	} {
		_, _, err := run(t, c, "read_file", args)
		wantError(t, err, tools.BinaryFile, part)
	}
}

func TestReadFileOutline(t *testing.T) {
	c := project(t, map[string]string{"a.go": goFile, "bad.go": "x\n", "none.txt": "x\ny\n"})
	d := Deps{Outline: func(path string, src []byte) ([]Symbol, error) {
		switch path {
		case "bad.go":
			return nil, errors.New("parser gave up")
		case "none.txt":
			return nil, nil
		}
		return []Symbol{{Name: "a", Kind: "function", Signature: "func a() int", Line: 3, EndLine: 6}, {Name: "x", Kind: "variable", Line: 4, Depth: 1}}, nil
	}}
	res, _, err := runWith(t, d, c, "read_file", `{"path":"a.go","mode":"outline"}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("3-6 func a() int\n  4-4 variable x\n", res.Text); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if res, _, err = runWith(t, d, c, "read_file", `{"path":"none.txt","mode":"outline"}`); err != nil || !strings.Contains(res.Text, "2 lines") {
		t.Errorf("no symbols: %q, %v", res.Text, err)
	}
	_, _, err = runWith(t, d, c, "read_file", `{"path":"bad.go","mode":"outline"}`)
	wantError(t, err, tools.Unavailable, "gave up")
}

func TestWriteFile(t *testing.T) {
	files := map[string]string{"a.txt": "one\ntwo\n", "crlf.txt": "one\r\ntwo\r\n", "bom.txt": "\xef\xbb\xbfx\n", "wide.txt": "\xfe\xff\x00a\x00\n"}
	for _, c := range []struct {
		name       string
		args       map[string]any
		path, want string // "" for no change
		text       string
	}{
		{"new, with parents", map[string]any{"path": "x/y/z.txt", "content": "hi\n"}, "x/y/z.txt", "hi\n", "created x/y/z.txt (1 line)"},
		{"new and empty", map[string]any{"path": "e.txt", "content": ""}, "e.txt", "", "created e.txt (0 lines)"},
		{"over another text", map[string]any{"path": "a.txt", "content": "one\n2\n3\n"}, "a.txt", "one\n2\n3\n", "+2 -1"},
		{"CRLF kept", map[string]any{"path": "crlf.txt", "content": "1\n2\n"}, "crlf.txt", "1\r\n2\r\n", "CRLF"},
		{"CRLF kept in the same text", map[string]any{"path": "crlf.txt", "content": "one\ntwo\n"}, "", "", "nothing changed"},
		{"byte order mark kept", map[string]any{"path": "bom.txt", "content": "y\n"}, "bom.txt", "\xef\xbb\xbfy\n", "wrote"},
		{"UTF-16 kept", map[string]any{"path": "wide.txt", "content": "é\n"}, "wide.txt", "\xfe\xff\x00\xe9\x00\n", "wrote"},
		{"the same", map[string]any{"path": "a.txt", "content": "one\ntwo\n"}, "", "", "nothing changed"},
		{"with the right hash", map[string]any{"path": "a.txt", "content": "x\n", "expect_hash": hash([]byte("one\ntwo\n"))}, "a.txt", "x\n", "wrote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, changes, err := run(t, project(t, files), "write_file", encoded(t, c.args))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(res.Text, c.text) {
				t.Errorf("%q is not in %q", c.text, res.Text)
			}
			if c.path == "" {
				if len(changes) > 0 {
					t.Errorf("changes %v, want none", changes)
				}
				return
			}
			if len(changes) != 1 || changes[0].Path != c.path || string(changes[0].After) != c.want || changes[0].After == nil {
				t.Errorf("changes %+v, want %s to become %q", changes, c.path, c.want)
			}
		})
	}
}

func TestWriteFileRefusals(t *testing.T) {
	files := map[string]string{"a.txt": "one\n", "dir/x": "x", "bin": "\x00\x01", "latin.txt": "caf\xe9\n"}
	for _, c := range []struct {
		name  string
		args  map[string]any
		code  tools.Code
		parts []string
	}{
		{"a directory", map[string]any{"path": "dir", "content": "x"}, tools.InvalidArguments, []string{"directory"}},
		{"a new directory", map[string]any{"path": "new/", "content": "x"}, tools.InvalidArguments, []string{"name of a directory"}},
		{"below a file", map[string]any{"path": "a.txt/b", "content": "x"}, tools.InvalidArguments, []string{"a.txt is a file"}},
		{"a changed file", map[string]any{"path": "a.txt", "content": "x", "expect_hash": "00"}, tools.Conflict, []string{"read it again"}},
		{"a hash of nothing", map[string]any{"path": "n.txt", "content": "x", "expect_hash": "00"}, tools.Conflict, []string{"does not exist"}},
		{"a hidden secret", map[string]any{"path": "n.txt", "content": "k=[REDACTED:key]"}, tools.InvalidArguments, []string{"content", "secret"}},
		{"over a binary file", map[string]any{"path": "bin", "content": "x"}, tools.BinaryFile, []string{"delete it first"}},
		{"a NUL", map[string]any{"path": "n.txt", "content": "a\x00b"}, tools.InvalidArguments, []string{"NUL"}},
		{"unknown encoding", map[string]any{"path": "latin.txt", "content": "café\n"}, tools.InvalidArguments, []string{"UTF-8"}},
		{"outside", map[string]any{"path": "/etc/x", "content": "x"}, tools.OutsideWorkspace, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, changes, err := run(t, project(t, files), "write_file", encoded(t, c.args))
			wantError(t, err, c.code, c.parts...)
			if len(changes) > 0 {
				t.Errorf("changes in spite of the error: %v", changes)
			}
		})
	}
}

func TestDeleteAndMove(t *testing.T) {
	files := map[string]string{"a.txt": "one\n", "b.bin": "\x00", "dir/x": "", "empty": ""}
	for _, c := range []struct {
		name, tool, args string
		want             workspace.Change
	}{
		{"delete", "delete_file", `{"path":"a.txt"}`, workspace.Change{Path: "a.txt", Before: []byte("one\n")}},
		{"delete binary", "delete_file", `{"path":"b.bin"}`, workspace.Change{Path: "b.bin", Before: []byte{0}}},
		{"delete empty", "delete_file", `{"path":"empty"}`, workspace.Change{Path: "empty", Before: []byte{}}},
		{"move", "move_file", `{"from":"a.txt","to":"new/b.txt"}`, workspace.Change{Path: "new/b.txt", From: "a.txt", Before: []byte("one\n"), After: []byte("one\n")}},
		{"move empty", "move_file", `{"from":"empty","to":"e"}`, workspace.Change{Path: "e", From: "empty", Before: []byte{}, After: []byte{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, changes, err := run(t, project(t, files), c.tool, c.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]workspace.Change{c.want}, changes); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, c := range []struct {
		name, tool, args string
		code             tools.Code
		part             string
	}{
		{"delete a directory", "delete_file", `{"path":"dir"}`, tools.InvalidArguments, "directory"},
		{"delete nothing", "delete_file", `{"path":"none"}`, tools.NotFound, "does not exist"},
		{"move onto a file", "move_file", `{"from":"a.txt","to":"b.bin"}`, tools.AlreadyExists, "b.bin"},
		{"move onto a directory", "move_file", `{"from":"a.txt","to":"dir"}`, tools.AlreadyExists, "whole path"},
		{"move to a new directory", "move_file", `{"from":"a.txt","to":"new/"}`, tools.InvalidArguments, "file's name"},
		{"move onto itself", "move_file", `{"from":"a.txt","to":"./a.txt"}`, tools.InvalidArguments, "same file"},
		{"move a directory", "move_file", `{"from":"dir","to":"d2"}`, tools.InvalidArguments, "directory"},
		{"move below a file", "move_file", `{"from":"a.txt","to":"b.bin/a"}`, tools.InvalidArguments, "b.bin is a file"},
		{"move nothing", "move_file", `{"from":"none","to":"x"}`, tools.NotFound, "does not exist"},
		{"move out", "move_file", `{"from":"a.txt","to":"../x"}`, tools.OutsideWorkspace, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, changes, err := run(t, project(t, files), c.tool, c.args)
			wantError(t, err, c.code, c.part)
			if len(changes) > 0 {
				t.Errorf("changes in spite of the error: %v", changes)
			}
		})
	}
}

// TestPatchModes: the mode of a diff is kept, also of a file that is renamed or edited.
func TestPatchModes(t *testing.T) {
	for _, c := range []struct {
		patch string
		want  workspace.Change
	}{
		{"diff --git a/a b/b\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from a\nrename to b\n", workspace.Change{Path: "b", From: "a", Before: []byte("x\n"), After: []byte("x\n"), Mode: 0o755}},
		{"diff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", workspace.Change{Path: "a", Before: []byte("x\n"), After: []byte("y\n"), Mode: 0o755}},
		{"diff --git a/a b/b\nrename from a\nrename to b\n", workspace.Change{Path: "b", From: "a", Before: []byte("x\n"), After: []byte("x\n")}},
	} {
		_, changes, err := run(t, project(t, map[string]string{"a": "x\n"}), "apply_patch", encoded(t, map[string]string{"patch": c.patch}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]workspace.Change{c.want}, changes); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// TestPatchTrades: a patch may make a directory of a file, and a file of a directory, if it
// takes all of that away.
func TestPatchTrades(t *testing.T) {
	files := map[string]string{"t": "t\n", "d/f": "f\n", "d/g": "g\n", "empty/": ""}
	for _, c := range []struct {
		name, patch string
		code        tools.Code
	}{
		{"file to directory", "*** Delete File: t\n*** Add File: t/in\n+in", ""},
		{"in another order", "*** Add File: t/in\n+in\n*** Delete File: t", ""},
		{"directory to file", "*** Add File: d\n+new\n*** Delete File: d/f\n*** Delete File: d/g", ""},
		{"one file stays", "*** Add File: d\n+new\n*** Delete File: d/f", tools.AlreadyExists},
		{"the file stays", "*** Add File: t/in\n+in\n*** Delete File: d/f", tools.InvalidArguments},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := project(t, files)
			_, changes, err := run(t, p, "apply_patch", encoded(t, map[string]string{"patch": "*** Begin Patch\n" + c.patch + "\n*** End Patch"}))
			if c.code != "" {
				wantError(t, err, c.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Files.(*workspace.Disk).Apply(t.Context(), changes...); err != nil {
				t.Error(err)
			}
		})
	}
	p := project(t, files)
	if _, changes, err := run(t, p, "write_file", `{"path":"empty","content":"x"}`); err != nil || p.Files.(*workspace.Disk).Apply(t.Context(), changes...) != nil {
		t.Errorf("over an empty directory: %v", err)
	}
}

// TestLinks: deleting and moving are of the link itself, wherever it leads.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	c := projectIn(t, dir, workspace.DiskOptions{}, map[string]string{"target": "text\n", "d/in": "in\n", ".env": "A=1\n"})
	for name, to := range map[string]string{"link": "target", "lost": "nowhere", "away": "/no/such/place", "dir": "d", "d/up": "../target", "d/env": "x"} {
		symlink.Make(t, to, filepath.Join(dir, filepath.FromSlash(name)))
	}
	gone := func(name, target string) workspace.Change {
		return workspace.Change{Path: name, Before: []byte(target), BeforeLink: true}
	}
	come := func(name, target string) workspace.Change {
		return workspace.Change{Path: name, After: []byte(target), AfterLink: true}
	}
	patch := func(s string) string { return encoded(t, map[string]string{"patch": s}) }
	for _, c2 := range []struct {
		name, tool, args string
		want             []workspace.Change
	}{
		{"delete", "delete_file", `{"path":"link"}`, []workspace.Change{gone("link", "target")}},
		{"delete what leads nowhere", "delete_file", `{"path":"lost"}`, []workspace.Change{gone("lost", "nowhere")}},
		{"delete what leads out", "delete_file", `{"path":"away"}`, []workspace.Change{gone("away", "/no/such/place")}},
		{"delete a link to a directory", "delete_file", `{"path":"dir"}`, []workspace.Change{gone("dir", "d")}},
		{"delete below a link", "delete_file", `{"path":"dir/in"}`, []workspace.Change{{Path: "dir/in", Before: []byte("in\n")}}},
		{"move", "move_file", `{"from":"link","to":"new/l"}`, []workspace.Change{gone("link", "target"), come("new/l", "target")}},
		{"move what leads nowhere", "move_file", `{"from":"lost","to":"l"}`, []workspace.Change{gone("lost", "nowhere"), come("l", "nowhere")}},
		{"move what leads out", "move_file", `{"from":"away","to":"l"}`, []workspace.Change{gone("away", "/no/such/place"), come("l", "/no/such/place")}},
		{"patch: delete", "apply_patch", patch("*** Begin Patch\n*** Delete File: link\n*** End Patch"), []workspace.Change{gone("link", "target")}},
		{"patch: delete as git shows it", "apply_patch", patch("diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-target\n\\ No newline at end of file\n"), []workspace.Change{gone("link", "target")}},
		{"patch: delete and add", "apply_patch", patch("*** Begin Patch\n*** Delete File: link\n*** Add File: link\n+new\n*** End Patch"), []workspace.Change{{Path: "link", Before: []byte("target"), BeforeLink: true, After: []byte("new\n")}}},
		{"patch: move", "apply_patch", patch("diff --git a/link b/l\nrename from link\nrename to l\n"), []workspace.Change{come("l", "target"), gone("link", "target")}},
		{"patch: move and edit", "apply_patch", patch("*** Begin Patch\n*** Update File: link\n*** Move to: l\n-text\n+new\n*** End Patch"), []workspace.Change{{Path: "target", Before: []byte("text\n"), After: []byte("new\n")}, come("l", "target"), gone("link", "target")}},
		{"write", "write_file", `{"path":"link","content":"new\n"}`, []workspace.Change{{Path: "link", Before: []byte("text\n"), After: []byte("new\n")}}},
	} {
		t.Run(c2.name, func(t *testing.T) {
			_, changes, err := run(t, c, c2.tool, c2.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c2.want, changes); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, c2 := range []struct {
		name, args string
		code       tools.Code
		part       string
	}{
		{"onto a link that leads nowhere", `{"from":"target","to":"lost"}`, tools.AlreadyExists, "a link to nowhere"},
		{"onto itself", `{"from":"link","to":"./link"}`, tools.InvalidArguments, "same link"},
		{"to where it leads out", `{"from":"d/up","to":"up"}`, tools.OutsideWorkspace, "choose another path"},
	} {
		_, _, err := run(t, c, "move_file", c2.args)
		wantError(t, err, c2.code, c2.part)
	}
}

func TestListDirectory(t *testing.T) {
	files := map[string]string{
		".gitignore": "out/\n*.log\n", ".git/HEAD": "x", "out/x.js": "x", "a.log": "x", "b.txt": "x", "A.txt": "x",
		"src/main.go": "x", "src/sub/deep.go": "x", "void/": "", ".idea/": "", ".sidecar/settings.json": "{}", ".vscode/": "", ".cursor/rules": "x",
	}
	c := project(t, files)
	if runtime.GOOS != "windows" {
		// As the sandbox makes them; one of them has something of the user's in it.
		for _, name := range []string{".vscode", ".cursor"} {
			if err := ownfile.Chmod(filepath.Join(c.Files.Abs("."), name), 0o755|os.ModeSticky); err != nil {
				t.Fatal(err)
			}
		}
		if err := ownfile.Symlink("b.txt", filepath.Join(c.Files.Abs("."), "link")); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ name, args, want string }{
		{"the root", `{}`, ".cursor/\n.idea/\nsrc/\nvoid/\n.gitignore\nA.txt\nb.txt\nlink -> (link)\n(2 ignored left out; include_ignored shows them)\n"},
		{"ignored too", `{"include_ignored":true}`, ".cursor/\n.idea/\n.sidecar/\nout/\nsrc/\nvoid/\n.gitignore\nA.txt\na.log\nb.txt\nlink -> (link)\n"},
		{"deeper", `{"path":"src","depth":2}`, "In src/:\nsub/\nsub/deep.go\nmain.go\n"},
		{"ours, by its name", `{"path":".sidecar"}`, "In .sidecar/:\nsettings.json\n"},
		{"empty", `{"path":"void"}`, "(void is empty)\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, _, err := run(t, c, "list_directory", tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, res.Text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	_, _, err := run(t, c, "list_directory", `{"path":"b.txt"}`)
	wantError(t, err, tools.InvalidArguments, "read_file")
	_, _, err = run(t, c, "list_directory", `{"path":"scr"}`)
	wantError(t, err, tools.NotFound, "src")
}

func TestListDirectoryIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range maxEntries + 5 {
		files[fmt.Sprintf("f%05d", i)] = ""
	}
	res, _, err := run(t, project(t, files), "list_directory", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(res.Text, "\n"); n != maxEntries+1 || !res.Truncated {
		t.Errorf("%d lines, truncated %v; want %d and a note", n, res.Truncated, maxEntries)
	}
	if !strings.Contains(res.Text, "first 1000 entries") {
		t.Error("the cut is not told")
	}
}
