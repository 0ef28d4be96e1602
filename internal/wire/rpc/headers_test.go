package rpc

import (
	"bytes"
	"cmp"
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
	f := Headers(r, limit).(*headers)
	for {
		body, err := f.next()
		var header *headerError
		var size *sizeError
		switch {
		case errors.As(err, &header), errors.As(err, &size):
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
		frame := sealFrame(append(make([]byte, headerRoom), body...))
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
		if bad == nil && m.Raw == nil {
			t.Fatalf("%q is nothing", data)
		}
		if m.ID.Valid() { // what is read as an id is sent as the same
			again, bad := parse(jsonrpcReply(m))
			if bad != nil || again.ID != m.ID {
				t.Fatalf("id %v came back as %v, %v", m.ID, again.ID, bad)
			}
		}
	})
}

func jsonrpcReply(m Message) []byte {
	return errorFrame(m.ID, Errorf(InternalError, "x")).buf.Bytes()[headerRoom:]
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

// TestTooLong: a message that is too long is passed over in little memory; what
// is known of it is enough to answer it, wherever its id stands, and the next
// one is read. It is answered when it has come, not with the next.
func TestTooLong(t *testing.T) {
	const limit = 1 << 10
	long := strings.Repeat(`x\"},{\\`, limit)
	for name, c := range map[string]struct {
		body, id, method string
		reply            bool
	}{
		"a request":           {`{"jsonrpc":"2.0","id":7,"method":"m","params":{"id":8,"text":"` + long + `"}}`, "7", "m", false},
		"the id at its end":   {`{"params":["` + long + `",{"id":8}], "method" : "m" , "id" : "a\"b" }`, `"a\"b"`, "m", false},
		"a notification":      {`{"method":"n","params":"` + long + `"}`, "", "n", false},
		"a reply":             {`{"id":9,"result":"` + long + `"}`, "9", "a message", true},
		"a failure":           {`{"error":{"message":"` + long + `","id":3},"id":9}`, "9", "a message", true},
		"an id of another":    {`{"params":{"id":1},"result":0,"x":"` + long + `"}`, "", "a message", true},
		"two ids":             {`{"id":1,"id":2,"method":"m","params":"` + long + `"}`, "", "m", false},
		"an id that is long":  {`{"id":"` + strings.Repeat("i", 2*256) + `","method":"m","params":"` + long + `"}`, "", "m", false},
		"an id of what":       {`{"id":{"a":1},"method":"m","params":"` + long + `"}`, "", "m", false},
		"no JSON":             {strings.Repeat("]", 2*limit), "", "a message", false},
		"a text":              {`"` + strings.Repeat(`"id":1`, limit) + `"`, "", "a message", false},
		"lines between":       {"{\n\"id\":\n4,\n\"method\":\"m\",\"params\":\n\"" + long + "\"}\n", "4", "m", false},
		"a header in a text":  {`{"id":4,"method":"m","params":"Content-Length: 2\r\n\r\n` + long + `"}`, "4", "m", false},
		"members that follow": {`{"id":4,"method":"m","params":"` + long + `"}{"id":5}`, "4", "m", false},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			go func() { fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(c.body), c.body) }() // and no more comes
			f := Headers(r, limit).(*headers)
			_, err := f.next()
			var size *sizeError
			if !errors.As(err, &size) {
				t.Fatal(err)
			}
			m := outlined(&size.outline)
			if m.ID.String() != cmp.Or(c.id, "null") || called(&size.outline) != c.method || m.Reply != c.reply {
				t.Errorf("id %s, %q, reply %v", m.ID, called(&size.outline), m.Reply)
			}
			go func() { fmt.Fprint(w, "Content-Length: 2\r\n\r\n{}") }()
			if next, err := f.next(); string(next) != "{}" {
				t.Errorf("the next one: %q, %v", next, err)
			}
		})
	}
	// A header that lies eats no other message.
	bodies, bad, _ := readFrames(strings.NewReader("Content-Length: 1000000\r\n\r\n{}\nContent-Length: 2\r\n\r\n{}\nContent-Length: 4\r\n\r\n\"ab\""), limit)
	if len(bodies) != 2 || bodies[1] != `"ab"` || bad != 1 {
		t.Errorf("a header that lies: %q, %d bad", bodies, bad)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body := io.LimitReader(endless('x'), 100<<20)
	_, _, _ = readFrames(io.MultiReader(strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n", 100<<20)), body), 64<<20)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("a message of 100 MiB takes %d bytes", allocated)
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}
