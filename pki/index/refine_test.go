package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// indented is Go that no line of gofmt's begins: lines alone tell nothing of
// what is in it.
const indented = "package a\n\n  // Quokka smiles.\n  func  (w  *Wombat)  Quokka(n int) {\n\tn++\n  }\n\n  func sleeper() {}\n"

// parsing is a project whose files are parsed; said is how often the status
// was told to have changed.
func parsing(t *testing.T, files map[string]string, share int, parse func(context.Context, string, []byte) ([]pki.Symbol, error)) (*project, chan struct{}) {
	t.Helper()
	p := newProject(t, files)
	said := make(chan struct{}, 1)
	o := p.options()
	o.Sources.Parse, o.Bounds.Share = parse, func() int { return share }
	o.Report.Changed = func() {
		select {
		case said <- struct{}{}:
		default:
		}
	}
	p.Index = index.New(o)
	t.Cleanup(func() { p.Close() })
	return p, said
}

func extract(_ context.Context, lang string, src []byte) ([]pki.Symbol, error) {
	return treesitter.Extract(lang, src)
}

// until waits for the status to be so.
func (p *project) until(said chan struct{}, what string, ok func(index.Status) bool) {
	p.t.Helper()
	p.Start()
	for late := time.After(2 * time.Minute); !ok(p.Status()); {
		select {
		case <-said:
		case <-late:
			p.t.Fatalf("%s: it is %+v", what, p.Status())
		}
	}
}

func all(s index.Status) bool { return s.Ready && s.Parsed == s.Parseable }

// TestParsed: everything is parsed in the background, and then kinds, names,
// ranges and comments are the parser's.
func TestParsed(t *testing.T) {
	files := map[string]string{"a/zoo.go": indented, "b.py": sample["web/server.py"], "c.md": "Title\n=====\n\ntext\n", "d.yaml": "quokka: 1\n", "e.txt": "quokka"}
	byLines := newProject(t, files)
	if got := names(byLines.ask(index.Query{Text: "quokka", Kinds: []pki.Kind{pki.Method}}).Hits); got != "" {
		t.Fatalf("lines alone tell of %q", got) // the control
	}
	p, said := parsing(t, files, 100, extract)
	p.until(said, "all is parsed", all)
	h := p.ask(index.Query{Text: "quokka smiles", Kinds: []pki.Kind{pki.Method}}).Hits
	if len(h) != 1 || h[0].Name != "Wombat.Quokka" || h[0].Start != 4 || h[0].End != 6 || !h[0].Parsed {
		t.Errorf("got %+v", h)
	}
	if h := p.ask(index.Query{Text: "find_file"}).Hits; len(h) == 0 || h[0].Name != "Server.find_file" || h[0].Start != 7 || h[0].End != 8 {
		t.Errorf("got %+v", h)
	}
	if s := p.Status(); s.Files != 5 || s.Parseable != 4 || s.Parsed != 4 {
		t.Errorf("%+v", s)
	}
	p.edit("a/zoo.go", strings.Replace(indented, "Quokka", "Numbat", 2))
	p.ask(index.Query{Text: "numbat"})
	p.until(said, "a changed file is parsed", all)
	if got := names(p.ask(index.Query{Text: "quokka numbat", Kinds: []pki.Kind{pki.Method}}).Hits); got != "Wombat.Numbat" {
		t.Errorf("after an edit: %q", got)
	}
}

// TestParsedFirst: with no share for the rest, what answers name is parsed and
// nothing else.
func TestParsedFirst(t *testing.T) {
	p, said := parsing(t, map[string]string{"a/quokka.go": indented, "b/other.go": "package b\n"}, 0, extract)
	if h := p.ask(index.Query{Text: "quokka"}).Hits; len(h) != 1 || h[0].Kind != "file" || h[0].Parsed {
		t.Fatalf("before: %+v", h)
	}
	p.until(said, "the hit is parsed", func(s index.Status) bool { return s.Parsed == 1 })
	if h := p.ask(index.Query{Text: "quokka"}).Hits; len(h) < 2 || !h[0].Parsed {
		t.Errorf("then: %+v", h)
	}
	if s := p.Status(); s.Parsed != 1 || s.Parseable != 2 {
		t.Errorf("%+v", s)
	}
}

// TestParsedOver: texts over the disk are parsed when an answer has named them.
func TestParsedOver(t *testing.T) {
	p, said := parsing(t, map[string]string{"a.go": "package a\n"}, 0, extract)
	view := workspace.Guard(workspace.NewOverlay(p.disk, layer{"zoo.go": indented}), nil)
	p.askIn(view, index.Query{Text: "quokka"})
	p.until(said, "the text is parsed", func(index.Status) bool {
		return names(p.askIn(view, index.Query{Text: "quokka", Kinds: []pki.Kind{pki.Method}}).Hits) == "Wombat.Quokka"
	})
}

