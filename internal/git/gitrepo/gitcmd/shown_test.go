package gitcmd

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestShownSettings: git reads what is shown as it reads the file, but for secrets.
func TestShownSettings(t *testing.T) {
	dir := t.TempDir()
	file, shown := filepath.Join(dir, "config"), filepath.Join(dir, "shown")
	text := `; a comment
[core]
	bare = false
	quotePath
[remote "origin"]
	url = https://me:hush-4711@example.org/x.git
	pushurl = ssh://git@example.org/x.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[url "https://tok-hush@example.org/"]
	insteadOf = ex:
[branch "a \"b\" \\c"]
	remote = origin
	description = "two\nlines \\ and \"quotes\"\t# no comment"
[credential]
	helper = "!f() { echo password=hush; }; f"
[credential "https://example.org"]
	username = me
[http "https://example.org"]
	extraHeader = AUTHORIZATION: basic hush
[github]
	token = hush
`
	if err := ownfile.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, decides := ShownSettings(file)
	if strings.Contains(string(got), "hush") || strings.Contains(string(got), "credential") {
		t.Errorf("%s", got)
	}
	if err := ownfile.WriteFile(shown, got, 0o600); err != nil {
		t.Fatal(err)
	}
	list := func(file string) []string {
		out, err := exec.Command("git", "config", "--file", file, "--list", "-z").Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(out), "\x00")
	}
	want := list(file)
	want = slices.DeleteFunc(want, func(s string) bool {
		return strings.HasPrefix(s, "credential") || strings.Contains(s, "extraheader") || strings.HasPrefix(s, "github")
	})
	for i := range want {
		want[i] = strings.NewReplacer("me:hush-4711@", "", "tok-hush@", "").Replace(want[i])
	}
	if now := list(shown); !slices.Equal(now, want) {
		t.Errorf("%q, want %q", now, want)
	}
	before := len(decides)
	for add, more := range map[string]int{
		"[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n": 0, "[user]\n\tname = x\n": 0, "[core]\n\tfsmonitor = ./x\n": 1, "[remote \"y\"]\n\turl = x\n": 1,
		"[branch \"x\"]\n\tremote = https://evil.example\n": 1, "[credential]\n\thelper = x\n": 1, "[include]\n\tpath = x\n": 1,
	} {
		if err := ownfile.WriteFile(file, []byte(text+add), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, decides := ShownSettings(file); len(decides) != before+more {
			t.Errorf("%q: %d more", add, len(decides)-before)
		}
	}
	if err := ownfile.WriteFile(file, []byte("[broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, decides := ShownSettings(file); len(got) != 0 || len(decides) != 1 {
		t.Errorf("%q, %q", got, decides)
	}
	if got, decides := ShownSettings(filepath.Join(dir, "none")); len(got)+len(decides) != 0 {
		t.Errorf("%q, %q", got, decides)
	}
}
