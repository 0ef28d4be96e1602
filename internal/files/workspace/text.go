package workspace

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Encoding says how a file's bytes stand for its text.
type Encoding string

// The encodings that are told apart.
const (
	UTF8    Encoding = "utf-8"
	UTF8BOM Encoding = "utf-8-bom"
	UTF16LE Encoding = "utf-16le" // always with a byte order mark
	UTF16BE Encoding = "utf-16be" // always with a byte order mark
	Bytes   Encoding = "bytes"    // none of these, and text all the same: Latin-1, Shift JIS, GBK …
)

// EOL says how the lines of a text end.
type EOL string

// The line ends.
const (
	NoEOL    EOL = "none" // one line without an end
	LF       EOL = "lf"
	CRLF     EOL = "crlf"
	CR       EOL = "cr"
	MixedEOL EOL = "mixed"
)

// Text is a file's text apart from its encoding.
type Text struct {
	Encoding Encoding
	EOL      EOL
	Newline  string // the line end to use for new lines: the most frequent one, "\n" without any

	// Body has line ends as they are in the file, and no byte order mark. It
	// is UTF-8, except for Bytes: then it is the file's bytes.
	Body string
}

var (
	bomUTF8    = []byte("\xef\xbb\xbf")
	bomUTF16LE = []byte("\xff\xfe")
	bomUTF16BE = []byte("\xfe\xff")
)

// DecodeText finds a file's encoding and line ends. Whatever it accepts,
// Encode(Body) gives back byte for byte. It fails with ErrBinary for bytes that
// no text has.
func DecodeText(data []byte) (Text, error) {
	return decodeText(data, func(b []byte) string { return string(b) })
}

// ShareText is DecodeText without a copy of the text: its body is data's memory,
// which must never be changed again.
func ShareText(data []byte) (Text, error) {
	return decodeText(data, func(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) })
}

func decodeText(data []byte, body func([]byte) string) (Text, error) {
	t := Text{Encoding: Bytes}
	if wide, enc, ok := decodeUTF16(data); ok {
		t.Encoding, t.Body = enc, wide
	} else if bytes.IndexByte(data, 0) >= 0 {
		return Text{}, ErrBinary
	} else if !utf8.Valid(data) {
		t.Body = body(data)
	} else if rest, ok := bytes.CutPrefix(data, bomUTF8); ok {
		t.Encoding, t.Body = UTF8BOM, body(rest)
	} else {
		t.Encoding, t.Body = UTF8, body(data)
	}
	t.EOL, t.Newline = lineEnds(t.Body)
	return t, nil
}

// decodeUTF16 accepts what begins with a byte order mark and survives the way
// to UTF-8 and back.
func decodeUTF16(data []byte) (body string, enc Encoding, ok bool) {
	var unit func(b []byte) uint16
	switch {
	case len(data)%2 != 0:
		return "", "", false
	case bytes.HasPrefix(data, bomUTF16LE):
		enc, unit = UTF16LE, func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }
	case bytes.HasPrefix(data, bomUTF16BE):
		enc, unit = UTF16BE, func(b []byte) uint16 { return uint16(b[1]) | uint16(b[0])<<8 }
	default:
		return "", "", false
	}
	var sb strings.Builder
	sb.Grow(len(data))
	for data = data[2:]; len(data) > 0; data = data[2:] {
		r := rune(unit(data))
		if utf16.IsSurrogate(r) {
			if len(data) < 4 {
				return "", "", false
			}
			if r = utf16.DecodeRune(r, rune(unit(data[2:]))); r == utf8.RuneError {
				return "", "", false
			}
			data = data[2:]
		}
		if r == 0 {
			return "", "", false
		}
		sb.WriteRune(r)
	}
	return sb.String(), enc, true
}

// Encode returns the bytes of a file that has body as its text and the
// encoding and byte order mark of t. Line ends are not touched.
func (t Text) Encode(body string) ([]byte, error) {
	if t.Encoding != Bytes && !utf8.ValidString(body) {
		return nil, fmt.Errorf("%w: the text is not valid UTF-8, so it can't be written as %s", fs.ErrInvalid, t.Encoding)
	}
	switch t.Encoding {
	case UTF8BOM:
		return append(bytes.Clone(bomUTF8), body...), nil
	case UTF16LE:
		return encodeUTF16(bomUTF16LE, body, 0, 1), nil
	case UTF16BE:
		return encodeUTF16(bomUTF16BE, body, 1, 0), nil
	}
	return []byte(body), nil
}

// encodeUTF16 puts the low byte of every unit at index low, the high one at
// index high.
func encodeUTF16(bom []byte, body string, low, high int) []byte {
	out := append(make([]byte, 0, 2+2*len(body)), bom...)
	put := func(r rune) {
		var b [2]byte
		b[low], b[high] = byte(r), byte(r>>8)
		out = append(out, b[:]...)
	}
	for _, r := range body {
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			put(hi)
			put(lo)
			continue
		}
		put(r)
	}
	return out
}

// lineEnds counts the line ends that editors know: nothing else ends a line.
func lineEnds(body string) (EOL, string) {
	crlf, cr, lf := 0, 0, strings.Count(body, "\n")
	if strings.IndexByte(body, '\r') >= 0 {
		crlf = strings.Count(body, "\r\n")
		lf, cr = lf-crlf, strings.Count(body, "\r")-crlf
	}
	kind, newline, most := NoEOL, "\n", 0
	for _, c := range [...]struct {
		n    int
		kind EOL
		text string
	}{{lf, LF, "\n"}, {crlf, CRLF, "\r\n"}, {cr, CR, "\r"}} {
		if c.n == 0 {
			continue
		}
		if kind == NoEOL {
			kind = c.kind
		} else {
			kind = MixedEOL
		}
		if c.n > most {
			most, newline = c.n, c.text
		}
	}
	return kind, newline
}
