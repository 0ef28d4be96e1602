package match

import "testing"

// TestAlike: only what looks the same is found, with its place in the text to the byte.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		body, want string
		found      []string
	}{
		{"a “b” c", `"b"`, []string{"“b”"}},
		{"a\u00a0b", "a b", []string{"a\u00a0b"}},
		{"a b", "a\u00a0b", []string{"a b"}},
		{"x–y x—y", "x-y", []string{"x–y", "x—y"}},
		{"cafe\u0301s", "caf\u00e9", []string{"cafe\u0301"}},
		{"cafe\u0301s", "cafe", nil}, // it would cut the accent off
		{"wait…", "wait...", []string{"wait…"}},
		{"wait…", "wait..", nil},
		{"Tom &amp; me", "Tom & me", []string{"Tom &amp; me"}},
		{"Tom & me", "Tom &amp; me", []string{"Tom & me"}},
		{"a\u200bb", "ab", []string{"a\u200bb"}},
		{"“a”\r\nb", "\"a\"\nb", []string{"“a”\r\nb"}},
		{"а", "a", nil}, // Cyrillic
		{"ﬁ ½ Ａ", "fi 1/2 A", nil},
		{"\xff“", "\"", []string{"“"}},
		{"plain", "plain", nil}, // for the exact search
	} {
		var found []string
		for _, s := range New(c.body).Alike(c.want) {
			found = append(found, c.body[s.Start:s.End])
		}
		if len(found) != len(c.found) {
			t.Errorf("%q in %q: %q", c.want, c.body, found)
			continue
		}
		for i := range found {
			if found[i] != c.found[i] {
				t.Errorf("%q in %q: %q", c.want, c.body, found)
			}
		}
	}
	for _, c := range []struct{ region, old, new, want string }{
		{"“a” – b", `"a" - b`, `"a" - c`, "“a” – c"},
		{"“a” – b", `"a" - b`, `"a", b`, "“a”, b"},
		{"“a”", `"a"`, "", ""},
		{"“a”\r\n–", "\"a\"\n-", "\"a\"\nnew\n-", "“a”\r\nnew\n–"},
		{"wait… no", "wait... no", "wait... yes", "wait… yes"},
	} {
		if got, ok := Keep(c.region, c.old, c.new); !ok || got != c.want {
			t.Errorf("%q from %q to %q: %q, %v", c.region, c.old, c.new, got, ok)
		}
	}
	if got, ok := Keep("wait…", "wait...", "wait.!"); ok {
		t.Errorf("a piece is cut: %q", got)
	}
}

func FuzzKeep(f *testing.F) {
	f.Add("“a” – cafe\u0301…&amp;\r\n", "\"x\"")
	f.Fuzz(func(t *testing.T, region, with string) {
		old := fold(region).text
		if got, ok := Keep(region, old, old); ok && got != region {
			t.Errorf("%q becomes %q, though nothing changes", region, got)
		}
		Keep(region, old, with)
		for _, s := range New(region).Alike(with) {
			if s.Start < 0 || s.End < s.Start || s.End > len(region) {
				t.Errorf("%q in %q: %v", with, region, s)
			}
		}
	})
}
