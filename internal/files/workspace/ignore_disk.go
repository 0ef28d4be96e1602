package workspace

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Ignored reports whether the ignore rules leave name, or a directory that it
// is in, out of a walk. That a name is hidden is no such rule.
func (d *Disk) Ignored(name string, dir bool) bool {
	f, rel, err := d.locate(name)
	if err != nil || f == nil || rel == "." {
		return false
	}
	return ignoredBelow(f.rootRules(), f.read, rel, dir)
}

// ignoredBelow reports whether a name or a directory that it is in is ignored,
// with the ignore files that read reads.
func ignoredBelow(rules dirRules, read func(name string) ([]byte, error), rel string, dir bool) bool {
	at := "."
	for {
		addRules(read, at, &rules)
		first, rest, deeper := strings.Cut(rel, "/")
		if first == ".git" || rules.match([]byte(first), dir || deeper) == excluded {
			return true
		}
		if !deeper {
			return false
		}
		at, rel = path.Join(at, first), rest
		rules = rules.enter([]byte(first))
	}
}

// Walked tells what a walk of the whole disk, with the zero WalkOptions, meets
// under a name: a regular file (0), a directory (fs.ModeDir), or nothing.
func (d *Disk) Walked(name string) (kind fs.FileMode, ok bool) {
	f, rel, err := d.locate(name)
	if err != nil || f == nil || rel == "." {
		return fs.ModeDir, err == nil
	}
	rules := f.rootRules()
	for at := "."; ; {
		f.addRules(at, &rules)
		first, rest, deeper := strings.Cut(rel, "/")
		at, rel = path.Join(at, first), rest
		info, err := f.root.Lstat(at)
		if err != nil {
			return 0, false
		}
		kind = info.Mode().Type()
		v := rules.match([]byte(first), kind == fs.ModeDir)
		if kind&^fs.ModeDir != 0 || deeper && kind == 0 || v == excluded || first[0] == '.' && v != included || first == ".git" || !utf8.ValidString(first) {
			return 0, false
		}
		if !deeper {
			return kind, true
		}
		rules = rules.enter([]byte(first))
	}
}

// Lstat tells what is there under a name, without following a link at its end.
func (d *Disk) Lstat(name string) (fs.FileInfo, error) {
	f, rel, err := d.locate(name)
	if err != nil {
		return nil, pathError("lstat", name, err)
	}
	if f == nil {
		return virtualDir("."), nil
	}
	info, err := f.root.Lstat(rel)
	if err != nil {
		return nil, pathError("lstat", name, err)
	}
	return info, nil
}

// rulesAbove are the rules as they apply in the directory rel, without those
// of its own ignore files.
func (f *folder) rulesAbove(rel string) dirRules {
	return rulesAbove(f.rootRules(), f.read, rel)
}

func rulesAbove(rules dirRules, read func(name string) ([]byte, error), rel string) dirRules {
	if rel == "." {
		return rules
	}
	at := "."
	for elem := range strings.SplitSeq(rel, "/") {
		addRules(read, at, &rules)
		rules = rules.enter([]byte(elem))
		at = path.Join(at, elem)
	}
	return rules
}

// rootRules are the rules of files that are not in the folder.
func (f *folder) rootRules() dirRules {
	var rules dirRules
	if text := ReadUserIgnore(f.ignores, f.Dir); text != nil {
		rules.add(userRules, text)
	}
	if f.exclude != "" {
		if text, err := os.ReadFile(f.exclude); err == nil {
			rules.add(excludeRules, text)
		}
	}
	return rules
}

// addRules puts the ignore files of the directory dir in force.
func (f *folder) addRules(dir string, rules *dirRules) { addRules(f.read, dir, rules) }

func (f *folder) read(rel string) ([]byte, error) { return readRegular(f.root, rel) }

func addRules(read func(name string) ([]byte, error), dir string, rules *dirRules) {
	add := func(kind ruleKind, name string) {
		if text, err := read(path.Join(dir, name)); err == nil {
			rules.add(kind, text)
		}
	}
	for _, file := range ignoreFiles {
		add(file.kind, file.name)
	}
	add(excludeRules, ".git/info/exclude")
}

// UserIgnore returns the operating system's path of the user's own ignore
// file, which is where git looks for it by default.
func UserIgnore() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "git", "ignore"), nil
}

// UserIgnores are the paths of the user's own ignore files that hold in the folders.
func UserIgnores(d *Disk) (names []string) {
	for i := range d.folders {
		names = append(names, ignoreFileOf(d.folders[i].ignores, d.folders[i].Dir))
	}
	return names
}

// Ignores knows the path of the user's own ignore file that holds in a directory; ""
// is none.
type Ignores interface{ File(dir string) string }

// ignoreFileOf is what of says of a folder; nil says UserIgnore.
func ignoreFileOf(of Ignores, dir string) string {
	if of != nil {
		return of.File(dir)
	}
	name, err := UserIgnore()
	if err != nil {
		return ""
	}
	return name
}

// ReadUserIgnore reads the user's own ignore file that holds in a folder, by what
// DiskOptions has for it; nil: there is none.
func ReadUserIgnore(of Ignores, dir string) []byte {
	name := ignoreFileOf(of, dir)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	return text
}

// IsIgnoreFile reports whether a file of this name, a last element, has rules
// for the directory that it is in.
func IsIgnoreFile(base string) bool {
	for _, f := range ignoreFiles {
		if f.name == base {
			return true
		}
	}
	return false
}
