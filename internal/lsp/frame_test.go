package lsp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// readFrames reads all bodies of a stream, going on after bad headers.
func readFrames(r io.Reader, limit int) (bodies []string, bad int, err error) {
	f := newFrameReader(r, limit)
	for {
		body, err := f.next()
		var header *headerError
		switch {
		case errors.As(err, &header):
			bad++
		case err != nil:
			return bodies, bad, err
		default:
			bodies = append(bodies, string(body))
		}
	}
}

func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		"", "Content-Length: 2\r\n\r\n{}", "content-length:2\nContent-Type: x\n\n{}", "\r\nContent-Length: 2\r\n\r\n{}",
		"junkContent-Length: 2\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n",
		strings.Repeat("A: b\r\n", 40), strings.Repeat("x", 70<<10) + "Content-Length: 2\r\n\r\n{}",
	} {
		f.Add([]byte(seed), "{}")
	}
	f.Fuzz(func(t *testing.T, data []byte, body string) {
		const limit = 1 << 10
		bodies, bad, err := readFrames(bytes.NewReader(data), limit)
		if err == nil {
			t.Fatal("no end")
		}
		for _, b := range bodies {
			if len(b) > limit {
				t.Fatalf("a body of %d bytes", len(b))
			}
		}
		// How the bytes arrive makes no difference.
		slow, slowBad, slowErr := readFrames(iotest.OneByteReader(bytes.NewReader(data)), limit)
		if fmt.Sprint(bodies, bad, err) != fmt.Sprint(slow, slowBad, slowErr) {
			t.Fatalf("at once: %q %d %v\none by one: %q %d %v", bodies, bad, err, slow, slowBad, slowErr)
		}
		// Whatever came before and ended its line, good frames are found again.
		if len(body) > limit || len(data) > limit {
			return
		}
		frame := sealFrame(append(make([]byte, headerRoom), body...), 0)
		stream := append(append(bytes.Clone(data), '\n'), bytes.Repeat(append(bytes.Clone(frame), '\n'), 3*limit/len(frame)+3)...)
		found, _, _ := readFrames(bytes.NewReader(stream), limit)
		if len(found) == 0 || found[len(found)-1] != body {
			t.Fatalf("after %q the frames are lost: %q", data, found)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{}}`, `{"jsonrpc":"2.0","id":"a","result":null}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, `[]`, `{`, "\xff", `{"id":1,"id":2}`, `{"jsonrpc":"2.0","method":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, bad := parse(data)
		if bad == nil && m.kind == 0 {
			t.Fatalf("%q has no kind", data)
		}
		if m.id.IsValid() { // what is read as an id is sent as the same
			again, bad := parse(jsonrpcReply(m))
			if bad != nil || again.id != m.id {
				t.Fatalf("id %v came back as %v, %v", m.id, again.id, bad)
			}
		}
	})
}

func jsonrpcReply(m message) []byte {
	return errorFrame(m.id, Errorf(RequestFailed, "x")).buf.Bytes()[headerRoom:]
}

// TestBigBody: the buffer grows with what comes, not with what is promised.
func TestBigBody(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 5<<20/16)
	got, bad, err := readFrames(strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)), 64<<20)
	if !errors.Is(err, io.EOF) || bad != 0 || len(got) != 1 || got[0] != body {
		t.Errorf("%d bodies, %d bad, %v", len(got), bad, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, _ = readFrames(strings.NewReader("Content-Length: 67108864\r\n\r\n{"), 64<<20)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 2<<20 {
		t.Errorf("a promise of 64 MiB takes %d bytes", allocated)
	}
}
