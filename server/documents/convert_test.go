package documents

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

func TestDocumentKey(t *testing.T) {
	if documentKey("file:///c%3A/a%2Fb") != documentKey("file:///c:/a/b") {
		t.Error("two spellings of one file have different keys")
	}
	if documentKey("file:///c:/a") == documentKey("file:///c:/b") {
		t.Error("control: two files have the same key")
	}
}

func TestTextEdits(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           int // edits
	}{
		{"nothing", "a\n", "a\n", 0},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", 1},
		{"two places", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", 2},
		{"insert at the top", "b\n", "a\nb\n", 1},
		{"append", "a\n", "a\nb\n", 1},
		{"append without a line end", "a\n", "a\nb", 1},
		{"append to a line without an end", "a😀", "a😀\nb", 1},
		{"last line without an end", "a\nx😀é", "a\ny", 1},
		{"delete the last line", "a\nb", "a\n", 1},
		{"delete all", "a\nb😀", "", 1},
		{"from nothing", "", "a\nb", 1},
		{"line ends", "a\r\nb\r\n", "a\nb\r\n", 1},
		{"lone carriage returns", "a\rb\rc", "a\rB\rc", 1},
	} {
		for _, enc := range []lsp.Encoding{lsp.UTF8, lsp.UTF16, lsp.UTF32} {
			edits := textEdits(c.old, c.new, enc)
			if len(edits) != c.want {
				t.Errorf("%s (%s): %d edits, want %d", c.name, enc, len(edits), c.want)
			}
			got, err := lsp.ApplyEdits(c.old, edits, enc)
			if err != nil || got != c.new {
				t.Errorf("%s (%s): %v\n%s", c.name, enc, err, cmp.Diff(c.new, got))
			}
			for _, e := range edits { // every position must be one that editors have
				for _, p := range []lsp.Position{e.Range.Start, e.Range.End} {
					if back := lsp.PositionAt(c.old, lsp.Offset(c.old, p, enc), enc); back != p {
						t.Errorf("%s (%s): position %v is %v", c.name, enc, p, back)
					}
				}
			}
		}
	}
}

func FuzzTextEdits(f *testing.F) {
	f.Add("a\nb\r\nc", "a\nc\r")
	f.Add("😀\n\r\r\n", "é")
	f.Fuzz(func(t *testing.T, old, new string) {
		for _, enc := range []lsp.Encoding{lsp.UTF8, lsp.UTF16, lsp.UTF32} {
			got, err := lsp.ApplyEdits(old, textEdits(old, new, enc), enc)
			if err != nil || got != new {
				t.Fatalf("%s: %q → %q became %q, %v", enc, old, new, got, err)
			}
		}
	})
}

func TestForm(t *testing.T) {
	utf16 := string([]byte{0xff, 0xfe, 'a', 0, '\n', 0})
	for _, c := range []struct {
		name               string
		file, buffer, want string // want: the buffer's bytes on disk
		after, edited      string // a change of the file, and of the buffer for it
	}{
		{"plain", "a\n", "a\nb\n", "a\nb\n", "a\nB\n", "a\nB\n"},
		{"byte order mark kept out of the buffer", "\xef\xbb\xbfa\n", "a\n", "\xef\xbb\xbfa\n", "\xef\xbb\xbfA\n", "A\n"},
		{"byte order mark in the buffer", "\xef\xbb\xbfa\n", "\uFEFFa\n", "\xef\xbb\xbfa\n", "\xef\xbb\xbfA\n", "\uFEFFA\n"},
		{"line ends kept out of the buffer", "a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n", "a\r\nB\r\n", "a\nB\n"},
		{"line ends in the buffer", "a\r\nb\r\n", "a\r\nb\r\n", "a\r\nb\r\n", "a\r\nB\r\n", "a\r\nB\r\n"},
		{"mixed line ends", "a\r\nb\n", "a\r\nb\n", "a\r\nb\n", "a\r\nB\n", "a\r\nB\n"},
		{"utf-16", utf16, "a\n", utf16, string([]byte{0xff, 0xfe, 'b', 0, '\n', 0}), "b\n"},
		{"binary on disk", "a\x00b", "text\n", "text\n", "other\n", "other\n"},
	} {
		fo := FormOf([]byte(c.file))
		if got := string(fo.Bytes(c.buffer)); got != c.want {
			t.Errorf("%s: bytes %q, want %q", c.name, got, c.want)
		}
		got, err := fo.buffer(c.buffer, []byte(c.after))
		if err != nil || got != c.edited {
			t.Errorf("%s: buffer %q, %v, want %q", c.name, got, err, c.edited)
		}
		if back := string(fo.Bytes(got)); back != c.after {
			t.Errorf("%s: saved %q, want %q", c.name, back, c.after)
		}
	}
	if _, err := (Form{}).buffer("a", []byte("a\x00")); err == nil {
		t.Error("binary content went into a buffer")
	}
}
