package gitrepo

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"

	gitconfig "github.com/go-git/go-git/v5/plumbing/format/config"
)

// declaredSafe reports whether the user's own settings list a working tree in
// safe.directory, although it belongs to another user.
func declaredSafe(dir string) bool {
	safe := false
	for _, file := range userConfigFiles() {
		cfg, err := readConfig(file)
		if err != nil {
			continue
		}
		for _, value := range values(cfg, "safe", "directory") {
			value = expandHome(value)
			below, tree := strings.CutSuffix(value, "/*")
			switch {
			case value == "":
				safe = false
			case value == "*", sameFile(value, dir), tree && strings.HasPrefix(dir, below+"/"):
				safe = true
			}
		}
	}
	return safe
}

// values are all values of a setting that can have several.
func values(cfg *gitconfig.Config, section, key string) []string {
	var all []string
	for _, s := range cfg.Sections {
		if strings.EqualFold(s.Name, section) {
			all = append(all, s.OptionAll(key)...)
		}
	}
	return all
}

// userConfigFiles are the settings of the machine and the user, in the order
// in which they are read.
func userConfigFiles() []string {
	files := []string{"/etc/gitconfig"}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		files = append(files, filepath.Join(dir, "git", "config"))
	} else if home := homeDir(); home != "" {
		files = append(files, filepath.Join(home, ".config", "git", "config"))
	}
	if home := homeDir(); home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// expandHome expands ~/ and ~name/ at the beginning of a path in settings.
func expandHome(path string) string {
	name, rest, _ := strings.Cut(path, "/")
	switch {
	case !strings.HasPrefix(path, "~"):
		return path
	case name == "~":
		return filepath.Join(homeDir(), rest)
	}
	if u, err := user.Lookup(name[1:]); err == nil {
		return filepath.Join(u.HomeDir, rest)
	}
	return path
}
