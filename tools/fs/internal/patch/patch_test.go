package patch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
)

// shape is a file of a patch in one line: kind, names, and per hunk its line
// and marks.
func shape(f File) string {
	var b strings.Builder
	b.WriteString(string(f.Kind) + " " + f.Old + ">" + f.New)
	for _, h := range f.Hunks {
		b.WriteString(" [")
		for _, a := range h.Anchors {
			b.WriteString(a + "|")
		}
		for _, o := range h.Ops {
			b.WriteByte(o.Kind)
		}
		switch h.Final {
		case match.WithFinal:
			b.WriteString("$")
		case match.WithoutFinal:
			b.WriteString("!")
		}
		if h.End {
			b.WriteString(" end")
		}
		b.WriteString("]")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		want        []string
		notes       int
	}{
		{"git", "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", []string{"update x>x [ -+]"}, 0},
		{"a mail around it", "From: someone\n---\n x | 2 +-\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n-- \n2.39\n", []string{"update x>x [-+]"}, 0},
		{"names with spaces", "diff --git a/x y b/x y\nnew file mode 100644\n", []string{"add >x y"}, 0},
		{"mode change only", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", []string{"update x>x"}, 0},
		{"rename", "diff --git a/x b/y\nrename from x\nrename to y\n", []string{"update x>y"}, 0},
		{"marks for the end", "--- x\n+++ x\n@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n", []string{"update x>x [-+!]"}, 0},
		{"two files, wrong counts", "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-b\n+c\n--- a/y\n+++ b/y\n@@ -1,9 +1,9 @@\n-b\n+c\n", []string{"update x>x [-+]", "update y>y [-+]"}, 1},
		{"a context line without its space", "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\na\n-b\n+c\nd\n", []string{"update x>x [ -+ ]"}, 1},
		{"CRLF", "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-b\r\n+c\r\n", []string{"update x>x [-+]"}, 0},
		{"envelope", "*** Begin Patch\n*** Update File: x\n@@ class A\n@@ def f\n a\n-b\n+c\n*** End of File\n*** Add File: y\n+1\n\n*** Delete File: z\n*** End Patch\n", []string{"update x>x [class A|def f| -+ end]", "add >y [+$]", "delete z>"}, 0},
		{"envelope without its first line", "*** Delete File: z\n", []string{"delete z>"}, 1},
		{"a fence without its end", "```\n*** Begin Patch\n*** Delete File: z\n*** End Patch\n", []string{"delete z>"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, notes, err := Parse(c.patch)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, shape(f))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(notes) != c.notes {
				t.Errorf("notes %q, want %d", notes, c.notes)
			}
		})
	}
}

func TestParseRefusals(t *testing.T) {
	for _, c := range []struct{ name, patch, part string }{
		{"nothing", "", "no file header"},
		{"a hunk alone", "@@ -1 +1 @@\n-a\n+b\n", "line 1"},
		{"copies", "diff --git a/x b/y\ncopy from x\ncopy to y\n", "copies"},
		{"binary", "diff --git a/x b/x\nGIT binary patch\n", "binary"},
		{"a new file with context", "--- /dev/null\n+++ b/x\n@@ -1,1 +1,2 @@\n a\n+b\n", "added lines only"},
		{"an update without changes", "*** Begin Patch\n*** Update File: x\n*** End Patch\n", "nothing is changed"},
		{"an added file without marks", "*** Begin Patch\n*** Add File: x\nhello\n*** End Patch\n", "begins with +"},
		{"an empty envelope", "*** Begin Patch\n*** End Patch\n", "no file"},
		{"words in an envelope", "*** Begin Patch\nhello\n*** End Patch\n", "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := Parse(c.patch); err == nil || !strings.Contains(err.Error(), c.part) {
				t.Errorf("error %v, want one about %q", err, c.part)
			}
		})
	}
}
