package gitcmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestHazard: what makes git run a program is named, and nothing else is.
func TestHazard(t *testing.T) {
	made := func(t *testing.T) (dir string) {
		dir = filepath.Join(t.TempDir(), "work", ".git")
		for _, name := range []string{"hooks", "info", "objects", "refs"} {
			if err := ownfile.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "hooks/pre-commit.sample": "#!/bin/sh\n", "info/exclude": "*.o\n",
			"config": "[core]\n\tbare = false\n\tfilemode = true\n\tfsmonitor = true\n[remote \"origin\"]\n\turl = ../up\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
				"[branch \"main\"]\n\tremote = origin\n[submodule \"s\"]\n\tactive = true\n\tupdate = checkout\n[filter \"lfs\"]\n\trequired = true\n[user]\n\tname = x\n"} {
			if err := ownfile.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	if why := Hazard(made(t), "/"); why != "" {
		t.Errorf("a usual one: %s", why)
	}
	settings := map[string]string{"core.fsmonitor": "evil", "core.hookspath": "h", "include.path": "x", "includeif.gitdir:/.path": "x", "credential.helper": "!evil",
		"credential.https://x.helper": "!evil", "protocol.ext.allow": "always", "remote.origin.vcs": "x", "lfs.customtransfer.x.path": "evil", "core.worktree": "../../../..",
		"submodule.x.update": "!evil", "http.savecookies": "true", "core.worktree ": "/etc", "lfs.extension.x.clean": "evil", "instaweb.httpd": "evil"}
	for _, p := range programs {
		if strings.HasSuffix(p.key, "savecookies") || p.key == "submodule.*.update" || p.instead == "false" && !strings.HasPrefix(p.key, "pager") && !strings.Contains(p.key, "program") {
			continue // of those that name nothing, and those above
		}
		settings[strings.ReplaceAll(p.key, "*", "x")] = "evil"
	}
	for key, value := range settings {
		key = strings.TrimSpace(key)
		section, middle, name := gitconfig.SplitKey(key)
		for _, file := range []string{"config", "config.worktree"} {
			dir := made(t)
			text := "[" + section + "]\n\t" + name + " = " + value + "\n"
			if middle != "" {
				text = "[" + section + " \"" + middle + "\"]\n\t" + name + " = " + value + "\n"
			}
			if err := ownfile.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if why := Hazard(dir, filepath.Dir(dir)); !strings.Contains(why, key) {
				t.Errorf("%s in %s: %q", key, file, why)
			}
		}
	}
	for what, do := range map[string]func(dir string) error{
		"hook":             func(dir string) error { return ownfile.WriteFile(filepath.Join(dir, "hooks/post-commit"), nil, 0o755) },
		"hooks is a link":  func(dir string) error { return relink(dir, "hooks") },
		"config is a link": func(dir string) error { return relink(dir, "config") },
		"config can't be": func(dir string) error {
			return ownfile.WriteFile(filepath.Join(dir, "config"), []byte("[core\n"), 0o644)
		},
		"commondir names": func(dir string) error {
			return ownfile.WriteFile(filepath.Join(dir, "commondir"), []byte("../evil\n"), 0o644)
		},
		"commondir can't be": func(dir string) error { return ownfile.WriteFile(filepath.Join(dir, "commondir"), nil, 0o644) },
	} {
		dir := made(t)
		if err := do(dir); err != nil {
			t.Fatal(err)
		}
		if why := Hazard(dir, "/"); !strings.Contains(why, what) {
			t.Errorf("%s: %q", what, why)
		}
	}
}

func relink(dir, name string) error {
	if err := ownfile.Rename(filepath.Join(dir, name), filepath.Join(dir, "moved")); err != nil {
		return err
	}
	return ownfile.Symlink("moved", filepath.Join(dir, name))
}
