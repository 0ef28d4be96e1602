package workspace

import (
	"io/fs"
	"path"
	"runtime"
	"strings"
)

// mayRecover reports whether p can be the plan of a batch of ours. Anybody can
// put a journal into a directory that others open, so it is trusted with no
// more than Apply does: nothing that is never written, and no links on the way.
func (p *plan) mayRecover() bool {
	places := append([]rootedName(nil), p.dirs...)
	for _, e := range p.entries {
		places = append(places, rootedName{e.folder, e.name})
	}
	for _, at := range places {
		if Protected(at.name) == Never {
			return false
		}
		dir := path.Dir(at.name)
		if real, err := at.folder.follow(dir); err != nil || real != dir {
			return false
		}
	}
	for _, e := range p.entries {
		if e.new.Link == "" {
			continue
		}
		for _, at := range places {
			if at.folder == e.folder && strings.HasPrefix(at.name, e.name+"/") {
				return false
			}
		}
	}
	return true
}

// private reports whether a file has the mode that journals are made with.
// What comes out of a repository or an archive seldom has it.
func private(info fs.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0
}
