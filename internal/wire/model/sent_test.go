package model

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSent: what is kept of a conversation changes no request, on any wire, whatever of
// it changes.
func TestSent(t *testing.T) {
	call := func(n int, args string) Message {
		return Message{Role: Assistant, Blocks: []Block{{Kind: Text, Text: fmt.Sprint("looking ", n)}, {Kind: Call, ID: fmt.Sprint("t", n), Name: "read", Args: args}}}
	}
	result := func(n int, text string) Message {
		return Message{Role: User, Blocks: []Block{{Kind: Result, ID: fmt.Sprint("t", n), Name: "read", Text: text}}}
	}
	said := Message{Role: User, Blocks: []Block{{Kind: Text, Text: "hello"}}}
	var requests [][]Message
	all := []Message{said}
	for n := range 6 {
		requests = append(requests, append([]Message(nil), all...))
		all = append(all, call(n, `{"half`[:n%2*5]+`{}`), result(n, "text"))
	}
	pruned := append([]Message(nil), all...)
	pruned[2] = result(0, "pruned")
	short := []Message{said, call(9, `{}`), result(9, "other"), {Role: Assistant}, said}
	requests = append(requests, pruned, all, short, all, all[:3], all)
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			sent := &Sent{}
			profiles := []Profile{{Name: "a", Wire: name, Model: "m", Cache: true}, {Name: "b", Wire: name, Model: "other"}}
			for i, messages := range requests {
				p := profiles[i/8%2]
				r := Request{System: "system", Messages: messages}
				want := onWire(t, w, p, r)
				r.Sent = sent
				if d := cmp.Diff(want, onWire(t, w, p, r)); d != "" {
					t.Errorf("request %d -without +with:\n%s", i, d)
				}
			}
		})
	}
}

// onWire is a request as it is sent.
func onWire(t *testing.T, w wire, p Profile, r Request) string {
	t.Helper()
	body, err := w.body(p, r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := body.body()
	if err != nil || !json.Valid(b) {
		t.Fatalf("%v: %s", err, b)
	}
	return string(b)
}
