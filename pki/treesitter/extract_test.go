package treesitter

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pki"
)

var update = flag.Bool("update", false, "update the golden files")

// outline is what golden files hold: place, kind, qualified name, signature, comment.
func outline(symbols []pki.Symbol) string {
	var b strings.Builder
	for _, s := range symbols {
		fmt.Fprintf(&b, "%s%d-%d %s %s | %s", strings.Repeat("  ", s.Depth), s.StartLine, s.EndLine, s.Kind, s.Qualified, s.Signature)
		if s.Doc != "" {
			fmt.Fprintf(&b, " | %q", s.Doc)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func sources(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/outline/*")
	if err != nil || len(files) == 0 {
		tb.Fatal("no sources", err)
	}
	return files
}

func read(tb testing.TB, file string) []byte {
	tb.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func extract(tb testing.TB, file string, src []byte) []pki.Symbol {
	tb.Helper()
	symbols, err := Extract(Language(file, src), src)
	if err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	return symbols
}

// needsParser skips what a golden file says of a language that this build has no
// parser for.
func needsParser(t *testing.T, lang string) {
	t.Helper()
	if !Parsers && !withoutTree(lang) {
		needs.Skip(t, needs.Cgo, "built without cgo: lines tell less than a parser")
	}
}

func TestGoldenOutlines(t *testing.T) {
	for _, file := range sources(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src := read(t, file)
			needsParser(t, Language(file, src))
			symbols := extract(t, file, src)
			checkInvariants(t, src, symbols)
			got := outline(symbols)
			golden := filepath.Join("testdata", "golden", filepath.Base(file)+".txt")
			if *update {
				if err := ownfile.Update(golden, []byte(got)); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(read(t, golden)), got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// checkInvariants holds for whatever input.
func checkInvariants(tb testing.TB, src []byte, symbols []pki.Symbol) {
	tb.Helper()
	starts := lineStarts(src)
	last := 0
	for _, s := range symbols {
		switch {
		case s.Name == "" || s.Kind == "" || !strings.HasSuffix(s.Qualified, s.Name):
			tb.Fatalf("no name or kind: %+v", s)
		case s.StartByte < 0 || s.StartByte > s.EndByte || s.EndByte > len(src):
			tb.Fatalf("bad range: %+v", s)
		case s.NameByte < s.StartByte || s.NameByte > s.EndByte || s.BodyByte < s.StartByte || s.BodyByte > s.EndByte:
			tb.Fatalf("bad name or body: %+v", s)
		case s.DocStart < 0 || s.DocStart > s.DocEnd || s.DocEnd > len(src) || s.Doc != "" && s.DocStart == s.DocEnd:
			tb.Fatalf("bad place of the comment: %+v", s)
		case s.StartLine < 1 || s.StartLine > s.EndLine || s.EndLine > len(starts):
			tb.Fatalf("bad lines: %+v", s)
		case s.StartByte < last:
			tb.Fatalf("out of order: %+v", s)
		case len([]rune(s.Signature)) > maxSignature || strings.ContainsAny(s.Signature, "\n\r"):
			tb.Fatalf("bad signature: %+v", s)
		case len([]rune(s.Doc)) > maxDoc:
			tb.Fatalf("long comment: %+v", s)
		case s.Depth < 0:
			tb.Fatalf("bad depth: %+v", s)
		}
		last = s.StartByte
	}
}

// The ends of lines change neither what is found nor where, nor what it says.
func TestLineEnds(t *testing.T) {
	for _, file := range sources(t) {
		src := string(read(t, file))
		want := outline(extract(t, file, []byte(src)))
		got := outline(extract(t, file, []byte(strings.ReplaceAll(src, "\n", "\r\n"))))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: -lf +crlf:\n%s", file, d)
		}
	}
}

// Cut anywhere, a file yields what can be had and never a bad range; most of
// what is whole before the cut stays known.
func TestBroken(t *testing.T) {
	for _, file := range sources(t) {
		src := read(t, file)
		whole := len(extract(t, file, src))
		for part := 1; part < 16; part++ {
			head := src[:len(src)*part/16]
			checkInvariants(t, head, extract(t, file, head))
		}
		head := src[:len(src)*3/4]
		if n := len(extract(t, file, head)); n*3 < whole {
			t.Errorf("%s: %d symbols of %d after the last quarter is gone", file, n, whole)
		}
	}
}

func TestErrors(t *testing.T) {
	code := "function f() {}\n"
	for _, c := range []struct {
		name, lang, src string
		want            error
	}{
		{"fine", "javascript", code, nil},
		{"unknown language", "cobol", code, ErrUnsupported},
		{"no language", "", code, ErrUnsupported},
		{"too large", "javascript", strings.Repeat(code, maxSize/len(code)+1), ErrTooLarge},
		{"as large as may be", "markdown", strings.Repeat("a\n", maxSize/2), nil},
		{"minified", "javascript", strings.Repeat("function f(){};", 1000), ErrMinified},
		{"one long line", "javascript", "const icon = '" + strings.Repeat("x", 9000) + "';\n" + strings.Repeat(code, 100), nil},
		{"kotlin strings without end", "kotlin", strings.Repeat("\"${\n", 2000), ErrRefused},
		{"a here-document's word without end", "ruby", "x = <<" + strings.Repeat("A", 300) + "\n", ErrRefused},
		{"here-documents on one line", "bash", "f() {\n:\n}\ncat " + strings.Repeat("<<A ", 400) + "\n", nil},
		{"empty", "python", "", nil},
		{"a zero byte", "c", "int a;\x00", ErrRefused},
		{"deep", "java", "class A { int a = " + strings.Repeat("-\n", 20000) + "1; }", ErrRefused},
		{"type arguments without end", "csharp", strings.Repeat("a<\n", 20000), ErrRefused},
		{"not UTF-8", "java", "class A\xff { void f\xfe() {} }", nil},
		{"broken Go", "go", "package a\nfunc broken( {\n\nfunc after() {}\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			symbols, err := Extract(c.lang, []byte(c.src))
			if !Parsers && errors.Is(c.want, ErrRefused) {
				c.want = nil // there is no parser that can't bear it
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err != nil && symbols != nil {
				t.Error("symbols with an error")
			}
			checkInvariants(t, []byte(c.src), symbols)
		})
	}
}

// Many at once see what one alone sees; with -race this also watches the Go side.
func TestConcurrent(t *testing.T) {
	want := make(map[string]string)
	for _, file := range sources(t) {
		want[file] = outline(extract(t, file, read(t, file)))
	}
	var wg sync.WaitGroup
	for range 8 {
		for file := range want {
			wg.Go(func() {
				src, err := os.ReadFile(file)
				if err != nil {
					t.Error(err)
					return
				}
				symbols, err := Extract(Language(file, src), src)
				if err != nil {
					t.Error(file, err)
				} else if d := cmp.Diff(want[file], outline(symbols)); d != "" {
					t.Errorf("%s: -alone +together:\n%s", file, d)
				}
			})
		}
	}
	wg.Wait()
}
