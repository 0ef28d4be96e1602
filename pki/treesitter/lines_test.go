//go:build !cgo

package treesitter

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Most of what a parser finds is found by lines and braces, and hardly anything
// that it does not.
func TestNamesByLines(t *testing.T) {
	line := regexp.MustCompile(`(?m)^ *(\d+)-\d+ \S+ (.*?) \|`)
	found, all, extra := 0, 0, 0
	for _, file := range sources(t) {
		src := read(t, file)
		if withoutTree(Language(file, src)) {
			continue
		}
		names := func(outline string) (list []string) {
			for _, m := range line.FindAllStringSubmatch(outline, -1) {
				_, name := splitName(m[2])
				list = append(list, m[1]+" "+name)
			}
			return list
		}
		want := names(string(read(t, filepath.Join("testdata", "golden", filepath.Base(file)+".txt"))))
		all += len(want)
		symbols := extract(t, file, src)
		checkInvariants(t, src, symbols)
		for _, name := range names(outline(symbols)) {
			if i := slices.Index(want, name); i >= 0 {
				want = slices.Delete(want, i, i+1)
				found++
			} else {
				t.Logf("%s: %s is none", file, name)
				extra++
			}
		}
		t.Logf("%s: %d lost: %q", file, len(want), want)
	}
	t.Logf("%d found of %d, %d more", found, all, extra)
	if found < 160 || extra > 10 {
		t.Errorf("%d found and %d more", found, extra)
	}
}
