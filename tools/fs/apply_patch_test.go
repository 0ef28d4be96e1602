package fs

import (
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/patch"
)

// patched applies a patch to files and returns what becomes of them: the
// changed ones by name, "-" for a deleted one, and "old → " before the text of
// a moved one.
func patched(t testing.TB, files map[string]string, text string) (map[string]string, tools.Result, error) {
	t.Helper()
	res, changes, err := run(t, project(t, files), "apply_patch", encoded(t, map[string]string{"patch": text}))
	got := map[string]string{}
	for _, c := range changes {
		from := c.Path
		if c.From != "" {
			from = c.From
		}
		if before, ok := files[from]; ok != (c.Before != nil) || ok && before != string(c.Before) {
			t.Errorf("%s: Before is %q, want %q", c.Path, c.Before, before)
		}
		switch {
		case c.After == nil:
			got[c.Path] = "-"
		case c.From != "":
			got[c.Path] = c.From + " → " + string(c.After)
		default:
			got[c.Path] = string(c.After)
		}
	}
	return got, res, err
}

const ten = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"

func TestApplyPatch(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		patch string
		want  map[string]string
		text  []string // in the result
	}{
		{"git's form", map[string]string{"a.txt": ten},
			"diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@ head\n two\n-three\n+THREE\n four\n",
			map[string]string{"a.txt": strings.Replace(ten, "three", "THREE", 1)}, []string{"edited a.txt: line 2\n"}},
		{"no prefixes, a date", map[string]string{"a.txt": ten},
			"--- a.txt\t2024-01-01\n+++ a.txt\t2024-01-02\n@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n",
			map[string]string{"a.txt": strings.Replace(ten, "three", "THREE", 1)}, nil},
		{"a folder named a", map[string]string{"a/a.txt": ten, "b/a.txt": "x\n"},
			"--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n",
			map[string]string{"a/a.txt": strings.Replace(ten, "three", "THREE", 1)}, nil},
		{"wrong line number", map[string]string{"a.txt": ten},
			"--- a/a.txt\n+++ b/a.txt\n@@ -90,3 +90,3 @@\n two\n-three\n+THREE\n four\n",
			map[string]string{"a.txt": strings.Replace(ten, "three", "THREE", 1)}, []string{"-88 from the patch"}},
		{"wrong counts", map[string]string{"a.txt": ten},
			"--- a/a.txt\n+++ b/a.txt\n@@ -2,9 +2,1 @@\n two\n-three\n+THREE\n four\n\n",
			map[string]string{"a.txt": strings.Replace(ten, "three", "THREE", 1)}, []string{"counts"}},
		{"no numbers at all", map[string]string{"a.txt": ten},
			"--- a/a.txt\n+++ b/a.txt\n@@ @@\n two\n-three\n+THREE\n four\n",
			map[string]string{"a.txt": strings.Replace(ten, "three", "THREE", 1)}, nil},
		{"a fence", map[string]string{"a.txt": ten},
			"```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n```\n",
			map[string]string{"a.txt": strings.Replace(ten, "three", "THREE", 1)}, []string{"fence"}},
		{"two hunks", map[string]string{"a.txt": ten},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n+1.5\n two\n@@ -9,2 +10,1 @@\n-nine\n ten\n",
			map[string]string{"a.txt": "one\n1.5\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nten\n"}, nil},
		{"lines that look like headers", map[string]string{"a.sql": "x\n-- old\n++ y\nz\n"},
			"--- a/a.sql\n+++ b/a.sql\n@@ -1,4 +1,3 @@\n x\n--- old\n-++ y\n+++ new\n z\n",
			map[string]string{"a.sql": "x\n++ new\nz\n"}, nil},
		{"CRLF stays", map[string]string{"a.txt": "one\r\ntwo\r\nthree\r\n"},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n",
			map[string]string{"a.txt": "one\r\n2\r\n2.5\r\nthree\r\n"}, nil},
		{"byte order mark stays", map[string]string{"a.txt": "\xef\xbb\xbfone\ntwo\n"},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n",
			map[string]string{"a.txt": "\xef\xbb\xbf1\ntwo\n"}, nil},
		{"no final newline, marked", map[string]string{"a.txt": "one\ntwo"},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n",
			map[string]string{"a.txt": "one\n2\n"}, nil},
		{"no final newline, not marked", map[string]string{"a.txt": "one\ntwo"},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n two\n+three\n",
			map[string]string{"a.txt": "one\ntwo\nthree"}, nil},
		{"new file", nil, "--- /dev/null\n+++ b/d/n.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n", map[string]string{"d/n.txt": "x\ny\n"}, []string{"created d/n.txt"}},
		{"new empty file", nil, "diff --git a/n b/n\nnew file mode 100644\nindex 0..e\n", map[string]string{"n": ""}, nil},
		{"deleted file", map[string]string{"a.txt": "x\ny\n"}, "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n", map[string]string{"a.txt": "-"}, []string{"deleted a.txt"}},
		{"rename", map[string]string{"a.txt": "x\n"}, "diff --git a/a.txt b/b.txt\nsimilarity index 100%\nrename from a.txt\nrename to b.txt\n", map[string]string{"b.txt": "a.txt → x\n"}, []string{"moved a.txt to b.txt"}},
		{"rename with a change", map[string]string{"a.txt": ten}, "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n--- a/a.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n",
			map[string]string{"b.txt": "a.txt → " + strings.Replace(ten, "one", "1", 1)}, nil},
		{"one file twice", map[string]string{"a.txt": ten},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n 1\n-two\n+2\n",
			map[string]string{"a.txt": strings.Replace(ten, "one\ntwo", "1\n2", 1)}, nil},
		{"a quoted name", map[string]string{"é.txt": "x\n"}, "--- \"a/\\303\\251.txt\"\n+++ \"b/\\303\\251.txt\"\n@@ -1 +1 @@\n-x\n+y\n", map[string]string{"é.txt": "y\n"}, nil},
		{"begin patch", map[string]string{"a.txt": ten, "old.txt": "x\n", "gone.txt": "x\n"},
			"*** Begin Patch\n*** Add File: new.txt\n+n\n*** Update File: a.txt\n@@\n two\n-three\n+THREE\n four\n@@\n nine\n-ten\n+TEN\n*** End of File\n*** Update File: old.txt\n*** Move to: moved.txt\n@@\n-x\n+y\n*** Delete File: gone.txt\n*** End Patch\n",
			map[string]string{"new.txt": "n\n", "a.txt": "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\nnine\nTEN\n", "moved.txt": "old.txt → y\n", "gone.txt": "-"}, nil},
		{"an anchor", map[string]string{"a.py": "class A:\n    def f():\n        pass\n\nclass B:\n    def f():\n        pass\n"},
			"*** Begin Patch\n*** Update File: a.py\n@@ class B:\n     def f():\n-        pass\n+        return 1\n*** End Patch\n",
			map[string]string{"a.py": "class A:\n    def f():\n        pass\n\nclass B:\n    def f():\n        return 1\n"}, nil},
		{"appending", map[string]string{"a.txt": "x\n"}, "*** Begin Patch\n*** Update File: a.txt\n@@\n+y\n*** End Patch\n", map[string]string{"a.txt": "x\ny\n"}, nil},
		{"spaces for tabs", map[string]string{"a.go": goFile}, "--- a/a.go\n+++ b/a.go\n@@ -8,3 +8,4 @@\n func b() int {\n     x := 2\n+    x++\n     return x\n",
			map[string]string{"a.go": strings.Replace(goFile, "x := 2\n", "x := 2\n\tx++\n", 1)}, []string{"but for indentation"}},
		{"the expected one of two equal places", map[string]string{"a.txt": "x\ny\nx\ny\n"}, "--- a/a.txt\n+++ b/a.txt\n@@ -3,2 +3,2 @@\n-x\n+z\n y\n", map[string]string{"a.txt": "x\ny\nz\ny\n"}, nil},
		{"shared context", map[string]string{"a.txt": ten}, "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-one\n+1\n two\n three\n@@ -2,3 +2,3 @@\n two\n three\n-four\n+4\n",
			map[string]string{"a.txt": "1\ntwo\nthree\n4\nfive\nsix\nseven\neight\nnine\nten\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, res, err := patched(t, c.files, c.patch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, p := range c.text {
				if !strings.Contains(res.Text, p) {
					t.Errorf("%q is not in %q", p, res.Text)
				}
			}
		})
	}
}

