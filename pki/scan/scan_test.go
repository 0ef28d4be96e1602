package scan

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// describe lists units: lines, kind, qualified name, and the comment's size.
func describe(src []byte, units []Unit) string {
	var b strings.Builder
	line := func(i int) int { return bytes.Count(src[:i], []byte{'\n'}) + 1 }
	for i := range units {
		u := &units[i]
		name := u.Name.Of(src)
		if u.Owner.Len() > 0 {
			name = u.Owner.Of(src) + "." + name
		}
		for p := u.Parent; p >= 0; p = units[p].Parent {
			name = units[p].Name.Of(src) + "." + name
		}
		doc := ""
		if u.Doc.Len() > 0 {
			doc = " doc"
		}
		fmt.Fprintf(&b, "%d-%d %s %s%s\n", line(u.Start), line(max(u.Start, u.End-1)), u.Kind, name, doc)
	}
	return b.String()
}

// TestUnits runs testdata/*.txtar: a source named by its language, and want.
func TestUnits(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no test data (%v)", err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(a.Files); i += 2 {
			src, want := a.Files[i], a.Files[i+1]
			t.Run(src.Name, func(t *testing.T) {
				got := describe(src.Data, Units(src.Name, src.Data, nil))
				if diff := cmp.Diff(string(want.Data), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

var languages = []string{"go", "python", "ruby", "lua", "bash", "markdown", "javascript", "typescript", "tsx", "java", "csharp", "kotlin", "scala", "swift", "php", "rust", "c", "cpp"}

// check fails when units lead out of the source or out of their parents.
func check(t *testing.T, lang string, src []byte, units []Unit) {
	t.Helper()
	for i, u := range units {
		for what, r := range map[string]Range{"name": u.Name, "owner": u.Owner, "doc": u.Doc, "all": {u.Start, u.End}, "header": {u.Start, u.Body}} {
			if r.Start < 0 || r.End < r.Start || r.End > len(src) {
				t.Fatalf("%s: unit %d: %s is %v of %d bytes", lang, i, what, r, len(src))
			}
		}
		if u.Parent >= i || u.Name.Len() == 0 {
			t.Fatalf("%s: unit %d: parent %d, name %q", lang, i, u.Parent, u.Name.Of(src))
		}
	}
}

// TestHostile: whatever the text, there is an end soon.
func TestHostile(t *testing.T) {
	const size = 64 << 10
	for what, piece := range map[string]string{
		"open braces": "{", "closed braces": "}", "functions in functions": "function f(){", "Go in Go": "func f() {\n", "classes": "class A {",
		"Python in Python": "def f():\n ", "parentheses": "(", "quotes": "'", "double quotes": `"`, "backquotes": "`", "templates": "`${", "open comments": "/*",
		"slashes": "/", "hashes": "#\n", "triple quotes": `"""`, "less": "a<", "lines": "\n", "headings": "# a\n", "defines": "#define A 1\n", "equals": "a =\n", "at": "@a(",
		"zero": "\x00", "broken": "\xff\xfe", "comments and nothing": "// a\n", "decorators": "@a\n",
	} {
		src := []byte(strings.Repeat(piece, size/len(piece)))
		for _, lang := range languages {
			start := time.Now()
			units := Units(lang, src, nil)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%s as %s takes %v", what, lang, took)
			}
			if len(units) > MaxUnits+1 {
				t.Errorf("%s as %s: %d units", what, lang, len(units))
			}
			check(t, lang, src, units)
		}
	}
}

// TestIndentDepth: a tower of blocks is cut off, what is behind it is not.
func TestIndentDepth(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "%sclass A%d:\n", strings.Repeat(" ", i), i)
	}
	b.WriteString("def last():\n    pass\n")
	units := Units("python", []byte(b.String()), nil)
	if n := len(units); n < 2 || units[n-1].Name.Of([]byte(b.String())) != "last" {
		t.Errorf("%d units", n)
	}
}

func FuzzUnits(f *testing.F) {
	for i := range languages {
		f.Add(uint8(i), []byte("class A { void f() { } }\nfunc g() {\n}\ndef h():\n  pass\n"))
	}
	f.Fuzz(func(t *testing.T, lang uint8, src []byte) {
		l := languages[int(lang)%len(languages)]
		check(t, l, src, Units(l, src, nil))
	})
}

func BenchmarkGo(b *testing.B) {
	src, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "src/net/http/server.go"))
	if err != nil {
		needs.Skip(b, needs.Sources, err)
	}
	b.SetBytes(int64(len(src)))
	var units []Unit
	for b.Loop() {
		units = Units("go", src, units)
	}
}
