package shells

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// pages are the code pages of consoles, as far as there is a table.
func pages(page uint32) encoding.Encoding {
	switch page {
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 852:
		return charmap.CodePage852
	case 855:
		return charmap.CodePage855
	case 858:
		return charmap.CodePage858
	case 860:
		return charmap.CodePage860
	case 862:
		return charmap.CodePage862
	case 863:
		return charmap.CodePage863
	case 865:
		return charmap.CodePage865
	case 866:
		return charmap.CodePage866
	case 874:
		return charmap.Windows874
	case 932:
		return japanese.ShiftJIS
	case 936:
		return simplifiedchinese.GBK
	case 949:
		return korean.EUCKR
	case 950:
		return traditionalchinese.Big5
	case 1250:
		return charmap.Windows1250
	case 1251:
		return charmap.Windows1251
	case 1252:
		return charmap.Windows1252
	case 1253:
		return charmap.Windows1253
	case 1254:
		return charmap.Windows1254
	case 1255:
		return charmap.Windows1255
	case 1256:
		return charmap.Windows1256
	case 1257:
		return charmap.Windows1257
	case 1258:
		return charmap.Windows1258
	case 54936:
		return simplifiedchinese.GB18030
	}
	return nil
}

// Decoder makes UTF-8 of what programs print, as it comes. Programs of one command may
// print different things, so each line counts for itself: one that is no UTF-8 is in the
// code page. A stream that begins with the mark of UTF-16 is in that.
type Decoder struct {
	to   io.Writer
	page encoding.Encoding // nil: what is no UTF-8 stays

	mu     sync.Mutex
	begun  bool
	wide   *encoding.Decoder // of UTF-16, to the end of the stream
	narrow *encoding.Decoder // of the code page, to the end of the line
	rest   []byte            // the beginning of a character whose end has not come
}

// Decode returns a Decoder for a code page of Windows.
func Decode(to io.Writer, page uint32) *Decoder { return &Decoder{to: to, page: pages(page)} }

// Write implements io.Writer.
func (d *Decoder) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(b), d.write(append(d.rest, b...), false)
}

// Close passes on what was kept of a character without an end.
func (d *Decoder) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.write(d.rest, true)
}

// The marks at the beginning of a stream.
var (
	markOfUTF8  = []byte{0xEF, 0xBB, 0xBF}
	markOfUTF16 = []byte{0xFF, 0xFE}
)

func (d *Decoder) write(b []byte, end bool) error {
	d.rest = nil
	if !d.begun {
		if !end && len(b) < len(markOfUTF8) && (bytes.HasPrefix(markOfUTF8, b) || bytes.HasPrefix(markOfUTF16, b)) {
			d.rest = b
			return nil
		}
		d.begun = true
		if bytes.HasPrefix(b, markOfUTF16) {
			d.wide = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
			b = b[len(markOfUTF16):]
		}
		b = bytes.TrimPrefix(b, markOfUTF8)
	}
	var out []byte
	if d.wide != nil {
		out, d.rest = convert(d.wide, nil, b, end)
		b = nil
	}
	for len(b) > 0 {
		line, whole := b, end
		if i := bytes.IndexByte(b, '\n'); i >= 0 { // no character of a code page has such a byte
			line, whole = b[:i+1], true
		}
		b = b[len(line):]
		if d.narrow == nil {
			good := valid(line)
			if d.page == nil || good == len(line) {
				out = append(out, line...)
				continue
			}
			if !whole && !utf8.FullRune(line[good:]) { // it may go on as UTF-8
				out, d.rest = append(out, line[:good]...), bytes.Clone(line[good:])
				break
			}
			d.narrow = d.page.NewDecoder()
		}
		out, d.rest = convert(d.narrow, out, line, whole)
		if whole {
			d.narrow = nil
		}
	}
	if len(out) == 0 {
		return nil
	}
	_, err := d.to.Write(out)
	return err
}

// valid is how many bytes of a text are UTF-8.
func valid(b []byte) int {
	at := 0
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		at += n
	}
	return at
}

// convert appends the decoded b to out; rest is the beginning of a character at its end.
// What is in no code page becomes the sign for that.
func convert(t transform.Transformer, out, b []byte, end bool) (_, rest []byte) {
	var buffer [4 << 10]byte
	for {
		n, used, err := t.Transform(buffer[:], b, end)
		out, b = append(out, buffer[:n]...), b[used:]
		switch {
		case err == transform.ErrShortDst: //nolint:errorlint // it is returned as it is
			continue
		case err != nil && !end:
			return out, bytes.Clone(b)
		case err != nil && len(b) > 0:
			out, b = append(out, "\uFFFD"...), b[1:]
			if len(b) > 0 {
				continue
			}
		}
		return out, nil
	}
}
