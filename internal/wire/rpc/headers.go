package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/sidecar-ls/sidecar-ls/internal/text/outline"
)

// Bounds of a frame's header.
const (
	maxHeaderLines = 32
	maxHeaderLine  = 4 << 10
	firstBodyBytes = 1 << 20 // allocated on the word of the header alone
	headerTail     = 64      // of an overlong line, enough to hold a length at its end
)

// headerError says that the bytes at hand are no frame. The reader can go on: it
// will look for the next header.
type headerError struct{ why string }

func (e *headerError) Error() string { return e.why }

// sizeError says that a message was too long and has been passed over. The
// reader can go on.
type sizeError struct {
	size    uint64
	limit   int
	outline outline.Outline
}

func (e *sizeError) Error() string {
	return fmt.Sprintf("%.100s of %d bytes is over the limit of %d, and was not read", called(&e.outline), e.size, e.limit)
}

// headers is the framing of LSP: a header with the length comes before each
// message. A message is read strictly: no reader behind us may see another one
// than we did.
//
// After a bad header it skips to the next line that ends in "Content-Length: n".
// That can't be forged from inside a message: JSON strings hold no raw line end.
type headers struct {
	stream io.Reader
	r      *bufio.Reader
	max    int
	lost   bool
	found  int // with lost: the length that the bad line ended in, or -1
}

// Headers reads messages of at most so many bytes.
func Headers(r io.Reader, most int) Framing {
	return &headers{stream: r, r: bufio.NewReaderSize(r, 64<<10), max: most}
}

func (f *headers) Close() { closeStream(f.stream) }

// Next implements Framing.
func (f *headers) Next() (Message, error) {
	body, err := f.next()
	if err != nil {
		var size *sizeError
		var header *headerError
		switch {
		case errors.As(err, &size):
			return outlined(&size.outline), Errorf(InvalidRequest, "%s", size)
		case errors.As(err, &header):
			err = &Error{Code: ParseError, Message: "bad frame: " + header.why, frame: true}
		}
		return Message{}, err
	}
	m, bad := parse(body)
	if bad != nil {
		return m, bad
	}
	return m, nil
}

// Encode implements Framing.
func (f *headers) Encode(to *bytes.Buffer, v any) error { return marshalTo(to, v) }

// Decode implements Framing.
func (f *headers) Decode(data []byte, v any) error { return Unmarshal(data, v) }

func (f *headers) seal(buf *bytes.Buffer) []byte { return sealFrame(buf.Bytes()) }

// next returns the next body, which the caller owns. io.EOF is an end between
// two frames, a *headerError or a *sizeError is worth another call, anything else
// is final.
func (f *headers) next() ([]byte, error) {
	length := -1
	if f.lost {
		n, err := f.resync()
		if err != nil {
			return nil, err
		}
		length, f.lost = n, false
	}
	for lines := 0; ; {
		line, err := f.r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0 && lines == 0 && length < 0:
			return nil, io.EOF
		case errors.Is(err, bufio.ErrBufferFull) || err == nil && len(line) > maxHeaderLine:
			return nil, f.bad(line, "a header line is too long")
		case err != nil:
			return nil, unexpected(err)
		}
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			if lines == 0 && length < 0 {
				continue // an empty line between two frames
			}
			break
		}
		if lines++; lines > maxHeaderLines {
			return nil, f.bad(line, "too many header lines")
		}
		name, value, ok := bytes.Cut(text, []byte(":"))
		if !ok || !isHeaderName(name) {
			return nil, f.bad(line, "not a header line")
		}
		if !bytes.EqualFold(name, []byte("Content-Length")) {
			continue
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
		if err != nil {
			return nil, f.bad(nil, "Content-Length is not a number")
		}
		if n > maxPassedOver {
			return nil, f.bad(nil, fmt.Sprintf("a message of %d bytes is over the limit of %d", n, f.max))
		}
		if length >= 0 && uint64(length) != n {
			return nil, f.bad(nil, "two different Content-Length")
		}
		length = int(n)
	}
	switch {
	case length < 0:
		return nil, f.bad(nil, "no Content-Length")
	case length > f.max:
		return nil, f.passOver(length)
	}
	return f.body(length)
}

