package diff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

func TestSplitLines(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"a", []string{"a"}},
		{"a\n", []string{"a\n"}},
		{"a\nb", []string{"a\n", "b"}},
		{"a\r\nb\r\n", []string{"a\r\n", "b\r\n"}},
		{"a\rb\r", []string{"a\r", "b\r"}},
		{"a\r\r\nb\n\rc", []string{"a\r", "\r\n", "b\n", "\r", "c"}},
		{"a\u2028b\u0085c\fd", []string{"a\u2028b\u0085c\fd"}},
		{"\xff\r\xfe", []string{"\xff\r", "\xfe"}},
	} {
		if d := cmp.Diff(c.want, diff.SplitLines(c.in)); d != "" {
			t.Errorf("SplitLines(%q) (-want +got):\n%s", c.in, d)
		}
	}
}

func TestHunks(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new string
		want     []diff.Hunk
	}{
		{name: "equal", old: "a\n", new: "a\n"},
		{"from nothing", "", "a\n", []diff.Hunk{{0, 0, 0, 1, nil, []string{"a\n"}}}},
		{"to nothing", "a\n", "", []diff.Hunk{{0, 1, 0, 0, []string{"a\n"}, nil}}},
		{"insertion", "a\nc\n", "a\nb\nc\n", []diff.Hunk{{1, 0, 1, 1, nil, []string{"b\n"}}}},
		{"two places", "a\nb\nc\nd\n", "A\nb\nc\nD\n", []diff.Hunk{
			{0, 1, 0, 1, []string{"a\n"}, []string{"A\n"}},
			{3, 1, 3, 1, []string{"d\n"}, []string{"D\n"}},
		}},
		{"among equal lines", "a\nx\nx\nb\n", "a\nx\nx\nx\nb\nc\n", []diff.Hunk{
			{3, 0, 3, 1, nil, []string{"x\n"}},
			{4, 0, 5, 1, nil, []string{"c\n"}},
		}},
		{"a block among equal lines", "f {\n}\n\ng {\n}\n.\n", "f {\n}\n\nh {\n}\n\ng {\n}\n!\n", []diff.Hunk{
			{3, 0, 3, 3, nil, []string{"h {\n", "}\n", "\n"}},
			{5, 1, 8, 1, []string{".\n"}, []string{"!\n"}},
		}},
		{"a deletion among equal lines", "0\nx\nx\nb\nb\n1\n", "0\nx\nb\n2\n", []diff.Hunk{
			{2, 1, 2, 0, []string{"x\n"}, nil},
			{4, 2, 3, 1, []string{"b\n", "1\n"}, []string{"2\n"}},
		}},
		{"last line end", "a\nb", "a\nb\n", []diff.Hunk{{1, 1, 1, 1, []string{"b"}, []string{"b\n"}}}},
		{"CR only", "a\rb\rc", "a\rB\rc", []diff.Hunk{{1, 1, 1, 1, []string{"b\r"}, []string{"B\r"}}}},
		{"CRLF to LF", "a\r\n", "a\n", []diff.Hunk{{0, 1, 0, 1, []string{"a\r\n"}, []string{"a\n"}}}},
		{"bytes that are not UTF-8", "\xff\n\xfe\n", "\xff\n\xfd\n", []diff.Hunk{{1, 1, 1, 1, []string{"\xfe\n"}, []string{"\xfd\n"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := diff.Hunks(c.old, c.new)
			for i := range got { // an empty slice of a side says no more than nil
				if len(got[i].Old) == 0 {
					got[i].Old = nil
				}
				if len(got[i].New) == 0 {
					got[i].New = nil
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestManyLines has more distinct lines than there are runes below the
// surrogates, and than there are runes at all.
func TestManyLines(t *testing.T) {
	for _, n := range []int{60_000, 1_200_000} {
		var old, new strings.Builder
		for i := range n {
			fmt.Fprintln(&old, i)
			if i == 1 || i == n-2 {
				fmt.Fprintln(&new, "changed", i)
				continue
			}
			fmt.Fprintln(&new, i)
		}
		hunks := diff.Hunks(old.String(), new.String())
		if got := apply(old.String(), hunks); got != new.String() {
			t.Fatalf("%d lines: the hunks do not give the new text", n)
		}
		if n == 60_000 && len(hunks) != 2 {
			t.Errorf("%d lines: %d hunks, want 2", n, len(hunks))
		}
	}
}

// TestGitApply asks git, on texts that are hard to get right.
func TestGitApply(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		needs.Skip(t, needs.Git, "git is not installed")
	}
	texts := []string{"a\n", "a", "a\nb\n", "a\r\nb\r\n", "a\rb\rc\r", "\xff\xfe\n", "\n\n", "a\n\\ No newline\n", "-- x\n++ y\n"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		texts = append(texts, randomText(rng))
	}
	names := []string{"f", "with space", "quo\"te", "back\\slash", "tab\there", "ünï"}
	n := 0
	for i, old := range texts {
		new := texts[(i*7+3)%len(texts)]
		if old == new {
			continue
		}
		name := names[i%len(names)]
		gitApply(t, name, old, diff.Unified("a/"+name, "b/"+name, old, new, i%4), new)
		gitApply(t, name, old, diff.Patch(name, name, old, new), new)
		n++
	}
	t.Logf("%d tried, %d held", n, n)
}

func gitApply(t *testing.T, name, old, patch, want string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, name)
	if err := ownfile.WriteFile(file, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, patch)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("patch:\n%q\ngave %q, want %q", patch, got, want)
	}
}

func git(t *testing.T, dir, patch string) {
	t.Helper()
	cmd := exec.Command("git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	cmd.Stdin = strings.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\npatch:\n%s", err, out, patch)
	}
}

func TestPatchKinds(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		needs.Skip(t, needs.Git, "git is not installed")
	}
	dir := t.TempDir()
	if err := ownfile.WriteFile(filepath.Join(dir, "old"), []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, diff.Patch("", "made", "", "x")+
		diff.Patch("", "empty", "", "")+
		diff.Patch("old", "new name", "a\nb\nc\n", "a\nB\nc\n"))
	for name, want := range map[string]string{"made": "x", "empty": "", "new name": "a\nB\nc\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	git(t, dir, diff.Patch("made", "", "x", "")+diff.Patch("empty", "", "", ""))
	for _, name := range []string{"made", "empty", "old"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if got, want := diff.Patch("b", "b", "\x00", "\x01"), "diff --git a/b b/b\nBinary files a/b and b/b differ\n"; got != want {
		t.Errorf("binary: %q, want %q", got, want)
	}
	if got := diff.Patch("same", "same", "x", "x"); got != "" {
		t.Errorf("no change: %q", got)
	}
}

func TestUnified(t *testing.T) {
	got := diff.Unified("a/f", "b/f", "1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\nthree\n4\n5\n6\n7\n8\nnine\n", 1)
	want := `--- a/f
+++ b/f
@@ -2,3 +2,3 @@
 2
-3
+three
 4
@@ -8,2 +8,2 @@
 8
-9
\ No newline at end of file
+nine
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := diff.Unified("a", "b", "same", "same", 3); got != "" {
		t.Errorf("equal texts: %q", got)
	}
}

// apply is what a hunk means, written as plainly as can be.
func apply(old string, hunks []diff.Hunk) string {
	lines, at := diff.SplitLines(old), 0
	var b strings.Builder
	for _, h := range hunks {
		b.WriteString(strings.Join(lines[at:h.OldStart], ""))
		b.WriteString(strings.Join(h.New, ""))
		at = h.OldStart + h.OldLines
	}
	return b.String() + strings.Join(lines[at:], "")
}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(40) {
		b.WriteString([]string{"", "a", "b", "}", "\tx", "\xff"}[rng.IntN(6)])
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\r"}[rng.IntN(5)])
	}
	if rng.IntN(2) == 0 {
		b.WriteString("end")
	}
	return b.String()
}

func FuzzHunks(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n")
	f.Add("a\rb\r\nc", "\xff\ra\n")
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(randomText(rng), randomText(rng))
	}
	f.Fuzz(func(t *testing.T, old, new string) {
		hunks := diff.Hunks(old, new)
		if got := apply(old, hunks); got != new {
			t.Fatalf("%q with the hunks of %q gives %q", old, new, got)
		}
		oldLines, newLines := diff.SplitLines(old), diff.SplitLines(new)
		if strings.Join(oldLines, "") != old || strings.Join(newLines, "") != new {
			t.Fatal("the lines are not the text")
		}
		last := -1
		for _, h := range hunks {
			if h.OldStart <= last || h.OldLines != len(h.Old) || h.NewLines != len(h.New) {
				t.Fatalf("hunk out of order or with wrong counts: %+v", h)
			}
			last = h.OldStart + h.OldLines
			if !slices.Equal(oldLines[h.OldStart:last], h.Old) || !slices.Equal(newLines[h.NewStart:h.NewStart+h.NewLines], h.New) {
				t.Fatalf("hunk's lines are not those of the texts: %+v", h)
			}
		}
	})
}

func BenchmarkHunks(b *testing.B) {
	var lines []string
	for i := range 10_000 {
		lines = append(lines, fmt.Sprintf("line %d of a file that is long enough\n", i))
	}
	old := strings.Join(lines, "")
	one := strings.Replace(old, "line 5000 ", "line five thousand ", 1)
	many := strings.ReplaceAll(old, "7 of", "seven of")
	all := strings.ReplaceAll(old, "line", "row")
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	for _, c := range []struct{ name, new string }{
		{"one line", one}, {"every tenth line", many}, {"every line", all}, {"shuffled", strings.Join(lines, "")},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				diff.Hunks(old, c.new)
			}
		})
	}
}

// Hunks leaves out what both texts begin and end with; it finds what comparing
// all lines finds.
func TestHunksOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	text := func(n int) []string {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = []string{"a", "b", "long line of text", ""}[r.IntN(4)] + []string{"\n", "\n", "\n", "\r\n", "\r"}[r.IntN(5)]
		}
		return lines
	}
	replaced, slid := 0, 0
	for range 1500 {
		old := text(r.IntN(30))
		new := slices.Clone(old)
		for range 1 + r.IntN(2) {
			at := r.IntN(len(new) + 1)
			new = slices.Replace(new, at, min(len(new), at+r.IntN(3)), text(r.IntN(3))...)
		}
		a, b := strings.Join(old, ""), strings.Join(new, "")
		if r.IntN(4) == 0 {
			b = strings.TrimRight(b, "\r\n")
		}
		got, want := diff.Hunks(a, b), diff.Lines(diff.SplitLines(a), diff.SplitLines(b))
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%q\n%q (-all +got):\n%s", a, b, d)
		}
		before := strings.Repeat("x\n", r.IntN(6))
		ended := strings.HasSuffix("\n"+a, "\n") && strings.HasSuffix("\n"+b, "\n") // else see TestGitApply
		for context := 0; context < 4 && ended; context++ {
			u := diff.Unified("a", "b", before+a, before+b, context)
			if out := applied(t, before+a, u, context); out != before+b {
				t.Fatalf("%q\n%q: applied with %d lines around:\n%s\n%q", a, b, context, u, out)
			}
		}
		for _, h := range got {
			if h.OldLines == 0 || h.NewLines == 0 {
				slid++
			} else {
				replaced++
			}
		}
	}
	if replaced < 100 || slid < 100 {
		t.Errorf("%d replaced, %d slid: the test shows nothing", replaced, slid)
	}
}

// applied applies a unified diff whose hunks must fit exactly, with as many
// lines around the changes as there are, but at most context.
func applied(t *testing.T, old, unified string, context int) string {
	t.Helper()
	lines := strings.SplitAfter(old, "\n")
	var out strings.Builder
	at := 0
	for _, h := range strings.Split("\n"+unified, "\n@@ ")[1:] {
		header, body, _ := strings.Cut(h, "\n")
		start, n := 0, 1
		if _, err := fmt.Sscanf(header, "-%d,%d", &start, &n); err != nil {
			n = 1
			if _, err := fmt.Sscanf(header, "-%d", &start); err != nil {
				t.Fatal(header)
			}
		}
		if n > 0 {
			start--
		}
		out.WriteString(strings.Join(lines[at:start], ""))
		at = start
		around := 0
		for _, l := range strings.SplitAfter(body, "\n") {
			if l == "" {
				continue
			}
			if !strings.HasSuffix(l, "\n") {
				l += "\n" // cut off with the next header
			}
			if l[0] == ' ' || l[0] == '-' {
				if lines[at] != l[1:] {
					t.Fatalf("line %d is %q, not %q:\n%s", at, lines[at], l[1:], unified)
				}
			}
			switch l[0] {
			case ' ':
				out.WriteString(lines[at])
				around++
				at++
			case '-':
				at++
			case '+':
				out.WriteString(l[1:])
			}
		}
		if first := around > 0 && !strings.HasPrefix(body, " "); first && context > 0 && start > 0 {
			t.Fatalf("nothing before the change, with %d lines:\n%s", context, unified)
		}
	}
	out.WriteString(strings.Join(lines[at:], ""))
	return out.String()
}
