package scan_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// compare returns how many definitions a parser finds in a file, none in what is
// no source after all, and which of them the scanner does not.
func compare(lang, file string) (defined int, lost []string) {
	src, unreadable := os.ReadFile(file)
	want, unparsed := treesitter.Extract(lang, src)
	if unreadable != nil || unparsed != nil {
		return 0, nil
	}
	have, inner := map[string]int{}, map[string]bool{}
	for _, u := range scan.Units(lang, src, nil) {
		have[u.Name.Of(src)]++
	}
	for _, s := range want {
		if full := strings.TrimPrefix(s.Container+"."+s.Name, "."); s.Kind == pki.Function || s.Kind == pki.Method || inner[s.Container] {
			inner[full] = true
		}
		if inner[s.Container] || s.Name == "_" || s.Kind == pki.Field || lang == "go" && isMember(src, s) {
			continue // what is in a function, or a member of an interface, is none of its units
		}
		defined++
		if have[s.Name]--; have[s.Name] < 0 {
			lost = append(lost, string(s.Kind)+" "+s.Name)
		}
	}
	return defined, lost
}

// isMember reports whether a method of Go has no func of its own.
func isMember(src []byte, s pki.Symbol) bool {
	return s.Kind == pki.Method && !strings.HasPrefix(string(src[s.StartByte:]), "func")
}

var everything = flag.Bool("everything", false, "compare all files, not a part")

// TestAgainstParsers: what the scanner finds in the libraries of Go and Python is
// what parsers find there. It may miss what no gofmt has seen; what it loses is
// the rest of a file where it takes code for text.
func TestAgainstParsers(t *testing.T) {
	python, _ := filepath.Glob("/usr/lib/python3*")
	local, _ := filepath.Glob("/usr/local/lib/python3*")
	for _, c := range []struct {
		lang, end string
		dirs      []string
		most      int // of a thousand definitions, that may be missed
	}{
		{"go", ".go", []string{filepath.Join(runtime.GOROOT(), "src")}, 2},
		{"python", ".py", append(python, local...), 5},
	} {
		t.Run(c.lang, func(t *testing.T) {
			files, defined, missed := 0, 0, 0
			for _, dir := range c.dirs {
				_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, failed error) error {
					switch {
					case failed != nil:
						return fs.SkipDir
					case d.IsDir(), filepath.Ext(name) != c.end, strings.Contains(name, "testdata"), strings.Contains(name, "lib2to3/tests"), strings.Contains(name, "bad_"):
						return nil
					}
					if files++; !*everything && files%20 != 0 {
						return nil
					}
					n, lost := compare(c.lang, name)
					if defined, missed = defined+n, missed+len(lost); len(lost) > 0 {
						t.Logf("%s: %d lost: %.200q", name, len(lost), lost)
					}
					return nil
				})
			}
			if defined == 0 {
				needs.Skip(t, needs.Sources, "its library is not here")
			}
			t.Logf("%d of %d definitions missed", missed, defined)
			if missed*1000 > defined*c.most {
				t.Errorf("%d of %d definitions are missed", missed, defined)
			}
		})
	}
}

// TestNothingIsLost: what looks like code in text, or like text in code, does not
// hide what comes after it.
func TestNothingIsLost(t *testing.T) {
	for name, c := range map[string]struct{ lang, src, want string }{
		"a line that goes on in brackets": {"python", "x = f(1, \\\n    (2))\n\ndef after():\n    pass\n", "x after"},
		"one in a string":                 {"python", "x = f('a \\\n b', (2))\n\ndef after():\n    pass\n", "x after"},
		"the same with CR":                {"python", "x = f(1, \\\r\n    (2))\r\n\r\ndef after():\r\n    pass\r\n", "x after"},
		"at the end":                      {"python", "def before():\n    pass\nx = (1, \\", "before x"},
		"a comment in a raw string":       {"go", "package a\n\nvar x = f(`\n// it's `)\n\nfunc after() {\n}\n", "x after"},
		"a raw string behind a brace":     {"go", "package a\n\nvar x = f(m{\n\t1: 2,\n}).p(`\nfunc no() {\n`)\n\nconst after = 1\n", "x after"},
		"raw strings in a row":            {"go", "package a\n\nconst x = `\n}\n`\n\nconst y = \"a\" +\n\t`b\nfunc no()\n`\n\nconst after = 1\n", "x y after"},
		"in a group":                      {"go", "package a\n\nconst (\n\tx = `\ntype no struct\n`\n\tafter = 1\n)\n", "x after"},
		"a quote in a comment":            {"go", "package a\n\nfunc f() {\n\tx() // a `\n}\n\nfunc after() {\n}\n", "f after"},
	} {
		src, got := []byte(c.src), []string{}
		for _, u := range scan.Units(c.lang, src, nil) {
			got = append(got, u.Name.Of(src))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
	}
}
