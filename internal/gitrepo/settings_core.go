package gitrepo

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// config is what reading needs of git's settings: of equal keys the last
// value. Keys are section.name or section.middle.name, the first and the last
// part in lower case. It is read in this process and runs nothing.
type config map[string]string

// configCache is the settings as they were read, and from where.
type configCache struct {
	mu    sync.Mutex
	conf  config
	files []stampedFile
}

type stampedFile struct {
	path  string
	stamp fileStamp
}

// config returns the settings of the machine, the user, the repository and the
// working tree. They are read anew when one of their files has changed.
func (r *Repo) config() (config, error) {
	c := &r.configs
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conf != nil && c.fresh() {
		return c.conf, nil
	}
	l := configLoader{r: r, conf: config{}}
	for _, file := range userConfigFiles() {
		if err := l.load(file, 0); err != nil {
			return nil, err
		}
	}
	if err := l.load(filepath.Join(r.CommonDir, "config"), 0); err != nil {
		return nil, err
	}
	if l.conf.bool("extensions.worktreeconfig", false) {
		if err := l.load(filepath.Join(r.GitDir, "config.worktree"), 0); err != nil {
			return nil, err
		}
	}
	c.conf, c.files = l.conf, l.files
	return c.conf, nil
}

func (c *configCache) fresh() bool {
	for _, f := range c.files {
		if !f.stamp.fresh(f.path) {
			return false
		}
	}
	return true
}

type configLoader struct {
	r     *Repo
	conf  config
	files []stampedFile
}

// maxIncludes bounds how files of settings include each other.
const maxIncludes = 10

func (l *configLoader) load(file string, depth int) error {
	if depth > maxIncludes {
		return fmt.Errorf("%s: %w: settings that include each other without end", file, ErrCorrupt)
	}
	l.files = append(l.files, stampedFile{file, stampFile(file)}) // before it is read: what changes meanwhile is seen next time
	list, err := readConfig(file)
	if err != nil {
		return err
	}
	for _, s := range list {
		if where, ok := strings.CutPrefix(s.key, "includeif."); ok {
			if where, ok = strings.CutSuffix(where, ".path"); !ok || !l.holds(where, file) {
				continue
			}
		} else if s.key != "include.path" {
			l.conf.set(s)
			continue
		}
		if err := l.load(resolve(expandHome(s.value), filepath.Dir(file)), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether the repository lies where a condition says. Conditions
// on anything but its place are rare, and count as not met.
func (l *configLoader) holds(condition, file string) bool {
	dir, ok := strings.CutPrefix(condition, "gitdir:")
	if !ok {
		return false
	}
	if rest, ok := strings.CutPrefix(dir, "./"); ok {
		dir = filepath.Dir(file) + "/" + rest
	}
	dir = expandHome(dir)
	if strings.HasSuffix(dir, "/") {
		return strings.HasPrefix(l.r.GitDir, dir)
	}
	return l.r.GitDir == dir
}

func (c config) set(s settingLine) {
	if s.bare {
		s.value = "true"
	}
	c[s.key] = s.value
}

// bool reads a boolean setting.
func (c config) bool(key string, standard bool) bool {
	value, ok := c[key]
	if !ok {
		return standard
	}
	if n, err := strconv.Atoi(value); err == nil {
		return n != 0
	}
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	}
	return false
}

// format fails with ErrUnsupported when the repository is of a kind that is
// not read in this process.
func (c config) format() error {
	if v := c["core.repositoryformatversion"]; v != "" && v != "0" && v != "1" {
		return fmt.Errorf("%w: the repository has the format %s", ErrUnsupported, v)
	}
	for key, value := range c {
		name, ok := strings.CutPrefix(key, "extensions.")
		if !ok {
			continue
		}
		switch name {
		case "noop", "noop-v1", "preciousobjects", "worktreeconfig", "relativeworktrees", "partialclone":
			continue
		case "objectformat":
			if strings.EqualFold(value, "sha1") {
				continue
			}
		case "refstorage":
			if strings.EqualFold(value, "files") {
				continue
			}
		}
		return fmt.Errorf("%w: the repository uses %s = %s", ErrUnsupported, key, value)
	}
	return nil
}

// readable returns the settings if the repository can be read in this process.
func (r *Repo) readable() (config, error) {
	conf, err := r.config()
	if err != nil {
		return nil, err
	}
	return conf, conf.format()
}
