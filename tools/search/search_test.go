package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// project makes a view of a directory with the given files, and a user without
// an ignore file.
func project(t testing.TB, files map[string]string) *workspace.Disk {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := ownfile.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir)
}

func open(t testing.TB, dir string) *workspace.Disk {
	t.Helper()
	d, err := workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// call runs a tool as dispatch does, with its arguments as JSON.
func call(ctx context.Context, files workspace.Files, tool, args string) (tools.Result, error) {
	list := Tools(Deps{References: parser()})
	i := slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == tool })
	b, err := list[i].Bind(json.RawMessage(args))
	if err != nil {
		return tools.Result{}, err
	}
	r, _, err := b.Run(ctx, &tools.Call{ID: "1", Files: files})
	if err == nil {
		err = list[i].Fits(r.Structured)
	}
	return r, err
}

var sample = map[string]string{
	".gitignore":        "out/\n*.log\n",
	"a.go":              "package a\n\nfunc Foo() {\n\treturn\n}\n\n// foo bar\n",
	"b/b.go":            "package b\r\nvar foo = 1\r\n",
	"b/c.txt":           "Foo\nfoo\nfoo\n",
	"out/gen.go":        "foo in generated\n",
	"x.log":             "foo in a log\n",
	".hid/h.go":         "foo hidden\n",
	"bin":               "foo\x00bar\n",
	"utf16":             "\xff\xfef\x00o\x00o\x00\n\x00\xe9\x00\n\x00",
	"utf16be":           "\xfe\xff\x00f\x00o\x00o",
	"bom":               "\xef\xbb\xbffoo at start\n",
	"dash":              "-f /etc/passwd\n--help\n",
	"node_modules/m.js": "foo module\n",
}

