package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuardsAreThere: what the scoreboard switches off stands in the code, and each test that
// is to notice it is one of its package. A guard that was moved, or a test that got another
// name, would else be found only by running it.
func TestGuardsAreThere(t *testing.T) {
	tests := map[string]string{} // the text of a package's tests
	for _, g := range guardList {
		text, err := os.ReadFile(filepath.Join("../..", g.file))
		if err != nil {
			t.Errorf("%q: %v; name the file that it moved to", g.on, err)
			continue
		}
		if !strings.Contains(string(text), g.on) {
			t.Errorf("%s has no %q", g.file, g.on)
		}
		if tests[g.pkg] == "" {
			tests[g.pkg] = testsIn(t, g.pkg)
		}
		for name := range strings.SplitSeq(g.test, "|") {
			if name = strings.Trim(name, "()"); !strings.Contains(tests[g.pkg], "\nfunc "+name+"(") && !strings.ContainsAny(name, ".*[") {
				t.Errorf("%s has no %s", g.pkg, name)
			}
		}
	}
}

func testsIn(t *testing.T, pkg string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