// TestUnparsed: a text that the parser refuses keeps what its lines tell, and
// is not tried again.
func TestUnparsed(t *testing.T) {
	var tried atomic.Int32
	p, said := parsing(t, sample, 100, func(_ context.Context, lang string, src []byte) ([]pki.Symbol, error) {
		tried.Add(1)
		if lang == "go" {
			return nil, errors.New("no")
		}
		return extract(context.Background(), lang, src)
	})
	p.until(said, "all was tried", all)
	n := tried.Load()
	if got := names(p.ask(index.Query{Text: "next backoff"}).Hits); !strings.HasPrefix(got, "Backoff.Next") {
		t.Errorf("got %q", got)
	}
	p.edit("new.py", "def newcomer():\n    pass\n")
	p.ask(index.Query{Text: "newcomer"})
	p.until(said, "the new file was tried", all)
	if got := tried.Load(); got != n+1 {
		t.Errorf("tried %d more", got-n)
	}
}

// TestParsedChanges: a file that changes while it is parsed is not what the
// parser says of its old text.
func TestParsedChanges(t *testing.T) {
	var p *project
	first := true
	p, said := parsing(t, map[string]string{"zoo.go": indented}, 100, func(ctx context.Context, lang string, src []byte) ([]pki.Symbol, error) {
		if first {
			first = false
			p.edit("zoo.go", "package a\n\nfunc Emu() {}\n")
			p.ask(index.Query{Text: "emu"})
		}
		return extract(ctx, lang, src)
	})
	p.until(said, "the new text is parsed", func(s index.Status) bool { return all(s) && s.Symbols == 1 })
	if got := names(p.ask(index.Query{Text: "emu quokka sleeper"}).Hits); got != "Emu" {
		t.Errorf("got %q", got)
	}
}

// TestParsedKept: what was parsed is parsed still after a restart.
func TestParsedKept(t *testing.T) {
	kept := t.TempDir()
	store := &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(kept) }}
	p, said := parsing(t, map[string]string{"zoo.go": indented, "b.py": sample["web/server.py"]}, 100, extract)
	o := p.options()
	o.Store, o.Sources.Parse, o.Bounds.Share = store, extract, func() int { return 100 }
	o.Report.Changed = func() {
		select {
		case said <- struct{}{}:
		default:
		}
	}
	p.Index = index.New(o)
	p.until(said, "all is parsed", all)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	o.Sources.Parse = func(context.Context, string, []byte) ([]pki.Symbol, error) {
		t.Error("something is parsed again")
		return nil, nil
	}
	p.Index = index.New(o)
	if h := p.ask(index.Query{Text: "quokka", Kinds: []pki.Kind{pki.Method}}).Hits; len(h) != 1 || !h[0].Parsed {
		t.Errorf("got %+v", h)
	}
	p.until(said, "all is known", all)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestParsedManyEdits: small segments are put together without losing what
// was parsed.
func TestParsedManyEdits(t *testing.T) {
	p, said := parsing(t, sample, 100, extract)
	for i := range 200 {
		p.edit(fmt.Sprintf("many/f%d.go", i), strings.Replace(indented, "Quokka", fmt.Sprintf("Quokka%d", i), 2))
		if i%40 == 39 {
			p.ask(index.Query{Text: "quokka"})
			p.until(said, "what came is parsed", all)
		}
	}
	if h := p.ask(index.Query{Text: "Quokka7", Kinds: []pki.Kind{pki.Method}}).Hits; len(h) == 0 || h[0].Name != "Wombat.Quokka7" {
		t.Errorf("got %+v", h)
	}
}

// TestParsedTakesNoMore: what a parser replaced is let go, also where it shared
// a segment with files that stay.
func TestParsedTakesNoMore(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("a/f%d.go", i)] = strings.Replace(sample["retry/backoff.go"], "Backoff", fmt.Sprintf("Backoff%d", i), 9)
	}
	for i := range 100 {
		files[fmt.Sprintf("b/f%d.text", i)] = "words that are no code\n"
	}
	plain := newProject(t, files)
	most := plain.ask(index.Query{Text: "backoff"}).Status.Bytes * 5 / 4
	p, said := parsing(t, files, 100, extract)
	p.until(said, "what was replaced is let go", func(s index.Status) bool { return all(s) && s.Bytes < most })
	if got := names(p.ask(index.Query{Text: "Backoff7 words"}).Hits); !strings.HasPrefix(got, "Backoff7") {
		t.Errorf("got %q", got)
	}
}
