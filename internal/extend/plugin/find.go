package plugin

import (
	"io/fs"
	"os"
	"path/filepath"
)

// maxEntries bounds how many entries of a place are looked at.
const maxEntries = 1000

// found is a plugin that lies in a place.
type found struct {
	id    string // its name as far as its place tells
	dir   string
	file  string // in dir, of one that is an executable; "": all of dir
	place Place
}

// path is what its user's word is about.
func (f found) path() string { return filepath.Join(f.dir, f.file) }

// find lists what is in places, in their order. What is no plugin is passed over.
func find(places []Place) (list []found) {
	seen := map[string]bool{}
	add := func(f found) {
		if !seen[f.path()] {
			seen[f.path()] = true
			list = append(list, f)
		}
	}
	for _, p := range places {
		if isPlugin(p.Dir) {
			add(found{filepath.Base(p.Dir), p.Dir, "", p})
			continue
		}
		entries, err := os.ReadDir(p.Dir)
		if err != nil {
			continue // there are none
		}
		for _, e := range entries[:min(len(entries), maxEntries)] {
			at := filepath.Join(p.Dir, e.Name())
			switch {
			case e.IsDir() && isPlugin(at):
				add(found{e.Name(), at, "", p})
			case p.Files && isProgram(e):
				add(found{e.Name(), p.Dir, e.Name(), p})
			}
		}
	}
	return list
}

func isPlugin(dir string) bool {
	for _, name := range []string{ours, claudes} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

func isProgram(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && e.Name()[0] != '.'
}
