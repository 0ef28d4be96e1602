package offered

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// Files that instructions name come along, each once and bounded; what lies outside of the
// project, may hold secrets or stands in code does not.
func TestImports(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"docs/a.md": "A, and @b.md. And @../CLAUDE.md", "docs/b.md": "B @a.md", ".env": "KEY=secret", "bin": "x\x00y",
		"big.md": strings.Repeat("word ", maxInstructions), "in.md": "IN",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for i := range 10 {
		files[fmt.Sprintf("n%d.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "N%d @n%d.md", i, i+1)}
	}
	for _, c := range []struct{ text, want string }{
		{"See @docs/a.md, it says all.", "\n\n[docs/a.md]\nA, and @b.md. And @../CLAUDE.md\n\n[docs/b.md]\nB @a.md"},
		{"Twice: @in.md (@in.md)", "\n\n[in.md]\nIN"},
		{"Not `@in.md`, nor me@in.md\n```\n@in.md\n```\n~~~\n@in.md\n~~~\n", ""},
		{"@.env @/etc/passwd @~/x.md @../out.md @docs/../../out.md @bin @missing.md @.git/config", ""},
		{"@n0.md", "\n\n[n0.md]\nN0 @n1.md\n\n[n1.md]\nN1 @n2.md\n\n[n2.md]\nN2 @n3.md\n\n[n3.md]\nN3 @n4.md"},
	} {
		if got := withImports(files, "CLAUDE.md", c.text); got != c.text+c.want {
			t.Errorf("%q comes with %q, not %q", c.text, strings.TrimPrefix(got, c.text), c.want)
		}
	}
	if got := withImports(files, "CLAUDE.md", "@big.md @in.md"); len(got) > maxInstructions+20 || !strings.HasSuffix(got, "\n(cut)") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-20:])
	}
	// Words that name no file leave room for those that do, up to a bound.
	people := func(n int) (words string) {
		for i := range n {
			words += fmt.Sprintf("@somebody%d ", i)
		}
		return words
	}
	if got := withImports(files, "CLAUDE.md", people(40)+"@in.md"); !strings.HasSuffix(got, "\n\n[in.md]\nIN") {
		t.Errorf("after 40 names: %q", got)
	}
	if got := withImports(files, "CLAUDE.md", people(maxImportWords+1)+"@in.md"); strings.Contains(got, "IN") {
		t.Error("after more words than are looked at, a file is read")
	}
	many := ""
	for i := range maxImports + 5 {
		files[fmt.Sprintf("m%d.md", i)] = &fstest.MapFile{Data: []byte("M")}
		many += fmt.Sprintf("@m%d.md ", i)
	}
	if got := strings.Count(withImports(files, "CLAUDE.md", many), "]\nM"); got != maxImports {
		t.Errorf("of many files %d are read", got)
	}
}
