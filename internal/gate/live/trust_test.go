package live

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// opened are settings of a workspace with these folders, whose project says text.
func opened(t *testing.T, user, text string, more ...string) (s *Settings, dir string) {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "APPDATA", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	dir = t.TempDir()
	put(t, dir, ".sidecar/settings.json", text)
	s = New(Options{})
	for _, p := range s.Open(append([]string{dir}, more...), []byte(user)) {
		t.Error(p)
	}
	return s, dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFollow: a change of the project's file is followed; in a trusted project the
// stricter holds until there is an answer, which is for what was shown.
func TestFollow(t *testing.T) {
	s, dir := opened(t, `{"workspace.trust": "trusted", "mode": "review"}`, `{"result.maxBytes": 5000}`)
	var told []*trust.State
	s.OnChange(func(changed []*trust.State) { told = append(told, changed...) })
	is := func(what, mode string, most int) {
		t.Helper()
		s.Follow()
		if now := s.Now(); now.String("mode") != mode || now.Int("result.maxBytes") != most {
			t.Errorf("%s: %s, %d", what, now.String("mode"), now.Int("result.maxBytes"))
		}
	}
	is("at first", "review", 5000)
	put(t, dir, ".sidecar/settings.json", `{"mode": "plan", "result.maxBytes": 9000}`)
	is("one stricter, one looser", "plan", 5000)
	if len(told) != 1 || len(s.Changed()) != 1 {
		t.Fatalf("told %d times", len(told))
	}
	shown := told[0].Hash()
	put(t, dir, ".sidecar/settings.json", `{"mode": "plan", "result.maxBytes": 15000}`)
	if err := s.Answer(dir, shown, true); err == nil || !strings.Contains(err.Error(), "changed again") {
		t.Errorf("a yes to something else: %v", err)
	}
	is("another change", "plan", 5000)
	if err := s.Answer(dir, s.Changed()[0].Hash(), false); err != nil {
		t.Fatal(err)
	}
	is("after a no", "plan", 5000)
	if !s.Changed()[0].Refused {
		t.Error("the no is not known")
	}
	if err := s.Answer(dir, s.Changed()[0].Hash(), true); err != nil {
		t.Fatal(err)
	}
	is("after a yes", "plan", 15000)
	if len(s.Changed()) > 0 {
		t.Error("it is still a change")
	}

	// What the user has said yes to with the call of a tool needs no other yes.
	if err := s.writeProject("result.maxBytes", []byte("16000")); err != nil {
		t.Fatal(err)
	}
	is("a call's change", "plan", 16000)
	put(t, dir, ".sidecar/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}`)
	is("a change beside it", "plan", 16000)
	if err := s.writeProject("result.maxBytes", []byte("6000")); err != nil {
		t.Fatal(err)
	}
	if changed := s.Changed(); len(changed) != 1 || len(changed[0].Changed()) != 2 {
		t.Errorf("a call's change takes another one along: %+v", changed)
	}
}

// TestFolders: each folder of a trusted workspace has its own content; one that is not
// trusted has none.
func TestFolders(t *testing.T) {
	other := t.TempDir()
	s, dir := opened(t, `{"workspace.trust": "trusted"}`, `{}`, other)
	put(t, other, ".sidecar/hooks.json", `{}`)
	s.Follow()
	if changed := s.Changed(); len(changed) != 1 || changed[0].Dir != other || s.Trust(dir) == nil {
		t.Errorf("%+v", changed)
	}
	if problems := s.Load([]byte(`{"workspace.trust": "unknown"}`)); len(problems) > 0 || s.Trust(other) != nil || len(s.Changed()) > 0 {
		t.Errorf("without trust: %q", problems)
	}
	put(t, dir, ".sidecar/settings.json", `{"mode": "plan", "tools.registryMode": "lazy"}`)
	if s.Follow(); s.Now().String("mode") != "plan" {
		t.Error("without trust, what is stricter is not followed")
	}
	problems := s.Load([]byte(`{"workspace.trust": "trusted"}`))
	if len(problems) != 2 || !strings.Contains(strings.Join(problems, ""), other) {
		t.Errorf("trusted again, and changed meanwhile: %q", problems)
	}
}

// TestOwnChange: a change that the user said yes to is taken alone: not what else the
// file says by then, seen or not. The control is the same change of what was trusted.
func TestOwnChange(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		taken            bool
	}{
		{"nothing else", "", "", true},
		{"another setting", ".sidecar/settings.json", `{"result.maxBytes": 5000, "mode": "cautious"}`, false},
		{"another file", ".sidecar/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}`, false},
		{"another form", ".sidecar/settings.json", `{ "result.maxBytes":  5000 }`, false},
	} {
		s, dir := opened(t, `{"workspace.trust": "trusted"}`, `{"result.maxBytes": 5000}`)
		if c.file != "" {
			put(t, dir, c.file, c.text) // and nobody reads it before
		}
		if err := s.writeProject("result.maxBytes", []byte("9000")); err != nil {
			t.Fatal(err)
		}
		if taken := len(s.Changed()) == 0; taken != c.taken {
			t.Errorf("%s: taken %v", c.name, taken)
		}
		if most := s.Now().Int("result.maxBytes"); (most == 9000) != c.taken {
			t.Errorf("%s: %d", c.name, most)
		}
	}
}

// TestModeFollowed: a program that can't be run any more is another one, also while the
// server runs.
func TestModeFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Skip(t, needs.FileModes, "files have no such bit")
	}
	s, dir := opened(t, `{"workspace.trust": "trusted"}`, `{}`)
	put(t, dir, ".sidecar/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"command": "./g.sh"}]}]}}`)
	put(t, dir, "g.sh", "exit 2\n")
	mode := func(m os.FileMode) {
		if err := ownfile.Chmod(filepath.Join(dir, "g.sh"), m); err != nil {
			t.Fatal(err)
		}
		s.Follow()
	}
	mode(0o755)
	if err := s.Answer(dir, s.Changed()[0].Hash(), true); err != nil || len(s.Changed()) > 0 {
		t.Fatalf("control: %v", err)
	}
	if mode(0o644); len(s.Changed()) != 1 {
		t.Error("nobody is asked")
	}
}
