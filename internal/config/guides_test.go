package config

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

// TestGuidesSettings: what the guides have readers put into their settings sets something
// and has no mistake in it.
func TestGuidesSettings(t *testing.T) {
	block := regexp.MustCompile("(?s)```json\n(.*?)```")
	cell := regexp.MustCompile("`(\"[a-z]+\": \\{ \"env\": .*?\\})`")
	profile := regexp.MustCompile("`(\\{ \"name\": .*?\\})`")
	mistakes := func(text []byte) []Problem {
		_, problems := Load(Source{Origin: User, Data: text})
		return problems
	}
	for name, want := range map[string]int{"own-model": 3, "proxy-and-keys": 2, "mcp": 2, "extending": 1} {
		page, err := os.ReadFile("../../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		try := func(text []byte) {
			tried++
			if problems := mistakes(text); len(problems) > 0 {
				t.Errorf("%s: %v\n%s", name, problems, text)
			}
		}
		for _, m := range block.FindAllSubmatch(page, -1) {
			if !bytes.Contains(m[1], []byte(`"mcpServers"`)) {
				try(m[1])
			}
		}
		for _, m := range cell.FindAllSubmatch(page, -1) {
			try([]byte(`{"agents": {` + string(m[1]) + `}}`))
		}
		for _, m := range profile.FindAllSubmatch(page, -1) {
			try([]byte(`{"backend.profiles": [` + string(m[1]) + `]}`))
		}
		if tried != want {
			t.Errorf("%s: %d examples were tried, want %d", name, tried, want)
		}
	}
	if len(mistakes([]byte(`{"agents": {"codex": {"enf": ["A"]}}}`))) == 0 {
		t.Error("control: a mistake is none")
	}
}