func TestGrep(t *testing.T) {
	d := project(t, sample)
	for _, c := range []struct{ what, args, want string }{
		{"all files, smart case", `{"pattern":"foo"}`, `
a.go
3: func Foo() {
7: // foo bar

b/b.go
2: var foo = 1

b/c.txt
1: Foo
2: foo
3: foo

bom
1: foo at start

node_modules/m.js
1: foo module

utf16
1: foo

utf16be
1: foo

10 matches in 7 files
1 binary file not searched
`},
		{"smart case with an upper-case letter", `{"pattern":"Foo","path":"b"}`, "b/c.txt\n1: Foo\n\n1 match in 1 file\n"},
		{"an escape is no upper-case letter", `{"pattern":"\\Woo\\S|\\Afoo","path":"b/c.txt"}`, "b/c.txt\n1: Foo\n2: foo\n3: foo\n\n3 matches in 1 file\n"},
		{"sensitive", `{"pattern":"foo","case":"sensitive","path":"b/c.txt"}`, "b/c.txt\n2: foo\n3: foo\n\n2 matches in 1 file\n"},
		{"insensitive", `{"pattern":"FOO","case":"insensitive","path":"b/c.txt"}`, "b/c.txt\n1: Foo\n2: foo\n3: foo\n\n3 matches in 1 file\n"},
		{"a file", `{"pattern":"func (\\w+)\\(","path":"a.go"}`, "a.go\n3: func Foo() {\n\n1 match in 1 file\n"},
		{"an ignored file, named", `{"pattern":"foo","path":"x.log"}`, "x.log\n1: foo in a log\n\n1 match in 1 file\n"},
		{"an ignored directory, named", `{"pattern":"foo","path":"./out/"}`, "out/gen.go\n1: foo in generated\n\n1 match in 1 file\n"},
		{"a hidden directory, named", `{"pattern":"foo","path":".hid"}`, ".hid/h.go\n1: foo hidden\n\n1 match in 1 file\n"},
		{"a hidden directory, included", `{"pattern":"foo","include":".hid/**"}`, ".hid/h.go\n1: foo hidden\n\n1 match in 1 file\n"},
		{"include at any depth", `{"pattern":"foo","include":"*.go","mode":"files"}`, "a.go\nb/b.go\n\n2 files with a match\n"},
		{"include with a path", `{"pattern":"foo","include":"b/*.{go,txt}","mode":"files"}`, "b/b.go\nb/c.txt\n\n2 files with a match\n"},
		{"a list of includes", `{"pattern":"foo","include":"*.txt, b/**/*.go","mode":"files"}`, "b/b.go\nb/c.txt\n\n2 files with a match\n"},
		{"include with a negation", `{"pattern":"foo","include":"*.go,!b/**","mode":"files"}`, "a.go\n\n1 file with a match\n"},
		{"exclude a directory", `{"pattern":"foo","include":"*.{go,js,txt}","exclude":"node_modules,b/","mode":"files"}`, "a.go\n\n1 file with a match\n"},
		{"exclude by name", `{"pattern":"foo","include":"*.{go,txt}","exclude":"*.go","mode":"files"}`, "b/c.txt\n\n1 file with a match\n"},
		{"count", `{"pattern":"foo","mode":"count","include":"*.go,*.txt"}`, "a.go: 2\nb/b.go: 1\nb/c.txt: 3\n\n6 matching lines in 3 files\n"},
		{"context", `{"pattern":"return|bar","path":"a.go","context":1}`, "a.go\n3- func Foo() {\n4: \treturn\n5- }\n6- \n7: // foo bar\n\n2 matches in 1 file\n"},
		{"context with a gap", `{"pattern":"package|bar","path":"a.go","context":1}`, "a.go\n1: package a\n2- \n--\n6- \n7: // foo bar\n\n2 matches in 1 file\n"},
		{"line ends are no part of a line", `{"pattern":"1$","path":"b/b.go"}`, "b/b.go\n2: var foo = 1\n\n1 match in 1 file\n"},
		{"unless they are asked for", `{"pattern":"1\\r$","path":"b/b.go"}`, "b/b.go\n2: var foo = 1\n\n1 match in 1 file\n"},
		{"begin of the text after a mark", `{"pattern":"^foo at","path":"bom"}`, "bom\n1: foo at start\n\n1 match in 1 file\n"},
		{"a dash is no option", `{"pattern":"-f /etc/passwd"}`, "dash\n1: -f /etc/passwd\n\n1 match in 1 file\n1 binary file not searched\n"},
		{"two dashes neither", `{"pattern":"--help"}`, "dash\n2: --help\n\n1 match in 1 file\n1 binary file not searched\n"},
		{"plain text", `{"pattern":"Foo() {","literal":true}`, "a.go\n3: func Foo() {\n\n1 match in 1 file\n1 binary file not searched\n"},
		{"plain text in any case", `{"pattern":"foo() {","literal":true}`, "a.go\n3: func Foo() {\n\n1 match in 1 file\n1 binary file not searched\n"},
		{"empty lines", `{"pattern":"^$","path":"a.go"}`, "a.go\n2: \n6: \n\n2 matches in 1 file\n"},
		{"limit", `{"pattern":"foo","limit":4}`, `
a.go
3: func Foo() {
7: // foo bar

b/b.go
2: var foo = 1

b/c.txt
1: Foo

… 6 more matches in 5 files, of 10 matches in 7 files; narrow with path or include
1 binary file not searched
`},
		{"limit of files", `{"pattern":"foo","mode":"files","limit":2,"exclude":"bin"}`, "a.go\nb/b.go\n\n7 files with a match; 5 more are not shown: narrow with path or include\n"},
		{"no match", `{"pattern":"nosuch","path":"b"}`, "no matches in 2 files; try a shorter pattern (ignored and hidden files are searched only when path names them)\n"},
		{"no match in this case", `{"pattern":"NoSuch","path":"b"}`, "no matches in 2 files; try case insensitive or a shorter pattern\n"},
		{"no file", `{"pattern":"foo","include":"*.nosuch"}`, "no matches in 0 files; nothing fits path, include and exclude (ignored and hidden files are searched only when path names them)\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			r, err := call(t.Context(), d, "grep", c.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), r.Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.Truncated != strings.Contains(r.Text, "more") {
				t.Errorf("truncated = %v", r.Truncated)
			}
		})
	}
}

