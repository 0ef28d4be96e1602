package treesitter

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pki"
)

// namesOf is what golden files hold of a file's names.
func namesOf(f pki.File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n", f.Package)
	for _, i := range f.Imports {
		fmt.Fprintf(&b, "%d:%d import %q %q as %q", i.Line, i.Column, i.Path, i.Name, i.Alias)
		if i.Exported {
			b.WriteString(" exported")
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	for _, r := range f.References {
		fmt.Fprintf(&b, "%d:%d %s ", r.Line, r.Column, r.Kind)
		if r.In != "" {
			fmt.Fprintf(&b, "%s . ", r.In)
		}
		b.WriteString(r.Name)
		if r.Key {
			b.WriteString(" :")
		}
		fmt.Fprintf(&b, " in %q\n", r.Scope)
	}
	b.WriteByte('\n')
	for _, d := range f.Decls {
		fmt.Fprintf(&b, "%s: %s", d.Name, joined(d.Results))
		if d.Under != "" {
			fmt.Fprintf(&b, " is %s", d.Under)
		}
		if d.Alias {
			b.WriteString(" alias")
		}
		if len(d.Bases) > 0 {
			fmt.Fprintf(&b, " of %s", joined(d.Bases))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func joined(paths []pki.Path) string {
	var parts []string
	for _, p := range paths {
		parts = append(parts, string(p))
	}
	return strings.Join(parts, ", ")
}

func TestGoldenReferences(t *testing.T) {
	files, _ := filepath.Glob("testdata/refs/*")
	if len(files) == 0 {
		t.Fatal("no sources")
	}
	for _, file := range append(files, sources(t)...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src := read(t, file)
			switch Language(file, src) {
			case "markdown", "yaml", "toml":
				return // it has no references
			}
			needsParser(t, Language(file, src))
			f, err := Analyze(Language(file, src), src)
			if err != nil {
				t.Fatal(err)
			}
			checkReferences(t, src, f)
			got := namesOf(f)
			golden := filepath.Join("testdata", "golden", filepath.Base(file)+".refs.txt")
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

// checkReferences holds for whatever input.
func checkReferences(tb testing.TB, src []byte, f pki.File) {
	tb.Helper()
	checkInvariants(tb, src, f.Symbols)
	starts := lineStarts(src)
	for _, r := range f.References {
		line, column := position(starts, r.Offset)
		switch {
		case r.Offset < 0 || !bytes.HasPrefix(src[min(r.Offset, len(src)):], []byte(r.Name)):
			tb.Fatalf("the name is not there: %+v", r)
		case r.Line != line || r.Column != column:
			tb.Fatalf("bad position: %+v, want %d:%d", r, line, column)
		}
	}
	for _, i := range f.Imports {
		if line, column := position(starts, i.Offset); i.Line != line || i.Column != column || i.Path == "" && i.Name == "" {
			tb.Fatalf("bad import: %+v", i)
		}
	}
}

// Cut anywhere, a file still has the names of what is whole.
func TestBrokenReferences(t *testing.T) {
	files, _ := filepath.Glob("testdata/refs/*")
	for _, file := range append(files, sources(t)...) {
		src := read(t, file)
		lang := Language(file, src)
		for part := range 17 {
			head := src[:len(src)*part/16]
			f, err := Analyze(lang, head)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			checkReferences(t, head, f)
		}
	}
}
