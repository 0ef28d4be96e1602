package rpc_test

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/rpc"
)

// TestEmptyObjects: an empty array is an object without members where one is expected, at any
// depth, and nothing else is.
func TestEmptyObjects(t *testing.T) {
	type inner struct {
		N int `json:"n"`
	}
	type outer struct {
		In   inner          `json:"in"`
		At   *inner         `json:"at"`
		Map  map[string]int `json:"map"`
		List []inner        `json:"list"`
		Text string         `json:"text"`
	}
	for text, ok := range map[string]bool{
		`{"in":[],"at":[ ],"map":[],"list":[[],{"n":1}],"text":"x"}`: true,
		`[]`:              true,
		`{"in":[1]}`:      false,
		`{"in":[[]]}`:     false,
		`{"map":[{}]}`:    false,
		`{"text":[]}`:     false,
		`{"in":{"n":[]}}`: false,
		`{"in":"x"}`:      false,
	} {
		var got outer
		if err := rpc.Unmarshal([]byte(text), &got); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if ok && text != "[]" && (len(got.List) != 2 || got.List[1].N != 1 || got.Text != "x") {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
