package gitconfig

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// Values is what reading needs of git's settings: of equal keys the last
// value. Keys are section.name or section.middle.name, the first and the last
// part in lower case. It is read in this process and runs nothing.
type Values map[string]string

// Cache is the settings as they were read, and from where.
type Cache struct {
	mu    sync.Mutex
	conf  Values
	files []gitfile.StampedFile
}

// Values returns the settings of the machine, the user, the repository and the
// working tree. Their files are read again when one of them has changed.
func (c *Cache) Values(gitDir, commonDir string) (Values, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conf != nil && c.fresh() {
		return c.conf, nil
	}
	l := loader{gitDir: gitDir, conf: Values{}}
	for _, file := range UserFiles() {
		if err := l.load(file, 0); err != nil {
			return nil, err
		}
	}
	if err := l.load(filepath.Join(commonDir, "config"), 0); err != nil {
		return nil, err
	}
	if l.conf.Bool("extensions.worktreeconfig", false) {
		if err := l.load(filepath.Join(gitDir, "config.worktree"), 0); err != nil {
			return nil, err
		}
	}
	c.conf, c.files = l.conf, l.files
	return c.conf, nil
}

func (c *Cache) fresh() bool {
	for _, f := range c.files {
		if !f.Fresh() {
			return false
		}
	}
	return true
}

type loader struct {
	gitDir string
	conf   Values
	files  []gitfile.StampedFile
}

// maxIncludes bounds how files of settings include each other.
const maxIncludes = 10

func (l *loader) load(file string, depth int) error {
	if depth > maxIncludes {
		return fmt.Errorf("%s: %w: settings that include each other without end", file, gitfile.ErrCorrupt)
	}
	l.files = append(l.files, gitfile.NewStampedFile(file)) // before it is read: what changes meanwhile is seen next time
	list, err := ReadFile(file)
	if err != nil {
		return err
	}
	for _, s := range list {
		if where, ok := strings.CutPrefix(s.Key, "includeif."); ok {
			if where, ok = strings.CutSuffix(where, ".path"); !ok {
				continue
			}
			if met, _ := holds(where, file, l.gitDir); !met {
				continue // conditions on anything but its place are rare, and count as not met
			}
		} else if s.Key != "include.path" {
			l.conf.set(s)
			continue
		}
		if err := l.load(gitfile.Resolve(ExpandHome(s.Value), filepath.Dir(file)), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c Values) set(s Setting) {
	if s.Bare {
		s.Value = "true"
	}
	c[s.Key] = s.Value
}

// Bool reads a boolean setting.
func (c Values) Bool(key string, standard bool) bool {
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

// OwnValues reads a repository's own settings, which tell where its working
// tree is, without what they include.
func OwnValues(gitDir string) (Values, error) {
	conf := Values{}
	for _, name := range []string{"config", "config.worktree"} {
		list, err := ReadFile(filepath.Join(gitDir, name))
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			conf.set(s)
		}
		if !conf.Bool("extensions.worktreeconfig", false) {
			break
		}
	}
	return conf, nil
}
