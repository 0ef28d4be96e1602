package workspace

import (
	"strings"
	"testing"
)

// secretNames are names of every kind that sensitive knows.
func secretNames() []string {
	var names []string
	for _, list := range []map[string]bool{secretFiles, secretIn, secretDirs} {
		for name := range list {
			names = append(names, name, name+"/x")
		}
	}
	for _, p := range secretPatterns {
		for _, fill := range []string{"", "x", "x-y.z"} {
			names = append(names, strings.NewReplacer("*", fill, "?", "-").Replace(p))
		}
	}
	for stem := range secretShort {
		names = append(names, strings.Replace(stem, "*", "1a2b", 1)+"~1", strings.Replace(stem, "*", "1a2b", 1)+"~1.jso")
	}
	return names
}

func TestSuspects(t *testing.T) {
	known := 0
	for _, name := range secretNames() {
		for _, in := range []string{"", "a/", "a.b/C/"} {
			for _, written := range []string{in + name, strings.ToUpper(in + name), in + name + ".", in + name + " ", in + "\u200b" + name,
				in + name + "::$DATA", strings.Replace(in+name, "k", "\u212a", 1), strings.Replace(in+name, "s", "ſ", 1)} {
				if sensitive(written) {
					known++
					if !suspect.has(written) {
						t.Errorf("%q is sensitive and not suspect", written)
					}
				}
			}
		}
	}
	if known < 1000 {
		t.Errorf("%d names are sensitive; the test has lost its sense", known)
	}
	for _, name := range []string{"main.go", "src/compiler/checker.ts", "drivers/net/Makefile", "README.md", "a/b_c-d/io.c", "credits.txt", "x.py"} {
		if suspect.has(name) {
			t.Errorf("%q is suspect: the long way is taken for nothing", name)
		}
	}
}

func FuzzSuspects(f *testing.F) {
	for _, name := range secretNames() {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if sensitive(name) && !suspect.has(name) {
			t.Errorf("%q is sensitive and not suspect", name)
		}
	})
}
