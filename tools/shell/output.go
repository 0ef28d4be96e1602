package shell

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"
)

// What is kept of a stream: its beginning and its end.
const (
	keepHead = 512 << 10
	keepTail = 512 << 10
)

// output keeps what a command prints, bounded, and passes it on.
type output struct {
	emit func(string) // nil: to nobody

	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring when it is full
	start int    // of the ring
	total int64  // bytes written
	rest  []byte // the beginning of a rune whose end has not come, not passed on yet
	taps  []*tap
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	n := len(b)
	o.total += int64(n)
	for _, t := range o.taps {
		t.add(b)
	}
	chunk := ""
	if o.emit != nil {
		chunk = o.whole(b)
	}
	if free := keepHead - len(o.head); free > 0 {
		k := min(free, len(b))
		o.head, b = append(o.head, b[:k]...), b[k:]
	}
	for len(b) > 0 {
		if len(o.tail) < keepTail {
			k := min(keepTail-len(o.tail), len(b))
			o.tail, b = append(o.tail, b[:k]...), b[k:]
			continue
		}
		k := copy(o.tail[o.start:], b)
		o.start, b = (o.start+k)%keepTail, b[k:]
	}
	o.mu.Unlock()
	if chunk != "" {
		o.emit(chunk)
	}
	return n, nil
}

// whole is b after what was left over, without a rune that is not whole.
func (o *output) whole(b []byte) string {
	b = append(o.rest, b...)
	end := len(b)
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				end = len(b) - i
			}
			break
		}
	}
	o.rest = bytes.Clone(b[end:])
	return string(b[:end])
}

// Bytes is how much was written.
func (o *output) bytes() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// text is what was kept, with a mark where something is missing.
func (o *output) text() string {
	text, _ := o.from(0)
	return text
}

// from is what was written after the first offset bytes, as far as it was
// kept, and how much was written by then.
func (o *output) from(offset int64) (text string, total int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.kept(offset)
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD"))), o.total
}

// kept is what was kept after the first offset bytes, with a mark where something is
// missing. The caller holds mu.
func (o *output) kept(offset int64) []byte {
	var b []byte
	if offset < int64(len(o.head)) {
		b = append(b, o.head[offset:]...)
	}
	first := o.total - int64(len(o.tail)) // where the kept end begins
	gap := first - max(offset, int64(len(o.head)))
	if gap > 0 {
		b = fmt.Appendf(b, "\n… %d bytes are not kept …\n", gap)
	}
	if len(o.tail) > 0 {
		tail := append(append([]byte{}, o.tail[o.start:]...), o.tail[:o.start]...)
		b = append(b, tail[min(int64(len(tail)), max(0, offset-first)):]...)
	}
	return b
}
