package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// streamed is what comes out of a stream that gets text in pieces of the
// lengths that next draws.
func streamed(r *Redactor, text string, next func() int) string {
	s := NewStream(r.Text)
	var out strings.Builder
	for len(text) > 0 {
		n := min(len(text), max(1, next()))
		out.WriteString(s.Write(text[:n]))
		text = text[n:]
	}
	out.WriteString(s.Close())
	return out.String()
}

func TestStreamIsTheSameHoweverCut(t *testing.T) {
	r := New("known-value-1")
	random := rand.New(rand.NewPCG(3, 4))
	differ, tried := 0, 0
	for i, m := range made {
		for _, c := range contexts {
			whole, secret := drawn(random, m.text)
			text := "building\nplain line 12 of output\n" + c.put(whole, secret) + "\nknown-value-1 and more\nend"
			all := streamed(r, text, func() int { return len(text) })
			if got := streamed(r, text, func() int { return 1 }); got != all {
				t.Fatalf("%s, %s: byte by byte:\n%q\n%q", m.typ, c.name, got, all)
			}
			for range 1 + i%2 {
				if got := streamed(r, text, func() int { return random.IntN(60) }); got != all {
					t.Fatalf("%s, %s: in pieces:\n%q\n%q", m.typ, c.name, got, all)
				}
			}
			if tried++; shows(all, secret) && !shows(r.Text(text), secret) {
				differ++
				t.Logf("%s, %s: shown by the stream only: %.300q", m.typ, c.name, all)
			}
		}
	}
	if differ*50 > tried {
		t.Errorf("%d of %d secrets are shown by the stream only", differ, tried)
	}
	t.Logf("%d of %d secrets are shown by the stream only", differ, tried)
}

func TestStreamShowsLinesAtOnce(t *testing.T) {
	s := NewStream(New().Text)
	for _, c := range []struct{ in, out string }{
		{"compiling\n", "compiling\n"},
		{"half a li", ""},
		{"ne\nand", "half a line\n"},
		{" more\n", "and more\n"},
		{"-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("Ab1/", 16) + "\n", ""},
		{"-----END RSA PRIVATE KEY-----\n", "[REDACTED:private-key]\n"},
		{"ok\n", "ok\n"},
	} {
		if got := s.Write(c.in); got != c.out {
			t.Errorf("%q: got %q, want %q", c.in, got, c.out)
		}
	}
	if rest := s.Close(); rest != "" {
		t.Errorf("held back at the end: %q", rest)
	}
}

// TestStreamPauses: a line that ends with what may go on comes in a pause, and nothing that is
// not whole does.
func TestStreamPauses(t *testing.T) {
	const line = "see http://127.0.0.1:3000/app/V1x9-a8Q7\n"
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("Ab1/", 16) + "\n"
	for _, c := range []struct{ in, pause, rest string }{
		{line, line, ""}, {line + "> ", line, "> "}, {"half", "", "half"}, {key, "", "[REDACTED:private-key]"}, {"a\\\n", "", "a\\\n"},
		{line + "Zx81-kQ0p", "", line + "Zx81-kQ0p"},
	} {
		s := NewStream(New().Text)
		if got := s.Write(c.in); got != "" {
			t.Errorf("%q came at once", got)
		}
		if got := s.Pause(); got != c.pause {
			t.Errorf("%q: %q in a pause, want %q", c.in, got, c.pause)
		}
		if got := s.Close(); got != c.rest && !strings.HasPrefix(c.rest, line) && !strings.HasPrefix(got, c.rest) {
			t.Errorf("%q: %q at the end, want %q", c.in, got, c.rest)
		}
	}
}

func TestStreamHoldsBackLittle(t *testing.T) {
	for name, piece := range map[string]string{
		"one line": "lorem ipsum dolor, ", "no blank": "loremipsum", "keys that never end": "-----BEGIN RSA PRIVATE KEY-----\nAb1/Ab1/Ab1/Ab1/Ab1/Ab1/Ab1/Ab1/Ab1/\n", "escaped": "a\\\n", "tokens": "a1B2c3D4e5F6\n",
	} {
		s := NewStream(New().Text)
		var in, out int
		for range 4 << 20 / 4096 {
			text := strings.Repeat(piece, 4096/len(piece))
			in += len(text)
			out += len(s.Write(text))
			if len(s.held) > streamLine+streamLines+8192 {
				t.Fatalf("%s: %d bytes are held back", name, len(s.held))
			}
		}
		if out += len(s.Close()); !strings.Contains(name, "key") && out < in/2 {
			t.Errorf("%s: %d of %d bytes came out", name, out, in)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, c := range load[secretCase](f, "secrets.json") {
		f.Add(strings.Join(c.Parts, ""), uint8(7))
	}
	f.Add("a\\\nb\n-----BEGIN PRIVATE KEY-----\nx", uint8(1))
	r := New("known-value")
	f.Fuzz(func(t *testing.T, s string, n uint8) {
		all := streamed(r, s, func() int { return len(s) })
		if got := streamed(r, s, func() int { return int(n) }); got != all {
			t.Errorf("in pieces of %d: %q, at once %q", n, got, all)
		}
	})
}
