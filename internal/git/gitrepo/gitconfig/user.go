package gitconfig

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// User returns those of the user's own settings of git that have one
// of the keys, which are section.name in lower case, as they hold for the
// repository with the git directory gitDir; "" is none. They are read in this
// process; what the repository itself sets is not among them.
func User(gitDir string, keys ...string) (map[string]string, error) {
	l := loader{gitDir: gitDir, conf: Values{}}
	for _, file := range UserFiles() {
		if err := l.load(file, 0); err != nil {
			return nil, err
		}
	}
	found := map[string]string{}
	for _, key := range keys {
		if value, ok := l.conf[key]; ok {
			found[key] = value
		}
	}
	return found, nil
}

// Safe reports whether the user's own settings list a working tree in
// safe.directory, although it belongs to another user.
func Safe(dir string) bool {
	safe := false
	for _, file := range UserFiles() {
		list, err := ReadFile(file)
		if err != nil {
			continue
		}
		for _, s := range list {
			if s.Key != "safe.directory" {
				continue
			}
			value := ExpandHome(s.Value)
			below, tree := strings.CutSuffix(value, "/*")
			switch {
			case value == "":
				safe = false
			case value == "*", gitfile.SameFile(value, dir), tree && strings.HasPrefix(dir, below+"/"):
				safe = true
			}
		}
	}
	return safe
}

// UserFiles are the settings of the machine and the user, in the order
// in which they are read.
func UserFiles() []string {
	var files []string
	if conf := (Values{"": os.Getenv("GIT_CONFIG_NOSYSTEM")}); !conf.Bool("", false) {
		file := os.Getenv("GIT_CONFIG_SYSTEM")
		if file == "" {
			file = "/etc/gitconfig"
		}
		files = append(files, file)
	}
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		return append(files, file)
	}
	if file := UserFile("config"); file != "" {
		files = append(files, file)
	}
	if home := homeDir(); home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

// UserFile is a file in the user's directory for git, or "".
func UserFile(name string) string {
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

// ExpandHome expands ~/ and ~name/ at the beginning of a path in settings.
func ExpandHome(path string) string {
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
