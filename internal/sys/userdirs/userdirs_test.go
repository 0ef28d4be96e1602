package userdirs

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDir(t *testing.T) {
	home, _ := filepath.Abs("/home/jörg müller")
	below := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for _, c := range []struct {
		system string
		env    map[string]string
		want   [4]string // below the home directory
	}{
		{"linux", nil, [4]string{".config/sidecar", ".local/share/sidecar", ".local/state/sidecar-ls", ".cache/sidecar-ls"}},
		{"freebsd", nil, [4]string{".config/sidecar", ".local/share/sidecar", ".local/state/sidecar-ls", ".cache/sidecar-ls"}},
		{"darwin", nil, [4]string{"Library/Application Support/sidecar", "Library/Application Support/sidecar", "Library/Application Support/sidecar-ls", "Library/Caches/sidecar-ls"}},
		{"windows", nil, [4]string{"AppData/Roaming/sidecar", "AppData/Roaming/sidecar", "AppData/Local/sidecar-ls/state", "AppData/Local/sidecar-ls/cache"}},
		{"windows", map[string]string{"APPDATA": below("r"), "LOCALAPPDATA": below("l")}, [4]string{"r/sidecar", "r/sidecar", "l/sidecar-ls/state", "l/sidecar-ls/cache"}},
		{"linux", map[string]string{"APPDATA": below("r"), "XDG_CONFIG_HOME": "relative"}, [4]string{".config/sidecar", ".local/share/sidecar", ".local/state/sidecar-ls", ".cache/sidecar-ls"}},
		{"darwin", map[string]string{"XDG_CONFIG_HOME": below("c"), "XDG_CACHE_HOME": below("x")}, [4]string{"c/sidecar", "Library/Application Support/sidecar", "Library/Application Support/sidecar-ls", "x/sidecar-ls"}},
		{"windows", map[string]string{"XDG_STATE_HOME": below("s"), "LOCALAPPDATA": below("l")}, [4]string{"AppData/Roaming/sidecar", "AppData/Roaming/sidecar", "s/sidecar-ls", "l/sidecar-ls/cache"}},
	} {
		u := User{c.system, home, func(name string) string { return c.env[name] }}
		for k, want := range c.want {
			if got, err := u.Dir(Kind(k)); err != nil || got != below(want) {
				t.Errorf("%s %v, kind %d: %s, %v; want %s", c.system, c.env, k, got, err, want)
			}
		}
	}
}

// TestNoHome: without a home directory a variable will do, and nothing is made up.
func TestNoHome(t *testing.T) {
	at, _ := filepath.Abs("/data")
	env := map[string]string{}
	for system, names := range map[string]string{"linux": "HOME, or XDG_STATE_HOME", "windows": "USERPROFILE, or XDG_STATE_HOME"} {
		u := User{system, "", func(name string) string { return env[name] }}
		if dir, err := u.Dir(State); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %q, %v", system, dir, err)
		}
		env["XDG_STATE_HOME"] = at
		if dir, err := u.Dir(State); err != nil || dir != filepath.Join(at, "sidecar-ls") {
			t.Errorf("%s: %q, %v", system, dir, err)
		}
		delete(env, "XDG_STATE_HOME")
	}
}
