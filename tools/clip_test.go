package tools

import (
	"strings"
	"testing"
)

// TestClip: what is quoted is short, and never half of a word.
func TestClip(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3d", 9)
	for in, want := range map[string]string{
		"short":                          "short",
		token:                            token,
		strings.Repeat("x ", 20) + token: strings.Repeat("x ", 20) + "…",
		strings.Repeat("é", 40):          "éééé…",
		token + token:                    "ghp_aB3d…",
	} {
		if got := Clip(in); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
}
