package main

import (
	"os"
	"regexp"
	"testing"
)

// TestWays: the commands that ways are made of are those of the protocol's page, which a
// test compares with the server's.
func TestWays(t *testing.T) {
	page, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range ways {
		for _, step := range append(w.before, w.what) {
			if command := step[0].(string); !regexp.MustCompile("`" + regexp.QuoteMeta(command) + "[` (]").Match(page) {
				t.Errorf("the way of %s: there is no %s", name, command)
			}
		}
	}
}