func TestGrepRefuses(t *testing.T) {
	d := project(t, sample)
	for _, c := range []struct {
		args string
		code tools.Code
		says string
	}{
		{`{"pattern":""}`, tools.InvalidArguments, "empty"},
		{`{"pattern":"fo("}`, tools.InvalidArguments, "literal"},
		{`{"pattern":"ab[z-a]"}`, tools.InvalidArguments, "character 4"},
		{`{"pattern":"(?<=a)b"}`, tools.InvalidArguments, "lookaround"},
		{`{"pattern":"a\\nb"}`, tools.InvalidArguments, "line"},
		{`{"pattern":"a\nb","literal":true}`, tools.InvalidArguments, "line"},
		{`{"pattern":"` + strings.Repeat("a", maxPattern+1) + `"}`, tools.InvalidArguments, "at most"},
		{`{"pattern":"((((a{10}){10}){10})|b{900}){1}((((a{10}){10}){10})|b{900})(\\w{900}\\w{900}\\w{900}\\w{900}\\w{900}\\w{900}\\w{900})"}`, tools.InvalidArguments, "too large"},
		{`{"pattern":"a","path":"nosuch"}`, tools.NotFound, "nosuch"},
		{`{"pattern":"a","path":"../x"}`, tools.OutsideWorkspace, ""},
		{`{"pattern":"a","include":"*.{go"}`, tools.InvalidArguments, "include"},
		{`{"pattern":"a","limit":0}`, tools.InvalidArguments, "limit"},
		{`{"pattern":"a","mode":"all"}`, tools.InvalidArguments, "mode"},
	} {
		_, err := call(t.Context(), d, "grep", c.args)
		if err == nil {
			t.Errorf("%s was accepted", c.args)
			continue
		}
		if e := tools.AsError(err); e.Code != c.code || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %s: %s; want %s with %q", c.args, e.Code, e.Message, c.code, c.says)
		}
	}
}

func TestGrepLongLines(t *testing.T) {
	long := strings.Repeat("é", 5000)
	d := project(t, map[string]string{"f": long + "needle" + long + "\nneedle" + long + "\n" + strings.Repeat("x\n", 100_000) + "needle\n"})
	r, err := call(t.Context(), d, "grep", `{"pattern":"needle"}`)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(r.Text, "\n")
	if len(got) != 7 || got[3] != "100003: needle" {
		t.Fatalf("%.2000s", r.Text)
	}
	for _, l := range got[1:3] {
		if !strings.Contains(l, "needle") || len(l) > maxLine+60 || strings.Contains(l, "\uFFFD") || !strings.Contains(l, " bytes]") {
			t.Errorf("%d bytes: %s", len(l), l)
		}
	}
}

