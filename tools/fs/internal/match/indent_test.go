package match

import (
	"strings"
	"testing"
)

func TestReindent(t *testing.T) {
	for _, c := range []struct{ name, file, block, line, want string }{
		{"a known one", "\ta\n\t\tb", "    a\n        b", "        x", "\t\tx"},
		{"one deeper", "\ta\n\t\tb", "    a\n        b", "            x", "\t\t\tx"},
		{"one less", "\t\ta\n\t\tb", "        a\n        b", "    x", "\tx"},
		{"two spaces for a tab", "\ta\n\t\tb", "  a\n    b", "      x", "\t\t\tx"},
		{"shifted and other units", "\t\ta\n\t\t\tb", "a\n    b", "        x", "\t\t\t\tx"},
		{"indentation left out", "    a\n    b", "a\nb", "  x", "      x"},
		{"too much of it", "a\nb", "    a\n    b", "      x", "  x"},
		{"a blank line", "\ta\n\tb", "    a\n    b", "  ", "  "},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := indentation(Split(c.file), strings.Split(c.block, "\n"), false)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := in.line(c.line); err != nil || got != c.want {
				t.Errorf("got %q (%v), want %q", got, err, c.want)
			}
		})
	}
	if _, err := indentation(Split("\ta\n\t\tb"), []string{"  a", "  b"}, false); err == nil {
		t.Error("uneven indentation was taken")
	}
}

func TestDistance(t *testing.T) {
	long := strings.Repeat("abcdefg ", 20)
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"ab", "ba", 2},
		{long, long + "x", 1}, {long, strings.ReplaceAll(long, "d", "D"), 20}, {long, "", 160},
		{"x" + long + "y", "z" + long + "w", 2},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%.20q, %.20q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("distance(%.20q, %.20q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

// FuzzDistance compares the bit vectors with the table from the textbook.
func FuzzDistance(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add(strings.Repeat("ab", 70), strings.Repeat("ba", 65))
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 300 || len(b) > 300 {
			return
		}
		row := make([]int, len(b)+1)
		for j := range row {
			row[j] = j
		}
		for i := range len(a) {
			diagonal := row[0]
			row[0] = i + 1
			for j := range len(b) {
				cost := diagonal
				if a[i] != b[j] {
					cost++
				}
				diagonal = row[j+1]
				row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			}
		}
		if got := distance(a, b); got != row[len(b)] {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, row[len(b)])
		}
	})
}
