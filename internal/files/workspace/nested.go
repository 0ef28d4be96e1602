package workspace

import (
	"path"
	"path/filepath"
	"strings"
)

// A folder may lie in another one that is open, too. A file in it has one name then: that
// in the innermost folder, by which the editor's documents and the queue know it.

// inner are the folders that lie in others, by their names there.
type inner []struct{ at, name string }

func innerOf(folders []folder) (list inner) {
	for _, f := range folders {
		for _, in := range folders {
			rel, err := filepath.Rel(f.real, in.real)
			if err == nil && rel != "." && filepath.IsLocal(rel) {
				list = append(list, struct{ at, name string }{path.Join(f.Name, filepath.ToSlash(rel)), in.Name})
			}
		}
	}
	return list
}

// most is a name in the innermost folder that has the file.
func (list inner) most(name string) string {
	var best struct{ at, name string }
	for _, in := range list {
		if (name == in.at || strings.HasPrefix(name, in.at+"/")) && len(in.at) > len(best.at) {
			best = in
		}
	}
	if best.at == "" {
		return name
	}
	return list.most(best.name + name[len(best.at):])
}

// outside makes a walk leave out what is a folder of its own.
func (list inner) outside(opts WalkOptions) WalkOptions {
	if len(list) == 0 {
		return opts
	}
	keep := opts.Keep
	opts.Keep = func(name string, dir bool) bool {
		return (!dir || list.most(name) == name) && (keep == nil || keep(name, dir))
	}
	return opts
}
