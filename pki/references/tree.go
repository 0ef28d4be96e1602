package references

import (
	"io/fs"
	"path"
)

// tree is the view as imports are looked up in it. What it was asked once it
// knows.
type tree struct {
	*search
	modes map[string]fs.FileMode // of what is there, fs.ModeIrregular for the rest
}

func (t tree) mode(name string) fs.FileMode {
	mode, ok := t.modes[name]
	if !ok {
		mode = fs.ModeIrregular
		if fs.ValidPath(name) {
			if info, err := t.files.Stat(name); err == nil {
				mode = info.Mode().Type()
			}
		}
		t.modes[name] = mode
	}
	return mode
}

func (t tree) IsFile(name string) bool { return t.mode(name).IsRegular() }

func (t tree) IsDir(name string) bool { return t.mode(name).IsDir() }

func (t tree) IsPackage(dir string) bool { return t.goName(path.Clean(dir)) != "" }

func (t tree) ReadFile(name string) ([]byte, error) { return t.files.ReadFile(name) }