func TestApplyPatchRefusals(t *testing.T) {
	good := "--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		patch string
		code  tools.Code
		parts []string
	}{
		{"no patch", nil, "hello\n", tools.InvalidArguments, []string{"*** Begin Patch"}},
		{"nothing changes", map[string]string{"a.txt": ten}, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n two\n", tools.InvalidArguments, []string{"changes nothing"}},
		{"no such file", nil, good, tools.NotFound, []string{"a.txt"}},
		{"a removed line that is not there", map[string]string{"a.txt": ten}, strings.Replace(good, "-three", "-3", 1), tools.NoMatch, []string{"hunk 1", "line"}},
		{"a removed line with a slip", map[string]string{"a.txt": "alpha alpha\nbravo bravo\ncharlie charlie\ndelta delta\necho echo\n"},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,5 @@\n alpha alpha\n bravo bravo\n-charlie chralie\n+c\n delta delta\n echo echo\n", tools.NoMatch, []string{"remove"}},
		{"two places, a wrong number", map[string]string{"a.txt": "x\ny\nx\ny\n"}, "--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,2 @@\n-x\n+z\n y\n", tools.AmbiguousMatch, []string{"1, 3"}},
		{"an insertion without context", map[string]string{"a.txt": ten}, "--- a/a.txt\n+++ b/a.txt\n@@ -2,0 +3 @@\n+x\n", tools.NoMatch, []string{"context"}},
		{"a new file that exists", map[string]string{"a.txt": "x\n"}, "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n", tools.AlreadyExists, []string{"a.txt"}},
		{"an added file that exists", map[string]string{"a.txt": "x\n"}, "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n", tools.AlreadyExists, nil},
		{"deleting another text", map[string]string{"a.txt": "x\nz\n"}, "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n", tools.NoMatch, []string{"not deleted"}},
		{"moving onto a file", map[string]string{"a.txt": "x\n", "b.txt": "y\n"}, "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-x\n+y\n*** End Patch\n", tools.AlreadyExists, []string{"b.txt"}},
		{"one of two files", map[string]string{"a.txt": ten, "b.txt": "x\n"}, good + "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-y\n+z\n", tools.NoMatch, []string{"b.txt, hunk 1", "nothing changed"}},
		{"two bad hunks are both told", map[string]string{"a.txt": ten}, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-uno\n+1\n@@ -3 +3 @@\n-tres\n+3\n", tools.NoMatch, []string{"hunk 1", "hunk 2"}},
		{"overlapping hunks", map[string]string{"a.txt": ten}, "--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,2 @@\n-two\n-three\n+2\n+3\n@@ -3,2 +3,2 @@\n-three\n-four\n+x\n+y\n", tools.NoMatch, []string{"overlap"}},
		{"out of the workspace", nil, "--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", tools.OutsideWorkspace, nil},
		{"a hidden secret", map[string]string{"a.txt": ten}, strings.Replace(good, "+THREE", "+[REDACTED:key]", 1), tools.InvalidArguments, []string{"secret"}},
		{"a binary file", map[string]string{"a.txt": "\x00\x01"}, good, tools.BinaryFile, nil},
		{"an unknown anchor", map[string]string{"a.txt": "x\ny\nx\ny\n"}, "*** Begin Patch\n*** Update File: a.txt\n@@ class C\n-x\n+z\n*** End Patch\n", tools.NoMatch, []string{"class C"}},
		{"a new link", nil, "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a.txt\n", tools.InvalidArguments, []string{"links", "ln -s"}},
		{"a mode only", map[string]string{"a.txt": "x\n"}, "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n", tools.InvalidArguments, []string{"modes"}},
		{"a line without a mark", map[string]string{"a.txt": ten}, "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\ntwo\n*** End Patch\n", tools.InvalidArguments, []string{"line 6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := patched(t, c.files, c.patch)
			wantError(t, err, c.code, c.parts...)
			if len(got) > 0 {
				t.Errorf("changes in spite of the error: %v", got)
			}
		})
	}
}

// FuzzApplyPatch: parsing never panics, and a patch made from two texts turns
// the one into the other.
func FuzzApplyPatch(f *testing.F) {
	f.Add(ten, strings.Replace(ten, "five\n", "V\nV.5\n", 1), "")
	f.Add("a\nb", "a\nb\n", "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End of File")
	f.Add("a\na\na\na\na\na\na\n", "a\na\na\nb\na\na\na\n", "```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-\n+\n\\ No newline")
	f.Add("", "x", "diff --git a/x b/x\nnew file mode 100755")
	f.Fuzz(func(t *testing.T, old, new, raw string) {
		if files, _, err := patch.Parse(raw); err == nil {
			for _, file := range files {
				if file.Kind == patch.Update {
					_, _, _ = patchFile(t.Context(), "f", []byte(old), file.Hunks)
				}
			}
		}
		if old == new || old == "" || new == "" || strings.ContainsAny(old+new, "\r\x00") || strings.Contains(new, "[REDACTED:") {
			return
		}
		if text, err := decode("f", []byte(old)); err != nil || text.Encoding != "utf-8" || !validUTF8(new) {
			return
		}
		text := diff.Unified("a/f", "b/f", old, new, 3)
		files, notes, err := patch.Parse(text)
		if err != nil || len(files) != 1 || len(notes) > 0 {
			t.Fatalf("%v, %v: %q", err, notes, text)
		}
		got, _, err := patchFile(t.Context(), "f", []byte(old), files[0].Hunks)
		if err != nil {
			t.Fatalf("%v\n%q", err, text)
		}
		if string(got) != new {
			t.Fatalf("got %q, want %q, by\n%s", got, new, text)
		}
	})
}

func validUTF8(s string) bool { return strings.ToValidUTF8(s, "") == s }

// TestPatchTiersAreNamed keeps the words for tiers complete.
func TestPatchTiersAreNamed(t *testing.T) {
	var missing []string
	for _, tier := range []match.Tier{match.Exact, match.LineEnds, match.Trailing, match.Indented, match.Similar} {
		if words[tier] == "" {
			missing = append(missing, string(tier))
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("no words for %v", missing)
	}
}
