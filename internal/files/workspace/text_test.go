package workspace

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeText(t *testing.T) {
	for _, test := range []struct {
		name string
		data string
		want Text
		err  error
	}{
		{"empty", "", Text{UTF8, NoEOL, "\n", ""}, nil},
		{"one line", "a", Text{UTF8, NoEOL, "\n", "a"}, nil},
		{"lf", "a\nb\n", Text{UTF8, LF, "\n", "a\nb\n"}, nil},
		{"crlf", "a\r\nb", Text{UTF8, CRLF, "\r\n", "a\r\nb"}, nil},
		{"cr", "a\rb\r", Text{UTF8, CR, "\r", "a\rb\r"}, nil},
		{"mixed", "a\r\nb\r\nc\n", Text{UTF8, MixedEOL, "\r\n", "a\r\nb\r\nc\n"}, nil},
		{"no line ends", "a\u2028b\u0085c\vd\fe", Text{UTF8, NoEOL, "\n", "a\u2028b\u0085c\vd\fe"}, nil},
		{"bom", "\xef\xbb\xbfa\n", Text{UTF8BOM, LF, "\n", "a\n"}, nil},
		{"bom alone", "\xef\xbb\xbf", Text{UTF8BOM, NoEOL, "\n", ""}, nil},
		{"utf-16le", "\xff\xfeh\x00\xe9\x00\n\x00", Text{UTF16LE, LF, "\n", "hé\n"}, nil},
		{"utf-16be", "\xfe\xff\xd8\x3d\xde\x00\x00\n", Text{UTF16BE, LF, "\n", "😀\n"}, nil},
		{"latin-1", "caf\xe9\n", Text{Bytes, LF, "\n", "caf\xe9\n"}, nil},
		{"shift jis", "\x93\xfa\x96\x7b\r\n", Text{Bytes, CRLF, "\r\n", "\x93\xfa\x96\x7b\r\n"}, nil},
		{"latin-1 after a bom", "\xef\xbb\xbf\xe9", Text{Bytes, NoEOL, "\n", "\xef\xbb\xbf\xe9"}, nil},
		{"latin-1 like a bom", "\xff\xfe\xe9", Text{Bytes, NoEOL, "\n", "\xff\xfe\xe9"}, nil},
		{"nul", "a\x00b", Text{}, ErrBinary},
		{"utf-16 without a bom", "a\x00b\x00", Text{}, ErrBinary},
		{"utf-32", "\xff\xfe\x00\x00a\x00\x00\x00", Text{}, ErrBinary},
		{"half a pair", "\xff\xfe\x00\xd8a\x00", Text{}, ErrBinary},
		{"elf", "\x7fELF\x02\x01\x01\x00", Text{}, ErrBinary},
	} {
		got, err := DecodeText([]byte(test.data))
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", test.name, err, test.err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, enc := range []Encoding{UTF8, UTF8BOM, UTF16LE, UTF16BE} {
		if data, err := (Text{Encoding: enc}).Encode("a\xff"); err == nil {
			t.Errorf("%s: %q", enc, data)
		}
	}
	if _, err := (Text{Encoding: Bytes}).Encode("a\xff"); err != nil {
		t.Errorf("control: %v", err)
	}
}

func FuzzDecodeText(f *testing.F) {
	for _, s := range []string{"", "a\r\n", "\xff\xfea\x00", "\xfe\xff\xd8\x3d\xde\x00", "\xef\xbb\xbfx", "\xe9", "\x00", "\xff\xfe\x00\xd8"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := DecodeText(data)
		if err != nil {
			return
		}
		back, err := got.Encode(got.Body)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%q came back as %q, %v", data, back, err)
		}
	})
}
