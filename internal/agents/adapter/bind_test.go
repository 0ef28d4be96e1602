//go:build !windows

package adapter

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestBind: an agent is driven by the adapter that the user has, else by ours, which is
// installed after the person's word and asked about no second time.
func TestBind(t *testing.T) {
	bin, data := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	put := func(path string) string {
		t.Helper()
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	set, _ := config.Load()
	claude := *profile.Find(profile.All(set), "claude", "")
	bind := func() (profile.Profile, string) {
		t.Helper()
		p, err := Finder{Programs: anywhere.Programs(), Data: data}.Bind(claude)
		if err != nil {
			return p, err.Error()
		}
		return p, ""
	}
	if _, why := bind(); !strings.Contains(why, "claude is not on PATH; install Claude Code") {
		t.Errorf("without the agent: %q", why)
	}
	core := put(filepath.Join(bin, "claude"))
	if _, why := bind(); !strings.Contains(why, "npm is not on PATH") {
		t.Errorf("without npm: %q", why)
	}
	put(filepath.Join(bin, "npm"))
	asked, why := bind()
	if why != "" || !strings.Contains(asked.Sees()[0], "npm installs @agentclientprotocol/claude-agent-acp "+table["claude-agent-acp"].Version) || !strings.Contains(asked.Sees()[0], table["claude-agent-acp"].Integrity) {
		t.Fatalf("to be installed: %q, %q", asked.Sees(), why)
	}
	kept := profile.Kept(t.TempDir())
	if err := kept.Allow(asked); err != nil {
		t.Fatal(err)
	}
	put(asked.Path)
	installed, why := bind()
	if why != "" || installed.Install != "" || installed.Path != asked.Path || !kept.Allowed(installed) {
		t.Errorf("installed: %+v, %q", installed, why)
	}
	if env := installed.Environ([]string{"A=1"}, nil); !slices.Equal(env, []string{"A=1", "CLAUDE_CODE_EXECUTABLE=" + core}) {
		t.Errorf("its environment is %q", env)
	}
	own := func(program string) (string, error) { return program, nil }
	if env := installed.Environ([]string{"CLAUDE_CODE_EXECUTABLE=/mine"}, own); !slices.Equal(env, []string{"CLAUDE_CODE_EXECUTABLE=/mine"}) {
		t.Errorf("with one that the user names it is %q", env)
	}
	users := put(filepath.Join(bin, "claude-agent-acp"))
	theirs, why := bind()
	if why != "" || theirs.Path != users || theirs.Install != "" || kept.Allowed(theirs) {
		t.Errorf("with the user's own: %+v, %q", theirs, why)
	}
	if env := theirs.Environ([]string{"A=1"}, nil); !slices.Equal(env, []string{"A=1"}) {
		t.Errorf("its environment is %q", env)
	}
	if err := ownfile.Remove(users); err != nil {
		t.Fatal(err)
	}

	// One that the settings name is not replaced.
	named, _ := config.Load(config.Source{Origin: config.User, Name: "user", Data: []byte(`{"agents": {"claude": {"adapter": "nowhere"}}}`)})
	claude = *profile.Find(profile.All(named), "claude", "")
	if _, why := bind(); !strings.Contains(why, "nowhere is not on PATH") {
		t.Errorf("a named one that is not there: %q", why)
	}
}
