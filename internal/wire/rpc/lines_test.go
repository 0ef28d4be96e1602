package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLenient: lines are read as their senders mean them, and ids go back as they came.
func TestLenient(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"method":"m"}`:                                  `1 m`,
		` {"ID":"a\u00e9","Method":"m"} `:                        `"aé" m`,
		`{"id":1.5,"method":"m"}`:                                `1.5 m`,
		`{"id":-18446744073709551616,"method":"m"}`:              `-18446744073709551616 m`,
		`{"id":null,"method":"m"}`:                               `null m`,
		`{"id":true,"method":"m"}`:                               `null : the id is neither a number nor a string`,
		`{"id":1,"result":null}`:                                 `1 reply`,
		`{"id":1}`:                                               `1 : the message has neither a method nor a result`,
		`{"id":1,"result":0,"error":null}`:                       `1 reply`,
		`{"id":1,"error":{"code":"x"}}`:                          `1 reply`,
		`[{"id":1,"method":"m"}]`:                                `null : batches are not part of the protocol: send one message a line`,
		`{"id":1,"method":["m"]}`:                                `1 : the method is no name`,
		`{"method":"` + strings.Repeat("x", 200) + `","id":2.5}`: `2.5 ` + strings.Repeat("x", 200) + `: the message has 222 bytes and a message may have 100: send the content in parts, or as a link to a file`,
	} {
		m, err := Lines(strings.NewReader(line), 100, nil).Next()
		got := m.ID.String() + " " + m.Method
		if m.Reply {
			got += "reply"
		}
		if err != nil {
			got += ": " + err.Error()
		}
		if got != want {
			t.Errorf("%s is read as %s, want %s", line, got, want)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "{}\n", `{"method":"m"}`, "\n\r\n{\"id\":1,\"method\":\"m\"}\nnoise\n[]\n", strings.Repeat("x", 2000) + "\n{\"id\":1,\"result\":1}\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(r io.Reader) (all []string) {
			form := Lines(r, 1000, func(line []byte) { all = append(all, fmt.Sprintf("noise %q", line)) })
			for {
				m, err := form.Next()
				var bad *Error
				if err != nil && !errors.As(err, &bad) {
					return append(all, err.Error())
				}
				all = append(all, fmt.Sprintf("%s %q %s %s %v", m.ID, m.Method, m.Params, m.Result, bad))
				if m.ID.Valid() && readID([]byte(m.ID.String())) != m.ID { // what is read as an id is sent as the same
					t.Fatalf("the id %s is read as %s", m.ID, readID([]byte(m.ID.String())))
				}
			}
		}
		// How the bytes arrive makes no difference.
		if at, slow := fmt.Sprint(read(bytes.NewReader(data))), fmt.Sprint(read(iotest.OneByteReader(bytes.NewReader(data)))); at != slow {
			t.Fatalf("at once: %s\none by one: %s", at, slow)
		}
	})
}