// maxPassedOver is the longest message that is believed to be one. What claims
// to be longer is taken for a header that lies.
const maxPassedOver = 8 << 30

// passOver reads a message that is too long to its end, without keeping it. If
// there is a header in it, its own has lied.
func (f *headers) passOver(n int) error {
	e := &sizeError{size: uint64(n), limit: f.max}
	var tail []byte // of the line that is read
	for n > 0 {
		if _, err := f.r.Peek(1); err != nil {
			return unexpected(err)
		}
		chunk, _ := f.r.Peek(min(n, f.r.Buffered()))
		if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
			chunk = chunk[:i+1]
		}
		_, _ = e.outline.Write(chunk)
		tail = append(tail, chunk[max(0, len(chunk)-headerTail):]...)
		tail = append(tail[:0], tail[max(0, len(tail)-headerTail):]...)
		ends := tail[len(tail)-1] == '\n'
		n -= len(chunk)
		_, _ = f.r.Discard(len(chunk))
		if length := lengthAtEnd(tail); ends && length >= 0 && length <= f.max {
			return f.bad(tail, fmt.Sprintf("a message of %d bytes is over the limit of %d, and another one begins in it", e.size, f.max))
		}
		if ends {
			tail = tail[:0]
		}
	}
	return e
}

// body reads n bytes. The buffer grows with what has really come.
func (f *headers) body(n int) ([]byte, error) {
	buf := make([]byte, min(n, firstBodyBytes))
	read := 0
	for {
		m, err := io.ReadFull(f.r, buf[read:])
		read += m
		if err != nil {
			return nil, unexpected(err)
		}
		if read == n {
			return buf, nil
		}
		grown := make([]byte, min(n, 2*len(buf)))
		copy(grown, buf)
		buf = grown
	}
}

func (f *headers) bad(line []byte, why string) error {
	f.lost, f.found = true, lengthAtEnd(line)
	return &headerError{why}
}

// resync skips to the end of a line that ends in a good Content-Length.
func (f *headers) resync() (int, error) {
	if n := f.found; n >= 0 && n <= f.max {
		return n, nil
	}
	var tail []byte
	for skipped := 0; skipped <= 2*f.max; {
		line, err := f.r.ReadSlice('\n')
		skipped += len(line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, unexpected(err)
		}
		if len(tail) > 0 {
			line = append(tail, line[max(0, len(line)-headerTail):]...)
		}
		if err != nil {
			tail = bytes.Clone(line[max(0, len(line)-headerTail):])
			continue
		}
		tail = nil
		if n := lengthAtEnd(line); n >= 0 && n <= f.max {
			return n, nil
		}
	}
	return 0, fmt.Errorf("no message header within %d bytes", 2*f.max)
}

// lengthAtEnd returns the n of a line that ends in "Content-Length: n" and a
// line end, else -1.
func lengthAtEnd(line []byte) int {
	text := bytes.TrimRight(line, "\r\n")
	if len(text) == len(line) {
		return -1
	}
	text = text[max(0, len(text)-headerTail):]
	colon := bytes.LastIndexByte(text, ':')
	const name = "content-length"
	if colon < len(name) || !bytes.EqualFold(text[colon-len(name):colon], []byte(name)) {
		return -1
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(text[colon+1:])), 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

func isHeaderName(name []byte) bool {
	for _, c := range name {
		if c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(name) > 0
}

// unexpected turns an end of the stream inside a frame into an error that says so.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// headerRoom is left free before a body, so that header and body are one write.
const headerRoom = len("Content-Length: \r\n\r\n") + 20

// sealFrame writes the header before the body, buf[headerRoom:], and returns the
// whole frame.
func sealFrame(buf []byte) []byte {
	var room [headerRoom]byte
	header := append(room[:0], "Content-Length: "...)
	header = strconv.AppendInt(header, int64(len(buf)-headerRoom), 10)
	header = append(header, "\r\n\r\n"...)
	start := headerRoom - len(header)
	copy(buf[start:], header)
	return buf[start:]
}
