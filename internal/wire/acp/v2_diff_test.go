package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestDiff2: changes with the parts that a patch shows of them.
func TestDiff2(t *testing.T) {
	const patch = "diff --git /p/a.txt /p/a.txt\n--- /p/a.txt\n+++ /p/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n@@ -9 +9,0 @@ func\n---- x\n" +
		"diff --git a/p/b.txt b/p/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/p/b.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n" +
		"diff --git a/p/gone b/p/gone\ndeleted file mode 100644\n--- a/p/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
		"diff --git \"a/p/\\303\\244 b\" \"b/p/\\303\\244 b\"\n--- \"a/p/\\303\\244 b\"\t\n+++ \"b/p/\\303\\244 b\"\t\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n"
	for _, test := range []struct {
		name, changes, patch string
		want                 []string // PATH FROM OLD NEW
	}{
		{"a change of two parts", `{"operation":"modify","path":"/p/a.txt"}`, patch, []string{`/p/a.txt  "one\ntwo\n" "ONE\ntwo\n"`, `/p/a.txt  "--- x\n" ""`}},
		{"a new file", `{"operation":"add","path":"/p/b.txt"}`, patch, []string{`/p/b.txt  nil "1\n2"`}},
		{"a file that goes", `{"operation":"delete","path":"/p/gone"}`, patch, []string{`/p/gone  "x\n" ""`}},
		{"a quoted name", `{"operation":"modify","path":"/p/ä b"}`, patch, []string{`/p/ä b  "x" "y\n"`}},
		{"a move", `{"operation":"move","oldPath":"/p/from","path":"/p/a.txt"}`, patch, []string{`/p/a.txt /p/from "one\ntwo\n" "ONE\ntwo\n"`, `/p/a.txt /p/from "--- x\n" ""`}},
		{"without a patch", `{"operation":"modify","path":"/p/a.txt"},{"operation":"copy","oldPath":"/x","path":"/y"}`, "", []string{`/p/a.txt  "" ""`, `/y /x "" ""`}},
		{"named twice", `{"operation":"add","path":"/p/b.txt"},{"operation":"add","path":"/p/b.txt"}`, patch, []string{`/p/b.txt  nil "1\n2"`, `/p/b.txt  nil ""`}},
		{"a patch of others", `{"operation":"modify","path":"/p/other"}`, patch, []string{`/p/other  "" ""`}},
		{"an operation that is not known", `{"operation":"_melt"},7`, patch, []string{`  "" ""`}},
		{"no patch at all", `{"operation":"add","path":"/p/b.txt"}`, "@@ -1 +1 @@\n+++ b/p/b.txt\n@@ -99999999999999999999 +1 @@\n@@ -1,-5 +1 @@\n+++ \"b/p/b.txt\n@@ -0,0 +1,9 @@\n+cut", []string{`/p/b.txt  nil ""`}},
		{"a patch that is cut", `{"operation":"add","path":"/p/b.txt"}`, "--- /dev/null\n+++ b/p/b.txt\n@@ -0,0 +1,9 @@\n+cut", []string{`/p/b.txt  nil "cut"`}},
	} {
		text, err := json.Marshal(test.patch)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range content2(json.RawMessage(fmt.Sprintf(`{"type":"diff","changes":[%s],"patch":{"format":"git_patch","text":%s}}`, test.changes, text))) {
			old := "nil"
			if c.OldText != nil {
				old = fmt.Sprintf("%q", *c.OldText)
			}
			got = append(got, fmt.Sprintf("%s %s %s %q", c.Path, c.From, old, c.NewText))
		}
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s is\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
	other := content2(json.RawMessage(`{"type":"diff","changes":[{"operation":"add","path":"/p/b.txt"}],"patch":{"format":"_svn","text":"--- /dev/null\n+++ b/p/b.txt\n@@ -0,0 +1 @@\n+x\n"}}`))
	if len(other) != 1 || other[0].NewText != "" {
		t.Errorf("a patch of another format shows %+v", other)
	}
}

// TestBigDiff2: changes and hunks that name the same file many times don't multiply.
func TestBigDiff2(t *testing.T) {
	const n = 20000
	changes := strings.TrimSuffix(strings.Repeat(`{"operation":"modify","path":"/f"},`, n), ",")
	patch, err := json.Marshal("--- /f\n+++ /f\n" + strings.Repeat("@@ -1 +1 @@\n-a\n+b\n", n) + "@@ -1,0 +1,1000000 @@\n" + strings.Repeat("+\n", 1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	got := content2(json.RawMessage(fmt.Sprintf(`{"type":"diff","changes":[%s],"patch":{"format":"git_patch","text":%s}}`, changes, patch)))
	if len(got) != n+1+n-1 {
		t.Errorf("%d parts of %d changes and hunks", len(got), n)
	}
}
