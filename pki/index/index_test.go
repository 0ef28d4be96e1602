package index_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// project is a directory with an index of it. Nobody tells the index what
// changes, so that it looks for itself.
type project struct {
	t    *testing.T
	dir  string
	disk *workspace.Disk
	*index.Index
	names []string // what Changes tells next; nil: it is not asked
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := ownfile.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	p := &project{t: t, dir: t.TempDir(), names: []string{}}
	for name, text := range files {
		write(t, p.dir, name, text)
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: p.dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	p.disk = disk
	p.Index = index.New(p.options())
	t.Cleanup(func() { p.Close() })
	return p
}

func (p *project) options() index.Options {
	return index.Options{
		Files: workspace.Guard(p.disk, nil), Sources: index.Sources{Language: treesitter.Language},
		Changes: func(context.Context) ([]string, []string, bool, error) {
			names := p.names
			p.names = []string{}
			return names, nil, false, nil
		},
		Report: index.Report{Problem: func(err error) { p.t.Error(err) }},
	}
}

// edit writes a file and tells the index.
func (p *project) edit(name, text string) {
	write(p.t, p.dir, name, text)
	p.names = append(p.names, name)
}

func (p *project) ask(q index.Query) index.Answer {
	p.t.Helper()
	return p.askIn(workspace.Guard(p.disk, nil), q)
}

func (p *project) askIn(view workspace.Files, q index.Query) index.Answer {
	p.t.Helper()
	if q.MaxHits == 0 {
		q.MaxHits, q.MaxFiles = 10, 5
	}
	q.Wait = time.Minute
	a, err := p.Search(p.t.Context(), view, q)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// names are the qualified names of hits, files left out.
func names(hits []index.Hit) string {
	var out []string
	for _, h := range hits {
		if h.Kind != "file" {
			out = append(out, h.Name)
		}
	}
	return strings.Join(out, " ")
}

var sample = map[string]string{
	"retry/backoff.go":      "package retry\n\n// Backoff waits longer after each failure.\ntype Backoff struct{ n int }\n\n// Next returns how long to sleep before another attempt.\nfunc (b *Backoff) Next() int {\n\tb.n++\n\treturn jitter(b.n)\n}\n\nfunc jitter(n int) int { return n }\n",
	"retry/backoff_test.go": "package retry\n\nfunc TestNext() {\n\tvar b Backoff\n\tb.Next()\n}\n",
	"web/server.py":         "class Server:\n    \"\"\"Serves files over HTTP.\"\"\"\n\n    def handle_request(self, request):\n        return self.find_file(request.path)\n\n    def find_file(self, path):\n        return open(path)\n",
	"web/style.css":         "body { color: red }\n",
	"docs/guide.md":         "# Guide\n\n## Retrying\n\nThe server tries again.\n",
	".env":                  "BACKOFF_SECRET=hunter2\n",
	"key.pem":               "backoff\n",
	"ignored/gen.go":        "package gen\n\nfunc BackoffIgnored() {}\n",
	".gitignore":            "ignored/\n",
	"assets/data.bin":       "a\x00backoff",
}

func TestSearch(t *testing.T) {
	p := newProject(t, sample)
	for what, c := range map[string]struct {
		q     index.Query
		first string // name of the first hit; "": there is none
	}{
		"words of a name":        {index.Query{Text: "next backoff"}, "Backoff.Next"},
		"words of a comment":     {index.Query{Text: "how long do we sleep between attempts?"}, "Backoff.Next"},
		"a stem":                 {index.Query{Text: "handling requests"}, "Server.handle_request"},
		"a name as it is":        {index.Query{Text: "find_file"}, "Server.find_file"},
		"a dotted name":          {index.Query{Text: "Server.find_file raises"}, "Server.find_file"},
		"a docstring":            {index.Query{Text: "serves files over http"}, "Server"},
		"tests are asked for":    {index.Query{Text: "tests for next"}, "TestNext"},
		"a kind":                 {index.Query{Text: "backoff", Kinds: []pki.Kind{pki.Struct}}, "Backoff"},
		"a kind that has none":   {index.Query{Text: "backoff", Kinds: []pki.Kind{pki.Enum}}, ""},
		"a directory":            {index.Query{Text: "backoff serves files over http", Prefix: "web/"}, "Server"},
		"a heading":              {index.Query{Text: "retrying", Kinds: []pki.Kind{pki.Heading}}, "Retrying"},
		"nothing of it is there": {index.Query{Text: "quaternion zebra"}, ""},
		"stop words":             {index.Query{Text: "what is the of"}, ""},
		"signs":                  {index.Query{Text: `.*+?()[]{}|\^$ %s \xff`}, ""},
		"another language":       {index.Query{Text: "где обрабатывается запрос"}, ""},
		"a stack trace": {index.Query{Text: "it fails\n```\nTraceback (most recent call last):\n  File \"/srv/app/web/server.py\", line 8, in find_file\n    return open(path)\n```"},
			"Server.find_file"},
	} {
		t.Run(what, func(t *testing.T) {
			got := names(p.ask(c.q).Hits)
			first, _, _ := strings.Cut(got, " ")
			if first != c.first {
				t.Errorf("got %q, want %q first", got, c.first)
			}
		})
	}
}

func TestLongQuestion(t *testing.T) {
	p := newProject(t, sample)
	text := "backoff " + strings.Repeat("lorem ipsum dolor `sit.amet` /a/b.go:1 ", 1000)
	if got := names(p.ask(index.Query{Text: text}).Hits); !strings.HasPrefix(got, "Backoff") {
		t.Errorf("got %q", got)
	}
}

func TestHit(t *testing.T) {
	p := newProject(t, sample)
	a := p.ask(index.Query{Text: "find_file", MaxHits: 1, MaxFiles: 1, GraphDepth: 1, MaxGraphHits: 5})
	h := a.Hits[0]
	if h.Path != "web/server.py" || h.Start != 7 || h.End != 8 || h.Kind != pki.Method || h.Score <= 0 {
		t.Errorf("got %+v", h)
	}
	if len(a.Files) != 1 || a.Files[0].Path != "web/server.py" {
		t.Errorf("files: %+v", a.Files)
	}
	if len(a.Graph) != 1 || a.Graph[0].Name != "Server.handle_request" || *a.Graph[0].Via != (index.Via{Relation: "called-by", Hops: 1, From: "Server.find_file"}) {
		t.Errorf("graph: %+v", a.Graph)
	}
	if !a.Status.Ready || a.Status.Skipped == 0 {
		t.Errorf("status: %+v", a.Status)
	}
}

func TestGraph(t *testing.T) {
	p := newProject(t, sample)
	ask := func(depth int) (got []string) {
		for _, h := range p.ask(index.Query{Text: "Backoff.Next", MaxHits: 1, MaxFiles: 1, GraphDepth: depth, MaxGraphHits: 9}).Graph {
			got = append(got, fmt.Sprintf("%s %s %d", h.Name, h.Via.Relation, h.Via.Hops))
		}
		slices.Sort(got)
		return got
	}
	if got := ask(0); got != nil {
		t.Errorf("no hop: %q", got)
	}
	want := []string{"TestNext tested-by 1", "jitter calls 1"}
	if got := ask(1); !slices.Equal(got, want) {
		t.Errorf("one hop: got %q, want %q", got, want)
	}
	if got := ask(2); !slices.Contains(got, "Backoff tested-by 2") {
		t.Errorf("two hops: got %q", got)
	}
}

// TestLeftOut: what nobody may read, and what is ignored, is in no answer.
func TestLeftOut(t *testing.T) {
	p := newProject(t, sample)
	a := p.ask(index.Query{Text: "backoff secret hunter2 ignored env key pem", MaxHits: 50, MaxFiles: 50})
	for _, f := range a.Files {
		switch f.Path {
		case ".env", "key.pem", "ignored/gen.go":
			t.Errorf("%s is found", f.Path)
		}
	}
	if len(a.Files) < 2 {
		t.Errorf("only %v are found", a.Files)
	}
}

func TestFollowsTheDisk(t *testing.T) {
	p := newProject(t, sample)
	if got := names(p.ask(index.Query{Text: "quaternion"}).Hits); got != "" {
		t.Fatalf("before: %q", got)
	}
	p.edit("math/quat.go", "package math\n\nfunc Quaternion() {}\n")
	if got := names(p.ask(index.Query{Text: "quaternion"}).Hits); got != "Quaternion" {
		t.Errorf("a new file: %q", got)
	}
	p.edit("math/quat.go", "package math\n\nfunc Octonion() {}\n")
	if got := names(p.ask(index.Query{Text: "quaternion"}).Hits); got != "" {
		t.Errorf("a symbol that was removed: %q", got)
	}
	if got := names(p.ask(index.Query{Text: "octonion"}).Hits); got != "Octonion" {
		t.Errorf("a symbol that came: %q", got)
	}
	if err := ownfile.RemoveAll(filepath.Join(p.dir, "math")); err != nil {
		t.Fatal(err)
	}
	p.names = append(p.names, "math")
	if got := names(p.ask(index.Query{Text: "octonion"}).Hits); got != "" {
		t.Errorf("a directory that was removed: %q", got)
	}
}

// TestLooksForItself: without anybody who tells, the tree is looked at again.
func TestLooksForItself(t *testing.T) {
	p := newProject(t, sample)
	lost := true
	o := p.options()
	o.Changes = func(context.Context) ([]string, []string, bool, error) { return nil, nil, lost, nil }
	x := index.New(o)
	t.Cleanup(func() { x.Close() })
	p.Index = x
	p.ask(index.Query{Text: "backoff"})
	write(t, p.dir, "math/quat.go", "package math\n\nfunc Quaternion() {}\n")
	if err := ownfile.Remove(filepath.Join(p.dir, "web/server.py")); err != nil {
		t.Fatal(err)
	}
	if got := names(p.ask(index.Query{Text: "quaternion find_file"}).Hits); got != "Quaternion" {
		t.Errorf("events are lost: %q", got)
	}
	lost = false
	write(t, p.dir, "math/quat.go", "package math\n\nfunc Octonion() {}\n")
	if got := names(p.ask(index.Query{Text: "quaternion"}).Hits); got != "Quaternion" {
		t.Errorf("nobody told, and yet: %q", got) // the control: telling is what counts
	}
}

// layer lies over the disk.
type layer map[string]string

func (l layer) Lookup(name string) ([]byte, bool, bool) {
	text, ok := l[name]
	return []byte(text), text == "", ok
}

func (l layer) Names() []string {
	var out []string
	for name := range l {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func TestFollowsTheView(t *testing.T) {
	p := newProject(t, sample)
	view := workspace.Guard(workspace.NewOverlay(p.disk, layer{
		"retry/backoff.go": "package retry\n\nfunc Unsaved() {}\n",
		"retry/new.go":     "package retry\n\nfunc Pending() {}\n",
		"web/server.py":    "", // deleted
		".env":             "PENDING=1\n",
	}), nil)
	for q, want := range map[string]string{"unsaved": "Unsaved", "pending": "Pending", "jitter": "", "find_file": ""} {
		if got := names(p.askIn(view, index.Query{Text: q}).Hits); got != want {
			t.Errorf("%s over the disk: got %q, want %q", q, got, want)
		}
	}
	for q, want := range map[string]string{"unsaved": "", "pending": "", "jitter": "jitter", "find_file": "Server.find_file"} {
		if got, _, _ := strings.Cut(names(p.ask(index.Query{Text: q}).Hits), " "); got != want {
			t.Errorf("%s on the disk: got %q, want %q", q, got, want)
		}
	}
}

func TestRebuild(t *testing.T) {
	p := newProject(t, sample)
	before := p.ask(index.Query{Text: "backoff"}).Status
	p.Rebuild()
	p.Rebuild()
	if after := p.ask(index.Query{Text: "backoff"}); after.Status.Files > before.Files {
		t.Errorf("%d files, then %d", before.Files, after.Status.Files)
	}
	p.Close()
}

func TestCancelled(t *testing.T) {
	p := newProject(t, sample)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Search(ctx, p.disk, index.Query{Text: "backoff", MaxHits: 1}); err == nil {
		t.Error("no error")
	}
	if got := names(p.ask(index.Query{Text: "backoff"}).Hits); got == "" {
		t.Error("nothing after that")
	}
}

// TestDeletedFolder: without its folder the index says so, and comes back with it.
func TestDeletedFolder(t *testing.T) {
	p := newProject(t, sample)
	away := p.dir + ".away"
	if err := ownfile.Rename(p.dir, away); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.RemoveAll(away); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if a := p.ask(index.Query{Text: "backoff"}); len(a.Hits) > 0 {
			t.Errorf("found %v", a.Hits)
		}
	}
}

// TestManyEdits: segments of single files are put together.
func TestManyEdits(t *testing.T) {
	p := newProject(t, sample)
	p.ask(index.Query{Text: "x"})
	for i := range 300 {
		p.edit(fmt.Sprintf("many/f%d.go", i%150), fmt.Sprintf("package many\n\nfunc Edited%d() {}\n", i))
		if i%50 == 49 {
			if got := names(p.ask(index.Query{Text: fmt.Sprintf("Edited%d", i)}).Hits); !strings.HasPrefix(got+" ", fmt.Sprintf("Edited%d ", i)) {
				t.Errorf("%d: %q", i, got)
			}
		}
	}
	if got := names(p.ask(index.Query{Text: "Edited3"}).Hits); strings.HasPrefix(got+" ", "Edited3 ") {
		t.Errorf("what was replaced is found: %q", got)
	}
	if got := p.Status().Symbols; got < 150 || got > 170 {
		t.Errorf("%d symbols", got)
	}
}

// TestOddFiles: what can't be read as text is known by its path.
func TestOddFiles(t *testing.T) {
	p := newProject(t, map[string]string{
		"giant.go":   "package a\n\nfunc Quagga() {}\n" + strings.Repeat("// filler\n", 200_000),
		"min.js":     "function quagga(){}" + strings.Repeat("var a=1;", 10_000),
		"utf16.go":   "\xff\xfep\x00a\x00c\x00k\x00a\x00g\x00e\x00 \x00a\x00\n\x00f\x00u\x00n\x00c\x00 \x00W\x00i\x00d\x00e\x00(\x00)\x00 \x00{\x00}\x00\n\x00",
		"latin.py":   "# caf\xe9\ndef latin():\n    pass\n",
		"bom.go":     "\xef\xbb\xbfpackage a\n\nfunc Marked() {}\n",
		"crlf.go":    "package a\r\n\r\nfunc Carried() {\r\n}\r\n",
		"gen.go":     "// Code generated by x. DO NOT EDIT.\npackage a\n\nfunc Made() { quagga() }\n",
		"deep.ts":    strings.Repeat("{", 100_000),
		"empty.go":   "",
		"broken.py":  "def broken(:\n\tx = (\n",
		"bin/a.out":  "\x7fELF\x00\x00quagga",
		"link/real":  "x",
		"sp ace.go":  "package a\n\nfunc Spaced() {}\n",
		"日本語.go":     "package a\n\nfunc Foreign() {}\n",
		"noext":      "#!/usr/bin/env python3\ndef scripted():\n    pass\n",
		"quagga.dat": "\x00",
	})
	if err := ownfile.Symlink("..", filepath.Join(p.dir, "link/loop")); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]string{
		"quagga": "", "wide": "Wide", "latin": "latin", "marked": "Marked", "carried": "Carried", "made": "Made", "broken": "broken", "spaced": "Spaced",
		"foreign": "Foreign", "scripted": "scripted",
	} {
		if got := names(p.ask(index.Query{Text: q}).Hits); got != want {
			t.Errorf("%s: got %q, want %q", q, got, want)
		}
	}
	files := p.ask(index.Query{Text: "quagga", MaxHits: 10, MaxFiles: 10}).Files
	if len(files) != 1 || files[0].Path != "quagga.dat" {
		t.Errorf("a path: %v", files)
	}
	if s := p.Status(); s.Skipped < 4 || s.Generated != 1 {
		t.Errorf("%+v", s)
	}
}

// TestFork: another tree has what is the same and what differs, and changes
// nothing in the first.
func TestFork(t *testing.T) {
	p := newProject(t, sample)
	p.ask(index.Query{Text: "backoff"})
	other := newProject(t, sample)
	write(t, other.dir, "web/server.py", "def elsewhere():\n    pass\n")
	if err := ownfile.Remove(filepath.Join(other.dir, "docs/guide.md")); err != nil {
		t.Fatal(err)
	}
	files := workspace.Guard(other.disk, nil)
	fork := p.Fork(files, nil)
	t.Cleanup(func() { fork.Close() })
	first := func(x *index.Index, view workspace.Files, text string) string {
		a, err := x.Search(t.Context(), view, index.Query{Text: text, MaxHits: 3, Wait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		got, _, _ := strings.Cut(names(a.Hits), " ")
		return got
	}
	for text, want := range map[string][2]string{
		"jitter": {"jitter", "jitter"}, "elsewhere": {"", "elsewhere"}, "find_file": {"Server.find_file", ""}, "retrying section": {"Retrying", ""},
	} {
		if a, b := first(p.Index, p.disk, text), first(fork, files, text); a != want[0] || b != want[1] {
			t.Errorf("%s: %q and %q, want %q", text, a, b, want)
		}
	}
}

// BenchmarkEdit is a change of a file of 20 KB, up to the answer that has it.
func BenchmarkEdit(b *testing.B) {
	b.Setenv("XDG_CONFIG_HOME", b.TempDir())
	dir := b.TempDir()
	var text strings.Builder
	for i := 0; text.Len() < 20<<10; i++ {
		fmt.Fprintf(&text, "// handler%d does something with a request.\nfunc (s *Server) handler%d(w Writer, r *Request) error {\n\tif r.Method != methodGet {\n\t\treturn s.fail(w, r)\n\t}\n\treturn s.next.Handle(w, r)\n}\n\n", i, i)
	}
	file := filepath.Join(dir, "a.go")
	if err := ownfile.WriteFile(file, []byte("package a\n"), 0o666); err != nil {
		b.Fatal(err)
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer disk.Close()
	x := index.New(index.Options{Files: disk, Sources: index.Sources{Language: treesitter.Language}, Changes: func(context.Context) ([]string, []string, bool, error) {
		return []string{"a.go"}, nil, false, nil
	}})
	defer x.Close()
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		if err := ownfile.WriteFile(file, fmt.Appendf(nil, "package a\n\nfunc edit%d() {}\n\n%s", n, text.String()), 0o666); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		a, err := x.Search(b.Context(), disk, index.Query{Text: fmt.Sprintf("edit%d", n), MaxHits: 1, Wait: time.Minute})
		if err != nil || len(a.Hits) != 1 || a.Hits[0].Name != fmt.Sprintf("edit%d", n) {
			b.Fatalf("%+v, %v", a.Hits, err)
		}
	}
}

// FuzzIntake: whatever the text and its language, it gets into a segment.
func FuzzIntake(f *testing.F) {
	names := []string{"a.go", "a.py", "a.rb", "a.lua", "a.sh", "a.md", "a.js", "a.ts", "a.java", "a.cs", "a.kt", "a.scala", "a.swift", "a.php", "a.rs", "a.c", "a.cpp", "a.txt"}
	for i := range names {
		f.Add(uint8(i), []byte("// doc\nclass A { void f() { } }\nfunc g() {\n}\ndef h():\n  \"\"\"doc\"\"\"\n"))
	}
	b, in := segment.NewBuilder(true), index.NewIntake(treesitter.Language, nil)
	f.Fuzz(func(t *testing.T, n uint8, src []byte) {
		in.Add(b, names[int(n)%len(names)], src, int64(len(src)))
		seg := b.Finish()
		for i, u := range seg.Units {
			if u.Start < 1 || u.End < u.Start {
				t.Fatalf("unit %d: lines %d to %d", i, u.Start, u.End)
			}
		}
	})
}

// TestMemoryIsBounded: what finds the index full is known by its path.
func TestMemoryIsBounded(t *testing.T) {
	for most, want := range map[int64]string{1: "", 1 << 30: "Quokka"} {
		p := newProject(t, sample)
		o := p.options()
		o.Bounds.Bytes = func() int64 { return most }
		p.Index = index.New(o)
		t.Cleanup(func() { p.Close() })
		if got := names(p.ask(index.Query{Text: "next backoff"}).Hits); !strings.HasPrefix(got, "Backoff") {
			t.Errorf("%d bytes: what came first is not found: %q", most, got)
		}
		p.edit("zoo/late.go", "package zoo\n\nfunc Quokka() {}\n")
		if got := names(p.ask(index.Query{Text: "quokka"}).Hits); got != want {
			t.Errorf("%d bytes: got %q, want %q", most, got, want)
		}
		if f := p.ask(index.Query{Text: "zoo late"}).Files; len(f) == 0 || f[0].Path != "zoo/late.go" {
			t.Errorf("%d bytes: its path is not found: %v", most, f)
		}
	}
}

// TestNamesLikeStopWords: what bears the name of a word that questions are full
// of is found when it is asked for.
func TestNamesLikeStopWords(t *testing.T) {
	p := newProject(t, map[string]string{
		"a.py": "def hello(x):\n    return x\n\n\ndef her(): pass\n",
		"b.py": "def function_of_others():\n    pass\n",
	})
	for text, want := range map[string]string{
		"where is hello used": "hello", "hello xyz": "hello", "where is the hello function": "hello", "hello": "hello",
		"her and the xyz of a zyx, which is an abc": "her", // too long, and nothing else is there
		"where is it": "", "xyz": "",
	} {
		got, _, _ := strings.Cut(names(p.ask(index.Query{Text: text}).Hits), " ")
		if got != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
}
