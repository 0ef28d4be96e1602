package app

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestExampleWords: the example of each tool's manual, as a shell reads it, is
// the tool's example.
func TestExampleWords(t *testing.T) {
	for _, tool := range all(t) {
		m := tool.Manual()
		out, err := exec.CommandContext(t.Context(), "bash", "-c", `printf '%s\0' `+m.Name+exampleWords(m)).Output()
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		got := jsontext.Value(words[len(words)-1])
		if len(words) != 2 || !strings.HasPrefix(words[1], "{") {
			args, err := m.FromWords(words[1:])
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
				continue
			}
			got = jsontext.Value(args)
		}
		want := jsontext.Value(bytes.Clone(m.Example))
		if got.Canonicalize() != nil || want.Canonicalize() != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", m.Name, got, want)
		}
		if _, err := tool.Bind([]byte(got)); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
