package gitrepo

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// declaredSafe reports whether the user's own settings list a working tree in
// safe.directory, although it belongs to another user.
func declaredSafe(dir string) bool {
	safe := false
	for _, file := range userConfigFiles() {
		list, err := readConfig(file)
		if err != nil {
			continue
		}
		for _, s := range list {
			if s.key != "safe.directory" {
				continue
			}
			value := expandHome(s.value)
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

// userConfigFiles are the settings of the machine and the user, in the order
// in which they are read.
func userConfigFiles() []string {
	var files []string
	if conf := (config{"": os.Getenv("GIT_CONFIG_NOSYSTEM")}); !conf.bool("", false) {
		file := os.Getenv("GIT_CONFIG_SYSTEM")
		if file == "" {
			file = "/etc/gitconfig"
		}
		files = append(files, file)
	}
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		return append(files, file)
	}
	if file := userFile("config"); file != "" {
		files = append(files, file)
	}
	if home := homeDir(); home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

// userFile is a file in the user's directory for git, or "".
func userFile(name string) string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if home := homeDir(); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "git", name)
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
		return homeDir() + "/" + rest
	}
	if u, err := user.Lookup(name[1:]); err == nil {
		return u.HomeDir + "/" + rest
	}
	return path
}
