package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Dirs are the directories of folders.
func Dirs(folders []Folder) []string {
	dirs := make([]string, len(folders))
	for i, f := range folders {
		dirs[i] = f.Dir
	}
	return dirs
}

// FoldersOf are the folders of a view, by the names with which its paths begin; one alone
// is ".".
func FoldersOf(files Files) []Folder {
	disk, _ := files.Base()
	if disk == nil {
		return []Folder{{Name: "."}}
	}
	folders := disk.Folders()
	if len(folders) == 1 {
		folders[0].Name = "."
	}
	return folders
}

// AddFolder adds a directory under a name that is one path segment and that no other folder
// has: the name that is wanted, else that of the directory, with a number behind it where
// another has it already.
func AddFolder(folders []Folder, dir, name string) []Folder {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		name = filepath.Base(dir)
	}
	unique := name
	for i := 2; slices.ContainsFunc(folders, func(f Folder) bool { return f.Name == unique }); i++ {
		unique = name + "-" + strconv.Itoa(i)
	}
	return append(folders, Folder{Name: unique, Dir: dir})
}

// Holding is the innermost of the folders that a path is in, and the rest of the path; i is
// -1 for one that is in none. The path may be spelled as the folder is or as links lead there:
// the folder is compared with and without its links, and nothing is opened by that.
func Holding(folders []Folder, path string) (i int, rest string) {
	i = -1
	most := 0
	for at, f := range folders {
		real, err := filepath.EvalSymlinks(f.Dir)
		if err != nil {
			real = f.Dir
		}
		for _, dir := range []string{f.Dir, real} {
			rel, err := filepath.Rel(dir, path)
			if err == nil && filepath.IsLocal(rel) && len(real) > most {
				i, rest, most = at, rel, len(real)
			}
		}
	}
	return i, rest
}

// Others are the directories of the folders, without the one that a path is in, which is the
// first for a path in none.
func Others(folders []Folder, path string) []string {
	i, _ := Holding(folders, path)
	dirs := Dirs(folders)
	return slices.Delete(dirs, max(i, 0), max(i, 0)+1)
}

// KeepFirst puts the folder with that directory first, if there is one.
func KeepFirst(folders []Folder, dir string) []Folder {
	if i := slices.IndexFunc(folders, func(f Folder) bool { return f.Dir == dir }); i > 0 {
		first := folders[i]
		return slices.Insert(slices.Delete(folders, i, i+1), 0, first)
	}
	return folders
}

// Usable are the folders that can be opened, each once.
func Usable(folders []Folder) (good []Folder, problems []string) {
	seen := map[string]string{}
	for _, f := range folders {
		real, err := filepath.EvalSymlinks(f.Dir)
		if err == nil {
			var info os.FileInfo
			if info, err = os.Stat(real); err == nil && !info.IsDir() {
				err = errors.New("it is not a directory")
			}
		}
		switch other, twice := seen[real]; {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s is left out: %v", f.Dir, err))
		case twice:
			problems = append(problems, fmt.Sprintf("%s is left out: it is %s", f.Dir, other))
		default:
			seen[real] = f.Dir
			good = append(good, f)
		}
	}
	return good, problems
}
