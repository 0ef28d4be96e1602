package redact

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// forbidden is what no sanitised text may have, said independently of the
// code under test.
func forbidden(s string) bool {
	last := rune(0)
	for _, r := range s {
		vs := 0xfe00 <= r && r <= 0xfe0f || 0xe0100 <= r && r <= 0xe01ef
		switch {
		case r < 0x20 && r != '\n' && r != '\t', 0x7f <= r && r <= 0x9f,
			0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c,
			0xe0000 <= r && r <= 0xe007f, r == 0x200b, r == 0x2060, r == 0xfeff,
			vs && (0xfe00 <= last && last <= 0xfe0f || 0xe0100 <= last && last <= 0xe01ef):
			return true
		}
		last = r
	}
	return !utf8.ValidString(s)
}

func TestSanitize(t *testing.T) {
	type output struct {
		ID    string
		Input json.RawMessage
		Keep  []string `json:"must_keep"`
	}
	cases := load[output](t, "output-sanitize.json")
	clean, controls := 0, 0
	for _, c := range cases {
		var text string
		if err := json.Unmarshal(c.Input, &text); err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		if forbidden(text) {
			controls++
		}
		got := Sanitize(text)
		if !forbidden(got) {
			clean++
		}
		if forbidden(got) || strings.Contains(got, "evil") || strings.Contains(got, "[") {
			t.Errorf("%s: %q became %q", c.ID, text, got)
		}
		for _, keep := range c.Keep {
			if !strings.Contains(got, keep) {
				t.Errorf("%s: %q became %q, without %q", c.ID, text, got, keep)
			}
		}
	}
	t.Logf("%d of %d clean, %d controls", clean, len(cases), controls)
}

func TestSanitizeAndVisible(t *testing.T) {
	for _, c := range []struct{ name, in, clean, visible string }{
		{"plain", "a\tb\nc ü 漢", "a\tb\nc ü 漢", "a\tb\nc ü 漢"},
		{"lines of Windows", "a\r\nb", "a\nb", "a<U+000D>\nb"},
		{"a cover", "real\rfake", "real\nfake", "real<U+000D>fake"},
		{"a sequence made of two", "\x1b[3\x1b[0m1mx", "1mx", "<U+001B>[3<U+001B>[0m1mx"},
		{"an open string ends with its line", "a\x1b]0;x\nb", "a\nb", "a<U+001B>]0;x\nb"},
		{"a string in a string", "a\x1bPx\x1b]0;y\x07z\x1b\\b", "azb", "a<U+001B>Px<U+001B>]0;y<U+0007>z<U+001B>\\b"},
		{"right to left", "a\u202eb", "ab", "a<U+202E>b"},
		{"a family stays one", "👩‍👩‍👧", "👩‍👩‍👧", "👩<U+200D>👩<U+200D>👧"},
		{"a joiner that hides", ".g\u200cit", ".git", ".g<U+200C>it"},
		{"one selector", "❤\ufe0f", "❤\ufe0f", "❤<U+FE0F>"},
		{"smuggled selectors", "❤\ufe0f\ufe01\U000e0101", "❤\ufe0f", "❤<U+FE0F><U+FE01><U+E0101>"},
		{"broken bytes", "a\xffb\xc3", "a\ufffdb\ufffd", "a<0xFF>b<0xC3>"},
		{"odd blanks", "a\u00a0b", "a\u00a0b", "a<U+00A0>b"},
		{"a lone escape", "a\x1b", "a", "a<U+001B>"},
	} {
		if got := Sanitize(c.in); got != c.clean {
			t.Errorf("%s: Sanitize(%q) = %q, want %q", c.name, c.in, got, c.clean)
		}
		if got := Visible(c.in); got != c.visible {
			t.Errorf("%s: Visible(%q) = %q, want %q", c.name, c.in, got, c.visible)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"\x1b[31mred\x1b[0m", "a\x9b31m", "\u202e\u200d", "\x1b]8;;x\x07y", "\u009d\xc2\x9c", "é\ufe0f\u200d\ufe0f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Sanitize(s)
		if forbidden(once) {
			t.Errorf("%q became %q", s, once)
		}
		if twice := Sanitize(once); twice != once {
			t.Errorf("once %q, twice %q", once, twice)
		}
		if v := Visible(s); forbidden(v) {
			t.Errorf("%q is shown as %q", s, v)
		}
	})
}

func BenchmarkSanitize(b *testing.B) {
	text := strings.Repeat("plain line of a build log\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Sanitize(text)
	}
}