func TestGrepSeesTheOverlay(t *testing.T) {
	d := project(t, map[string]string{"a": "old text\n", "b": "old text\n", "c": "old text\n"})
	o := workspace.NewOverlay(d, layer{"a": "new text\n", "b": "", "n": "new text too\n"})
	for pattern, want := range map[string]string{"new": "a n", "old": "c", "text": "a c n"} {
		r, err := call(t.Context(), o, "grep", `{"pattern":"`+pattern+`","mode":"files"}`)
		if err != nil {
			t.Fatal(err)
		}
		files, _, _ := strings.Cut(r.Text, "\n\n")
		if diff := cmp.Diff(strings.Fields(want), strings.Fields(files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
	r, err := call(t.Context(), o, "search_files", `{"pattern":"*"}`)
	if err != nil || r.Text != "a\nc\nn\n" {
		t.Errorf("search_files = %q, %v", r.Text, err)
	}
}

// layer is a layer of texts; an empty one is a file that is deleted.
type layer map[string]string

func (l layer) Lookup(name string) (data []byte, deleted, ok bool) {
	text, ok := l[name]
	return []byte(text), text == "", ok
}

func (l layer) Names() []string { return slices.Sorted(maps.Keys(l)) }

func TestSearchFiles(t *testing.T) {
	d := project(t, sample)
	for pattern, want := range map[string]string{
		"*.go":               "a.go b/b.go",
		"**/*.go":            "a.go b/b.go",
		"./**/*.go":          "a.go b/b.go",
		"b/*":                "b/b.go b/c.txt",
		"b/":                 "b/b.go b/c.txt",
		"{a,b}.go":           "a.go b/b.go",
		"**/{a,b/c}.*":       "a.go b/c.txt",
		"b.go":               "b/b.go",
		"b/b.go":             "b/b.go",
		"?.txt":              "b/c.txt",
		"out/*.go":           "out/gen.go",
		".hid/*":             ".hid/h.go",
		".gitignore":         ".gitignore",
		d.Abs("b") + "/*.go": "b/b.go",
	} {
		args, err := json.Marshal(map[string]any{"pattern": pattern})
		if err != nil {
			t.Fatal(err)
		}
		r, err := call(t.Context(), d, "search_files", string(args))
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if diff := cmp.Diff(strings.Fields(want), strings.Fields(r.Text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
	for _, c := range []struct{ args, want string }{
		{`{"pattern":"*","limit":2}`, "a.go\nb/b.go\n… 7 more of 9 files; narrow the pattern\n"},
		{`{"pattern":"nosuch"}`, "no file matches nosuch; for a part of a name put * on both sides\n"},
		{`{"pattern":"*.rs"}`, "no file matches *.rs; try fewer letters; ignored and hidden files are found only when the pattern names their directory\n"},
		{`{"pattern":"**/*.rs"}`, "no file matches **/*.rs; try fewer letters; ignored and hidden files are found only when the pattern names their directory\n"},
		{`{"pattern":"b"}`, "no file matches b; it is a directory: add /** for the files in it\n"},
		{`{"pattern":"nosuch/*"}`, "no file matches nosuch/*; try **/ in front or fewer letters; ignored and hidden files are found only when the pattern names their directory\n"},
	} {
		r, err := call(t.Context(), d, "search_files", c.args)
		if diff := cmp.Diff(c.want, r.Text); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.args, err, diff)
		}
	}
	for args, code := range map[string]tools.Code{
		`{"pattern":" "}`: tools.InvalidArguments, `{"pattern":"[a"}`: tools.InvalidArguments, `{"pattern":"/etc/*"}`: tools.OutsideWorkspace,
		`{"pattern":"../*"}`: tools.OutsideWorkspace, `{"pattern":"b/../../*"}`: tools.OutsideWorkspace,
	} {
		if _, err := call(t.Context(), d, "search_files", args); err == nil || tools.AsError(err).Code != code {
			t.Errorf("%s: %v, want %s", args, err, code)
		}
	}
}

// TestSearchFilesLimit: whatever the limit, the files that come first are shown
// and all are counted.
func TestSearchFilesLimit(t *testing.T) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("d%d/%x.txt", i%7, i*7919%1000)] = "x"
	}
	all := slices.Sorted(maps.Keys(files))
	d := project(t, files)
	for _, limit := range []int{1, 2, 9, 100, 499, len(all) - 1, len(all), 2000} {
		r, err := call(t.Context(), d, "search_files", fmt.Sprintf(`{"pattern":"**","limit":%d}`, limit))
		if err != nil {
			t.Fatal(err)
		}
		want := searchFilesData{Files: all[:min(limit, len(all))], Total: len(all)}
		if diff := cmp.Diff(want, r.Structured); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
}

// A limit keeps the same lines on every run, those that a search without limit
// finds first.
func TestGrepIsDeterministic(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[string(rune('a'+i%26))+"/"+strings.Repeat("f", 1+i/26)] = strings.Repeat("hit\nmiss\n", i%5)
	}
	d := project(t, files)
	all, err := (&Query{Pattern: "hit"}).Run(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit < 700; limit += 37 {
		m, err := (&Query{Pattern: "hit", Limit: limit, Walk: workspace.WalkOptions{Workers: 4}}).Run(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		want := grepLines(all)
		if diff := cmp.Diff(want[:min(limit, len(want))], grepLines(m)); diff != "" {
			t.Fatalf("limit %d (-want +got):\n%s", limit, diff)
		}
		if m.Lines != all.Lines || m.Found != all.Found || m.kept != min(limit, all.Lines) {
			t.Errorf("limit %d: %d lines in %d files, %d kept; want %d in %d", limit, m.Lines, m.Found, m.kept, all.Lines, all.Found)
		}
	}
}

// A long file is searched in pieces, with the result that its whole text gives.
func TestGrepInPieces(t *testing.T) {
	long := func(text string) string { return strings.Repeat(text, 5*pieceSize/2/len(text)) }
	d := project(t, map[string]string{
		"all":        long("hit\nmiss\r\n"),
		"late":       long("miss\n") + "hit\n",
		"no newline": long("miss\n") + "a hit",
		"empty line": long("miss\n") + "\n",
		"binary":     long("hit\n") + "\x00",
		"bom":        "\xef\xbb\xbf" + long("hit\nmiss\n"),
		"long line":  "hit\n" + long("-") + "\nhit\n",
		"early":      "hit\n" + long("miss\n"),
		"none":       long("miss\n"),
		"short":      "hit\n",
	})
	for _, q := range []Query{{}, {Limit: 3}, {Limit: 30_000}, {Count: true}, {First: true}, {Context: 1}, {Count: true, Limit: 2}} {
		for _, pattern := range []string{"hit", "^hit|^a h"} {
			q.Pattern = pattern
			want, err := q.Run(t.Context(), whole{d})
			if err != nil {
				t.Fatal(err)
			}
			got, err := q.Run(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) { // cmp takes its time for 100,000 lines
				t.Errorf("%+v (-whole +pieces):\n%s", q, cmp.Diff(want, got, cmp.AllowUnexported(Matches{}, FileMatches{}, Line{})))
			}
		}
	}
}

// What was seen of one file says nothing about the next, be that next to
// nothing.
func TestGrepShortAfterLong(t *testing.T) {
	for _, text := range []string{"", "\xff\xfe", "\xfe\xff", "\xef\xbb\xbf", "\xff\xfe\x00"} {
		d := project(t, map[string]string{"long": "\x00" + strings.Repeat("binary\n", pieceSize), "short": text})
		m, err := (&Query{Pattern: "absent"}).Run(t.Context(), inOrder{d, []string{"long", "short"}})
		if err != nil || m.Searched != 2 || m.Binary != 1 {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
}

// inOrder are files that one worker visits one after the other.
type inOrder struct {
	workspace.Files
	names []string
}

func (o inOrder) Walk(ctx context.Context, opts workspace.WalkOptions, visit func(*workspace.Entry) error) error {
	opts.Workers = 1
	for _, name := range o.names {
		opts.Names = []string{name}
		if err := o.Files.Walk(ctx, opts, visit); err != nil {
			return err
		}
	}
	return nil
}

// whole are files that can be read only in one piece.
type whole struct{ workspace.Files }

func (w whole) Walk(ctx context.Context, opts workspace.WalkOptions, visit func(*workspace.Entry) error) error {
	return w.Files.Walk(ctx, opts, func(e *workspace.Entry) error {
		return visit(&workspace.Entry{Path: e.Path, Worker: e.Worker, Read: e.Read})
	})
}

func TestGrepIsCancelled(t *testing.T) {
	d := project(t, map[string]string{"f": strings.Repeat("a", 1<<20)})
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan struct{})
	files := watched{d, read}
	done := make(chan error)
	go func() {
		_, err := call(ctx, files, "grep", `{"pattern":"(.*a){30}(.*b){30}"}`)
		done <- err
	}()
	<-read
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want Canceled", err)
	}
}

// watched tells when the first file has been read, and goes on once that is
// cancelled.
type watched struct {
	workspace.Files
	read chan struct{}
}

func (w watched) Walk(ctx context.Context, opts workspace.WalkOptions, visit func(*workspace.Entry) error) error {
	return w.Files.Walk(ctx, opts, func(e *workspace.Entry) error {
		return visit(&workspace.Entry{Path: e.Path, Worker: e.Worker, Read: func(buf []byte) ([]byte, error) {
			data, err := e.Read(buf)
			close(w.read)
			<-ctx.Done()
			return data, err
		}})
	})
}
